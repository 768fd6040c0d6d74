"""Every option of every verb, with what fits it: read from the verbs themselves, so that none is forgotten."""

from __future__ import annotations

from functools import cache
from typing import Any

from fuzz.draw import Draw

ODD_NUMBERS = ("0", "-1", "0.5", "1e-300", "1e308", "nan", "inf", "x", "")
_ODD = ("", " ", "x", "-1", "0", "nan", "1e308", "=", ",", "(", "a=b=c", "\x1b[31m", "é" * 300, "0x10", "1_000", "--")

UNTRIED = {
    "--dask": "waits for a cluster",
    "--master": "waits for a cluster",
    "--help": "is tested as a whole",
    "--folder": "serves until it is ended",
    "--host": "serves until it is ended",
    "--port": "serves until it is ended",
}

_COLUMN = ("COL",)
_MEASURES = ("auc", "tpr", "ppv", "acc", "brier", "mae", "f1", "cost(fp=1, fn=2)", "ppv@top10%", "smauc", "lift")
_BOUNDS = tuple(f"{name}={x}" for name in ("tpr", "ppv", "fpr", "acc", "confidence") for x in ("0.5", "0", "2"))

_CONDITIONS = (
    "COL = 'LABEL'",
    "COL >= 0.5",
    "COL is not missing",
    "not (COL < 0 or COL in (1, 0))",
    "\"COL\" != 'LABEL' and `COL` between 0 and 1",
    "COL = COL",
    "COL is missing",
)

