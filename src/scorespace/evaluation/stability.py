"""Public function that compares two samples by stability indices, measures and migration between grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scorespace import io
from scorespace.drift.stability import MeasureChange, Migration, Stability, StabilityIndex, migration, stability_index
from scorespace.errors import DataError, listing
from scorespace.evaluation.assemble import evaluate_data
from scorespace.io.derived_scores import add_derived_scores
from scorespace.io.roles import missing_column_error, resolve_scores
from scorespace.measures import parse_list
from scorespace.measures.scorecard import BINS

INDICES: Final = {"psi": "scores", "csi": "features"}
MIGRATION: Final = "migration"


def stability(
    before: Any,
    after: Any,
    *,
    scores: Any = (),
    features: str | Sequence[str] = (),
    measures: str | Sequence[str] = ("psi", "csi"),
    truth: str | None = None,
    positive: Any = None,
    names: Mapping[str, str] | None = None,
    id: str | None = None,
    order: str | Sequence[str] = (),
    bins: int = BINS,
    level: float = 0.95,
    seed: int = 0,
) -> Stability:
    """Compare two samples by stability indices, by any measure, and by migration between grades.

    Parameters
    ----------
    before, after : path, data frame, or mapping of arrays
        The reference sample and the current one.
    scores : str, sequence of str, or mapping of name to column
        Columns of scores, or of grades for a migration.
    features : str or sequence of str
        Characteristics for the CSI; "x*" names all columns that begin with x.
    measures : str or sequence of str
        "psi", "csi", "migration", and measures of the models such as "gini".
    truth : str, optional
        Column of the actual class, for measures of the models.
    positive : object, optional
        The positive class.
    names : mapping of str to str, optional
        Names of models by column.
    id : str, optional
        Column that names the cases, for a migration.
    order : str or sequence of str
        Grades from the best to the worst, for a migration; in natural order by default.
    bins : int
        Bins by quantiles of the reference sample.
    level : float
        Confidence level.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Stability
        Indices with interval, expected value and test; changes of measures; migrations.

    References
    ----------
    Yurdakul, B., & Naranjo, J. (2020). Statistical properties of the population stability index. Journal of Risk Model
    Validation, 14(4).

    Examples
    --------
    >>> spring, autumn = {"s": [k % 10 for k in range(200)]}, {"s": [k % 10 for k in range(150)]}
    >>> stability(spring, autumn, scores="s", measures="psi")
    No distribution changed beyond chance (largest: psi of s 0.0000, by chance 0.1050, p = 1.000).
    """
    asked = [one.strip() for text in ([measures] if isinstance(measures, str) else measures) for one in _split(text)]
    sources = [add_derived_scores(io.read(data), scores, positive) for data in (before, after)]
    columns = {name: str(column) for name, column in resolve_scores(sources[0][0], sources[0][1], names).items()}
    read = [source for source, _ in sources]
    features = [
        column
        for text in ([features] if isinstance(features, str) else features)
        for column in _matching(read[0], text)
    ]
    indices: list[StabilityIndex] = []
    for measure, wanted in (("psi", columns), ("csi", dict(zip(features, features, strict=True)))):
        if measure not in asked or (not wanted and asked == ["psi", "csi"]):
            continue
        if not wanted:
            flag = "scores=…" if measure == "psi" else "features=…"
            raise DataError(
                f"{measure} needs a column.", hint=f"{flag} (--{'score' if measure == 'psi' else 'feature'} COL)"
            )
        for name, column in wanted.items():
            values = (_column(source, column) for source in read)
            indices.append(stability_index(*values, measure=measure, name=name, bins=bins, level=level))
    others = [one for one in asked if one not in INDICES and one != MIGRATION]
    changes = _changes(before, after, scores, others, truth, positive, names, level, seed) if others else ()
    moved: tuple[Migration, ...] = ()
    if MIGRATION in asked:
        moved = _migrations(read, columns, id, order)
    sizes = tuple(len(_column(source, next(iter([*columns.values(), *features])))) for source in read)
    return Stability((sizes[0], sizes[1]), tuple(indices), changes, moved)


def _split(text: str) -> list[str]:
    """Names in a list; commas inside parentheses belong to a measure."""
    simple = [one.strip() for one in text.split(",")]
    if all(one in (*INDICES, MIGRATION) for one in simple):
        return simple
    kept = [one for one in simple if one in (*INDICES, MIGRATION)]
    rest = ",".join(one for one in simple if one not in (*INDICES, MIGRATION))
    return [*kept, *map(str, parse_list(rest))]


def _column(source: Any, column: str) -> Any:
    """Values of a column."""
    if column not in source.columns:
        raise missing_column_error(column, source)
    return source.arrays(source.frame.select(column))[column]


def _matching(source: Any, text: str) -> list[str]:
    """Columns that a name or a pattern means."""
    found: list[str] = []
    for part in (one.strip() for one in text.split(",")):
        before, star, after = part.partition("*")
        names = [
            one for one in source.columns if one == part or (star and one.startswith(before) and one.endswith(after))
        ]
        if not names:
            raise missing_column_error(part, source)
        found += [one for one in names if one not in found]
    return found


def _changes(
    before: Any,
    after: Any,
    scores: Any,
    measures: Sequence[str],
    truth: str | None,
    positive: Any,
    names: Mapping[str, str] | None,
    level: float,
    seed: int,
) -> tuple[MeasureChange, ...]:
    """Measures of the models before and after, with tests of two independent samples."""
    if truth is None:
        raise DataError(f"{listing(measures)} needs the actual classes.", hint="truth=… (--truth COL)")
    options: dict[str, Any] = {"truth": truth, "scores": scores, "positive": positive, "names": names}
    old, new = (evaluate_data(data, **options, level=level, seed=seed) for data in (before, after))
    found = []
    for measure in measures:
        values = {
            (side, one.model): one for side, ev in (("before", old), ("after", new)) for one in ev.measures(measure)
        }
        for one in new.compare_with(old, measure=measure):
            name = one.a if ("after", one.a) in values else next(iter(new.models))
            old_text, new_text = (values[side, name].text for side in ("before", "after"))
            numbers = one.difference, one.low, one.high, one.p
            found.append(MeasureChange(measure, name, old_text, new_text, *numbers, one.test, one.reason))
    return tuple(found)


def _migrations(
    read: Sequence[Any], columns: Mapping[str, str], id: str | None, order: str | Sequence[str]
) -> tuple[Migration, ...]:
    """Migration matrices of columns of grades."""
    if id is None:
        raise DataError("a migration needs the cases of both samples.", hint="id=… (--id COL) names them")
    if not columns:
        raise DataError("a migration needs a column of grades.", hint="scores=… (--score COL)")
    steps = [one.strip() for one in order.split(",")] if isinstance(order, str) and order else list(order)
    found = []
    for name, column in columns.items():
        sides = [(_column(source, id).tolist(), _column(source, column).tolist()) for source in read]
        found.append(migration(sides[0], sides[1], name, steps))
    return tuple(found)
