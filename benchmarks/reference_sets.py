"""Write the reference sets: small data with the exact values of their measures, for any program to check itself with.

A value is that of the doubles as they are, computed in fractions; only roots, logarithms and tails of distributions are
rounded, by mpmath with 60 digits. Of every value 30 digits are kept. No code of scorespace runs here.

    .venv/bin/python benchmarks/reference_sets.py          # write src/scorespace/data/reference.json
    .venv/bin/python benchmarks/reference_sets.py --check  # exit with 1 if it is out of date
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath as mp

FILE = Path(__file__).parents[1] / "src" / "scorespace" / "data" / "reference.json"
mp.mp.dps = 60
F = Fraction
INFINITE = "inf"


def real(q):
    return mp.mpf(q.numerator) / q.denominator if isinstance(q, F) else mp.mpf(q)


def place(score):
    """The double as a fraction; an infinite score beyond all doubles."""
    return F(10) ** 400 * (1 if score > 0 else -1) if math.isinf(score) else F(score)


def over(a, b):
    """A quotient of fractions, or None: undefined."""
    return None if b == 0 else F(a) / b


def under_root(a, b):
    """a / √b, or None."""
    return None if b == 0 else real(a) / mp.sqrt(real(b))


def mean(values, times):
    return sum(t * v for v, t in zip(values, times, strict=True)) / sum(times)


def ranks(values, times):
    """Mid-ranks of values that occur several times."""
    return [
        sum((t for v, t in zip(values, times, strict=True) if v < x), F(0))
        + F(1 + sum(t for v, t in zip(values, times, strict=True) if v == x), 2)
        for x in values
    ]


def binary(y, s, w=None, times=None, at=0.5):
    """Measures of scores of two classes, from the weight of each class at each score."""
    times, weighted = times or [1] * len(y), w is not None and len(set(w)) > 1
    w = [t * F(v) for t, v in zip(times, w or [1] * len(y), strict=True)]
    rows = [(a, bool(b), place(c)) for a, b, c in zip(w, y, s, strict=True) if a]
    levels = sorted({c for _, _, c in rows}, reverse=True)
    cells = [
        tuple(sum((a for a, b, c in rows if b is side and c == score), F(0)) for side in (True, False))
        for score in levels
    ]
    pos, neg = (sum((cell[k] for cell in cells), F(0)) for k in (0, 1))
    total = pos + neg
    tp, fp = (sum((cell[k] for cell, score in zip(cells, levels, strict=True) if score >= F(at)), F(0)) for k in (0, 1))
    fn, tn = pos - tp, neg - fp
    tpr, tnr, acc = over(tp, pos), over(tn, neg), (tp + tn) / total
    chance = (pos * (tp + fp) + neg * (tn + fn)) / total**2
    r = {"prevalence": pos / total, "acc": acc, "tpr": tpr, "tnr": tnr}
    r |= {"ppv": over(tp, tp + fp), "f1": over(2 * tp, 2 * tp + fp + fn)}
    r["bacc"] = None if tpr is None or tnr is None else (tpr + tnr) / 2
    r["kappa"], r["mcc"] = (
        over(acc - chance, 1 - chance),
        under_root(tp * tn - fp * fn, pos * neg * (tp + fp) * (tn + fn)),
    )
    r = {f"{name}@{at!r}": value for name, value in r.items()}
    r |= dict.fromkeys(("auc", "gini", "ap", "auprc", "ks", "auch"))
    if pos and neg:
        r |= ranking(cells, pos, neg)
        if not weighted:
            r["delong_variance"] = delong(cells, pos, neg)
    return r if min(levels) < 0 or max(levels) > 1 else r | probabilistic(rows, cells, levels, total, weighted)


def ranking(cells, pos, neg):
    points, ap, area = [(F(0), F(0))], F(0), mp.mpf(0)
    for p, n in cells:
        fp, tp = points[-1][0] * neg, points[-1][1] * pos
        ap += p / pos * (tp + p) / (tp + p + fp + n)
        if p:  # precision between two points of the curve is x / (x + fp + n/p (x − tp))
            slope, rest = 1 + n / p, fp - n / p * tp
            area += real(p / slope)
            if rest:
                area -= real(rest / slope**2) * mp.log(real(slope * (tp + p) + rest) / real(slope * tp + rest))
        points.append(((fp + n) / neg, (tp + p) / pos))
    hull = []
    for x, y in points:
        while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1]) >= (hull[-1][1] - hull[-2][1]) * (
            x - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    auc, auch = (sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(line)) for line in (points, hull))
    r = {"auc": auc, "gini": 2 * auc - 1, "ap": ap, "auprc": area / real(pos)}
    return r | {"ks": max(abs(y - x) for x, y in points), "auch": auch}


def delong(cells, pos, neg):
    """Variance of the AUC from the placements of both classes; weights are numbers of cases."""
    if min(pos, neg) < 2:
        return None
    found = F(0)
    for k, size, others in ((0, pos, neg), (1, neg, pos)):
        before, placed = F(0), []
        for cell in cells:
            placed.append((before + cell[1 - k] / 2) / others)
            before += cell[1 - k]
        times = [cell[k] for cell in cells]
        middle = mean(placed, times)
        found += sum(t * (v - middle) ** 2 for v, t in zip(placed, times, strict=True)) / (size - 1) / size
    return found


def probabilistic(rows, cells, levels, total, weighted):
    blocks = []  # pool adjacent violators, from the lowest score up
    for p, n in reversed(cells):
        blocks.append([p, p + n])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            p, n = blocks.pop()
            blocks[-1] = [blocks[-1][0] + p, blocks[-1][1] + n]
    r = {"mean_score": sum(a * c for a, _, c in rows) / total}
    r["brier"] = sum(a * (c - b) ** 2 for a, b, c in rows) / total
    r["ref"] = sum(p * (n - p) / n for p, n in blocks) / total
    r["cal"] = r["brier"] - r["ref"]
    told = [(a, c if b else 1 - c) for a, b, c in rows]
    finite = all(p for _, p in told)
    r["logloss"] = -sum(real(a) * mp.log(real(p)) for a, p in told if p != 1) / real(total) if finite else INFINITE
    if not weighted:
        deviation = sum(a * (b - c) * (1 - 2 * c) for a, b, c in rows)
        variance = sum((p + n) * (1 - 2 * c) ** 2 * c * (1 - c) for (p, n), c in zip(cells, levels, strict=True))
        r["spiegelhalter_z"] = under_root(deviation, variance)
    return r


def numbers(y, p, w=None):
    times = [F(v) for v in w or [1] * len(y)]
    y, p = [F(v) for v in y], [F(v) for v in p]
    e = [b - a for a, b in zip(y, p, strict=True)]
    my, mp_ = mean(y, times), mean(p, times)
    r = {"bias": mean(e, times), "mae": mean(map(abs, e), times), "mse": mean([v * v for v in e], times)}
    r |= {"rmse": mp.sqrt(real(r["mse"])), "err_var": r["mse"] - r["bias"] ** 2, "aoc": (r["mse"] - r["bias"] ** 2) / 2}
    var_y, var_p = mean([(v - my) ** 2 for v in y], times), mean([(v - mp_) ** 2 for v in p], times)
    r["r2"] = None if var_y == 0 else 1 - r["mse"] / var_y
    r["pearson"] = under_root(mean([(a - my) * (b - mp_) for a, b in zip(y, p, strict=True)], times), var_y * var_p)
    r["rae"] = over(r["mae"], mean([abs(v - my) for v in y], times))
    if w is not None:
        return r
    a, b = ([v - F(len(y) + 1, 2) for v in ranks(column, times)] for column in (y, p))
    r["spearman"] = under_root(
        sum(u * v for u, v in zip(a, b, strict=True)), sum(u * u for u in a) * sum(v * v for v in b)
    )
    signs = [((y[i] > y[j]) - (y[i] < y[j]), (p[i] > p[j]) - (p[i] < p[j])) for i in range(len(y)) for j in range(i)]
    r["kendall"] = under_root(sum(u * v for u, v in signs), sum(u * u for u, _ in signs) * sum(v * v for _, v in signs))
    sizes = sorted(map(abs, e))
    return r | {"medae": (sizes[(len(e) - 1) // 2] + sizes[len(e) // 2]) / 2}


def classes(truth, decision, labels, balanced=True):
    n = len(truth)
    row, col = ([F(column.count(label)) for label in labels] for column in (truth, decision))
    right = [F(sum(a == b == label for a, b in zip(truth, decision, strict=True))) for label in labels]
    acc, chance = sum(right) / n, sum(a * b for a, b in zip(row, col, strict=True)) / n**2
    f1 = [2 * k / (a + b) for k, a, b in zip(right, row, col, strict=True) if a + b]
    apart = (n * n - sum(v * v for v in col)) * (n * n - sum(v * v for v in row))
    r = {"acc": acc, "kappa": over(acc - chance, 1 - chance), "f1[macro]": sum(f1) / len(f1)}
    r["mcc"] = under_root((acc - chance) * n * n, apart)
    recall = [k / a for k, a in zip(right, row, strict=True) if a]
    return r | ({"bacc": sum(recall) / len(recall)} if balanced else {})


def probabilities(truth, score):
    """Multiclass probabilities as they are: they need not sum to 1."""
    n, r = len(truth), {}
    r["logloss"] = -sum(mp.log(real(F(score[label][k]))) for k, label in enumerate(truth)) / n
    r["brier"] = (
        sum((F(p) - (a == label)) ** 2 for label, ps in score.items() for a, p in zip(truth, ps, strict=True)) / n
    )
    areas = [binary([a == label for a in truth], ps)["auc"] for label, ps in score.items()]
    return r | {"auc[macro]": sum(areas) / len(areas)}


def pairs(b, c, d):
    n, k = b + c, min(b, c)
    tail, at = F(sum(math.comb(n, i) for i in range(k + 1)), 2**n), F(math.comb(n, k), 2**n)
    r = {"mcnemar_exact_p": min(F(1), 2 * tail), "mcnemar_midp": min(F(1), 2 * tail - at)}
    r["mcnemar_cc"] = F(max(0, abs(b - c) - 1) ** 2, n) if n else None
    r["mcnemar_cc_p"] = mp.erfc(mp.sqrt(real(r["mcnemar_cc"]) / 2)) if n else F(1)
    d = [F(v) for v in d]
    used = [v for v in d if v]  # Wilcoxon drops zeros; ties have mid-ranks
    of_size = ranks([abs(v) for v in used], [1] * len(used))
    r["wilcoxon_w"] = sum((x for x, v in zip(of_size, used, strict=True) if v > 0), F(0))
    ways = {F(0): 1}
    for x in of_size:
        added = {key + x: times for key, times in ways.items()}
        ways = {key: ways.get(key, 0) + added.get(key, 0) for key in ways.keys() | added}
    least = min(r["wilcoxon_w"], sum(of_size) - r["wilcoxon_w"])
    r["wilcoxon_exact_p"] = min(F(1), 2 * F(sum(v for key, v in ways.items() if key <= least), 2 ** len(used)))
    middle, df = mean(d, [1] * len(d)), len(d) - 1
    r["paired_t"] = under_root(middle, sum((v - middle) ** 2 for v in d) / df / len(d))
    r["paired_t_p"] = mp.betainc(mp.mpf(df) / 2, mp.mpf(1) / 2, 0, df / (df + r["paired_t"] ** 2), regularized=True)
    return r


EPS, TOP, TINY = 2.0**-53, 2.0**53, 5e-324
ALPHABET = [f"c{k:02d}" for k in range(100)]
KINDS = {f.__name__: f for f in (binary, numbers, classes, probabilities, pairs)}
SETS = [
    ("B01-ties", binary, "every score is tied across classes; ties count one half",
     {"y": [1, 1, 0, 1, 0, 0, 1, 0, 0, 1], "s": [.9, .9, .9, .5, .5, .5, .5, .1, .1, .1]}),
    ("B02-signed-zero", binary, "0.0 and -0.0 are equal, but 5e-324 is greater than both",
     {"y": [1, 0, 1, 0, 1, 0], "s": [0.0, -0.0, TINY, -0.0, 1e-310, TINY]}),
    ("B03-next-to-one", binary, "1, 1-2^-53 and 1-2^-52 are different scores, which 1-s and float32 merge",
     {"y": [1, 1, 0, 1, 0, 0], "s": [1 - EPS, 1 - EPS, 1 - 2 * EPS, 1.0, .5, 1 - 3 * EPS]}),
    ("B04-float-noise", binary, "0.1+0.2 and 0.3 are different doubles, hence no tie",
     {"y": [1, 0, 1, 0, 1], "s": [.3, .1 + .2, .7, .7000000000000001, .2]}),
    ("B05-huge-weights", binary, "weights 1e15, 1 and 1e-15 in one table",
     {"y": [1, 0, 1, 0, 1, 0, 0], "s": [.9, .8, .7, .6, .4, .3, .2], "w": [1e15, 1.0, 1e-15, 1e15, 1.0, 1e-15, 3.0]}),
    ("B06-perfect", binary, "perfect separation: AUC 1, DeLong variance 0, log loss near 1e-9",
     {"y": [1] * 5 + [0] * 5,
      "s": [1 - float(f"{k}e-9") for k in range(1, 6)] + [float(f"{k}e-9") for k in range(1, 6)]}),
    ("B07-constant", binary, "one score for all cases", {"y": [1, 0, 0, 1, 0], "s": [.3] * 5}),
    ("B08-tiny-p", binary, "probability 1e-300 for a positive and 1-2^-53 for a negative: log loss without clipping",
     {"y": [1, 0, 1, 0, 1], "s": [1e-300, 1 - EPS, .5, 1e-17, 1.0]}),
    ("B09-no-positives", binary, "no positives: what needs both classes is undefined",
     {"y": [0, 0, 0, 0], "s": [.1, .6, .3, .3]}),
    ("B10-one-positive", binary, "one positive: the AUC is defined, DeLong's variance is not",
     {"y": [0, 1, 0, 0, 0], "s": [.1, .6, .3, .7, .6]}),
    ("B11-zero-weights", binary, "cases of weight 0 count for nothing, at scores of their own, too",
     {"y": [1, 0, 1, 0, 1, 0], "s": [.9, .8, .7, .4, .95, .1], "w": [1.0, 0.0, 2.0, 3.0, 0.0, 1.0]}),
    ("B12-weights-2^53", binary, "weights around 2^53, where doubles begin to skip integers",
     {"y": [1, 0, 1, 0], "s": [.9, .8, .4, .3], "w": [TOP - 1, TOP, TOP + 2, 1.0]}),
    ("B13-float32", binary, "scores that were float32: 0.3 and 0.1+0.2 are tied, 0.7 is below the double 0.7",
     {"y": [1, 0, 1, 0, 1, 0], "at": .7,
      "s": [0.30000001192092896, 0.30000001192092896, 0.699999988079071, .10000000149011612, .8999999761581421, .75]}),
    ("B14-infinite", binary, "scores -inf and inf have ranks",
     {"y": [1, 0, 1, 0, 1], "s": [math.inf, -math.inf, 1.0, 0.0, -math.inf]}),
    ("B15-range-1e308", binary, "scores from -1.7e308 to 1.7e308: their differences overflow, their ranks do not",
     {"y": [1, 0, 1, 0, 1], "s": [1.7e308, -1.7e308, 1e308, 1.6e308, -1e-308]}),
    ("B16-many-ties", binary, "2 000 cases at one score, three at others",
     {"y": [1, 0, 1, 0, 1], "s": [.4, .4, .9, .8, .1], "times": [900, 1100, 1, 1, 1]}),
    ("B17-reversed", binary, "every negative above every positive: AUC 0",
     {"y": [1, 1, 0, 0, 0], "s": [.1, .2, .6, .8, .9]}),
    ("B18-all-half", binary, "every probability one half: Spiegelhalter's z is undefined",
     {"y": [1, 0, 0, 1, 0, 0], "s": [.5] * 6}),
    ("B19-impossible", binary, "probability 0 for a positive: log loss is infinite",
     {"y": [1, 0, 1, 0], "s": [0.0, .25, .75, .125]}),
    ("B20-tiny-weights", binary, "weights below the smallest normal double: their products underflow",
     {"y": [1, 0, 1, 0], "s": [.9, .8, .4, .3], "w": [TINY, 3 * TINY, 2 * TINY, 5 * TINY]}),
    ("B21-million", binary, "a million cases with score 0.1: sums accumulate rounding",
     {"y": [1, 0], "s": [.1, .1], "times": [300_000, 700_000]}),
    ("B22-soft-labels", binary, "each case in both classes, with the probability of each as its weight",
     {"y": [1, 0] * 4, "s": [.9, .9, .6, .6, .3, .3, .2, .2], "w": [.7, .3, .6, .4, .1, .9, .25, .75]}),
    ("B23-threshold", binary, "a threshold one double above a score",
     {"y": [1, 0, 1, 0, 1], "s": [.3, .1 + .2, .1, .2, .5], "at": .1 + .2}),
    ("R01-offset-1e15", numbers, "1e15 plus small integers: one-pass variances lose every digit",
     {"y": [1e15 + k for k in range(1, 11)], "p": [1e15 + k for k in (2, 2, 3, 5, 5, 5, 7, 9, 9, 11)]}),
    ("R02-numacc", numbers, "as NumAcc4 of NIST: 1e7+.1 and 1e7+.3 around 1e7+.2; the correlation is 2e-9",
     {"y": [1e7 + .2] + [1e7 + .1, 1e7 + .3] * 10, "p": [1e7 + .2] + [1e7 + .3] * 20}),
    ("R03-constant", numbers, "a constant truth that is no binary fraction",
     {"y": [.1] * 7, "p": [.1, .2, .3, .1, 0.0, .4, .1]}),
    ("R04-1e300", numbers, "squares overflow", {"y": [1e300, 2e300, 4e300, 3e300], "p": [1e300, 3e300, 4e300, 2e300]}),
    ("R05-1e-200", numbers, "squares underflow", {"y": [1e-200, 2e-200, 4e-200], "p": [1e-200, 3e-200, 5e-200]}),
    ("R06-cancellation", numbers, "errors of 1e16, 1, 0 and -1e16-2: they sum to -1",
     {"y": [0.0, 1.0, 2.0, 3.0], "p": [1e16, 2.0, -1e16, 3.0]}),
    ("R07-one-case", numbers, "one case: errors are defined, what needs a variance is not", {"y": [1.5], "p": [2.0]}),
    ("R08-tied-ranks", numbers, "ties in truth and predictions",
     {"y": [1.0, 1, 2, 2, 2, 3, 5, 5], "p": [2.0, 1, 2, 2, 3, 3, 3, 9]}),
    ("R09-offset-weights", numbers, "1e9 plus small numbers, with weights",
     {"y": [1e9 + k for k in (.25, 1.5, 2.125, 4.75)], "p": [1e9 + k for k in (.5, 1.25, 3.5, 4.125)],
      "w": [.1, 2.5, 1e-3, 7.0]}),
    ("K01-absent-class", classes, "class c is predicted once and never true; class d never appears",
     {"truth": list("aaaabbbb"), "decision": list("aaabbbbc"), "labels": list("abcd")}),
    ("K02-one-class", classes, "one class only; balanced accuracy left out, as programs differ in what they average",
     {"truth": list("aaaa"), "decision": list("aaaa"), "labels": list("a"), "balanced": False}),
    ("K03-hundred", classes, "a hundred classes, 300 cases",
     {"truth": [ALPHABET[k % 100] for k in range(300)],
      "decision": [ALPHABET[(k * k if k % 3 else k) % 100] for k in range(300)], "labels": ALPHABET}),
    ("K04-tied-top", probabilities, "the highest probability is tied",
     {"truth": list("abca"),
      "score": {"a": [.5, .25, .375, .375], "b": [.5, .75, .25, .375], "c": [0.0, 0.0, .375, .25]}}),
    ("K05-sum-1e-9", probabilities, "the probabilities of a case sum to 1 + 1e-9 and are taken as they are",
     {"truth": list("abc"), "score": {"a": [.5 + 1e-9, .2, .3], "b": [.3, .7, .1], "c": [.2, .1 + 1e-9, .6 + 1e-9]}}),
    ("P01-pairs", pairs, "3 against 15 discordant pairs; differences with exact signed-rank and t tests",
     {"b": 3, "c": 15, "d": [.5, -.25, 1.75, 2.0, -.125, .75, 1.5, 3.0, -1.0, .0625]}),
    ("P02-no-discordant", pairs, "no discordant pair: p is 1, McNemar's statistic undefined",
     {"b": 0, "c": 0, "d": [1.0, 2.0, 4.0]}),
    ("P03-zeros-and-ties", pairs, "differences of zero, and tied ones; 7 against 7 leave nothing to correct",
     {"b": 7, "c": 7, "d": [0.0, 1.0, -1.0, 2.0, 2.0, -2.0, 3.0, 0.0, .5, 1.0]}),
]  # fmt: skip

DIFFERENCE = "a difference of nearly equal numbers: its absolute error is that of the larger ones, 1e-16"
SQUARES = "refused: squares of numbers beyond 1e70, or all below 1e-70, are no doubles"
SINGLE = "a threshold typed as 0.7 is rounded to float32 where all scores are float32, so that it meets a score of 0.7"
REASONS = {  # where scorespace has fewer than 14 digits, or refuses; "*" for all values of a set
    "B02-signed-zero": {"mean_score": "a subnormal number: doubles have 13 digits there"},
    "B12-weights-2^53": {"*": "refused: doubles skip integers above 2^53"},
    "B13-float32": {f"{name}@0.7": SINGLE for name in ("acc", "tpr", "ppv", "f1", "bacc", "kappa", "mcc")},
    "B14-infinite": {"*": "refused: infinite scores; the largest finite score in their place has the same rank"},
    "B16-many-ties": {"cal": DIFFERENCE},
    "B20-tiny-weights": {"*": "refused: products of weights below 1e-70 underflow"},
    "R04-1e300": {"*": SQUARES},
    "R05-1e-200": {"*": SQUARES},
    "R06-cancellation": {"bias": "the errors are 1e16 times their mean, which is lost in their rounding"},
}


def data_of(value):
    """Doubles as hexadecimal text, which every language reads without rounding."""
    if isinstance(value, dict):
        return {key: data_of(one) for key, one in value.items()}
    if isinstance(value, list):
        return [data_of(one) for one in value]
    return value.hex() if isinstance(value, float) else value


def written(value):
    return value if value is None or value == INFINITE else mp.nstr(real(value), 30)


def main() -> int:
    lines = []
    for name, kind, why, data in SETS:
        expected = {measure: written(value) for measure, value in kind(**data).items()}
        one = {"id": name, "kind": kind.__name__, "why": why, "data": data_of(data), "expected": expected}
        one |= {"reasons": REASONS[name]} if name in REASONS else {}
        lines.append(json.dumps(one))
    text = "[\n" + ",\n".join(lines) + "\n]\n"
    if "--check" in sys.argv:
        return int(FILE.read_text() != text)
    FILE.write_text(text)
    print(len(SETS), "sets,", sum(len(json.loads(line)["expected"]) for line in lines), "values,", len(text), "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
