"""Public functions on two samples (drift, monitoring) and on raters (agreement)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace import io
from scorespace.agreement.raters import RaterAgreement, rater_agreement
from scorespace.agreement.scored_raters import TOLERANCE, Agreement, agreement
from scorespace.comparisons.margin import margin_of
from scorespace.drift.drift import REPLICATES
from scorespace.drift.drift import drift as drift_of_tables
from scorespace.drift.monitor import Monitoring
from scorespace.drift.monitor import monitor as monitored
from scorespace.drift.nearest_sample import SampleMatches
from scorespace.drift.permutation import has_frequency_weights
from scorespace.drift.result import Drift
from scorespace.errors import ColumnError, DataError, listing
from scorespace.io.column_values import as_label, as_number
from scorespace.io.derived_scores import add_derived_scores, parse_scale, rescale
from scorespace.io.out_of_core import count_in_engine
from scorespace.io.read import split_batches
from scorespace.io.roles import missing_column_error
from scorespace.io.validation import is_complete
from scorespace.results import Note, Progress, grouped, note
from scorespace.tables import Array, ScoreTable
from scorespace.tables.labels import encode, is_missing, natural_order, positive_index


def agree(
    data: Any,
    *,
    raters: Mapping[str, str | Sequence[str]] | Sequence[str],
    compare: str | Sequence[str] = (),
    margin: float | None = None,
    epsilon: float | None = None,
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
) -> Agreement | RaterAgreement:
    """Agreement of raters, people or models, on the same instances.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        One row per instance.
    raters : mapping of str to str or (str, str), or sequence of str
        For each rater the column of the decision, or the columns of decision and score. Scores state how strongly the
        rater considers the instance positive. A list names columns of decisions.
    compare : str or sequence of str
        Raters, such as a language model, whose agreement with the others, people, is compared with that among people.
    margin : float, optional
        Tests that a compared rater agrees with people by not more than this less (non-inferiority).
    epsilon : float, optional
        Adds the alternative annotator test with this advantage granted to people: 0.2 for experts, 0.15 for skilled
        annotators, 0.1 for crowd workers.
    positive : object, optional
        The positive class of raters with scores.
    truth : str, optional
        Column of the ground truth; gives each rater's AUC.
    id : str, optional
        Column that names the instances; row numbers by default.
    weight : str, optional
        Column of weights.
    order : str or sequence, optional
        Classes from the lowest to the highest, where they are ordinal.
    scale : str or (float, float), optional
        Lowest and highest possible score; [0, 1] by default.
    tolerance : float
        Difference of scores up to which raters agree on an instance.
    missing : {"error", "drop"}
        What to do with missing values; of raters without scores only the missing ratings are dropped.
    level : float
        Confidence level.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Agreement or RaterAgreement
        Smooth ROC agreement of raters with scores, or agreement coefficients of decisions.

    References
    ----------
    Gwet, K. L. (2014). Handbook of inter-rater reliability (4th ed.). Advanced Analytics.

    Calderon, N., Reichart, R., and Dror, R. (2025). The alternative annotator test for LLM-as-a-judge. ACL.

    Examples
    --------
    >>> judged = {"ann": [1, 1, 0], "ann_s": [0.9, 0.6, 0.2], "bob": [1, 0, 0], "bob_s": [0.8, 0.55, 0.6]}
    >>> agree(judged, raters={"Ann": ("ann", "ann_s"), "Bob": ("bob", "bob_s")}).pairs[0].apart
    (3,)
    """
    if len(raters) < 2:
        raise DataError("agreement needs at least two raters.", seen=listing(raters), hint="a second rater")
    raters = raters if isinstance(raters, Mapping) else {name: name for name in raters}
    given = {name: (one,) if isinstance(one, str) else tuple(one) for name, one in raters.items()}
    source = io.read(data)
    judges = (compare,) if isinstance(compare, str) else tuple(compare)
    if all(len(one) == 1 for one in given.values()):
        for name, stated in {"positive": positive, "truth": truth, "scale": scale}.items():
            if stated is not None:
                raise DataError(f"{name}={stated!r} is for raters with scores.", hint='{"A": ("decision", "score")}')
        decided = {name: column for name, (column,) in given.items()}
        settings = {"judges": judges, "margin": margin_of(margin, None), "epsilon": epsilon}
        return _rated(source, decided, id, weight, order, missing, level=level, seed=seed, **settings)
    for name, asked in {"compare": judges, "margin": margin, "epsilon": epsilon}.items():
        if asked:
            raise DataError(f"{name} is for raters without scores.", hint="the columns of decisions alone")
    columns = {name: _two_columns(name, one) for name, one in given.items()}
    if order:
        raise DataError("raters with scores have two classes, which need no order.", hint="leave out the order")
    decisions = list(dict.fromkeys(decision for decision, _ in columns.values()))
    scores = list(dict.fromkeys(score for _, score in columns.values()))
    leading = truth if truth is not None else decisions[0]
    roles = io.resolve_roles(
        source,
        truth=leading,
        scores=scores,
        decisions=[name for name in decisions if name != leading] or None,
        weight=weight,
    )
    if id is not None and id not in source.columns:
        raise missing_column_error(id, source)
    source = rescale(source, scores, parse_scale(scale))
    sample = _checked(source, roles, missing)
    # All rows, so that those left out do not change the numbers of the others.
    whole = replace(sample, dropped=0)
    wanted = [leading, *decisions, *scores, *([weight] if weight else []), *([id] if id else [])]
    found = io.fetch_columns(whole, wanted)
    frame = whole.frame
    kept = np.asarray(source.arrays(frame.select(is_complete(frame, roles).alias("kept")))["kept"], dtype=bool)
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
        notes = (note("SS031", f"the raters are compared on the {some} that all of them rated."), *notes)
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
    """What changed between two samples of the same models: prevalence, scores, calibration, smooth ROC.

    Parameters
    ----------
    before, after : path, data frame, mapping of arrays, or tables
        The samples. `after` may lack the truth; then only its scores are tested.
    truth : str, optional
        Column of the ground truth.
    scores : str, sequence of str, or mapping of name to column
        Columns of scores, one per model.
    positive : object, optional
        The positive class.
    names : mapping of str to str, optional
        Names of models by column.
    weight : str, optional
        Column of weights; whole numbers count copies of a row.
    scale : str or (float, float), optional
        Lowest and highest possible score where scores are ratings.
    missing : {"error", "drop"}
        What to do with missing values.
    memory : str or float, optional
        Memory limit; larger data are binned.
    samples : int
        Number of samples that are compared with the same `before`; p-values are adjusted for it.
    replicates : int
        Number of permutations.
    seed : int
        Seed of the permutations.
    progress : callable, optional
        Called with the share of the work that is done.

    Returns
    -------
    Drift
        Tests and changes by model, with a verdict.

    Examples
    --------
    >>> sample = {"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}
    >>> drift(sample, sample, truth="y", scores="s")
    4 and 4 cases are too few to detect drift.
    """
    asked = _SampleRoles(truth, scores, names, weight, scale, missing, memory)
    first = before if isinstance(before, _ScoredSample) else _read_one(before, asked)
    second = _read_one(after, asked, like=first)
    (old, new), notes = _alike([first, second], positive)
    sizes = None if first.rows is None or second.rows is None else (first.rows, second.rows)
    settings: dict[str, Any] = {"samples": samples, "replicates": replicates, "seed": seed, "progress": progress}
    found = drift_of_tables(old, new, labelled=second.labelled, **settings)
    if not all(has_frequency_weights(table) for table in (*old.values(), *new.values())):
        text = "weights are not whole numbers: p-values assume that both samples are weighted alike."
        notes = (*notes, note("SS006", text))
        found = found if sizes is None else replace(found, sizes=sizes)
    return replace(found, sample_notes=notes)


def match(before: Any, after: Mapping[str, Any], *, name: str = "the sample", **named: Any) -> SampleMatches:
    """Find which of several samples match one in scores, calibration and smooth ROC.

    Parameters
    ----------
    before : path, data frame, mapping of arrays, or tables
        The reference sample.
    after : mapping of str to data
        The other samples by name.
    name : str
        Name of the reference sample.
    **named
        Columns and settings, as in `drift`.

    Returns
    -------
    SampleMatches
        The drift of each sample, and those without evidence of a change.

    Examples
    --------
    >>> spring = {"y": [1, 0] * 40, "s": [k % 13 / 13 for k in range(80)]}
    >>> later = {"same": spring, "shifted": {"y": spring["y"], "s": [s / 2 for s in spring["s"]]}}
    >>> match(spring, later, truth="y", scores="s", name="spring").matching
    ('same',)
    """
    if not after:
        raise DataError("there is no sample to match.", hint="{name: data}")
    columns = {one.name for one in fields(_SampleRoles)}
    first = _read_one(before, _SampleRoles(**{key: value for key, value in named.items() if key in columns}))
    return SampleMatches(name, {one: drift(first, data, samples=len(after), **named) for one, data in after.items()})


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
    """Monitor batches over time: an alarm when prevalence, scores or calibration changed since a reference sample.

    Without a change, the probability of any false alarm is at most 5 % over all batches, however many there are.

    Parameters
    ----------
    before : path, data frame, mapping of arrays, tables or saved evaluation
        The reference sample.
    batches : mapping of str to data, or data
        Batches by name, in order; with `by`, one sample that is split into batches. A batch may lack the truth; then
        only its scores are tested.
    by : str, optional
        Column whose values make the batches, such as "day(every=month)".
    truth, scores, positive, names, weight, scale, missing, memory
        As in `drift`.
    name : str
        Name of the reference sample.
    replicates : int
        Number of permutations.
    seed : int
        Seed of the permutations.
    progress : callable, optional
        Called with the share of the work that is done.

    Returns
    -------
    Monitoring
        Tests of every batch, and the first alarm.

    Examples
    --------
    >>> spring = {"y": [1, 0] * 40, "s": [k % 13 / 13 for k in range(80)]}
    >>> monitor(spring, {"monday": spring, "tuesday": spring}, truth="y", scores="s").alarm is None
    True
    """
    asked = _SampleRoles(truth, scores, names, weight, scale, missing, memory)
    first = _read_one(before, asked)
    by_name = batches if by is None else split_batches(io.read(batches), by)
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
class _SampleRoles:
    """Roles of the columns of samples that are compared."""

    truth: str | None = None
    scores: Any = ()
    names: Mapping[str, str] | None = None
    weight: str | None = None
    scale: str | tuple[float, float] | None = None
    missing: str = "error"
    memory: str | float | None = None


@dataclass(frozen=True, eq=False)
class _ScoredSample:
    """A sample: score tables of its models, notes, whether the truth is known, and the number of rows."""

    tables: dict[str, ScoreTable]
    notes: tuple[Note, ...]
    labelled: bool = True
    rows: int | None = None
    positive: str | None = None

    def only(self, models: Collection[str]) -> _ScoredSample:
        """The sample with these models only, if it has them all."""
        whole = not all(model in self.tables for model in models)
        return self if whole else replace(self, tables={model: self.tables[model] for model in models})


def _read_one(data: Any, asked: _SampleRoles, like: _ScoredSample | None = None) -> _ScoredSample:
    """Read a sample from rows or tables; with an earlier sample `like`, the truth may be missing."""
    if io.is_table_file(data):
        return _kept_tables(data)
    source = io.read(data)
    if asked.truth is None or not asked.scores:
        raise io.truth_not_named_error(source)
    labelled = like is None or asked.truth in source.columns
    if not labelled and like is not None:
        # Without a truth all cases are put into one class, which no test uses.
        same = nw.lit(next(iter(like.tables.values())).classes[0]).alias(asked.truth)
        source = replace(source, frame=source.frame.with_columns(same), columns=(*source.columns, asked.truth))
    return replace(_tables(source, asked.truth, asked), labelled=labelled)


def _alike(samples: Sequence[_ScoredSample], positive: Any) -> tuple[list[dict[str, ScoreTable]], tuple[Note, ...]]:
    """The tables of all samples with the same classes, and notes.

    The positive class is the stated one, that of the first sample's tables, or inferred from the labels. From table
    files, only the models that another sample's columns name are used.
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
    source: io.Source,
    columns: Mapping[str, str],
    id: str | None,
    weight: str | None,
    order: str | Sequence[Any],
    missing: str,
    **settings: Any,
) -> RaterAgreement:
    """Agreement of raters without scores, between any number of classes."""
    frame, named = source.frame, dict.fromkeys((*columns.values(), *([id] if id else [])))
    for name in (*named, *([weight] if weight else [])):
        if name not in source.columns:
            raise missing_column_error(name, source)
    asked = {name: as_label(frame, name) for name in named} | ({weight: as_number(weight)} if weight else {})
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
    notes = (note("SS031", f"{grouped(gaps)} ratings are missing and were dropped."),) if gaps else ()
    ids = whole[id] if id else (1 + np.flatnonzero(used)).tolist()
    weights = np.array(lists[weight], dtype=np.float64) if weight else None
    return rater_agreement(ratings, ids=ids, order=steps or None, weight=weights, notes=notes, **settings)


