"""Cases of experiments: learners on small files, runs that go on, and verbs on runs that somebody bent."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.draw import FORMATS, LABELS, NAMES, Case, Draw
from fuzz.files import bent, file_of

_LEARNERS = ["majority", "knn(k=3)", "tree", "mean", "linear", "naive_bayes"]
_ODD_LEARNERS = ["knn(k=0)", "knn(k=x)", "x", "", "a=b=tree", "os:system", "tree()", "knn(", "json:loads", "m=majority"]
_SPLITS = ["2", "1x2", "2x2", "holdout:0.3", "bootstrap:2", "logo:g", "time:2"]
_ODD_SPLITS = ["0", "1", "-2", "x", "", "loo", "2x", "holdout:1.5", "logo:absent", "lpgo:99:g", "time:99", "1e9x1e9"]


def _rows(rng: Draw) -> tuple[list[dict[str, Any]], str]:
    labels = rng.choice(LABELS[:20]) if rng.random() < 0.4 else ["0", "1"]
    numbers = rng.random() < 0.2
    first, second = rng.sample(NAMES, 2) if rng.random() < 0.4 else ("x1", "x2")
    rows: list[dict[str, Any]] = []
    for k in range(rng.choice([12, 20, 30] if rng.calm else [0, 1, 3, 12])):
        truth = rng.choice(labels)
        row = {"y": rng.gauss(0, 1) if numbers else truth, first: rng.gauss(0, 1), second: rng.choice(["u", "v"])}
        row |= {"g": k % 4, "t": k}
        if rng.random() < 0.03:
            row[rng.choice(list(row))] = None
        rows.append(row)
    if rows and not rng.calm and rng.random() < 0.3:
        rng.choice(rows)[first] = rng.choice([float("inf"), 1e308, "x", float("nan")])
    return rows, rng.choice(labels)


def _common(rng: Draw, positive: str) -> list[str]:
    chosen = ["--resampling", rng.odd(rng.choice(_SPLITS[:4]), *_SPLITS, *_ODD_SPLITS)]
    chosen += ["--target", rng.odd("y", "absent", "", "g"), "--workers", rng.odd("1", "0", "x")]
    chosen += ["--positive", positive] if rng.random() < 0.7 else []
    chosen += ["--group", rng.odd("g", "absent", "y")] if rng.random() < 0.2 else []
    chosen += ["--drop", rng.odd("t", "absent", "y")] if rng.random() < 0.2 else []
    chosen += ["--seed", rng.odd("1", "-1", "99999999999999999999")] if rng.random() < 0.1 else []
    return chosen


def benchmark(rng: Draw, seed: int) -> Case:
    """Two small learners on a small file, into a folder that is new or holds a run."""
    rows, positive = _rows(rng)
    name, data, _ = file_of(rng, rows)
    files = {name: data}
    chosen = ["--data", rng.odd(name, "absent.csv", ".", "http://localhost:9/a.csv"), *_common(rng, positive)]
    for learner in rng.sample(_LEARNERS, 2):
        chosen += ["--learner", rng.odd(learner, *_ODD_LEARNERS)]
    out = rng.odd("runs", name, "absent/runs", "")
    if rng.random() < 0.15:
        files |= _bent_run(rng)
        out = "run"
    chosen += ["--out", out]
    for flag in ("--train", "--retry", "--replace"):
        chosen += [flag] if rng.random() < 0.1 else []
    chosen += ["--task", rng.odd("classes", "numbers", "x")] if rng.random() < 0.1 else []
    return Case(seed, ["benchmark", *chosen, "--format", rng.choice(FORMATS)], files)


def study(rng: Draw, seed: int) -> Case:
    """One small learner, looked at closely."""
    rows, positive = _rows(rng)
    name, data, _ = file_of(rng, rows)
    kind = rng.odd(rng.choice(["permutation", "learning", "model"]), "x")
    chosen = ["--learner", rng.odd(rng.choice(_LEARNERS), *_ODD_LEARNERS), *_common(rng, positive)]
    chosen += ["--permutations", rng.odd("3", "1", "0", "x")]
    chosen += ["--measure", rng.odd("auc", "acc@0.5", "mae", "x", "")] if rng.random() < 0.2 else []
    if kind == "model" or rng.random() < 0.1:
        fitting = rng.choice(["m.skops", "m.pkl", "m.onnx"]) if kind == "model" else rng.choice(["a.svg", "a.html"])
        chosen += ["--out", rng.odd(fitting, name, "m.doc", "absent/m.skops")]
        chosen += ["--pickle"] if rng.random() < 0.3 else []
    return Case(seed, ["study", kind, name, *chosen, "--format", rng.choice(FORMATS)], {name: data})


def on_run(rng: Draw, seed: int) -> Case:
    """A verb on the directory of a run, whole or bent."""
    files = _bent_run(rng) if rng.random() < 0.6 else dict(_run())
    rng.columns, rng.labels = ("y", "knn", "majority", "small", "other"), ("a", "b")
    verb = rng.choice(["evaluate", "compare", "decide", "curve", "ranks", "benchmark"])
    chosen = [verb, *(["status"] if verb == "benchmark" else []), rng.odd("run", "run/jobs", "run/run.json", "absent")]
    chosen += ["--dataset", rng.odd("small", "other", "absent")] if rng.random() < 0.5 and verb != "benchmark" else []
    if verb == "curve":
        chosen += ["--kind", rng.choice(["roc", "pr", "calibration"])]
    if verb == "decide":
        chosen += ["--cost-fp", "1", "--cost-fn", "5"]
    if verb == "evaluate":
        chosen += ["--measures", rng.odd("auc,acc", "mae", "x")]
    return Case(seed, [*chosen, "--format", rng.choice(FORMATS)], files)


def catalogue(rng: Draw, seed: int) -> Case:
    """The verbs that read nothing."""
    verb = rng.choice(
        ["measures", "curves", "tests", "measures", "curves", "tests", "doctor", "demo", "check", "ledger"]
    )
    words = [] if verb in ("doctor", "demo") else [rng.odd("auc", "x", "", "roc", "\x1b[31m", "é" * 300, *NAMES)]
    if verb == "check":
        numbers = rng.sample(["acc=.85", "tpr=80%", "auc=.9", "ppv=.5", "mcc=-.2", "acc=85", "tpr=", "f1=.1e3"], 2)
        words = [
            *numbers,
            "--n",
            rng.odd("100", "30", "0", "-5", "1e3", "99999"),
            *rng.choice([[], ["--positives", "10"]]),
        ]
    more = ["--report", rng.odd("page.html", "page.txt", "absent/page.html")] if verb == "demo" else []
    return Case(seed, [verb, *words, *more, "--format", rng.choice(FORMATS)], {})


def _bent_run(rng: Draw) -> dict[str, bytes]:
    files = dict(_run())
    for name in rng.sample(sorted(files), rng.choice([1, 1, 2])):
        how = rng.random()
        if how < 0.2:
            del files[name]
        elif how < 0.4:
            files[name] = rng.choice(sorted(files.values()))
        elif how < 0.5:
            files[name] = rng.choice([b"", b"{}", b"[]", b"null", b'{"schema": 2}', b'{"schema": 1}', b"\xff"])
        else:
            files[name] = bent(rng, files[name])
    return files


@cache
def _run() -> dict[str, bytes]:
    """The files of a small run, made once."""
    from scorespace import benchmark as bench
    from scorespace.experiments.data import dataset

    chance = Draw(1)
    rows = [{"y": "ab"[k % 2], "x1": chance.gauss(k % 2, 1), "x2": chance.random()} for k in range(20)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    with tempfile.TemporaryDirectory(prefix="fuzz-run-") as name:
        sets = [dataset(columns, "y", positive="b", name=each) for each in ("small", "other")]
        bench(["majority", "knn(k=3)"], sets, resampling="2", out=str(Path(name) / "run"), workers=1)
        folder = Path(name)
        return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
