"""Class by class: rates and areas as WEKA prints them, which class is taken for which, and the curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scorespace.curves import pr, roc
from scorespace.curves.classes import mean
from scorespace.curves.curve import CurveKind
from scorespace.errors import listing
from scorespace.frozen import dataclass
from scorespace.later import later
from scorespace.measures import Measure
from scorespace.measures.average import by_class
from scorespace.measures.confusion import f1, fpr, mcc, ppv, tpr
from scorespace.measures.ranking import auc, auprc
from scorespace.results import Row, decimals, grouped, plain
from scorespace.tables import Array, ClassBins, ClassTable, ConfusionTable, Counts, ScoreTable, ratio
from scorespace.tables.pair import two_names
from scorespace.tables.threshold import threshold_text
from scorespace.views.answers import Answers
from scorespace.views.document import Block, Grid, Picture, Section, Text

if TYPE_CHECKING:
    from scorespace.views.charts import classes as charts
else:  # a screen of text needs no picture
    charts = later("scorespace.views.charts.classes")

MOST_IN_BRIEF: Final = 12
"""Most classes that a terminal lists one by one."""

MOST_DRAWN: Final = 60
"""Most classes whose cells can still be seen in a picture."""

AVERAGE: Final = "weighted mean"
_AREAS: Final = (auc, auprc)
_SHORT: Final = {measure.name: measure for measure in (tpr, fpr, ppv, f1, mcc, *_AREAS)}
_NAMES: Final = ("TP rate", "FP rate", "precision", "F-measure", "MCC", "ROC area", "PRC area")
_WEKA: Final = dict(zip(_NAMES, _SHORT.values(), strict=True))
_NO_AREA: Final = "the class, or the rest, has no cases"

Areas = Mapping[str, Mapping[str, float]]
"""By measure, the area of each class."""


@dataclass(frozen=True)
class _Column:
    """A measure of every class, and why it may be undefined."""

    title: str
    values: Array
    undefined: str


def class_grid(table: ConfusionTable, areas: Areas | None = None) -> Grid:
    """WEKA's "Detailed Accuracy By Class": one row per class and their mean, weighted by their cases.

    `areas` lie under the ROC and the precision-recall curve of each class. Undefined values are dashes; the
    caption says why, and over how many classes a mean is.

    >>> from scorespace.tables import confusion
    >>> class_grid(confusion([[3, 1], [0, 4]], classes=["a", "b"])).rows[0]
    ('a', '0.750', '0.000', '1.000', '0.857', '0.775')
    """
    columns = _columns(table, _WEKA, areas or {})
    about = "Each class in turn against all others; the mean is weighted by their cases."
    return _grid(table, columns, f"{about} {_left_out(table, columns)}".strip())


def confusion_grid(table: ConfusionTable) -> Grid:
    """The counts of decisions with their totals, rows actual and columns decided."""
    names = (*table.classes, "total")
    lines = np.vstack([table.matrix, table.matrix.sum(axis=0)])
    counts = np.column_stack([lines, lines.sum(axis=1)])
    rows = tuple((name, *map(grouped, line)) for name, line in zip(names, counts.tolist(), strict=True))
    return Grid(("actual \\ decided", *names), rows)


def confused_words(table: ConfusionTable, most: int = 3) -> str:
    """The pairs of classes most often confused, by number of cases, in words.

    >>> from scorespace.tables import confusion
    >>> confused_words(confusion([[47, 3], [0, 50]], classes=["versicolor", "virginica"]))
    'versicolor is taken for virginica in 3 of 50 cases (6 %).'
    """
    errors = np.where(np.eye(len(table.classes), dtype=bool), 0.0, table.matrix)
    shares = np.nan_to_num(ratio(errors, table.class_totals[:, None]))
    pairs = int(np.count_nonzero(errors))
    if not pairs:
        return "No case is taken for another class."
    # By cases; of pairs with as many, the larger share of its class first.
    shown = np.lexsort((-shares.ravel(), -errors.ravel()))[: min(most, pairs)]
    told = [
        f"{table.classes[i]} is taken for {table.classes[k]} in {grouped(float(errors[i, k]))} of "
        f"{grouped(float(table.class_totals[i]))} cases ({100 * shares[i, k]:.3g} %)"
        for i, k in zip(*np.unravel_index(shown, errors.shape), strict=True)
    ]
    more = ""
    if pairs > shown.size:
        rest = grouped(float(errors.sum() - errors.ravel()[shown].sum()))
        more = f" Other pairs are confused in {rest} {'case' if rest == '1' else 'cases'}."
    return f"{'; '.join(told)}.{more}"


def blocks(evaluation: Answers) -> Sequence[Block]:
    """Everything class by class, model after model."""
    models = _models(evaluation)
    if not models:
        return []
    found: list[Block] = [Text(" ".join(extremes_words(name, _decisions(one)) for name, one in models.items()))]
    for name, table in models.items():
        decisions = _decisions(table)
        found += [Text(name)] if len(evaluation.models) > 1 else []
        found += [class_grid(decisions, _areas(table)), *_curve_pictures(name, table)]
        found += [pair_grid(table)] if table.scores_classes and len(table.classes) <= MOST_IN_BRIEF else []
        found += [Text(confused_words(decisions)), *_confusion_picture(name, table)]
    return found


def short_blocks(evaluation: Answers) -> Sequence[Block]:
    """What fits one screen of text: one model class by class, or F1 by class and model; nothing for many classes."""
    models = _models(evaluation)
    tables = {name: _decisions(table) for name, table in models.items()}
    classes = list(dict.fromkeys(label for table in tables.values() for label in table.classes))
    if not 3 <= len(classes) <= MOST_IN_BRIEF:
        return []
    if len(models) > 1:
        return [_f1_grid(tables, classes)]
    ((name, decisions),) = tables.items()
    columns = _columns(decisions, _SHORT, _areas(models[name]))
    # The verdict on a model that scores says already what it confuses most.
    words = ["" if models[name].scores_classes else confused_words(decisions), _left_out(decisions, columns)]
    return [_grid(decisions, columns), *(Text(one) for one in words if one)]


def detailed_section(evaluation: Answers) -> Section:
    """WEKA's table of every model, of two classes too: there the threshold that it is shown at decides."""
    found: list[Block] = []
    for name, decisions, areas in _by_class(evaluation):
        scored = name in evaluation.models.thresholded
        at = f" at threshold {threshold_text(evaluation.threshold(name))}" if scored else ""
        columns = _columns(decisions, _WEKA, areas)
        left_out = _left_out(decisions, columns)  # a terminal shows no captions
        found += [Text(f"{name}{at}, class by class"), _grid(decisions, columns)]
        found += [Text(left_out)] if left_out else []
    found = found or [Text("There are no two classes to tell apart.")]
    return Section("detailed", "Detailed accuracy by class", tuple(found), brief=True)


