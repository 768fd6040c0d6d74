"""The ways in for two samples of one model, and for several raters of one sample."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace import frames
from scorespace.errors import ColumnError, DataError, listing
from scorespace.frames import batches as parted
from scorespace.frames.check import complete
from scorespace.frames.roles import absent_column
from scorespace.frames.scale import scale_of, scaled
from scorespace.frames.tally import tally
from scorespace.frames.values import label, number
from scorespace.frames.votes import with_votes
from scorespace.frozen import dataclass
from scorespace.results import Note, Progress, grouped, note
from scorespace.samples.agreement import TOLERANCE, Agreement, agreement
from scorespace.samples.drift import REPLICATES
from scorespace.samples.drift import drift as drift_of_tables
from scorespace.samples.match import Matches
from scorespace.samples.monitor import Monitoring
from scorespace.samples.monitor import monitor as monitored
from scorespace.samples.moved import Drift
from scorespace.samples.permuted import copied
from scorespace.samples.raters import Ratings, rate
from scorespace.tables import Array, ScoreTable
from scorespace.tables.labels import encode, is_missing, natural_order, positive_index


def agree(
    data: Any,
    *,
    raters: Mapping[str, str | Sequence[str]],
    positive: Any = None,
    truth: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    order: str | Sequence[Any] = (),
    scale: str | tuple[float, float] | None = None,
    tolerance: float = TOLERANCE,
    missing: str = "error",
    level: float = 0.95,
    seed: int = 0,
) -> Agreement | Ratings:
    """How raters agree; `raters` gives each the columns of decision and score, or of the decision alone.

    Scores lie in [0, 1], or on the stated `scale`, and say how strongly the rater feels that the instance is positive.
    With `truth` each rater's AUC is told as well. Instances are named by the column `id`, else by their row. Decisions
    alone may be of any number of classes, from the lowest to the highest where their `order` is stated; what a rater
    did not judge is then left out with missing="drop", and not the instance.

    >>> judged = {"ann": [1, 1, 0], "ann_s": [0.9, 0.6, 0.2], "bob": [1, 0, 0], "bob_s": [0.8, 0.55, 0.6]}
    >>> agree(judged, raters={"Ann": ("ann", "ann_s"), "Bob": ("bob", "bob_s")}).pairs[0].apart
    (3,)
    """
    if len(raters) < 2:
        raise DataError("agreement needs at least two raters.", seen=listing(raters), hint="a second rater")
    given = {name: (one,) if isinstance(one, str) else tuple(one) for name, one in raters.items()}
    source = frames.read(data)
    if all(len(one) == 1 for one in given.values()):
        for name, stated in {"positive": positive, "truth": truth, "scale": scale}.items():
            if stated is not None:
                raise DataError(f"{name}={stated!r} is for raters with scores.", hint='{"A": ("decision", "score")}')
        decided = {name: column for name, (column,) in given.items()}
        return _rated(source, decided, id, weight, order, missing, level, seed)
    columns = {name: _two_columns(name, one) for name, one in given.items()}
    if order:
        raise DataError("raters with scores decide between two classes, which need no order.", hint="no order")
    decisions = list(dict.fromkeys(decision for decision, _ in columns.values()))
    scores = list(dict.fromkeys(score for _, score in columns.values()))
    leading = truth if truth is not None else decisions[0]
    roles = frames.roles(
        source,
        truth=leading,
        scores=scores,
        decisions=[name for name in decisions if name != leading] or None,
        weight=weight,
    )
    if id is not None and id not in source.columns:
        raise absent_column(id, source)
    source = scaled(source, scores, scale_of(scale))
    sample = _checked(source, roles, missing)
    # All rows, so that those left out do not change the numbers of the others.
    whole = replace(sample, dropped=0)
    wanted = [leading, *decisions, *scores, *([weight] if weight else []), *([id] if id else [])]
    found = frames.columns(whole, wanted)
    frame = whole.frame
    kept = np.asarray(source.arrays(frame.select(complete(frame, roles).alias("kept")))["kept"], dtype=bool)
    row = np.flatnonzero(_weighing(source, weight))
    labels = {name: _labels(found[name][kept], name, sample, name == leading) for name in (leading, *decisions)}
    classes = tuple(sorted({each for values in labels.values() for each in np.unique(values)}, key=natural_order))
    if len(classes) > 2:
        raise DataError(
            "raters with scores can be compared on two classes only.",
            seen=listing(classes),
            hint="one label for yes, one for no; or the decisions alone, without scores",
        )
    classes, named = _positive(classes, positive)
    judged = {
        name: (labels[decision] == named, found[score][kept].astype(np.float64))
        for name, (decision, score) in columns.items()
    }
    notes = _sample_notes(classes, named, positive)
    if sample.dropped:
        some = f"{grouped(sample.rows)} of {grouped(sample.rows + sample.dropped)} instances"
        notes = (note("SS031", f"the raters are compared on the {some} that all of them judged."), *notes)
    ids = _whole_labels(found[id][kept].tolist()) if id else (1 + row[kept]).tolist()
    actual = None if truth is None else labels[truth] == named
    return agreement(
        judged,
        ids=ids,
        truth=actual,
        tolerance=tolerance,
        positive=named,
        negative=next((name for name in classes if name != named), "no"),
        weight=found[weight][kept].astype(np.float64) if weight else None,
        level=level,
        seed=seed,
        notes=notes,
    )


def drift(
    before: Any,
    after: Any,
    *,
    truth: str | None = None,
    scores: Any = (),
    positive: Any = None,
    names: Mapping[str, str] | None = None,
    weight: str | None = None,
    scale: str | tuple[float, float] | None = None,
    missing: str = "error",
    memory: str | float | None = None,
    samples: int = 1,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Drift:
    """What moved between two samples of the same models: prevalence, scores, calibration, smooth ROC.

    The sample after may lack the column of the truth; then only its scores are judged. Both may be files of tables.
    Columns beyond `memory` are counted in bins where they are. A `weight` of whole numbers says how often a row
    occurred; other weights go with their cases. `samples` are compared with the same one before: p-values are adjusted
    for all of them.

    >>> sample = {"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}
    >>> drift(sample, sample, truth="y", scores="s")
    Nothing can be said: 4 and 4 cases are too few to show whether anything moved.
    """
    asked = _Asked(truth, scores, names, weight, scale, missing, memory)
    first = before if isinstance(before, _One) else _read_one(before, asked)
    second = _read_one(after, asked, like=first)
    (old, new), notes = _alike([first, second], positive)
    sizes = None if first.rows is None or second.rows is None else (first.rows, second.rows)
    settings: dict[str, Any] = {"samples": samples, "replicates": replicates, "seed": seed, "progress": progress}
    found = drift_of_tables(old, new, labelled=second.labelled, **settings)
    if not all(copied(table) for table in (*old.values(), *new.values())):
        text = (
            "weights that are no whole numbers go with their cases: p-values hold where both samples are weighed alike."
        )
        notes = (*notes, note("SS006", text))
        found = found if sizes is None else replace(found, sizes=sizes)
    return replace(found, sample_notes=notes)


def match(before: Any, after: Mapping[str, Any], *, name: str = "the sample", **named: Any) -> Matches:
    """Which of several samples, by name, matches one; `named` says the columns as for `drift`.

    >>> spring = {"y": [1, 0] * 40, "s": [k % 13 / 13 for k in range(80)]}
    >>> later = {"same": spring, "shifted": {"y": spring["y"], "s": [s / 2 for s in spring["s"]]}}
    >>> match(spring, later, truth="y", scores="s", name="spring").matching
    ('same',)
    """
    if not after:
        raise DataError("there is no sample to match.", hint="{name: data}")
    columns = {one.name for one in fields(_Asked)}
    first = _read_one(before, _Asked(**{key: value for key, value in named.items() if key in columns}))
    return Matches(name, {one: drift(first, data, samples=len(after), **named) for one, data in after.items()})


def monitor(
    before: Any,
    batches: Any,
    *,
    by: str | None = None,
    truth: str | None = None,
    scores: Any = (),
    positive: Any = None,
    names: Mapping[str, str] | None = None,
    weight: str | None = None,
    scale: str | tuple[float, float] | None = None,
    missing: str = "error",
    memory: str | float | None = None,
    name: str = "the baseline",
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Monitoring:
    """Batches over time, by name and in their order: an alarm when something moved since the sample before.

    With `by`, `batches` is one sample, and each value of that column makes a batch.

    Without a change, the chance of any alarm is at most 5 % over all batches, however many there are and however often
    one looks. A batch may lack the column of the truth; then only its scores are judged. The columns are said as for
    `drift`, and all may be files of tables or saved evaluations.

    >>> spring = {"y": [1, 0] * 40, "s": [k % 13 / 13 for k in range(80)]}
    >>> monitor(spring, {"monday": spring, "tuesday": spring}, truth="y", scores="s").alarm is None
    True
    """
    asked = _Asked(truth, scores, names, weight, scale, missing, memory)
    first = _read_one(before, asked)
    by_name = batches if by is None else parted.in_batches(frames.read(batches), by)
    read = {batch: _read_one(data, asked, like=first) for batch, data in by_name.items()}
    (old, *later), notes = _alike([first, *read.values()], positive)
    found = monitored(
        old,
        dict(zip(read, later, strict=True)),
        unlabelled=[batch for batch, one in read.items() if not one.labelled],
        name=name,
        replicates=replicates,
        seed=seed,
        progress=progress,
    )
    return replace(found, sample_notes=tuple(dict.fromkeys(notes)))


@dataclass(frozen=True)
class _Asked:
    """Which columns are what, for samples that are compared."""

    truth: str | None = None
    scores: Any = ()
    names: Mapping[str, str] | None = None
    weight: str | None = None
    scale: str | tuple[float, float] | None = None
    missing: str = "error"
    memory: str | float | None = None


@dataclass(frozen=True, eq=False)
class _One:
    """A sample: the score tables of its models, what to note, whether truths are known, how many rows it has.

    Tables know which class is `positive`.
    """

    tables: dict[str, ScoreTable]
    notes: tuple[Note, ...]
    labelled: bool = True
    rows: int | None = None
    positive: str | None = None

    def only(self, models: Collection[str]) -> _One:
        """The sample of these models alone, where it has them all."""
        whole = not all(model in self.tables for model in models)
        return self if whole else replace(self, tables={model: self.tables[model] for model in models})


def _read_one(data: Any, asked: _Asked, like: _One | None = None) -> _One:
    """A sample, from rows or from tables; `like` an earlier one, it may lack the column of the truth."""
    if frames.holds_tables(data):
        return _kept_tables(data)
    source = frames.read(data)
    if asked.truth is None or not asked.scores:
        raise frames.truth_unnamed(source)
    labelled = like is None or asked.truth in source.columns
    if not labelled and like is not None:
        # All cases are counted for one class, which nobody looks at.
        same = nw.lit(next(iter(like.tables.values())).classes[0]).alias(asked.truth)
        source = replace(source, frame=source.frame.with_columns(same), columns=(*source.columns, asked.truth))
    return replace(_tables(source, asked.truth, asked), labelled=labelled)


def _alike(samples: Sequence[_One], positive: Any) -> tuple[list[dict[str, ScoreTable]], tuple[Note, ...]]:
    """The tables of all samples with the same classes, and what to note.

    The positive class is the stated one, that of the first sample's tables, or as the labels tell. Of tables that were
    kept, those of the models that were named for the rows of another sample are taken.
    """
    stated = next((one.tables for one in samples if one.rows is not None), {})
    samples = [one.only(stated or one.tables) for one in samples]
    positive = samples[0].positive if positive is None else positive
    every = [next(iter(one.tables.values())) for one in samples]
    seen = tuple(sorted({name for table in every for name in table.classes}, key=natural_order))
    classes, named = _positive(seen, positive)
    placed = [{model: _placed(table, classes, named) for model, table in one.tables.items()} for one in samples]
    notes = (note for one in samples for note in one.notes)
    return placed, (*_sample_notes(classes, named, positive), *notes)


def _rated(
    source: frames.Source,
    columns: Mapping[str, str],
    id: str | None,
    weight: str | None,
    order: str | Sequence[Any],
    missing: str,
    level: float,
    seed: int,
) -> Ratings:
    """Raters who decide between any number of classes, without scores."""
    frame, named = source.frame, dict.fromkeys((*columns.values(), *([id] if id else [])))
    for name in (*named, *([weight] if weight else [])):
        if name not in source.columns:
            raise absent_column(name, source)
    asked = {name: label(frame, name) for name in named} | ({weight: number(weight)} if weight else {})
    arrays = source.arrays(frame.select(*(each.alias(name) for name, each in asked.items())))
    used = _weighing(source, weight)
    lists = {
        name: [None if value is np.ma.masked else value for value in array[used]] for name, array in arrays.items()
    }
    steps = [one.strip() for one in order.split(",")] if isinstance(order, str) and order else list(order)
    whole = {name: _whole_labels(values) for name, values in lists.items()}
    ratings = {name: whole[column] for name, column in columns.items()}
    gaps = sum(is_missing(value) for values in ratings.values() for value in values)
    if gaps and missing == "error":
        raise DataError(
            f"{grouped(gaps)} rating{' is' if gaps == 1 else 's are'} missing.",
            seen=listing(columns),
            hint='missing="drop"',
        )
    notes = (note("SS031", f"{grouped(gaps)} ratings are missing, and left out."),) if gaps else ()
    ids = whole[id] if id else (1 + np.flatnonzero(used)).tolist()
    weights = np.array(lists[weight], dtype=np.float64) if weight else None
    return rate(ratings, ids=ids, order=steps or None, weight=weights, level=level, seed=seed, notes=notes)


def _whole_labels(values: list[Any]) -> list[Any]:
    """Labels without decimals as such: neither a CSV file nor a column with gaps tells 7 from 7.0."""
    known = [value for value in values if not is_missing(value)]
    if known and all(isinstance(value, (float, np.floating)) and float(value).is_integer() for value in known):
        return [None if is_missing(value) else int(value) for value in values]
    return values


def _weighing(source: frames.Source, weight: str | None) -> NDArray[np.bool_]:
    """Which rows have a weight: those of weight 0 equal absent ones."""
    if weight is None:
        rows = source.arrays(source.frame.select(nw.len().alias("rows")))["rows"]
        return np.ones(int(rows[0]), dtype=bool)
    weighs = (number(weight) != 0).fill_null(True)
    return np.asarray(source.arrays(source.frame.select(weighs.alias("used")))["used"], dtype=bool)


def _two_columns(name: str, given: Sequence[str]) -> tuple[str, str]:
    if len(given) != 2:
        raise ColumnError(
            f"rater {name!r} needs a decision and a score, as another has.",
            seen=listing(given),
            hint='{"A": ("decision", "score")}, or decisions alone for all',
        )
    return given[0], given[1]


def _checked(source: frames.Source, roles: frames.Roles, missing: str) -> frames.Sample:
    """The sample, whichever class is positive: a rater, or a sample, may know one class alone."""
    frame = source.frame
    some = frame.filter(complete(frame, roles)).select(label(frame, roles.truth).alias("label")).head(1)
    first = source.arrays(some)["label"]
    return frames.check(source, replace(roles, positive=first[0] if first.size else None), missing=missing)


def _labels(values: Array, name: str, sample: frames.Sample, leading: bool) -> Array:
    """A column of decisions as the names of the classes."""
    if leading:  # already codes into the classes of the sample
        return np.array(sample.classes)[values.astype(np.int64)]
    codes, names = encode(values, f"column {name!r}")
    return np.array(names)[codes]


def _kept_tables(data: Any) -> _One:
    """The score tables in a file of tables."""
    kept = frames.load_tables(data)
    found = {model: _present(table.inside(ScoreTable)) for model, table in kept.tables.items() if table.thresholded}
    if not found:
        raise DataError(f"{data} holds no tables of scores.", hint="tables of models with scores")
    positive = next(table.positive_name for table in kept.tables.values() if table.thresholded)
    return _One(found, kept.notes, positive=positive)


def _tables(source: frames.Source, truth: str, asked: _Asked) -> _One:
    """The score table of each model, with whichever class as positive."""
    source, scores = with_votes(source, asked.scores, None)
    roles = frames.roles(source, truth=truth, scores=scores, names=asked.names, weight=asked.weight)
    source = scaled(source, roles.scores.values(), scale_of(asked.scale))
    if roles.class_scores:
        raise ColumnError("drift needs one score per model.", seen=listing(roles.class_scores), hint='scores="nb_bad"')
    sample = _checked(source, roles, asked.missing)
    if frames.fits(source, roles, frames.memory_of(asked.memory)):
        counted = frames.count(sample)
    else:
        sample, counted = tally(source, sample.roles, missing=asked.missing)
    tables = {model: _present(table.inside(ScoreTable)) for model, table in counted.items() if table.thresholded}
    return _One(tables, tuple(one for one in sample.notes if one.code in ("SS009", "SS090")), rows=sample.rows)


def _present(table: ScoreTable) -> ScoreTable:
    """The table with the classes that occur in it."""
    kept = np.flatnonzero(table.class_totals)
    counts, classes = table.counts[kept], tuple(table.classes[k] for k in kept)
    squares = None if table.squares is None else table.squares[kept]
    return replace(table, counts=counts, classes=classes, positive=0, squares=squares, bins=None)


def _placed(table: ScoreTable, classes: tuple[str, ...], positive: str) -> ScoreTable:
    """The table with the classes of both samples."""

    def placed(sums: Array) -> Array:
        found = np.zeros((len(classes), table.score.size), dtype=sums.dtype)
        found[[classes.index(name) for name in table.classes]] = sums
        return found

    found = ScoreTable(table.score, placed(table.counts), classes, classes.index(positive), table.resolution)
    return found if table.squares is None else replace(found, squares=placed(table.squares))


def _positive(classes: tuple[str, ...], positive: Any) -> tuple[tuple[str, ...], str]:
    """The classes and the positive one, which may be absent where its opposite tells its name."""
    opposite = {"0": "1", "-1": "1", "False": "True"}.get(classes[0]) if len(classes) == 1 else None
    if positive is None and opposite is not None:
        return (classes[0], opposite), opposite
    return classes, classes[positive_index(classes, positive)]


def _sample_notes(classes: tuple[str, ...], named: str, positive: Any) -> tuple[Note, ...]:
    if positive is not None:
        return ()
    return (note("SS010", f"positive = {named}, inferred from the labels {' and '.join(classes)}."),)
