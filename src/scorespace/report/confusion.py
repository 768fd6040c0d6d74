"""Results by class: rates and areas as in WEKA, confusion matrices, and one-vs-rest curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from scorespace.curves import pr, roc
from scorespace.curves.curve import CurveKind
from scorespace.curves.macro_average import mean
from scorespace.errors import listing
from scorespace.measures import Measure
from scorespace.measures.average import by_class
from scorespace.measures.confusion import f1, fpr, mcc, ppv, tpr
from scorespace.measures.ranking import auc, auprc
from scorespace.report import confusion_charts as charts
from scorespace.report.document import Block, Grid, Picture, Section, Text
from scorespace.report.protocol import EvaluationView
from scorespace.results import Row, decimals, grouped, to_json_types
from scorespace.tables import Array, ClassBins, ClassTable, ConfusionTable, Counts, ScoreTable, ratio
from scorespace.tables.paired import binary_class_names
from scorespace.tables.threshold import threshold_text

MAX_CLASSES_IN_TEXT: Final = 12
"""Maximum number of classes listed in text output."""

MAX_CLASSES_IN_CHART: Final = 60
"""Maximum number of classes in a chart of a confusion matrix."""

AVERAGE: Final = "weighted mean"
_AREAS: Final = (auc, auprc)
_BY_NAME: Final = {measure.name: measure for measure in (tpr, fpr, ppv, f1, mcc, *_AREAS)}
_NAMES: Final = ("TP rate", "FP rate", "precision", "F-measure", "MCC", "ROC area", "PRC area")
_BY_WEKA_NAME: Final = dict(zip(_NAMES, _BY_NAME.values(), strict=True))
_NO_AREA: Final = "the class, or the rest, has no cases"

Areas = Mapping[str, Mapping[str, float]]
"""Area of each class, by measure."""


@dataclass(frozen=True)
class _ClassMeasure:
    """A measure of every class, and the reason why it may be undefined."""

    title: str
    values: Array
    undefined: str


def class_grid(table: ConfusionTable, areas: Areas | None = None) -> Grid:
    """WEKA's "Detailed Accuracy By Class": one row per class and their mean, weighted by class size.

    `areas` under the ROC and the precision-recall curve of each class. Undefined values are dashes; the caption gives
    the reason and the number of classes in the mean.

    >>> from scorespace.tables import confusion
    >>> class_grid(confusion([[3, 1], [0, 4]], classes=["a", "b"])).rows[0]
    ('a', '0.750', '0.000', '1.000', '0.857', '0.775')
    """
    columns = _columns(table, _BY_WEKA_NAME, areas or {})
    caption = "Each class against the rest; the mean is weighted by class size."
    return _grid(table, columns, f"{caption} {_explain_undefined(table, columns)}".strip())


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
    models = _models(evaluation)
    if not models:
        return []
    content: list[Block] = [
        Text(" ".join(describe_extremes(name, _decisions(table)) for name, table in models.items()))
    ]
    for name, table in models.items():
        decisions = _decisions(table)
        content += [Text(name)] if len(evaluation.models) > 1 else []
        content += [class_grid(decisions, _areas(table)), *_curve_pictures(name, table)]
        content += [pair_grid(table)] if table.scores_classes and len(table.classes) <= MAX_CLASSES_IN_TEXT else []
        content += [Text(describe_confusions(decisions)), *_confusion_picture(name, table)]
    return content


def short_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Text version: measures by class of one model, or F1 by class and model; empty for many classes."""
    models = _models(evaluation)
    tables = {name: _decisions(table) for name, table in models.items()}
    classes = list(dict.fromkeys(label for table in tables.values() for label in table.classes))
    if not 3 <= len(classes) <= MAX_CLASSES_IN_TEXT:
        return []
    if len(models) > 1:
        return [_f1_grid(tables, classes)]
    ((name, decisions),) = tables.items()
    columns = _columns(decisions, _BY_NAME, _areas(models[name]))
    # For models with scores, the verdict already names the most frequent confusion.
    confusions = "" if models[name].scores_classes else describe_confusions(decisions)
    texts = [confusions, _explain_undefined(decisions, columns)]
    return [_grid(decisions, columns), *(Text(text) for text in texts if text)]


def detailed_section(evaluation: EvaluationView) -> Section:
    """WEKA's table for every model; binary classifiers at their threshold."""
    content: list[Block] = []
    for name, decisions, areas in _by_class(evaluation):
        has_scores = name in evaluation.models.thresholded
        threshold = f" at threshold {threshold_text(evaluation.threshold(name))}" if has_scores else ""
        columns = _columns(decisions, _BY_WEKA_NAME, areas)
        undefined = _explain_undefined(decisions, columns)  # captions are not shown in a terminal
        content += [Text(f"{name}{threshold}, by class"), _grid(decisions, columns)]
        content += [Text(undefined)] if undefined else []
    content = content or [Text("There are fewer than two classes.")]
    return Section("detailed", "Detailed accuracy by class", tuple(content), brief=True)


