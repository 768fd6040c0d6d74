"""Correct digits of scorespace and other programs on the reference sets, as the tables of docs/digits.md.

    python benchmarks/digits.py          # write the tables with the programs that are installed here
    python benchmarks/digits.py --print  # print them only

Beside scorespace it needs scikit-learn, SciPy, statsmodels, PyTorch and torchmetrics; a program that is missing is left
out. Each is called with doubles, as its documentation says, without options that trade digits for speed.
"""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from scorespace.evaluation.reference import PROMISED, check_set, correct_digits, reference_sets

PAGE = Path(__file__).parents[1] / "docs" / "digits.md"
BEGIN, END = "<!-- begin: benchmarks/digits.py -->\n", "<!-- end -->\n"


def scikit_learn(one):
    from sklearn import metrics as m

    data = one.data
    if one.kind == "binary":
        y, s, w = rows_of(data)
        decided = (s >= data.get("at", 0.5)).astype(int)
        on_decisions = {"acc": m.accuracy_score, "tpr": m.recall_score, "ppv": m.precision_score, "f1": m.f1_score}
        on_decisions |= {"bacc": m.balanced_accuracy_score, "kappa": m.cohen_kappa_score, "mcc": m.matthews_corrcoef}
        on_decisions["tnr"] = lambda *a, **k: m.recall_score(*a, pos_label=0, **k)
        on_scores = {"auc": m.roc_auc_score, "ap": m.average_precision_score, "brier": m.brier_score_loss}
        on_scores["logloss"] = lambda *a, **k: m.log_loss(*a, labels=[0, 1], **k)
        at = f"@{data.get('at', 0.5)!r}"
        found = {f"{name}{at}": (f, (y, decided), {"sample_weight": w}) for name, f in on_decisions.items()}
        return found | {name: (f, (y, s), {"sample_weight": w}) for name, f in on_scores.items()}
    if one.kind == "numbers":
        functions = {"mae": m.mean_absolute_error, "mse": m.mean_squared_error, "rmse": m.root_mean_squared_error}
        functions |= {"r2": m.r2_score, "medae": m.median_absolute_error}
        return {name: (f, (data["y"], data["p"]), {"sample_weight": data.get("w")}) for name, f in functions.items()}
    if one.kind == "classes":
        functions = {"acc": m.accuracy_score, "kappa": m.cohen_kappa_score, "mcc": m.matthews_corrcoef}
        functions |= {"bacc": m.balanced_accuracy_score, "f1[macro]": lambda *a: m.f1_score(*a, average="macro")}
        return {name: (f, (data["truth"], data["decision"]), {}) for name, f in functions.items()}
    if one.kind == "probabilities":
        p = np.transpose(list(data["score"].values()))
        functions = {"logloss": m.log_loss, "brier": m.brier_score_loss}
        functions["auc[macro]"] = lambda *a: m.roc_auc_score(*a, multi_class="ovr", average="macro")
        return {name: (f, (data["truth"], p), {}) for name, f in functions.items()}
    return {}


def scipy(one):
    from scipy import stats

    if one.kind == "numbers" and "w" not in one.data:
        arguments = (one.data["y"], one.data["p"])
        functions = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
        return {name: (lambda *a, f=f: f(*a).statistic, arguments, {}) for name, f in functions.items()}
    if one.kind == "pairs":
        b, c, d = (one.data[name] for name in "bcd")
        return {
            "mcnemar_exact_p": (lambda: stats.binomtest(b, b + c).pvalue, (), {}),
            "wilcoxon_exact_p": (lambda: stats.wilcoxon([v for v in d if v], method="exact").pvalue, (), {}),
            "paired_t": (lambda: stats.ttest_1samp(d, 0).statistic, (), {}),
            "paired_t_p": (lambda: stats.ttest_1samp(d, 0).pvalue, (), {}),
        }
    return {}


def statsmodels(one):
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.weightstats import DescrStatsW
    from statsmodels.tools import eval_measures as m

    if one.kind == "numbers":
        y, p, w = np.array(one.data["y"]), np.array(one.data["p"]), one.data.get("w")
        found = {"pearson": (lambda: DescrStatsW(np.c_[y, p], weights=w).corrcoef[0, 1], (), {})}
        functions = {"bias": m.bias, "mae": m.meanabs, "mse": m.mse, "rmse": m.rmse, "medae": m.medianabs}
        functions["err_var"] = m.vare
        return found | ({} if w else {name: (f, (p, y), {}) for name, f in functions.items()})
    if one.kind == "pairs":
        table = [[0, one.data["b"]], [one.data["c"], 0]]
        return {
            "mcnemar_exact_p": (lambda: mcnemar(table, exact=True).pvalue, (), {}),
            "mcnemar_cc": (lambda: mcnemar(table, exact=False, correction=True).statistic, (), {}),
            "mcnemar_cc_p": (lambda: mcnemar(table, exact=False, correction=True).pvalue, (), {}),
            "paired_t": (lambda: DescrStatsW(one.data["d"]).ttest_mean()[0], (), {}),
            "paired_t_p": (lambda: DescrStatsW(one.data["d"]).ttest_mean()[1], (), {}),
        }
    return {}


