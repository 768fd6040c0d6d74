"""Cases of the other tasks: predicted numbers, clusters, rules, matrices, audits and stored tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

from fuzz.draw import FORMATS, LABELS, NAMES, Case, Draw
from fuzz.files import file_of
from fuzz.options import ODD_NUMBERS

Rows = list[dict[str, Any]]


def _sized(rng: Draw) -> int:
    return rng.choice([20, 40, 80] if rng.calm else [0, 1, 2, 3, 8, 20])


def _perhaps(rng: Draw, share: float, *given: str) -> list[str]:
    return list(given) if rng.random() < share else []


def _dropping(rng: Draw) -> list[str]:
    return ["--missing", "drop"] if rng.calm or rng.random() < 0.5 else []


def _formatted(rng: Draw) -> list[str]:
    return ["--format", rng.choice(FORMATS)]


def _written(rng: Draw, name: str) -> list[str]:
    """A page or a picture now and then; drawing is slow."""
    report = rng.odd("page.html", name, "absent/page.html", "page.txt")
    return _perhaps(rng, 0.06, "--report", report) + _perhaps(rng, 0.03, "--out", rng.odd("out.svg", name, "out.doc"))


def _cases(
    rng: Draw, seed: int, verb: str, rows: Rows, arguments: list[str], weight: str | None = None, **more: bytes
) -> Case:
    """The case of a verb that reads one file, which now and then comes by stdin or is not there."""
    name, data, told = file_of(rng, rows)
    place, stdin = name, None
    if name.endswith(".csv") and rng.random() < 0.05:
        place, stdin = "-", name
    elif rng.random() < 0.02:
        place, told = rng.choice(["*.csv", "absent.csv", "https://localhost:9/a.csv", ".", ""]), False
    filled = [one.replace("DATA", name) for one in arguments]
    weightless = sum(1 for row in rows if row.get(weight) == 0) if weight in filled else 0
    return Case(seed, [verb, place, *filled], {name: data, **more}, len(rows) if told else None, weightless, stdin)


# --- predicted numbers

_TRUTHS: list[Callable[[Draw], Any]] = [
    lambda rng: rng.gauss(10, 3),
    lambda rng: rng.gauss(10, 3),
    lambda rng: rng.expovariate(0.01),
    lambda rng: rng.randrange(5),
    lambda rng: 7,
    lambda rng: rng.choice([0, 0.0, -0.0]),
    lambda rng: rng.choice([1e308, -1e308, 5e-324, 1e-300]),
    lambda rng: rng.choice([1e155, -1e155, 0]),
    lambda rng: 2**53 + rng.randrange(9),
    lambda rng: rng.choice([1.5, None, float("nan"), float("inf")]),
    lambda rng: rng.choice([2.5, "much", "1,5", True]),
]
_NUMBER_MEASURES = (
    *("mae", "mse", "rmse", "rae", "rse", "rrse", "r2", "pearson", "spearman", "bias", "err_var", "aoc"),
    *("asym(alpha=0.7)", "mape", "smape", "medae", "max_error", "pinball(q=0.9)", "huber", "d2", "cal", "ref", "unc"),
    *("coverage", "width", "interval_score", "explained_variance", "cindex", "auc", "asym(alpha=2)", "huber(at=-1)"),
)


def numbers(rng: Draw, seed: int, verb: str) -> Case:
    """A verb on predictions of numbers."""
    names = rng.sample(NAMES, 6) if rng.random() < 0.3 else ["p", "q", "low", "high", "w", "g"]
    p, q, low, high, weight, group = names
    truth = rng.choice(_TRUTHS[:6] if rng.calm else _TRUTHS)
    error = rng.choice([0, 1, 1, 1, 5, 1e-12] if rng.calm else [0, 1, 1e300])
    rows: Rows = []
    for k in range(_sized(rng)):
        y = truth(rng)
        held = isinstance(y, int | float) and abs(y) < 1e307
        guess = y + rng.gauss(0, 1) * error if held else rng.choice([y, 0.0])
        row = {"y": y, p: guess, q: rng.choice([guess, rng.gauss(10, 3), 10]), low: -1, high: 1}
        if held and not isinstance(guess, str):
            row |= {low: guess - rng.random() * 3, high: guess + rng.random() * 3}
        row |= {weight: rng.choice([1, 2, 0, 0.5]), group: rng.randrange(6), "t": rng.choice([k, k, 3]), "f": k % 5}
        if rng.random() < 0.03:
            row[rng.choice(list(row))] = None
        rows.append(row)
    chosen = ["--truth", "y", "--prediction", p]
    if verb == "compare" or rng.random() < 0.4:
        chosen += ["--prediction", q]
    if verb in ("evaluate", "decide", "curve"):
        chosen += _perhaps(rng, 0.25, "--weight", weight)
    if verb in ("evaluate", "compare"):
        chosen += _perhaps(rng, 0.15, "--group", group) + _perhaps(rng, 0.15, "--time", "t")
        chosen += _perhaps(rng, 0.1, "--fold", "f")
    chosen += _dropping(rng)
    chosen += _number_options(rng, verb, [p, low, high], several=chosen.count("--prediction") > 1)
    chosen += _formatted(rng)
    return _cases(rng, seed, verb, rows, chosen, weight)


def _number_options(rng: Draw, verb: str, columns: list[str], *, several: bool) -> list[str]:
    p, low, high = columns
    chosen: list[str] = []
    if verb == "evaluate":
        known = _NUMBER_MEASURES[:-3] if rng.calm else _NUMBER_MEASURES
        chosen += _perhaps(rng, 0.8, "--measures", ",".join(rng.sample(known, rng.randrange(1, 5))))
        whose = f"{p}=" if several else ""
        ends = rng.odd(
            f"{whose}{low},{high},0.9",
            f"{low},{high}",
            f"{p}={high},{low},0.5",
            "low,",
            ",",
            f"{low},{high},2",
            f"{low},{low},{low}",
        )
        chosen += _perhaps(rng, 0.3, "--interval", ends)
        chosen += _perhaps(rng, 0.2, "--interval", rng.odd("percentile", "bca", "basic", "wilson", "delong", "x"))
        chosen += _perhaps(rng, 0.2, "--baseline", rng.odd("mean", "10", "f", "nan", "1e308", "absent"))
        chosen += _perhaps(rng, 0.1, "--require", rng.choice(["mae<=100", "r2>0", "auc>1", "mae>"]))
        chosen += _perhaps(rng, 0.05, "--report", rng.odd("page.html", "DATA", "page.txt"))
        chosen += _perhaps(rng, 0.1, "--level", rng.odd("0.9", "0", "1", "0.999999"))
    if verb == "compare":
        chosen += _perhaps(rng, 0.5, "--test", rng.odd("wilcoxon", "bootstrap", "diebold_mariano", "t", "delong", "x"))
        chosen += _perhaps(rng, 0.3, "--measure", rng.odd("mae", "mse", "r2", "spearman", "max_error", "auc"))
        chosen += _perhaps(rng, 0.1, "--against", rng.odd("1", *ODD_NUMBERS))
    if verb == "curve":
        kinds = ["rroc", "rroc(axes=sum)", "predicted", "residuals", "quantiles", "error_size", "isotonic"]
        kinds += [] if rng.calm else ["roc", "error_size(parts=0)", "error_size(parts=1000000)", "rroc(axes=x)"]
        chosen += ["--kind", rng.choice(kinds)]
        out = rng.odd(rng.choice(["out.csv", "out.json"]), "DATA", "out.doc", "absent/a.csv")
        chosen += _perhaps(rng, 0.3, "--out", out) or _perhaps(rng, 0.03, "--out", "out.svg")
    if verb == "decide" or (verb == "evaluate" and rng.random() < 0.2):
        chosen += ["--cost-under", rng.odd("2", *ODD_NUMBERS), "--cost-over", rng.odd("1", *ODD_NUMBERS)]
        chosen += _perhaps(rng, 0.03, "--out", "out.svg") if verb == "decide" else []
    return chosen


# --- confusion matrices


def matrices(rng: Draw, seed: int, verb: str) -> Case:
    """Models that are matrices, in files or typed."""
    files: dict[str, bytes] = {}
    arguments = [verb]
    labels = rng.choice([each for each in LABELS if len(set(each)) > 1])
    text = ""
    for name in rng.sample(["a", "b", *NAMES], rng.choice([1, 1, 2])):
        if text and rng.calm:  # models of the same cases
            pass
        elif rng.random() < 0.3:
            size = rng.odd(2, 3, 1)
            text = "; ".join(" ".join(_cell(rng) for _ in range(rng.odd(size, 2))) for _ in range(size))
        else:
            text = f"m{len(files)}.csv"
            files[text] = _matrix_file(rng, labels)
        arguments += ["--matrix", f"{name}={text}"]
    arguments += _perhaps(rng, 0.2, "--rows", rng.odd("actual", "predicted", "x"))
    arguments += _perhaps(rng, 0.3, "--positive", rng.choice(labels))
    if verb == "evaluate":
        known = ["acc", "f1[macro]", "kappa", "mcc", "ppv", "tpr", "f1[micro]", "bacc", "auc", "brier"]
        arguments += _perhaps(rng, 0.7, "--measures", ",".join(rng.sample(known, rng.randrange(1, 4))))
        arguments += _perhaps(rng, 0.2, "--by-class") + _perhaps(rng, 0.2, "--order", ",".join(labels))
        arguments += _perhaps(rng, 0.2, "--interval", rng.odd("wilson", "bca", "x"))
        arguments += _perhaps(rng, 0.05, "--report", rng.odd("page.html", *list(files)[:1], "page.txt"))
    if verb == "decide" or rng.random() < 0.1:
        arguments += ["--cost-fp", rng.odd("1", *ODD_NUMBERS), "--cost-fn", rng.odd("5", *ODD_NUMBERS)]
    return Case(seed, [*arguments, *_formatted(rng)], files)


def _cell(rng: Draw) -> str:
    return str(rng.odd(rng.randrange(60), 0, -1, 0.5, "1e19", "1e308", "nan", "x", "", "1 000"))


def _matrix_file(rng: Draw, labels: list[str]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([rng.odd("", "actual", "predicted", "truth"), *labels])
    for label in labels if rng.calm or rng.random() < 0.8 else labels[1:]:
        writer.writerow([label, *(_cell(rng) for _ in labels)])
    return out.getvalue().encode(rng.odd("utf-8", "utf-8-sig", "latin-1"), "replace")


# --- clusters and rules


def clusters(rng: Draw, seed: int) -> Case:
    """Points in clusters of one or two labellings."""
    names = rng.sample(NAMES, 4) if rng.random() < 0.3 else ["kmeans", "ward", "kind", "w"]
    first, second, truth, weight = names
    labels = rng.choice(LABELS) if rng.random() < 0.5 else ["a", "b", "c"]
    spread = rng.choice([1.0, 0.0, 1e-9] if rng.calm else [1.0, 0.0, 1e155, 1e308])
    rows: Rows = []
    for _ in range(_sized(rng)):
        label = rng.choice(labels)
        place = labels.index(label)
        row = {f"x{axis}": place * 4 + rng.choice([rng.gauss(0, 1), 0]) * spread for axis in range(3)}
        row |= {first: label, second: rng.choice(labels), truth: rng.odd(label, rng.choice(labels), "alone")}
        row |= {weight: rng.choice([1, 1, 2, 0]), "g": rng.randrange(4)}
        if rng.random() < 0.03:
            row[rng.choice(list(row))] = None
        rows.append(row)
    if rows and not rng.calm and rng.random() < 0.2:
        rng.choice(rows)["x1"] = rng.choice([float("inf"), float("nan"), "far", 1e308])
    chosen = ["--label", first, *_perhaps(rng, 0.4, "--label", second)]
    chosen += ["--feature", rng.odd("x*", "x1", first, "z*", "*")]
    chosen += _perhaps(rng, 0.4, "--truth", truth) + _perhaps(rng, 0.15, "--noise", rng.choice([*labels, "-1"]))
    chosen += _perhaps(rng, 0.2, "--weight", weight) + _perhaps(rng, 0.15, "--group", "g")
    chosen += _perhaps(rng, 0.2, "--scale", rng.odd("standard", "none", "x"))
    known = ["silhouette", "davies_bouldin", "calinski_harabasz", "dunn", "border_distance", "centroid_distance"]
    known += ["radius", "radius(how=mean)", "density", "ari", "ami", "nmi", "purity", "v_measure", "pair_fm"]
    known += [] if rng.calm else [f"silhouette[{labels[0]}]", "radius(how=x)", "silhouette(points=0)", "auc"]
    chosen += _perhaps(rng, 0.7, "--measures", ",".join(rng.sample(known, rng.randrange(1, 5))))
    chosen += ["--resamples", rng.odd("5", "0", "1", "-1"), *_perhaps(rng, 0.1, "--level", rng.odd("0.9", "0", "2"))]
    chosen += _dropping(rng) + _written(rng, "DATA") + _formatted(rng)
    return _cases(rng, seed, "clusters", rows, chosen, weight)


def rules(rng: Draw, seed: int) -> Case:
    """Transactions, long or one-hot, with rules to find or to measure."""
    items = rng.sample(NAMES, 5) if rng.random() < 0.4 else ["bread", "butter", "jam", "tea", "salt"]
    share = rng.choice([0.5, 0.5, 0.2, 1.0, 0.0])
    yes = rng.odd((1, 0), (True, False), ("yes", "no"), (2, 0), (1.0, None))
    rows: Rows = []
    long = rng.random() < 0.5
    for k in range(_sized(rng)):
        held = {item: rng.random() < share for item in items}
        held[items[1]] |= held[items[0]]
        times = {"times": rng.odd(k % 3, 1, 0.5, -1, None)}
        if long:
            rows += [{"id": rng.odd(k, f"#{k}"), "item": item, **times} for item in items if held[item]]
        else:
            rows.append({item: yes[not is_held] for item, is_held in held.items()} | times)
    if rows and rng.random() < 0.1:
        row = rng.choice(rows)
        row[rng.choice(list(row))] = rng.choice([None, "", "x", 3])
    chosen = ["--transaction", "id", "--item", "item"]
    if not long:
        chosen = [word for item in items for word in ("--item", item)]
        chosen = rng.odd(chosen, ["--item", "*"], ["--item", "z*"], [])
    chosen += _perhaps(rng, 0.2, "--weight", rng.odd("times", "absent"))
    if rng.random() < 0.3:
        a, b, c = rng.sample(items, 3)
        chosen += ["--rule", rng.odd(f"{a} => {b}", f"{a}, {c} => {b}", f"{a} =>", "=>", f"{a} => {a}", "zz => yy")]
    chosen += _perhaps(rng, 0.5, "--min-support", rng.odd("0.1", "0", "1", "1e-9", "2", "-1", "nan"))
    chosen += _perhaps(rng, 0.3, "--max-size", rng.odd("4", "1", "0", "-1", "100"))
    chosen += _perhaps(rng, 0.2, "--max-consequent", rng.odd("2", "0", "100"))
    chosen += _perhaps(rng, 0.3, "--at-least", rng.odd("confidence=0.5", "rule_lift=nan", "x=1", "confidence"))
    chosen += _perhaps(rng, 0.3, "--order", rng.odd("confidence", "-support,rule_lift", "x", "", "-"))
    chosen += _perhaps(rng, 0.3, "--top", rng.odd("3", "0", "-1")) + _perhaps(rng, 0.2, "--redundant")
    known = ["support", "confidence", "rule_lift", "leverage", "conviction", "jaccard", "kulczynski", "mcc", "dor"]
    known += [] if rng.calm else ["auc", "x", "f1[macro]"]
    chosen += _perhaps(rng, 0.6, "--measures", ",".join(rng.sample(known, rng.randrange(1, 5))))
    chosen += _perhaps(rng, 0.1, "--level", rng.odd("0.9", "0", "2"))
    chosen += _dropping(rng) + _written(rng, "DATA") + _formatted(rng)
    return _cases(rng, seed, "rules", rows, chosen)


# --- any table


def label(rng: Draw, seed: int, rows: Rows, columns: dict[str, Any]) -> Case:
    """Rows to label, by a score that may be no probability."""
    name, data, _ = file_of(rng, rows)
    arguments = ["label", name, "--score", columns["score"], "--measure", rng.choice(["auc", "acc@0.5", "brier", "ks"])]
    arguments += ["--budget", rng.choice(["5", "10", "0"]), "--out", "chosen.csv"]
    arguments += ["--truth", "y"] if rng.random() < 0.3 else []
    return Case(seed, [*arguments, "--format", rng.choice(FORMATS)], {name: data})


def audit(rng: Draw, seed: int, rows: Rows, other: Rows, columns: dict[str, Any]) -> Case:
    """An audit of a table, now and then beside another."""
    chosen = _perhaps(rng, 0.7, "--target", rng.odd("y", columns["score"], columns["group"], "absent"))
    if "--target" in chosen and rng.random() < 0.3:
        chosen += ["--score", columns["score"], *_perhaps(rng, 0.7, "--positive", rng.choice(columns["labels"]))]
    chosen += _perhaps(rng, 0.2, "--group", columns["group"]) + _perhaps(rng, 0.2, "--fold", "f")
    kind = rng.odd("nominal", "ordinal(a,b)", "numeric", "x", "ordinal(", "")
    chosen += _perhaps(rng, 0.15, "--kind", f"{columns['second']}={kind}")
    chosen += _perhaps(rng, 0.1, "--fail-on", rng.odd("warning", "SA001", "x"))
    chosen += _perhaps(rng, 0.06, "--report", rng.odd("page.html", "DATA", "absent/page.html", "page.txt"))
    more = {}
    if rng.random() < 0.3:
        name, data, _ = file_of(rng, other, "test")
        chosen += ["--test", name]
        more[name] = data
    return _cases(rng, seed, "audit", rows, [*chosen, *_formatted(rng)], **more)


def table(rng: Draw, seed: int, rows: Rows, columns: dict[str, Any]) -> Case:
    """The tables of models, stored."""
    chosen = ["--truth", "y", "--score", columns["score"], *_perhaps(rng, 0.3, "--decision", columns["decision"])]
    chosen += ["--positive", rng.choice(columns["labels"])] if rng.calm or rng.random() < 0.7 else []
    if rng.random() < 0.25:
        chosen += ["--weight", columns["weight"], *_perhaps(rng, 0.4, "--weights", rng.odd("copies", "cases"))]
    chosen += _perhaps(rng, 0.2, "--bins")
    chosen += _perhaps(rng, 0.2, "--at", rng.odd("0.5", *ODD_NUMBERS))
    chosen += _perhaps(rng, 0.1, "--memory", rng.odd("1MB", "0", "x", "1e99GB"))
    chosen += _perhaps(rng, 0.1, "--precision", rng.odd("1e-6", *ODD_NUMBERS))
    chosen += [*_dropping(rng), "--out", rng.odd("out.parquet", "DATA", "out.csv", "absent/out.parquet")]
    return _cases(rng, seed, "table", rows, chosen, columns["weight"])