def detailed_rows(evaluation: Answers) -> list[Row]:
    """The same as tidy rows: a model, a class, and its measures."""
    rows = []
    for model, decisions, areas in _by_class(evaluation):
        columns = _columns(decisions, _SHORT, areas)
        values = np.stack([one.values for one in columns], axis=1)
        for label, line in zip(decisions.classes, values.tolist(), strict=True):
            found = dict(zip((c.title for c in columns), line, strict=True))
            reasons = [f"{c.title} undefined: {c.undefined}" for c in columns if np.isnan(found[c.title])]
            rows.append(plain({"model": model, "class": label, **found, "reason": "; ".join(reasons) or None}))
    return rows


def _by_class(evaluation: Answers) -> Iterator[tuple[str, ConfusionTable, Areas]]:
    """The decisions of every model that tells classes apart, with the areas of each class where it scores."""
    for name, table in evaluation.in_use.items():
        if len(table.class_names) < 2:  # nothing is told apart
            continue
        if not table.thresholded:
            yield name, _decisions(table), _areas(table)
            continue
        counts = evaluation.in_use.counts(name, evaluation.threshold(name))
        scores, decisions = table.inside(ScoreTable), two_by_two(evaluation, counts)
        if len(scores.classes) > 2:  # all but the positive one are told as one class
            scores = ScoreTable(scores.score, np.stack([scores.neg, scores.pos]), decisions.classes[::-1], 1)
        tables = {label: scores.inside(ScoreTable, label) for label in decisions.classes}
        yield name, decisions, {one.name: {label: float(one(own)) for label, own in tables.items()} for one in _AREAS}