def _whole_labels(values: list[Any]) -> list[Any]:
    """Whole numbers as integers: a CSV file, or a column with missing values, does not distinguish 7 from 7.0."""
    known = [value for value in values if not is_missing(value)]
    if known and all(isinstance(value, (float, np.floating)) and float(value).is_integer() for value in known):
        return [None if is_missing(value) else int(value) for value in values]
    return values


def _weighing(source: io.Source, weight: str | None) -> NDArray[np.bool_]:
    """Which rows have a nonzero weight."""
    if weight is None:
        rows = source.arrays(source.frame.select(nw.len().alias("rows")))["rows"]
        return np.ones(int(rows[0]), dtype=bool)
    weighs = (as_number(weight) != 0).fill_null(True)
    return np.asarray(source.arrays(source.frame.select(weighs.alias("used")))["used"], dtype=bool)


def _two_columns(name: str, given: Sequence[str]) -> tuple[str, str]:
    if len(given) != 2:
        raise ColumnError(
            f"rater {name!r} needs a decision and a score, as another has.",
            seen=listing(given),
            hint='{"A": ("decision", "score")}, or decisions alone for all',
        )
    return given[0], given[1]


def _checked(source: io.Source, roles: io.Roles, missing: str) -> io.Sample:
    """The checked sample, with any class as positive: a rater or a sample may contain one class only."""
    frame = source.frame
    some = frame.filter(is_complete(frame, roles)).select(as_label(frame, roles.truth).alias("label")).head(1)
    first = source.arrays(some)["label"]
    return io.validate(source, replace(roles, positive=first[0] if first.size else None), missing=missing)


