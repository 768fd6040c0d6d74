"""Results by class: rates and areas as in WEKA, confusion matrices, and one-vs-rest curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from scorespace.errors import listing
from scorespace.measures.class_measures import ClassMeasure, ClassMeasures
from scorespace.report import confusion_charts as charts
from scorespace.report.document import Block, Grid, Picture, Section, Text
from scorespace.report.protocol import EvaluationView
from scorespace.results import Row, decimals, grouped, to_json_types
from scorespace.tables import ConfusionTable, ratio
from scorespace.tables.threshold import threshold_text

MAX_CLASSES_IN_TEXT: Final = 12
"""Maximum number of classes listed in text output."""

MAX_CLASSES_IN_CHART: Final = 60
"""Maximum number of classes in a chart of a confusion matrix."""

AVERAGE: Final = "weighted mean"
_WEKA_NAMES: Final = {
    "tpr": "TP rate",
    "fpr": "FP rate",
    "ppv": "precision",
    "f1": "F-measure",
    "mcc": "MCC",
    "auc": "ROC area",
    "auprc": "PRC area",
}


def class_grid(found: ClassMeasures) -> Grid:
    """WEKA's "Detailed Accuracy By Class": one row per class and their mean, weighted by class size.

    Undefined values are dashes; the caption gives the reason and the number of classes in the mean.

    >>> from scorespace.measures.class_measures import class_measures
    >>> from scorespace.tables import confusion
    >>> class_grid(class_measures(confusion([[3, 1], [0, 4]], classes=["a", "b"]))).rows[0]
    ('a', '0.750', '0.000', '1.000', '0.857', '0.775')
    """
    caption = "Each class against the rest; the mean is weighted by class size."
    return _grid(found, _WEKA_NAMES, f"{caption} {_explain_undefined(found, _WEKA_NAMES)}".strip())


def confusion_grid(table: ConfusionTable) -> Grid:
    """The confusion matrix with totals; rows are actual, columns predicted classes."""
    names = (*table.classes, "total")
    lines = np.vstack([table.matrix, table.matrix.sum(axis=0)])
    counts = np.column_stack([lines, lines.sum(axis=1)])
    rows = tuple((name, *map(grouped, line)) for name, line in zip(names, counts.tolist(), strict=True))
    return Grid(("actual \\ predicted", *names), rows)


def describe_confusions(table: ConfusionTable, max_pairs: int = 3) -> str:
    """The most frequent confusions, in a sentence.

    >>> from scorespace.tables import confusion
    >>> describe_confusions(confusion([[47, 3], [0, 50]], classes=["versicolor", "virginica"]))
    'versicolor is predicted as virginica in 3 of 50 cases (6 %).'
    """
    errors = np.where(np.eye(len(table.classes), dtype=bool), 0.0, table.matrix)
    shares = np.nan_to_num(ratio(errors, table.class_totals[:, None]))
    pairs = int(np.count_nonzero(errors))
    if not pairs:
        return "No case is misclassified."
    # By number of cases; ties by the proportion of the class.
    most_frequent = np.lexsort((-shares.ravel(), -errors.ravel()))[: min(max_pairs, pairs)]
    sentences = [
        f"{table.classes[i]} is predicted as {table.classes[k]} in {grouped(float(errors[i, k]))} of "
        f"{grouped(float(table.class_totals[i]))} cases ({100 * shares[i, k]:.3g} %)"
        for i, k in zip(*np.unravel_index(most_frequent, errors.shape), strict=True)
    ]
    others_text = ""
    if pairs > most_frequent.size:
        rest = grouped(float(errors.sum() - errors.ravel()[most_frequent].sum()))
        others_text = f" Other confusions: {rest} {'case' if rest == '1' else 'cases'}."
    return f"{'; '.join(sentences)}.{others_text}"


def blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Results by class, for each model."""
    models: Mapping[str, ClassMeasures] = evaluation.multiclass_measures
    if not models:
        return []
    content: list[Block] = [Text(" ".join(describe_extremes(name, found) for name, found in models.items()))]
    for name, found in models.items():
        content += [Text(name)] if len(evaluation.models) > 1 else []
        content += [class_grid(found), *_curve_pictures(evaluation, name, found)]
        if found.has_scores and len(found.decisions.classes) <= MAX_CLASSES_IN_TEXT:
            content.append(pair_grid(evaluation.models[name]))
        content += [Text(describe_confusions(found.decisions)), *_confusion_picture(name, found)]
    return content