def two_by_two(evaluation: Answers, counts: Counts) -> ConfusionTable:
    """The outcomes of a two-class model as a table of decisions, the positive class first."""
    classes = tuple(evaluation.models.classes)
    negative, positive = two_names(classes, classes.index(str(evaluation.models.positive)))
    cells = np.array([[counts.tp, counts.fn], [counts.fp, counts.tn]], dtype=np.float64)
    return ConfusionTable(cells, (positive, negative))


def confusion_blocks(evaluation: Answers) -> Sequence[Block]:
    """The numbers of decisions, class against class, model after model."""
    models = {name: _decisions(table) for name, table in _models(evaluation).items()}
    found: list[Block] = [Text(" ".join(right_words(name, one) for name, one in models.items()))] if models else []
    for name, table in models.items():
        caption = f"{name}: cases of each class by what they are decided to be."
        found.append(replace(confusion_grid(table), caption=caption))
    return found


def right_words(name: str, table: ConfusionTable) -> str:
    """How many cases a model decides right, in a sentence.

    >>> from scorespace.tables import confusion
    >>> right_words("nb", confusion([[3, 1], [0, 4]], classes=["a", "b"]))
    'nb decides 7 of 8 cases right.'
    """
    return f"{name} decides {grouped(float(table.matrix.trace()))} of {grouped(float(table.total))} cases right."


def extremes_words(name: str, table: ConfusionTable) -> str:
    """Which class a model finds best and which worst, by F1, in a sentence.

    >>> from scorespace.tables import confusion
    >>> extremes_words("nb", confusion([[3, 1], [0, 4]], classes=["a", "b"]))
    'nb finds b best (F1 0.889) and a worst (0.857).'
    """
    values = by_class(f1, table)
    known = np.flatnonzero(np.isfinite(values))
    if known.size < 2:
        return right_words(name, table)
    high, low = (int(known[pick(values[known])]) for pick in (np.argmax, np.argmin))
    best, worst = (decimals(float(values[place])) for place in (high, low))
    if values[high] == values[low]:
        return f"{name} finds all classes alike (F1 {best})."
    return f"{name} finds {table.classes[high]} best (F1 {best}) and {table.classes[low]} worst ({worst})."


def class_curves(table: Any, kind: CurveKind[Any]) -> Any:
    """The chart of every class's ROC or PR curve, and of their mean."""
    curves = {label: kind(table.one_vs_rest(k)) for k, label in enumerate(table.classes)}
    return charts.class_curves_chart(curves, mean.functions[kind.name](curves.values()), kind.name)


def pair_grid(table: Any) -> Grid:
    """Hand and Till's areas of the pairs of classes: the row's class against the column's, by the row's score."""
    areas = table.pair_areas()
    rows = tuple(
        (name, *("" if i == k else decimals(float(area)) for k, area in enumerate(line)))
        for i, (name, line) in enumerate(zip(table.classes, areas, strict=True))
    )
    about = "AUC of each pair of classes: how often a case of the row's class has a higher score for that class than"
    return Grid(("class \\ against", *table.classes), rows, f"{about} one of the column's class has.")


def _models(evaluation: Answers) -> dict[str, ClassTable | ClassBins | ConfusionTable]:
    """The models for which no class is the positive one."""
    return {
        name: table for name, table in evaluation.models.items() if table.class_names and table.positive_name is None
    }


def _decisions(table: ClassTable | ClassBins | ConfusionTable) -> ConfusionTable:
    return table.inside(ConfusionTable)


def _areas(table: ClassTable | ClassBins | ConfusionTable) -> Areas:
    """The areas under the ROC and the PR curve of each class, where there are scores."""
    measures = _AREAS if table.scores_classes else ()
    return {one.name: dict(zip(table.classes, by_class(one, table).tolist(), strict=True)) for one in measures}