def torchmetrics(one):
    import torch
    from torchmetrics import functional as f
    from torchmetrics.functional import classification as c

    data = one.data

    def double(values):
        return torch.tensor(np.asarray(values, dtype=np.float64))

    if one.kind == "binary" and "w" not in data:
        y, s, _ = rows_of(data)
        at, arguments = data.get("at", 0.5), (double(s), torch.tensor(y))
        decided = (torch.tensor((s >= at).astype(int)), torch.tensor(y))  # its own threshold would exclude s = at
        on_decisions = {"acc": c.binary_accuracy, "tpr": c.binary_recall, "tnr": c.binary_specificity}
        on_decisions |= {"ppv": c.binary_precision, "f1": c.binary_f1_score, "kappa": c.binary_cohen_kappa}
        on_decisions["mcc"] = c.binary_matthews_corrcoef
        found = {f"{name}@{at!r}": (g, decided, {}) for name, g in on_decisions.items()}
        return found | {"auc": (c.binary_auroc, arguments, {}), "ap": (c.binary_average_precision, arguments, {})}
    if one.kind == "numbers" and "w" not in data:
        functions = {"mae": f.mean_absolute_error, "mse": f.mean_squared_error, "r2": f.r2_score}
        functions |= {"rmse": lambda *a: f.mean_squared_error(*a, squared=False), "pearson": f.pearson_corrcoef}
        functions |= {"spearman": f.spearman_corrcoef, "kendall": f.kendall_rank_corrcoef}
        return {name: (g, (double(data["p"]), double(data["y"])), {}) for name, g in functions.items()}
    if one.kind == "classes":
        codes = {label: k for k, label in enumerate(data["labels"])}
        arguments = [torch.tensor([codes[label] for label in data[name]]) for name in ("decision", "truth")]
        functions = {"acc": c.multiclass_accuracy, "f1[macro]": c.multiclass_f1_score, "bacc": c.multiclass_recall}
        averages = {"acc": {"average": "micro"}, "f1[macro]": {"average": "macro"}, "bacc": {"average": "macro"}}
        functions |= {"kappa": c.multiclass_cohen_kappa, "mcc": c.multiclass_matthews_corrcoef}
        size = {"num_classes": len(codes)}
        return {name: (g, arguments, size | averages.get(name, {})) for name, g in functions.items()}
    return {}


def rows_of(data):
    times = data.get("times", 1)
    return np.repeat(data["y"], times), np.repeat(data["s"], times), data.get("w")


def values_of(program, one):
    """Measure, digits and value of a program on a set; the value of an error is None."""
    if program is None:
        return [(value.measure, value.digits, value.found) for value in check_set(one)]
    found = []
    for name, (function, arguments, options) in program(one).items():
        if name not in one.expected:
            continue
        try:
            value = float(function(*arguments, **options))
        except Exception:  # whatever the program raises: it has no value, which is right where there is none
            found.append((name, correct_digits(np.nan, one.expected[name]), None))
        else:
            found.append((name, correct_digits(value, one.expected[name]), value))
    return found


def kind_of(expected, digits, value):
    if digits >= PROMISED:
        return "≥ 14"
    if value is None:
        return "refused"
    if expected is None:
        return "number for undefined"
    if np.isnan(value):
        return "NaN for a number"
    return "7 to 14" if digits >= 7 else "< 7"


KINDS = ("≥ 14", *(COUNTED := ("7 to 14", "< 7")), "number for undefined", "NaN for a number", "refused")
PROGRAMS = {
    "scorespace": None,
    "scikit-learn": scikit_learn,
    "scipy": scipy,
    "statsmodels": statsmodels,
    "torchmetrics": torchmetrics,
}


def tables():
    counts, details = [], []
    for name, program in PROGRAMS.items():
        try:
            label = f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
        number, by_set = dict.fromkeys(KINDS, 0), {}
        for one in reference_sets():
            for measure, digits, value in values_of(program, one):
                kind = kind_of(one.expected[measure], digits, value)
                number[kind] += 1
                if kind != KINDS[0]:
                    shown = measure.partition("@")[0] + (
                        f" {np.floor(10 * digits) / 10:.1f}" if kind in COUNTED else ""
                    )
                    by_set.setdefault((one.id, "" if kind in COUNTED else f" ({kind})"), []).append(shown)
        counts.append(f"| {label} | {sum(number.values())} | " + " | ".join(str(number[k]) for k in KINDS) + " |")
        cells: dict[str, list[str]] = {}
        for (set_id, kind), measures in by_set.items():
            cells.setdefault(set_id, []).append(("all values" if len(measures) > 9 else ", ".join(measures)) + kind)
        details += [f"| {name} | {set_id} | {'; '.join(texts)} |" for set_id, texts in cells.items()]
    head = "| program | values | " + " | ".join(KINDS) + " |\n|:--|" + "--:|" * (len(KINDS) + 1) + "\n"
    return (
        head + "\n".join(counts) + "\n\n## Values with fewer than 14 digits\n\n"
        "A number behind a measure is its correct digits.\n\n"
        "| program | set | values |\n|:--|:--|:--|\n" + "\n".join(details) + "\n"
    )


def main() -> None:
    warnings.simplefilter("ignore")
    text = tables()
    if "--print" in sys.argv:
        print(text)
        return
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
