"""Verbs and flags of other programs: translated, or answered with the right spelling."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from scorespace.errors import ScoreSpaceError

VERBS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("eval", "score", "assess", "validate", "summary", "summarize", "summarise"), ("evaluate",)),
    **dict.fromkeys(("report", "html", "confusion", "matrix", "confusion-matrix"), ("evaluate",)),
    **dict.fromkeys(("plot", "chart", "draw", "curve-plot"), ("curve",)),
    **dict.fromkeys(
        ("calibration", "reliability", "reliability-diagram", "calibration-curve"), ("curve", "--kind", "calibration")
    ),
    **dict.fromkeys(("pr-curve", "prc", "precision-recall", "precision-recall-curve"), ("curve", "--kind", "pr")),
    **dict.fromkeys(("decision-curve", "dca"), ("curve", "--kind", "net_benefit")),
    **{"roc-curve": ("curve", "--kind", "roc"), "gains": ("curve", "--kind", "gain")},
    **{"classification-report": ("evaluate", "--by-class"), "version": ("doctor",)},
    **dict.fromkeys(("test", "diff", "difference", "compare-models"), ("compare",)),
    **dict.fromkeys(("threshold", "cutoff", "optimize", "optimise", "choose", "cost", "costs"), ("decide",)),
    **dict.fromkeys(("optimal-threshold", "find-threshold", "best-threshold"), ("decide",)),
    **dict.fromkeys(("recalibrate", "platt", "isotonic"), ("calibrate",)),
    **dict.fromkeys(("metrics", "metric", "measure", "list"), ("measures",)),
    **dict.fromkeys(("shift", "psi", "monitor"), ("drift",)),
    **dict.fromkeys(("agreement", "kappa", "raters"), ("agree",)),
    **dict.fromkeys(("rank", "friedman", "nemenyi", "leaderboard"), ("ranks",)),
    **dict.fromkeys(("sample-size", "samplesize", "size"), ("power",)),
    **dict.fromkeys(("profile", "inspect", "describe", "eda"), ("audit",)),
    **dict.fromkeys(("cluster", "clustering", "silhouette"), ("clusters",)),
    **dict.fromkeys(("apriori", "basket"), ("rules",)),
    **dict.fromkeys(("gui", "ui", "web", "server", "app", "dashboard"), ("serve",)),
    **dict.fromkeys(("cv", "cross-validate", "crossvalidate", "train"), ("benchmark",)),
    **dict.fromkeys(("example", "tutorial", "start"), ("demo",)),
    **dict.fromkeys(("info", "check-install", "versions"), ("doctor",)),
    **dict.fromkeys(("hard", "errors", "misclassified"), ("cases",)),
}
"""Verbs that can only mean one of ours."""

FLAGS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("--metrics", "--metric", "--measure", "--scoring"), ("--measures", "--measure", "--maximise")),
    "--measures": ("--measure",),
    **dict.fromkeys(("--target", "--label", "--labels", "--y", "--y-true", "--actual", "--outcome"), ("--truth",)),
    **dict.fromkeys(("--ground-truth", "--response", "--gold", "--reference"), ("--truth",)),
    **dict.fromkeys(("--scores", "--prob", "--probs", "--proba", "--probability", "--y-score"), ("--score",)),
    **dict.fromkeys(("--probabilities", "--y-prob", "--marker", "--models", "--columns"), ("--score",)),
    **dict.fromkeys(("--decisions", "--class", "--predicted-class"), ("--decision",)),
    **dict.fromkeys(("--predictions", "--forecast", "--yhat"), ("--prediction",)),
    **dict.fromkeys(("--pos", "--pos-label", "--positive-class", "--positive-label", "--event"), ("--positive",)),
    **dict.fromkeys(("--filter", "--subset", "--select"), ("--where",)),
    **dict.fromkeys(("--groupby", "--group-by", "--slice", "--slices", "--subgroup", "--stratify"), ("--by",)),
    **dict.fromkeys(("--ci", "--conf-level", "--confidence", "--confidence-level", "--conf"), ("--level",)),
    **dict.fromkeys(("--ci-level", "--confidence-interval"), ("--level",)),
    **dict.fromkeys(("--cv", "--k-folds", "--n-splits"), ("--folds",)),
    "--method": ("--test",),
    **dict.fromkeys(("--sample-weight", "--sample-weights", "--case-weights"), ("--weight",)),
    **dict.fromkeys(("--groups", "--cluster", "--patient", "--subject"), ("--group",)),
    **dict.fromkeys(("--folds", "--cv-fold"), ("--fold",)),
    **dict.fromkeys(("--random-state", "--random-seed", "--rng"), ("--seed",)),
    **dict.fromkeys(("--fp-cost", "--cost-false-positive", "--fp"), ("--cost-fp",)),
    **dict.fromkeys(("--fn-cost", "--cost-false-negative", "--fn"), ("--cost-fn",)),
    **dict.fromkeys(("--prior", "--base-rate", "--pi"), ("--prevalence",)),
    **dict.fromkeys(("--threshold", "--cutoff", "--cut-off", "--thresh"), ("--at",)),
    **dict.fromkeys(("--html", "--html-report"), ("--report",)),
    **dict.fromkeys(("--type", "--curve", "--plot-type"), ("--kind",)),
    **dict.fromkeys(
        ("--output", "--out-file", "--outfile", "--save-as", "--save", "--file", "--png"), ("--out", "--report")
    ),
    **{"-o": ("--out", "--report"), "--out": ("--report",)},
    **dict.fromkeys(("--verbose", "--details", "--warnings", "-v"), ("--notes",)),
    **dict.fromkeys(("--full", "--all-measures", "--everything"), ("--all",)),
    **dict.fromkeys(("--assert", "--gate", "--fail-under"), ("--require",)),
    **{"--min": ("--at-least", "--require"), "--max": ("--at-most",), "-s": ("--score",), "-f": ("--format",)},
    **dict.fromkeys(("--na", "--missing-values"), ("--missing",)),
    **dict.fromkeys(("--rename", "--names"), ("--name",)),
    **dict.fromkeys(("--p-adjust", "--correction"), ("--adjust",)),
    **dict.fromkeys(("--hypothesis", "--side"), ("--alternative",)),
    **dict.fromkeys(("--domain", "--mode"), ("--profile",)),
    **dict.fromkeys(("--input", "--data", "--csv-file"), ("DATA",)),
}
"""Flags of other programs, with ours in order of preference; the first that the verb has is meant."""

VALUES: Final[dict[str, dict[str, str]]] = {
    "--kind": {
        **dict.fromkeys(("pn", "coverage", "pn_space"), "roc(normalised=false)"),
        **dict.fromkeys(("reliability", "reliability_diagram"), "calibration"),
        **dict.fromkeys(("dca", "decision_curve", "decision"), "net_benefit"),
        **dict.fromkeys(("precision_recall", "precision-recall", "prc"), "pr"),
    },
    "--method": {**dict.fromkeys(("pav", "pava"), "isotonic"), "sigmoid": "platt"},
    "--format": {"md": "markdown", "text": "table", "txt": "table", "tex": "latex"},
}
"""Values of flags under names of other programs."""

SWITCHES: Final[dict[str, tuple[str, str]]] = {
    **{f"--{form}": ("--format", form) for form in ("json", "csv", "markdown", "latex")},
    **{f"--{kind}": ("--kind", kind) for kind in ("roc", "pr", "lift", "gain", "calibration")},
    **{f"--{method}": ("--method", method) for method in ("isotonic", "platt")},
    **{f"--{adjustment}": ("--adjust", adjustment) for adjustment in ("bonferroni", "holm")},
    **{"--md": ("--format", "markdown"), "--youden": ("--maximise", "youden")},
}
"""Switches of other programs, with our flag and its value."""
_ADVICE: Final = {
    **dict.fromkeys(
        ("--pred", "--preds", "--predicted", "--y-pred", "--model-column"),
        "--score {value} for scores or probabilities, --decision {value} for labels, --prediction {value} for numbers",
    ),
    "--alpha": "--level {complement} for confidence intervals, or asym(alpha={value}) as a measure of regression",
    "--slope": "scorespace decide DATA --slope {value}",
    **dict.fromkeys(("--n-boot", "--n-bootstraps", "--replicates", "--nboot"), "the bootstrap uses 2 000 replicates"),
    "--bootstrap": "--interval bootstrap",
    "--delong": "--test delong",
    "--sep": "the separator is found by itself; .tsv and .txt files are read, too",
    "--delimiter": "the separator is found by itself; .tsv and .txt files are read, too",
    "--cost": "--cost-fp 1 --cost-fn 5",
    "--cost-ratio": "--cost-fp 1 --cost-fn {value}",
    "--fpr": "--measures tpr@fpr={value}, --at-most fpr={value}",
    "--max-fpr": "--measures 'pauc(fpr_high={value})', --at-most fpr={value}",
    **dict.fromkeys(("--tpr", "--sensitivity", "--recall"), "--measures tnr@tpr={value}, --at-least tpr={value}"),
    **dict.fromkeys(("--min-recall", "--min-sensitivity"), "--at-least tpr={value}, --require 'tpr>={value}'"),
    **dict.fromkeys(("--tnr", "--specificity"), "--measures tpr@tnr={value}, --at-least tnr={value}"),
    "--min-precision": "--at-least ppv={value}, --require 'ppv>={value}'",
    **dict.fromkeys(("--n-bins", "--bins"), "--measures 'ece(bins={value})', --kind 'calibration(bins={value})'"),
    "--average": "--measures 'f1[{value}]'",
    **dict.fromkeys(("--roc", "--pr", "--plot"), "--report FILE.html, or scorespace curve DATA --out roc.png"),
    "--confusion-matrix": "the confusion matrix is printed anyway; --at X states its threshold",
    **dict.fromkeys(
        ("--paired", "--p-value", "--pvalue", "--p-values"),
        "models of one file are compared as paired, with p: leave it out",
    ),
    "--show": "--out FILE.png",
    "--task": "the task follows from --score, --decision or --prediction: leave it out",
    **dict.fromkeys(("--digits", "--decimals", "--round"), "--format json has all digits"),
    **dict.fromkeys(("--quiet", "--silent"), "results are on standard output: 2> /dev/null hides the rest"),
    **dict.fromkeys(("--n-jobs", "--threads", "--nthreads", "--jobs"), "threads need no option: leave it out"),
    "-t": "--truth {value}, or --at {value} for a threshold",
    "--cost-matrix": "--costs FILE.csv",
}
"""Flags that could mean several of ours, with what to type."""


def translate_verb(args: Sequence[str], known: Collection[str] = ()) -> list[str] | None:
    """The command that a verb of another program means; None if the first word is unknown. `known` are our verbs.

    >>> translate_verb(["roc", "a.csv", "--truth", "y"])
    ['curve', 'a.csv', '--truth', 'y', '--kind', 'roc']
    """
    if not args:
        return None
    word, *rest = args[0].casefold().replace("_", "-"), *args[1:]
    if word == "help" and rest:
        return [rest[0], "--help"]
    verb, *options = VERBS.get(word) or _catalogued(word, known) or ("",)
    if word in ("plot", "chart", "draw") and rest and not Path(rest[0]).exists():  # plot roc DATA
        kind = VALUES["--kind"].get(rest[0], rest[0])
        options, args = (["--kind", kind], args[1:]) if kind.split("(")[0] in _curve_kinds() else (options, args)
    stated = [] if any(word.split("=")[0] in args for word in options if word.startswith("--")) else options
    return [verb, *args[1:], *stated] if verb else None


def _catalogued(word: str, known: Collection[str]) -> tuple[str, ...]:
    """The command for the name of a curve, a measure or a test; empty for other words, such as a mistyped verb."""
    if get_close_matches(word, known, cutoff=0.8):  # before the catalogues are loaded
        return ()
    import scorespace.comparisons
    import scorespace.measures.threshold_curves  # noqa: F401 - registers what the catalogues hold
    from scorespace.comparisons.test import TESTS
    from scorespace.curves import CURVES
    from scorespace.measures.measure import MEASURES

    name = word.replace("-", "_")
    commands = ((CURVES, "curve", "--kind"), (MEASURES, "evaluate", "--measures"), (TESTS, "compare", "--test"))
    for registry, verb, flag in commands:
        with suppress(ScoreSpaceError):
            registry.find(name)
            return verb, flag, name
    return ()


def _curve_kinds() -> set[str]:
    from scorespace.evaluation.curves import kinds

    return {kind.name for kind in kinds()}


def translate_flags(args: Sequence[str], known: Collection[str]) -> list[str]:
    """The arguments with flags of other programs replaced by the verb's own; refused where several could be meant.

    >>> translate_flags(["a.csv", "--metrics", "auc", "--json"], {"--measures", "--format"})
    ['a.csv', '--measures', 'auc', '--format', 'json']
    """
    found: list[str] = []
    for place, word in enumerate(_translate_values(args)):
        flag, equals, value = word.partition("=")
        if not flag.startswith("-") or flag in known:
            found.append(word)
            continue
        flag = flag.replace("_", "-")
        if flag in known:
            found.append(flag + equals + value)
        elif flag in SWITCHES and SWITCHES[flag][0] in known and not equals:
            found += SWITCHES[flag]
        elif flag in _ADVICE:
            raise _advice(flag, value or next(iter(args[place + 1 : place + 2]), ""), known)
        else:
            ours = next((one for one in FLAGS.get(flag, ()) if one in known), flag)
            if "DATA" in FLAGS.get(flag, ()):
                found += [value] if equals else []
            elif ours == "--report" and not _ends(value or next(iter(args[place + 1 : place + 2]), ""), ".html"):
                raise ScoreSpaceError(
                    f"there is no option {flag}.", hint="--report FILE.html, or --format csv > FILE.csv"
                )
            else:
                found.append(ours + equals + value)
    return found


def _translate_values(args: Sequence[str]) -> list[str]:
    """The arguments with values of other programs replaced by ours."""
    found = list(args)
    for place, word in enumerate(args):
        flag, equals, value = word.partition("=")
        _check_value(flag, value or next(iter(args[place + 1 : place + 2]), ""))
        names = VALUES.get(flag, {})
        if equals:
            found[place] = f"{flag}={names.get(value, value)}"
        elif names and place + 1 < len(args):
            found[place + 1] = names.get(args[place + 1], args[place + 1])
    return found


def _check_value(flag: str, value: str) -> None:
    """Refuse a value that belongs to another flag."""
    if (flag, value) == ("--format", "html"):
        raise ScoreSpaceError("there is no format html.", hint="--report FILE.html")
    if flag == "--costs" and (pair := re.fullmatch(r"([\d.]+)[,:;]([\d.]+)", value)):
        raise ScoreSpaceError(f"--costs {value} is no file.", hint=f"--cost-fp {pair[1]} --cost-fn {pair[2]}")


def _ends(path: str, suffix: str) -> bool:
    return path.casefold().endswith(suffix)


def _advice(flag: str, value: str, known: Collection[str]) -> ScoreSpaceError:
    text = value if value and not value.startswith("-") else "COL"
    complement = "0.95"
    with suppress(ValueError):
        complement = f"{1 - float(text):g}"
    parts = _ADVICE[flag].format(value=shlex.quote(text), complement=complement).split(", ")
    offered = [one for one in parts if not one.startswith("--") or one.split()[0] in known] or parts
    return ScoreSpaceError(f"there is no option {flag}.", hint=", ".join(offered))