FITTING: dict[str, tuple[str, ...]] = {
    "--sheet": ("1", "data"),
    "--adjust": ("holm", "hochberg", "bonferroni", "finner", "shaffer", "none"),
    "--against": ("0.5", "1"),
    "--alpha": ("0.05",),
    "--alternative": ("two-sided", "greater", "less"),
    "--apply": ("map.json", "DATA"),
    "--assume": ("calibrated", "prior_shift(trained=0.3)", "prior_shift"),
    "--at": ("0.5", "0.2", "top10%", "top3"),
    "--at-least": _BOUNDS,
    "--at-most": _BOUNDS,
    "--auc": ("0.8",),
    "--average": ("vertical", "threshold", "mean", "pooled"),
    "--axes": ("linear", "log"),
    "--band": ("simultaneous", "pointwise"),
    "--baseline": ("mean", "median", "0", "COL", "DATA", "saved.json", "absent.json"),
    "--budget": ("10", "0", "5.5"),
    "--by": ("COL", "COL(bins=2)", "COL(bins=0)"),
    "--cases": ("100",),
    "--compare": _COLUMN,
    "--control": _COLUMN,
    "--cost-fn": ("1", "5", "1e99", "COL"),
    "--cost-fp": ("1", "5", "1e-99", "COL"),
    "--cost-over": ("1", "2"),
    "--cost-tn": ("0", "-1", "1"),
    "--cost-tp": ("0", "-1", "1"),
    "--cost-under": ("1", "2"),
    "--costs": ("DATA", "absent.csv"),
    "--counts": ("10,5,3,9", "0,0,0,0", "1,2,3"),
    "--data": ("DATA",),
    "--dataset": ("COL", "data"),
    "--decision": _COLUMN,
    "--drop": _COLUMN,
    "--engine": ("duckdb", "polars"),
    "--ensemble": ("m_*", "COL,COL"),
    "--epsilon": ("0.1", "2"),
    "--example": ("early.csv", "grades.csv", "none.csv"),
    "--fail-on": ("warning", "error", "SA001"),
    "--feature": ("COL", "x*", "*"),
    "--fit": ("DATA",),
    "--fold": _COLUMN,
    "--folds": ("2", "5"),
    "--format": ("json", "csv", "table", "markdown"),
    "--group": _COLUMN,
    "--half-width": ("0.05",),
    "--id": _COLUMN,
    "--interval": ("percentile", "bca", "wilson", "delong", "none", "COL,COL", "COL=COL,COL"),
    "--item": _COLUMN,
    "--kind": ("roc", "pr", "COL=nominal", "COL=numeric", "smooth(midpoint=median)", "calibration(bins=3)", "hull"),
    "--label": _COLUMN,
    "--learn-midpoint": ("DATA",),
    "--learner": ("majority", "mean", "knn(k=3)", "tree", "tree=majority"),
    "--ledger": ("test.jsonl", "DATA"),
    "--level": ("0.9", "0.5"),
    "--looks": ("any", "any(cases=50)", "never"),
    "--lp-mean": ("-2.6", "0"),
    "--lp-sd": ("1.1", "0"),
    "--map": ("map.json",),
    "--margin": ("0.05", "0"),
    "--margin-kind": ("noninferior", "equivalent"),
    "--matrix": ("COL=3 1; 2 4", "m=DATA"),
    "--max-consequent": ("1", "2"),
    "--max-size": ("2", "3"),
    "--maximise": _MEASURES,
    "--measure": _MEASURES,
    "--measures": (*_MEASURES, "auc,acc,f1", "f1[macro]", "tpr[LABEL]", "auc[hand_till]"),
    "--memory": ("1MB", "2GB"),
    "--method": ("isotonic", "platt", "temperature", "minmax", "logistic"),
    "--midpoint": ("median", "mean", "0.5"),
    "--min-support": ("0.1", "0.5"),
    "--minimise": _MEASURES,
    "--missing": ("drop", "error"),
    "--mix": ("fpr=0.2", "tpr=0.8"),
    "--model": ("m=score(COL)", "m=decision(COL)", "m=prediction(COL)", "COL", "m=rating(COL)"),
    "--most": ("3", "0"),
    "--n": ("100", "30"),
    "--name": ("COL=b", "COL=COL"),
    "--noise": ("LABEL",),
    "--on": ("score", "logit", "6 2; 1 3", "0 0; 0 0"),
    "--order": ("LABEL,LABEL", "confidence", "COL"),
    "--out": ("out.csv", "out.json", "out.html", "out.parquet", "DATA", "runs", "out.skops"),
    "--paired-correlation": ("0.5",),
    "--per": _COLUMN,
    "--permutations": ("2", "3"),
    "--positive": ("LABEL",),
    "--positives": ("10", "40"),
    "--power": ("0.8",),
    "--precision": ("1e-3", "1e-6"),
    "--prediction": _COLUMN,
    "--prevalence": ("0.1", "0.5"),
    "--probability": _COLUMN,
    "--profile": ("general", "clinical", "credit", "fraud", "forecasting", "lecture", "absent"),
    "--proxy": _COLUMN,
    "--qrels": ("absent.qrels", "DATA"),
    "--quantiles": ("q*", "COL,COL", "COL=COL,COL"),
    "--query": _COLUMN,
    "--rater": ("R=COL", "R=COL,COL"),
    "--ratio": ("3:10", "1/2", "3:-1"),
    "--reject": ("0.1", "0.4"),
    "--repeat": _COLUMN,
    "--replicates": ("50", "300"),
    "--report": ("page.html", "DATA"),
    "--require": ("auc>=0.1", "acc@0.5>0", "mae<100", "auc>=baseline-0.1", "acc@0.5>baseline-chance"),
    "--resamples": ("2", "5"),
    "--resampling": ("2", "1x2", "holdout:0.3", "3", "bootstrap:2", "logo:COL", "time:2", "lpgo:2:COL"),
    "--rows": ("actual", "predicted"),
    "--rule": ("COL => COL", "LABEL => LABEL", "score", "casewise", "expected_gain"),
    "--safety": ("0.2", "1", "2"),
    "--sample": ("3",),
    "--save": ("saved.json", "DATA", "saved.txt"),
    "--scale": ("0..1", "-5..5", "1..1", "standard", "none"),
    "--score": ("COL", "COL_*"),
    "--section": ("measures", "roc", "notes"),
    "--seed": ("1", "7"),
    "--sensitivity": ("0.4", "1"),
    "--set": ("high-positive", "low-negative", "all"),
    "--share": ("0.9", "0.5"),
    "--size": ("12x8cm", "0x0", "5x4in", "axb"),
    "--slope": ("1", "2"),
    "--solve": ("auc", "against", "correlation", "alpha"),
    "--specificity": ("0.9", "1"),
    "--style": ("slide", "paper"),
    "--suite": ("absent",),  # the one that is there reads 26 data sets
    "--target": _COLUMN,
    "--task": ("classes", "numbers"),
    "--test": (
        "delong",
        "bootstrap",
        "permutation",
        "mcnemar(method=exact)",
        "friedman",
        "wilcoxon(zeros=split)",
        "sign",
        "DATA",
    ),
    "--threshold": ("0.2", "0.5"),
    "--time": _COLUMN,
    "--title": ("A title", "<b>title</b>"),
    "--tolerance": ("0.1",),
    "--top": ("3",),
    "--train": ("DATA", "absent.csv"),
    "--transaction": _COLUMN,
    "--truth": _COLUMN,
    "--value": _COLUMN,
    "--variance": ("hanley", "obuchowski"),
    "--verified-by": _COLUMN,
    "--weight": _COLUMN,
    "--weights": ("copies", "cases"),
    "--where": _CONDITIONS,
    "--with": ("DATA",),
    "--width": ("slope=0.3", "auc=0.1", "oe=0.2", "snb=0.4"),
    "--within": ("0.05", "0.1"),
    "--workers": ("1",),
    "--x": _MEASURES,
    "--y": _MEASURES,
    "--zone": ("easy", "rescued", "hard", "error"),
}
"""What fits an option; COL, LABEL and DATA stand for a column, a label and the file of the case."""


@cache
def options_of(verb: str) -> dict[str, Any]:
    """The options of a verb by their long flags, as declared."""
    from scorespace.cli.verbs import load, verbs

    command = load(verbs()[verb])
    return {max(one.opts, key=len): one for one in command.params if one.opts[0].startswith("-")}


def strays(rng: Draw, verb: str, given: list[str], name: str) -> list[str]:
    """A few more options of a verb, now and then of another one, with what fits them or not."""
    known = options_of(verb)
    if not rng.calm and rng.random() < 0.1:
        known = known | options_of(rng.choice(["evaluate", "curve", "rules", "ranks", "benchmark"]))
    free = [flag for flag, one in known.items() if flag not in UNTRIED and (one.multiple or flag not in given)]
    chosen: list[str] = []
    for flag in rng.sample(free, min(len(free), rng.choice([1, 1, 2]))):
        chosen.append(flag)
        if not known[flag].is_flag:
            chosen.append(_filled(rng, rng.odd(rng.choice(FITTING[flag]), *_ODD), name))
    return chosen


def _filled(rng: Draw, text: str, name: str) -> str:
    for word, held in (("COL", rng.columns), ("LABEL", rng.labels)):
        while word in text:
            text = text.replace(word, str(rng.choice(held)).replace(word, "c"), 1)
    return text.replace("DATA", name)