def short_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Text version: measures by class of one model, or F1 by class and model; empty for many classes."""
    models: Mapping[str, ClassMeasures] = evaluation.multiclass_measures
    classes = list(dict.fromkeys(label for found in models.values() for label in found.decisions.classes))
    if not 3 <= len(classes) <= MAX_CLASSES_IN_TEXT:
        return []
    if len(models) > 1:
        return [_f1_grid(models, classes)]
    (found,) = models.values()
    # For models with scores, the verdict already names the most frequent confusion.
    confusions = "" if found.has_scores else describe_confusions(found.decisions)
    texts = [confusions, _explain_undefined(found)]
    return [_grid(found), *(Text(text) for text in texts if text)]


def detailed_section(evaluation: EvaluationView) -> Section:
    """WEKA's table for every model; binary classifiers at their threshold."""
    content: list[Block] = []
    for name, found in evaluation.class_measures.items():
        has_scores = name in evaluation.models.thresholded
        threshold = f" at threshold {threshold_text(evaluation.threshold(name))}" if has_scores else ""
        undefined = _explain_undefined(found, _WEKA_NAMES)  # captions are not shown in a terminal
        content += [Text(f"{name}{threshold}, by class"), _grid(found, _WEKA_NAMES)]
        content += [Text(undefined)] if undefined else []
    content = content or [Text("There are fewer than two classes.")]
    return Section("detailed", "Detailed accuracy by class", tuple(content), brief=True)


def detailed_rows(evaluation: EvaluationView) -> list[Row]:
    """The same as tidy rows: model, class and measures."""
    rows = []
    for model, found in evaluation.class_measures.items():
        for label, line in zip(found.decisions.classes, _values(found).tolist(), strict=True):
            values = dict(zip((one.measure.name for one in found.measures), line, strict=True))
            reasons = [
                f"{one.measure.name} undefined: {one.undefined}"
                for one in found.measures
                if np.isnan(values[one.measure.name])
            ]
            rows.append(to_json_types({"model": model, "class": label, **values, "reason": "; ".join(reasons) or None}))
    return rows


def confusion_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Confusion matrices of all models."""
    models = {name: found.decisions for name, found in evaluation.multiclass_measures.items()}
    content: list[Block] = (
        [Text(" ".join(describe_accuracy(name, table) for name, table in models.items()))] if models else []
    )
    for name, table in models.items():
        caption = f"{name}: confusion matrix, rows actual and columns predicted classes."
        content.append(replace(confusion_grid(table), caption=caption))
    return content


def describe_accuracy(name: str, table: ConfusionTable) -> str:
    """Number of correctly classified cases, in a sentence.

    >>> from scorespace.tables import confusion
    >>> describe_accuracy("nb", confusion([[3, 1], [0, 4]], classes=["a", "b"]))
    'nb classifies 7 of 8 cases correctly.'
    """
    correct = grouped(float(table.matrix.trace()))
    return f"{name} classifies {correct} of {grouped(float(table.total))} cases correctly."


def describe_extremes(name: str, found: ClassMeasures) -> str:
    """The classes with the highest and lowest F1, in a sentence.

    >>> from scorespace.measures.class_measures import class_measures
    >>> from scorespace.tables import confusion
    >>> describe_extremes("nb", class_measures(confusion([[3, 1], [0, 4]], classes=["a", "b"])))
    'F1 of nb is highest for b (0.889) and lowest for a (0.857).'
    """
    table, values = found.decisions, found["f1"].values
    defined = np.flatnonzero(np.isfinite(values))
    if defined.size < 2:
        return describe_accuracy(name, table)
    high, low = (int(defined[pick(values[defined])]) for pick in (np.argmax, np.argmin))
    best, worst = (decimals(float(values[index])) for index in (high, low))
    if values[high] == values[low]:
        return f"F1 of {name} is {best} for every class."
    return f"F1 of {name} is highest for {table.classes[high]} ({best}) and lowest for {table.classes[low]} ({worst})."


def pair_grid(table: Any) -> Grid:
    """Pairwise AUCs (Hand & Till 2001): the row's class against the column's, by the score of the row's class."""
    areas = table.pair_areas()
    rows = tuple(
        (name, *("" if i == k else decimals(float(area)) for k, area in enumerate(line)))
        for i, (name, line) in enumerate(zip(table.classes, areas, strict=True))
    )
    caption = (
        "AUC of each pair of classes: probability that a case of the row's class has a higher score for that class"
    )
    return Grid(("class \\ against", *table.classes), rows, f"{caption} than a case of the column's class.")