def detailed_rows(evaluation: EvaluationView) -> list[Row]:
    """The same as tidy rows: model, class and measures."""
    rows = []
    for model, decisions, areas in _by_class(evaluation):
        columns = _columns(decisions, _BY_NAME, areas)
        values = np.stack([column.values for column in columns], axis=1)
        for label, line in zip(decisions.classes, values.tolist(), strict=True):
            values_of_class = dict(zip((column.title for column in columns), line, strict=True))
            reasons = [
                f"{column.title} undefined: {column.undefined}"
                for column in columns
                if np.isnan(values_of_class[column.title])
            ]
            rows.append(
                to_json_types({"model": model, "class": label, **values_of_class, "reason": "; ".join(reasons) or None})
            )
    return rows


def _by_class(evaluation: EvaluationView) -> Iterator[tuple[str, ConfusionTable, Areas]]:
    """Confusion table of every classifier, with the areas of each class if it has scores."""
    for name, table in evaluation.at_stated_prevalence.items():
        if len(table.class_names) < 2:  # not a classifier
            continue
        if not table.thresholded:
            yield name, _decisions(table), _areas(table)
            continue
        counts = evaluation.at_stated_prevalence.counts(name, evaluation.threshold(name))
        scores, decisions = table.inside(ScoreTable), two_by_two(evaluation, counts)
        if len(scores.classes) > 2:  # merge all negative classes
            scores = ScoreTable(scores.score, np.stack([scores.neg, scores.pos]), decisions.classes[::-1], 1)
        tables = {label: scores.inside(ScoreTable, label) for label in decisions.classes}
        yield (
            name,
            decisions,
            {
                measure.name: {label: float(measure(class_table)) for label, class_table in tables.items()}
                for measure in _AREAS
            },
        )


def two_by_two(evaluation: EvaluationView, counts: Counts) -> ConfusionTable:
    """Outcomes of a binary classifier as a confusion table, positive class first."""
    classes = tuple(evaluation.models.classes)
    negative, positive = binary_class_names(classes, classes.index(str(evaluation.models.positive)))
    cells = np.array([[counts.tp, counts.fn], [counts.fp, counts.tn]], dtype=np.float64)
    return ConfusionTable(cells, (positive, negative))


