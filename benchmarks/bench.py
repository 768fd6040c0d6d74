"""Time scorespace against a bare sort of the same scores and against other programs, all in one run.

Every time starts from plain arrays (int64 labels, float64 scores), so it includes building the table.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from commands import LARGE, commands
from groups import judged, mined
from large import large
from learners import overhead
from pages import opened
from regression import predicted, sums_of_errors
from samples import Sample, classes, models
from sklearn.metrics import roc_auc_score, roc_curve
from timing import PATIENCE, Aim, Line, fresh, import_seconds, in_turns, installed, seconds, shown, spaced

from scorespace.calibration.summary import calibration_summary
from scorespace.comparisons.delong import delong_covariance, delong_pair
from scorespace.comparisons.paired import compare
from scorespace.curves.roc import roc
from scorespace.curves.smooth import smooth
from scorespace.inference.auc_variance import delong_interval
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.measures.average import average
from scorespace.measures.ranking import auc
from scorespace.tables import class_table, score_table
from scorespace.tables.paired import pair_table

REPLICATES = 2000
TURNS = 20  # of a loop that would take too long in full
MODELS = 10
CLASSES = 26
IMPORTS = 7
FULL = 10**7


def imports(rows: int) -> None:
    """How long the imports take beside that of NumPy; the number of rows does not matter."""
    numpy_import = import_seconds("import numpy", IMPORTS)
    for statement, most in (("import scorespace", 3.0), ("from scorespace.measures.ranking import auc", None)):
        name = statement if len(statement) < 30 else "import of the core, for AUC"
        print(Line(name, import_seconds(statement, IMPORTS), "import numpy", numpy_import, Aim(slower=most)))


def memory(rows: int) -> None:
    """Peak memory of the AUC beyond the arrays, as a multiple of their size."""
    found = fresh(
        "import tracemalloc, numpy as np\n"
        "from scorespace.measures.ranking import auc\n"
        "from scorespace.tables import score_table\n"
        "rng = np.random.default_rng(0)\n"
        f"truth, score = rng.integers(0, 2, {rows}), rng.random({rows})\n"
        "tracemalloc.start()\n"
        "auc(score_table(truth, score))\n"
        "print(tracemalloc.get_traced_memory()[1] / (truth.nbytes + score.nbytes))\n"
    )
    print(f"  peak memory of the AUC   {found:.2f} × the input   aim < 4 ×: {'met' if found < 4 else 'MISSED'}")


def ranking(rows: int) -> None:
    """AUC, its interval, all thresholds and the bootstrap of one model."""
    sample = Sample.of(rows)
    truth, score = sample.truth, sample.score
    runs = 1 if rows >= FULL else 3
    ours, sort = in_turns(lambda: auc(score_table(truth, score)), lambda: np.sort(score), runs=5)
    theirs = seconds(lambda: roc_auc_score(truth, score), runs)
    print(Line("AUC", ours, "np.sort", sort, Aim(slower=3 if rows == FULL else None)))
    print(Line("", ours, "roc_auc_score", theirs, Aim(faster=12 if rows == FULL else None)))

    ours = seconds(lambda: _with_interval(sample))
    print(Line("AUC with DeLong interval", ours, "roc_auc_score, no interval", theirs))

    ours = seconds(lambda: score_table(truth, score).sweep)
    curve = seconds(lambda: roc_curve(truth, score, drop_intermediate=False), runs)
    print(Line("all thresholds", ours, "roc_curve", curve))

    rng = np.random.default_rng(0)
    many = REPLICATES // 10 if rows >= FULL else REPLICATES
    loop = many * seconds(lambda: _redrawn(sample, rng), runs)
    ours = seconds(lambda: _with_bootstrap(sample, many), runs)
    aim = Aim(faster=100 if rows == 10**6 else None)
    print(
        Line(f"bootstrap of AUC, {many} replicates, from the rows", ours, f"roc_auc_score, 1 turn × {many}", loop, aim)
    )


def _with_interval(sample: Sample) -> object:
    table = score_table(sample.truth, sample.score)
    return auc(table), delong_interval(table, 0.95)


def _with_bootstrap(sample: Sample, replicates: int) -> object:
    """As users have it: many scores are condensed first."""
    table = score_table(sample.truth, sample.score)
    return estimate(parse("auc"), table, method="bootstrap", replicates=replicates)


def _redrawn(sample: Sample, rng: np.random.Generator) -> object:
    """One turn of the loop: draw each class with replacement, then the area."""
    drawn = np.concatenate([rng.choice(places, places.size) for places in (sample.positives, sample.negatives)])
    return roc_auc_score(sample.truth[drawn], sample.score[drawn])


def paired_delong(rows: int) -> None:
    """All areas of ten models, their covariance matrix and the test of each pair."""
    truth, scores = models(rows, MODELS)
    name = f"DeLong, {MODELS} models, 45 tests"
    ours = seconds(lambda: our_delong(truth, scores))
    peers = {}
    if installed("confidenceinterval"):
        # Its covariance of several models at once; the tests from that would take no time.
        peers["confidenceinterval, all at once"] = seconds(lambda: covariance_of_peer(truth, scores), 1)
    if installed("MLstatkit"):
        from MLstatkit import Delong_test

        one, other, *_ = scores.values()
        turn = seconds(lambda: Delong_test(truth, one, other), 1)
        peers["MLstatkit, 1 pair × 45"] = 45 * turn
    fastest = min(peers, key=lambda peer: peers[peer], default=None)
    for peer, theirs in peers.items():
        aim = Aim(faster=10 if peer == fastest and rows == 10**6 else None)
        print(Line(name, ours, peer, theirs, aim))
    if not peers:
        print(f"  {name:<36}{shown(ours):>9}")


def our_delong(truth: np.ndarray, scores: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, list[object]]:
    pairs = pair_table(truth, scores)
    areas, covariance = delong_covariance(pairs)
    chosen = combinations(range(len(scores)), 2)
    tests = [delong_pair(areas, covariance, (pairs.models[i], pairs.models[j]), i, j, 0.95) for i, j in chosen]
    return areas, covariance, tests


def covariance_of_peer(truth: np.ndarray, scores: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    from confidenceinterval.delong import compute_ground_truth_statistics, fastDeLong

    order, positives, _ = compute_ground_truth_statistics(truth, None)
    return fastDeLong(np.stack(list(scores.values()))[:, order], positives, None)


def paired_draws(rows: int) -> None:
    """The bootstrap of the difference of two areas, on the same cases."""
    truth, scores = models(rows, 2)
    one, other = scores.values()
    rng = np.random.default_rng(0)

    def turn() -> object:
        drawn = rng.integers(0, rows, rows)
        label = truth[drawn]
        return roc_auc_score(label, one[drawn]) - roc_auc_score(label, other[drawn])

    def turns() -> None:
        for _ in range(TURNS):
            turn()

    loop = seconds(turns, 1) / TURNS * REPLICATES
    test = f"bootstrap(replicates={REPLICATES})"
    ours = seconds(lambda: compare(pair_table(truth, scores), spec=parse("auc"), test=test))
    name, peer = f"paired bootstrap, {REPLICATES} replicates", f"roc_auc_score, {TURNS} turns × {REPLICATES // TURNS}"
    print(Line(name, ours, peer, loop, Aim(faster=30 if rows == 10**5 else None)))


def smooth_curve(rows: int) -> None:
    """The smooth ROC curve beside the ordinary one."""
    sample = Sample.of(rows)
    ours, ordinary = in_turns(
        lambda: smooth(score_table(sample.truth, sample.score)), lambda: roc(score_table(sample.truth, sample.score))
    )
    print(Line("smooth ROC", ours, "our ROC", ordinary, Aim(slower=1.5 if rows == FULL else None)))


def hand_till(rows: int) -> None:
    """The mean area over all pairs of classes, and how its time grows with their number."""
    truth, scores = classes(rows, CLASSES)
    ours, theirs = in_turns(
        lambda: our_hand_till(truth, scores), lambda: roc_auc_score(truth, scores, multi_class="ovo")
    )
    full = rows == 20_000
    print(
        Line(
            f"Hand-Till, {CLASSES} classes", ours, "roc_auc_score(multi_class='ovo')", theirs, Aim(10 if full else None)
        )
    )
    numbers = (5, 10, 20, 40)
    given = [classes(rows, number) for number in numbers]
    times = in_turns(*(partial(our_hand_till, *sample) for sample in given), runs=7)
    for number, taken in zip(numbers, times, strict=True):
        aim = Aim(slower=1.5 if full and number == 40 else None)
        print(Line(f"{number} classes", taken, f"{number // 5} × 5 classes", times[0] * number / 5, aim))


def our_hand_till(truth: np.ndarray, scores: np.ndarray) -> float:
    return float(average(auc, "hand_till")(class_table(truth, scores)))


def calibration(rows: int) -> None:
    """All that is to say about probabilities, from the table on, beside making that table."""
    sample = Sample.of(rows)
    made = score_table(sample.truth, sample.score)
    ours, table = in_turns(lambda: calibration_summary(made), lambda: score_table(sample.truth, sample.score))
    print(
        Line("calibration summary of a table", ours, "its ScoreTable", table, Aim(slower=3 if rows == FULL else None))
    )


@dataclass(frozen=True)
class Part:
    """A part of the run, and for how many rows it runs unless told otherwise."""

    run: Callable[[int], None]
    rows: tuple[int, ...]


PARTS = {
    "imports": Part(imports, ()),
    "commands": Part(commands, (1000, LARGE)),
    "memory": Part(memory, (FULL,)),
    "delong": Part(paired_delong, (10**6,)),
    "paired": Part(paired_draws, (10**5,)),
    "smooth": Part(smooth_curve, (FULL,)),
    "classes": Part(hand_till, (20_000,)),
    "calibration": Part(calibration, (FULL,)),
    "sums": Part(sums_of_errors, (10**6, 10**7)),
    "large": Part(large, (10**6, 10**7)),
    "page": Part(opened, (FULL,)),
    "ranking": Part(ranking, (10**5, 10**6, FULL)),
    "regression": Part(predicted, (10**6, FULL)),
    "clusters": Part(judged, (10**5,)),
    "rules": Part(mined, (10**6,)),
    "benchmark": Part(overhead, (1000,)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), nargs="+", help="such as 1e5 1e6")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    asked = parser.parse_args()
    began = time.perf_counter()
    for name in asked.only:
        part = PARTS[name]
        for rows in (asked.rows or part.rows) if part.rows else (0,):
            print(f"\n{name}" + (f", {spaced(rows)} rows" if rows else ""), flush=True)
            part.run(rows)
    print(
        "\nBest of 3 to 7 runs, of commands the median. Other programs once at 10 million rows or where they take long."
        f" Nothing is repeated after {PATIENCE:g} s.\nA loop that is given as turns × a number was run for those turns "
        f"only. In all {shown(time.perf_counter() - began)}."
    )


if __name__ == "__main__":
    main()