def _values(found: ClassMeasures) -> Any:
    """The measures as columns, one row per class."""
    return np.stack([one.values for one in found.measures], axis=1)


def _title(one: ClassMeasure, titles: Mapping[str, str] | None) -> str:
    return one.measure.name if titles is None else titles[one.measure.name]


def _grid(found: ClassMeasures, titles: Mapping[str, str] | None = None, caption: str = "") -> Grid:
    """Values of each class, and their mean weighted by class size."""
    classes, values = found.decisions.classes, _values(found)
    lines = zip((*classes, AVERAGE), [*values.tolist(), [one.mean for one in found.measures]], strict=True)
    hints = (
        (
            name,
            [
                f"{_title(one, titles)} is undefined: {one.undefined}"
                for one, is_undefined in zip(found.measures, undefined, strict=True)
                if is_undefined
            ],
        )
        for name, undefined in zip(classes, np.isnan(values).tolist(), strict=True)
    )
    return Grid(
        ("class", *(_title(one, titles) for one in found.measures)),
        tuple((name, *map(decimals, line)) for name, line in lines),
        caption,
        tuple((name, "; ".join(reasons)) for name, reasons in hints if reasons),
    )


def _f1_grid(models: Mapping[str, ClassMeasures], classes: Sequence[str]) -> Grid:
    """F1 by class and model."""
    scores = {
        (name, label): decimals(value)
        for name, found in models.items()
        for label, value in zip(found.decisions.classes, found["f1"].values.tolist(), strict=True)
    }
    rows = tuple((label, *(scores.get((name, label), "–") for name in models)) for label in classes)
    return Grid(("f1 of class", *models), rows)


def _explain_undefined(found: ClassMeasures, titles: Mapping[str, str] | None = None) -> str:
    """Which means leave out classes, and why; empty if none does."""
    table = found.decisions
    present, size, sentences = table.class_totals > 0, len(table.classes), []
    if not present.all():
        absent = _names(table, ~present)
        sentences.append(f"The mean is over {np.count_nonzero(present)} of {size} classes: no cases of {absent}.")
    by_gap: dict[bytes, list[ClassMeasure]] = {}
    for one in found.measures:
        by_gap.setdefault((np.isnan(one.values) & present).tobytes(), []).append(one)
    for key, alike in by_gap.items():
        gap = np.frombuffer(key, dtype=bool)
        if gap.any():
            names, used = " and ".join(_title(one, titles) for one in alike), np.count_nonzero(present & ~gap)
            sentences.append(
                f"The mean of {names} is over {used} of {size} classes: "
                f"undefined (–) for {_names(table, gap)}, because {alike[0].undefined}."
            )
    return " ".join(sentences)


def _names(table: ConfusionTable, selected: Any) -> str:
    return listing([name for name, is_selected in zip(table.classes, selected.tolist(), strict=True) if is_selected])


def _confusion_picture(name: str, found: ClassMeasures) -> Sequence[Block]:
    if len(found.decisions.classes) > MAX_CLASSES_IN_CHART:
        return []

    rule = "Predicted class: the highest score. " if found.has_scores else ""
    caption = f"{rule}Blue is correct, orange is wrong; darker cells are larger proportions of the actual class."
    draw = partial(charts.confusion_chart, found.decisions, name)
    return [Picture(draw, f"Confusion matrix of {name}: predicted against actual class.", caption)]


def _curve_pictures(evaluation: EvaluationView, name: str, found: ClassMeasures) -> Sequence[Block]:
    """ROC and PR curves of each class, if there are scores and at least two classes with cases."""
    if not found.has_scores or np.count_nonzero(found.decisions.class_totals) < 2:
        return []

    area_note = "with its area; the thick line is their mean."
    return [
        Picture(
            lambda: _class_curves(evaluation, name, "roc"),
            f"True positive rate against false positive rate of each class of {name}, and their mean.",
            f"ROC curve of each class against the rest, {area_note}",
        ),
        Picture(
            lambda: _class_curves(evaluation, name, "pr"),
            f"Precision against recall of each class of {name}, and their mean.",
            f"Precision-recall curve of each class against the rest, {area_note} Chance level: class proportion.",
        ),
    ]


def _class_curves(evaluation: EvaluationView, model: str, kind: str) -> Any:
    """Chart of the curve of every class against the rest, and of their mean."""
    return charts.class_curves_chart(*evaluation.class_curves(kind, model), kind)