def confusion_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Confusion matrices of all models."""
    models = {name: _decisions(table) for name, table in _models(evaluation).items()}
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


def describe_extremes(name: str, table: ConfusionTable) -> str:
    """The classes with the highest and lowest F1, in a sentence.

    >>> from scorespace.tables import confusion
    >>> describe_extremes("nb", confusion([[3, 1], [0, 4]], classes=["a", "b"]))
    'F1 of nb is highest for b (0.889) and lowest for a (0.857).'
    """
    values = by_class(f1, table)
    defined = np.flatnonzero(np.isfinite(values))
    if defined.size < 2:
        return describe_accuracy(name, table)
    high, low = (int(defined[pick(values[defined])]) for pick in (np.argmax, np.argmin))
    best, worst = (decimals(float(values[index])) for index in (high, low))
    if values[high] == values[low]:
        return f"F1 of {name} is {best} for every class."
    return f"F1 of {name} is highest for {table.classes[high]} ({best}) and lowest for {table.classes[low]} ({worst})."


def class_curves(table: Any, kind: CurveKind[Any]) -> Any:
    """Chart of the ROC or PR curve of every class against the rest, and of their mean."""
    curves = {label: kind(table.one_vs_rest(k)) for k, label in enumerate(table.classes)}
    return charts.class_curves_chart(curves, mean.functions[kind.name](curves.values()), kind.name)


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


def _models(evaluation: EvaluationView) -> dict[str, ClassTable | ClassBins | ConfusionTable]:
    """Multiclass models, without a positive class."""
    return {
        name: table for name, table in evaluation.models.items() if table.class_names and table.positive_name is None
    }


def _decisions(table: ClassTable | ClassBins | ConfusionTable) -> ConfusionTable:
    return table.inside(ConfusionTable)


def _areas(table: ClassTable | ClassBins | ConfusionTable) -> Areas:
    """Areas under the ROC and PR curve of each class, if there are scores."""
    measures = _AREAS if table.scores_classes else ()
    return {
        measure.name: dict(zip(table.classes, by_class(measure, table).tolist(), strict=True)) for measure in measures
    }


def _columns(table: ConfusionTable, measures: Mapping[str, Measure], areas: Areas) -> list[_ClassMeasure]:
    columns = []
    for title, measure in measures.items():
        if measure not in _AREAS:
            columns.append(_ClassMeasure(title, by_class(measure, table), measure.undefined))
        elif measure.name in areas:
            values = [areas[measure.name].get(name, np.nan) for name in table.classes]
            columns.append(_ClassMeasure(title, np.array(values), _NO_AREA))
    return columns


def _grid(table: ConfusionTable, columns: Sequence[_ClassMeasure], caption: str = "") -> Grid:
    """Values of each class, and their mean weighted by class size."""
    values = np.stack([column.values for column in columns], axis=1)
    undefined = np.isnan(values)
    weights = np.where(undefined, 0.0, table.class_totals[:, None])
    mean = ratio((np.nan_to_num(values) * weights).sum(axis=0), weights.sum(axis=0))
    lines = zip((*table.classes, AVERAGE), np.vstack([values, mean]).tolist(), strict=True)
    hints = (
        (
            name,
            [
                f"{column.title} is undefined: {column.undefined}"
                for column, is_undefined in zip(columns, undefined_measures, strict=True)
                if is_undefined
            ],
        )
        for name, undefined_measures in zip(table.classes, undefined.tolist(), strict=True)
    )
    return Grid(
        ("class", *(column.title for column in columns)),
        tuple((name, *map(decimals, line)) for name, line in lines),
        caption,
        tuple((name, "; ".join(reasons)) for name, reasons in hints if reasons),
    )


def _f1_grid(tables: Mapping[str, ConfusionTable], classes: Sequence[str]) -> Grid:
    """F1 by class and model."""
    scores = {
        (name, label): decimals(value)
        for name, table in tables.items()
        for label, value in zip(table.classes, by_class(f1, table).tolist(), strict=True)
    }
    rows = tuple((label, *(scores.get((name, label), "–") for name in tables)) for label in classes)
    return Grid(("f1 of class", *tables), rows)


def _explain_undefined(table: ConfusionTable, columns: Sequence[_ClassMeasure]) -> str:
    """Which means leave out classes, and why; empty if none does."""
    present, size, sentences = table.class_totals > 0, len(table.classes), []
    if not present.all():
        absent = _names(table, ~present)
        sentences.append(f"The mean is over {np.count_nonzero(present)} of {size} classes: no cases of {absent}.")
    by_gap: dict[bytes, list[_ClassMeasure]] = {}
    for column in columns:
        by_gap.setdefault((np.isnan(column.values) & present).tobytes(), []).append(column)
    for key, columns_alike in by_gap.items():
        gap = np.frombuffer(key, dtype=bool)
        if gap.any():
            titles, used = " and ".join(column.title for column in columns_alike), np.count_nonzero(present & ~gap)
            sentences.append(
                f"The mean of {titles} is over {used} of {size} classes: "
                f"undefined (–) for {_names(table, gap)}, because {columns_alike[0].undefined}."
            )
    return " ".join(sentences)


def _names(table: ConfusionTable, selected: Array) -> str:
    return listing([name for name, is_selected in zip(table.classes, selected.tolist(), strict=True) if is_selected])


def _confusion_picture(name: str, table: ClassTable | ClassBins | ConfusionTable) -> Sequence[Block]:
    if len(table.classes) > MAX_CLASSES_IN_CHART:
        return []

    rule = "Predicted class: the highest score. " if table.scores_classes else ""
    caption = f"{rule}Blue is correct, orange is wrong; darker cells are larger proportions of the actual class."
    draw = partial(charts.confusion_chart, _decisions(table), name)
    return [Picture(draw, f"Confusion matrix of {name}: predicted against actual class.", caption)]


def _curve_pictures(name: str, table: ClassTable | ClassBins | ConfusionTable) -> Sequence[Block]:
    """ROC and PR curves of each class, if there are scores and at least two classes with cases."""
    if not table.scores_classes or np.count_nonzero(table.class_totals) < 2:
        return []

    area_note = "with its area; the thick line is their mean."
    return [
        Picture(
            partial(class_curves, table, roc),
            f"True positive rate against false positive rate of each class of {name}, and their mean.",
            f"ROC curve of each class against the rest, {area_note}",
        ),
        Picture(
            partial(class_curves, table, pr),
            f"Precision against recall of each class of {name}, and their mean.",
            f"Precision-recall curve of each class against the rest, {area_note} Chance level: class proportion.",
        ),
    ]
