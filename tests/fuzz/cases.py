"""Cases for the fuzzer: a file or two, and a command line, drawn from a seed; small enough to be kept as JSON."""

from __future__ import annotations

from typing import Any

from fuzz import experiments, tasks
from fuzz.draw import FORMATS, LABELS, NAMES, Case, Draw
from fuzz.files import file_of
from fuzz.options import strays

VERBS = (
    ["evaluate"] * 5
    + ["compare", "decide", "curve", "calibrate", "cases", "agree", "drift", "ranks"] * 2
    + ["clusters", "rules", "audit", "table", "run"] * 2
    + ["label", "benchmark", "study", "power", "catalogue"]
)


def drawn(seed: int) -> Case:
    """The case of that seed: what its verb is known to read, and now and then any other of its options."""
    rng = Draw(seed)
    rng.calm = rng.random() < 0.65
    case = _of_verb(rng, seed, rng.choice(VERBS))
    if rng.random() < 0.25:
        verb, name = case.arguments[0], next(iter(case.files), "absent.csv")
        more = strays(rng, verb, case.arguments, name)
        if {"--weight", "--dataset"} & {*more}:  # which rows are in use then is not known here
            case.records = None
        case.arguments += more
    return case


def _of_verb(rng: Draw, seed: int, verb: str) -> Case:
    if verb == "power":
        return Case(seed, ["power", *_power(rng)], {})
    if verb == "catalogue":
        return experiments.catalogue(rng, seed)
    if verb in ("benchmark", "study"):
        return (experiments.benchmark if verb == "benchmark" else experiments.study)(rng, seed)
    if verb == "run":
        return experiments.on_run(rng, seed)
    if verb == "ranks":
        return _ranks(rng, seed)
    if verb in ("clusters", "rules"):
        return (tasks.clusters if verb == "clusters" else tasks.rules)(rng, seed)
    if verb in ("evaluate", "compare", "decide", "curve") and rng.random() < 0.3:
        return tasks.numbers(rng, seed, verb)
    if verb in ("evaluate", "decide") and rng.random() < 0.15:
        return tasks.matrices(rng, seed, verb)
    rows, columns = _table(rng)
    if verb == "audit":
        return tasks.audit(rng, seed, rows, _table(rng, columns)[0], columns)
    if verb == "table":
        return tasks.table(rng, seed, rows, columns)
    if verb == "label":
        return tasks.label(rng, seed, rows, columns)
    name, data, told = file_of(rng, rows)
    files = {name: data}
    arguments = [verb, name, *_roles(rng, verb, columns)]
    stdin = None
    if verb == "drift":
        more, _ = _table(rng, columns)
        other, second, _ = file_of(rng, more, "after")
        files[other] = second
        arguments.insert(2, other)
    elif name.endswith(".csv") and rng.random() < 0.05:
        arguments[1], stdin = "-", name
    elif rng.random() < 0.03:
        arguments[1] = rng.choice(["*.csv", "absent.csv", "http://localhost:9/a.csv", "s3://b/a.parquet", ".", ""])
        told = False
    if verb in ("evaluate", "compare", "decide", "curve", "calibrate", "cases", "agree", "drift"):
        arguments += ["--missing", "drop"] if rng.calm or rng.random() < 0.5 else []
    arguments += _options(rng, verb, name, columns, arguments)
    weightless = sum(1 for row in rows if row.get(columns["weight"]) == 0) if "--weight" in arguments else 0
    return Case(seed, arguments, files, len(rows) if told else None, weightless, stdin)


# --- data