def _columns(table: ConfusionTable, measures: Mapping[str, Measure], areas: Areas) -> list[_Column]:
    found = []
    for title, one in measures.items():
        if one not in _AREAS:
            found.append(_Column(title, by_class(one, table), one.undefined))
        elif one.name in areas:
            values = [areas[one.name].get(name, np.nan) for name in table.classes]
            found.append(_Column(title, np.array(values), _NO_AREA))
    return found


def _grid(table: ConfusionTable, columns: Sequence[_Column], caption: str = "") -> Grid:
    """The values of each class, and their mean weighted by its cases."""
    values = np.stack([one.values for one in columns], axis=1)
    undefined = np.isnan(values)
    used = np.where(undefined, 0.0, table.class_totals[:, None])
    mean = ratio((np.nan_to_num(values) * used).sum(axis=0), used.sum(axis=0))
    lines = zip((*table.classes, AVERAGE), np.vstack([values, mean]).tolist(), strict=True)
    hints = (
        (name, [f"{one.title} is undefined: {one.undefined}" for one, gap in zip(columns, gaps, strict=True) if gap])
        for name, gaps in zip(table.classes, undefined.tolist(), strict=True)
    )
    return Grid(
        ("class", *(one.title for one in columns)),
        tuple((name, *map(decimals, line)) for name, line in lines),
        caption,
        tuple((name, "; ".join(reasons)) for name, reasons in hints if reasons),
    )


def _f1_grid(tables: Mapping[str, ConfusionTable], classes: Sequence[str]) -> Grid:
    """F1 of each class by every model."""
    found = {
        (name, label): decimals(value)
        for name, table in tables.items()
        for label, value in zip(table.classes, by_class(f1, table).tolist(), strict=True)
    }
    rows = tuple((label, *(found.get((name, label), "–") for name in tables)) for label in classes)
    return Grid(("f1 of class", *tables), rows)


def _left_out(table: ConfusionTable, columns: Sequence[_Column]) -> str:
    """Which means are not over all classes, and why; empty when all are."""
    present, size, sentences = table.class_totals > 0, len(table.classes), []
    if not present.all():
        absent = _names(table, ~present)
        sentences.append(f"The mean is over {np.count_nonzero(present)} of {size} classes: no cases of {absent}.")
    by_gap: dict[bytes, list[_Column]] = {}
    for one in columns:
        by_gap.setdefault((np.isnan(one.values) & present).tobytes(), []).append(one)
    for key, alike in by_gap.items():
        gap = np.frombuffer(key, dtype=bool)
        if gap.any():
            titles, used = " and ".join(one.title for one in alike), np.count_nonzero(present & ~gap)
            sentences.append(
                f"The mean of {titles} is over {used} of {size} classes: "
                f"undefined (–) for {_names(table, gap)}, because {alike[0].undefined}."
            )
    return " ".join(sentences)


def _names(table: ConfusionTable, chosen: Array) -> str:
    return listing([name for name, here in zip(table.classes, chosen.tolist(), strict=True) if here])


def _confusion_picture(name: str, table: ClassTable | ClassBins | ConfusionTable) -> Sequence[Block]:
    if len(table.classes) > MOST_DRAWN:
        return []

    how = "Decided by the highest score. " if table.scores_classes else ""
    about = f"{how}Blue is right, orange is wrong: the darker, the larger the share of the actual class."
    draw = partial(charts.confusion_chart, _decisions(table), name)
    return [Picture(draw, f"How often {name} decides each class for cases of each actual class.", about)]


def _curve_pictures(name: str, table: ClassTable | ClassBins | ConfusionTable) -> Sequence[Block]:
    """ROC and PR of each class, where there are scores and two classes with cases."""
    if not table.scores_classes or np.count_nonzero(table.class_totals) < 2:
        return []

    areas = "with its area; the broad line is their mean."
    return [
        Picture(
            partial(class_curves, table, roc),
            f"True positive rate against false positive rate of each class of {name}, and their mean.",
            f"ROC of each class against all others, {areas}",
        ),
        Picture(
            partial(class_curves, table, pr),
            f"Precision against recall of each class of {name}, and their mean.",
            f"Precision and recall of each class against all others, {areas} Chance reaches the share of the class.",
        ),
    ]