def _labels(values: Array, name: str, sample: io.Sample, leading: bool) -> Array:
    """A column of decisions as the names of the classes."""
    if leading:  # already codes into the classes of the sample
        return np.array(sample.classes)[values.astype(np.int64)]
    codes, names = encode(values, f"column {name!r}")
    return np.array(names)[codes]


def _kept_tables(data: Any) -> _ScoredSample:
    """The score tables in a file of tables."""
    kept = io.load_tables(data)
    found = {model: _present(table.inside(ScoreTable)) for model, table in kept.tables.items() if table.thresholded}
    if not found:
        raise DataError(f"{data} holds no tables of scores.", hint="tables of models with scores")
    positive = next(table.positive_name for table in kept.tables.values() if table.thresholded)
    return _ScoredSample(found, kept.notes, positive=positive)


def _tables(source: io.Source, truth: str, asked: _SampleRoles) -> _ScoredSample:
    """The score table of each model, with any class as positive."""
    source, scores = add_derived_scores(source, asked.scores, None)
    roles = io.resolve_roles(source, truth=truth, scores=scores, names=asked.names, weight=asked.weight)
    source = rescale(source, roles.scores.values(), parse_scale(asked.scale))
    if roles.class_scores:
        raise ColumnError("drift needs one score per model.", seen=listing(roles.class_scores), hint='scores="nb_bad"')
    sample = _checked(source, roles, asked.missing)
    if io.fits_in_memory(source, roles, io.parse_memory(asked.memory)):
        counted = io.count_tables(sample)
    else:
        sample, counted = count_in_engine(source, sample.roles, missing=asked.missing)
    tables = {model: _present(table.inside(ScoreTable)) for model, table in counted.items() if table.thresholded}
    return _ScoredSample(tables, tuple(one for one in sample.notes if one.code in ("SS009", "SS090")), rows=sample.rows)


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
    """The classes and the positive one; a lone 0, −1 or False implies its counterpart."""
    opposite = {"0": "1", "-1": "1", "False": "True"}.get(classes[0]) if len(classes) == 1 else None
    if positive is None and opposite is not None:
        return (classes[0], opposite), opposite
    return classes, classes[positive_index(classes, positive)]


def _sample_notes(classes: tuple[str, ...], named: str, positive: Any) -> tuple[Note, ...]:
    if positive is not None:
        return ()
    return (note("SS010", f"positive = {named}, inferred from the labels {' and '.join(classes)}."),)