def _table(rng: Draw, columns: dict[str, Any] | None = None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    if columns is None:
        names = rng.sample(NAMES, 6) if rng.random() < 0.4 else ["s", "t", "d", "e", "w", "g"]
        labels = rng.choice(LABELS) if rng.random() < 0.6 else ["0", "1"]
        keys = ("score", "second", "decision", "other", "weight", "group")
        columns = {**dict(zip(keys, names, strict=True)), "truth": "y", "fold": "f", "id": "i", "labels": labels}
    labels, kind = columns["labels"], rng.choice(_SCORES[:7] if rng.calm else _SCORES)
    size = rng.choice([20, 30, 40, 60, 120] if rng.calm else [0, 1, 2, 3, 5, 10, 20])
    hashes, long = rng.choice([1, 5, 1000]), rng.choice([0, 0, 2**53])
    order = rng.random() < 0.5
    rows = []
    for k in range(size):
        truth = rng.choice(labels)
        row = {
            "y": truth,
            columns["score"]: kind(rng, k),
            columns["second"]: rng.random(),
            columns["decision"]: truth if rng.random() < 0.7 else rng.choice(labels),
            columns["other"]: rng.choice(labels),
            columns["weight"]: rng.choice([1, 1, 2, 0, 0.5]),
            columns["group"]: rng.randrange(5),
            "f": k % 5,
            "i": f"#{k}" if k % hashes == 0 else k + long,
        }
        if rng.random() < 0.03:
            row[rng.choice(list(row))] = None
        rows.append(dict(sorted(row.items())) if order else row)
    if rows and not rng.calm and rng.random() < 0.2:
        rng.choice(rows)[columns["weight"]] = rng.choice([1e20, 1e308, -1, float("inf"), "heavy"])
    return rows, columns


_SCORES = [
    lambda rng, k: rng.random(),
    lambda rng, k: rng.random(),
    lambda rng, k: rng.random(),
    lambda rng, k: round(rng.random(), 1),
    lambda rng, k: rng.randrange(10),
    lambda rng, k: rng.gauss(0, 3),
    lambda rng, k: 0.5,
    lambda rng, k: rng.choice([0, 1]),
    lambda rng, k: rng.choice([1e308, -1e308, 5e-324, 0.0, -0.0]),
    lambda rng, k: rng.choice([rng.random(), None, float("nan"), float("inf")]),
    lambda rng, k: rng.choice([rng.random(), "high", "1,5", "50%", "1_000"]),
]


# --- the command line


def _roles(rng: Draw, verb: str, columns: dict[str, Any]) -> list[str]:
    if verb == "agree":
        pairs = [("A", columns["decision"], columns["score"]), ("B", columns["other"], columns["second"])]
        return [each for name, d, s in pairs for each in ("--rater", f"{name}={d},{s}")]
    chosen = ["--truth", "y", "--score", columns["score"]]
    two = verb == "compare" and rng.calm
    if two or (verb in ("evaluate", "compare", "curve", "decide", "drift") and rng.random() < 0.5):
        chosen += ["--score", columns["second"]]
    if verb in ("evaluate", "compare", "decide", "curve") and rng.random() < 0.3:
        chosen += ["--decision", columns["decision"]]
    if rng.calm or rng.random() < 0.7:
        chosen += ["--positive", rng.choice(columns["labels"])]
    if verb in ("evaluate", "decide", "curve", "calibrate") and rng.random() < 0.2:
        chosen += ["--weight", columns["weight"]]
    if verb in ("evaluate", "compare", "calibrate") and rng.random() < 0.15:
        chosen += ["--group", columns["group"]]
    if verb in ("evaluate", "compare", "calibrate") and rng.random() < 0.1:
        chosen += ["--fold", "f"]
    if verb == "cases" and rng.random() < 0.5:
        chosen += ["--id", "i"]
    return chosen


def _options(rng: Draw, verb: str, name: str, columns: dict[str, Any], given: list[str]) -> list[str]:
    chosen: list[str] = []

    def perhaps(share: float, *words: str) -> None:
        if rng.random() < share:
            chosen.extend(words)

    number = rng.odd("1", "0", "5", "-1", "0.5", "1e-300", "1e308", "nan", "inf", "x")
    if verb not in ("calibrate", "curve", "cases", "drift"):
        perhaps(0.1, "--level", rng.odd("0.9", "0.5", "0", "1", "2", "nan", "0.999999"))
    if verb in ("evaluate", "compare", "drift"):
        perhaps(0.1, "--seed", rng.odd("1", "0", "-1", "99999999999999999999"))
    if verb == "evaluate":
        measures = [
            "auc",
            "ppv@0.5",
            "f1",
            "mcc@0.3",
            "brier",
            "logloss",
            "h",
            "ap",
            "ece(bins=5)",
            "f1[macro]",
            "acc",
            "ks",
        ]
        measures += [
            "auc@0.5",
            "tpr[b]",
            "fbeta(beta=1e308)@0.5",
            "cost(fp=1, fn=1e300)@0.5",
            "pauc(fpr_high=0.1)",
            "x",
            "(",
        ]
        chosen += (
            ["--measures", ",".join(rng.sample(measures[:12] if rng.calm else measures, rng.randrange(1, 4)))]
            if rng.random() < 0.9
            else []
        )
        perhaps(0.15, "--require", rng.choice(["auc>=0.5", "auc<2", "f1[macro]>0", "x>1", "auc>", "acc@0.5>=0"]))
        perhaps(0.05, "--report", rng.odd("page.html", name, "absent/page.html", "page.txt"))
        perhaps(0.15, "--interval", rng.odd(rng.choice(["percentile", "bca", "wilson", "delong"]), "basic", "x", ","))
        perhaps(0.1, "--by-class")
        perhaps(0.1, "--name", rng.odd(f"{columns['score']}=renamed", "x=y", "=", f"{columns['score']}=<b>"))
        perhaps(0.1, "--order", ",".join(columns["labels"]))
        perhaps(0.1, "--memory", rng.odd("1MB", "1", "0", "-1GB", "x"))
        perhaps(0.1, "--precision", rng.odd("1e-3", "1e-12", "0", "nan", "2"))
    if verb in ("evaluate", "curve", "table") and "--weight" in given:
        perhaps(0.3, "--weights", rng.odd("copies", "cases", "x"))
    if verb == "decide" and rng.random() < 0.4:
        ways = [["--at-least", "tpr=0.5", "--maximise", "ppv"], ["--reject", number], ["--mix", f"fpr={number}"]]
        ways += [["--slope", number], ["--maximise", "f1"], ["--at-most", f"fpr={number}", "--minimise", "err"]]
        ways += [] if rng.calm else [["--at-least", "x"], ["--minimise", "auc"], ["--mix", "x"]]
        chosen += rng.choice(ways)
    elif verb == "decide" or (verb == "evaluate" and rng.random() < 0.15):
        chosen += ["--cost-fp", number, "--cost-fn", rng.odd("1", "5", "0", "1e300")]
        perhaps(0.3, "--prevalence", rng.odd("0.1", "0", "1", "1e-300", "nan"))
    if verb == "compare":
        perhaps(0.4, "--test", rng.odd("delong", "mcnemar", "bootstrap", "permutation", "t", "x"))
        perhaps(0.2, "--at", number)
        perhaps(0.2, "--against", number)
    if verb == "curve":
        kinds = [
            "roc",
            "pr",
            "smooth",
            "cost",
            "brier",
            "net_benefit",
            "calibration",
            "gain",
            "lift",
            "rejection",
            "threshold",
            "x",
        ]
        chosen += ["--kind", rng.choice(kinds[:-1] if rng.calm else kinds)]
        perhaps(0.1, "--midpoint", number)
    if verb == "calibrate":
        perhaps(0.5, "--method", rng.odd("platt", "isotonic", "beta", "temperature", "logistic", "x"))
        perhaps(0.5, "--folds", rng.odd("1", "2", "5", "0", "1000000"))
        perhaps(0.5, "--out", rng.odd(rng.choice(["out.csv", "out.tsv", "out.parquet"]), name, "out.doc"))
        perhaps(0.3, "--map", rng.odd("map.json", "map.csv"))
    if verb in ("curve", "cases", "agree", "drift"):
        perhaps(0.35, "--out", rng.odd(rng.choice(["out.csv", "out.json"]), name, "out.doc", "absent/a.csv"))
        perhaps(0.02, "--out", "out.svg")
    if verb == "drift":
        chosen += ["--replicates", rng.odd("300", "0", "1")]
    if verb == "agree":
        perhaps(0.3, "--tolerance", number)
    return [*chosen, "--format", rng.choice(FORMATS)]


def _power(rng: Draw) -> list[str]:
    number = ["0.8", "0.7", "0.5", "1", "0", "-1", "1e-200", "1e308", "nan", "inf", "0.999999", "x"]
    chosen = ["--auc", rng.odd("0.8", *number), "--prevalence", rng.odd("0.3", *number)]
    for flag in ("--against", "--half-width", "--paired-correlation", "--power", "--alpha", "--cases"):
        if rng.random() < 0.4:
            chosen += [flag, rng.odd("100" if flag == "--cases" else "0.6", *number, "1000000000000000000000")]
    return [*chosen, *(["--unpaired"] if rng.random() < 0.2 else []), "--format", rng.choice(FORMATS)]


def _ranks(rng: Draw, seed: int) -> Case:
    models = rng.sample(NAMES, rng.randrange(2 if rng.calm else 1, 6))
    size = rng.choice([5, 10, 20] if rng.calm else [0, 1, 2, 5, 10])
    rows = [
        {"data": rng.odd(f"d{k}", "d0", k), **{m: rng.choice([rng.random(), 0.5]) for m in models}} for k in range(size)
    ]
    if rows and rng.random() < 0.2:
        rng.choice(rows)[models[0]] = rng.choice([None, "x", 1e308, float("nan")])
    name, data, _ = file_of(rng, rows)
    chosen = ["--measure", rng.odd("auc", "brier", "x", "")] if rng.random() < 0.7 else []
    if rng.random() < 0.5:
        posterior = f"bayes-signed-rank(rope={rng.odd('0.01', 'nan', '-1')})"
        chosen += ["--test", rng.choice(["friedman", "nemenyi", "wilcoxon(zeros=pratt)", "sign", posterior, "x"])]
    if rng.random() < 0.3:
        chosen += ["--control", rng.choice(models)]
    chosen += ["--missing", "drop"] if rng.random() < 0.5 else []
    return Case(seed, ["ranks", name, *chosen, "--format", rng.choice(FORMATS)], {name: data})
