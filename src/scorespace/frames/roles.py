"""Which column plays which role: truth, scores, decisions, weight, group, fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scorespace.errors import ColumnError, did_you_mean, listing
from scorespace.frames.source import Source

Columns = str | Sequence[str] | Mapping[str, str]
"""One column, several, or {model: column}."""


@dataclass(frozen=True)
class Roles:
    """The columns that an evaluation reads; scores and decisions by the name of their model."""

    truth: str
    scores: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, str] = field(default_factory=dict)
    weight: str | None = None
    group: str | None = None
    fold: str | None = None
    positive: Any = None

    def columns(self) -> Iterator[tuple[str, str]]:
        """Each role with its column; a column that two models share comes once.

        >>> list(Roles("outcome", scores={"nb": "p_nb"}).columns())
        [('truth', 'outcome'), ('score', 'p_nb')]
        """
        yield "truth", self.truth
        yield from (("score", column) for column in dict.fromkeys(self.scores.values()))
        yield from (("decision", column) for column in dict.fromkeys(self.decisions.values()))
        for role in ("weight", "group", "fold"):
            column = getattr(self, role)
            if column is not None:
                yield role, column


def roles(
    source: Source,
    *,
    truth: str,
    scores: Columns | None = None,
    decisions: Columns | None = None,
    positive: Any = None,
    weight: str | None = None,
    group: str | None = None,
    fold: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Roles:
    """The roles of the columns, each checked to be there; `names` renames models by their column.

    >>> from scorespace.frames import read
    >>> source = read({"outcome": [1, 0], "p_nb": [0.9, 0.2]})
    >>> roles(source, truth="outcome", scores="p_nb", names={"p_nb": "nb"}).scores
    {'nb': 'p_nb'}
    """
    columns = source.columns
    renames = dict(names or {})
    scored = _by_model("scores", scores, columns, renames)
    decided = _by_model("decisions", decisions, columns, renames)
    if not scored and not decided:
        raise ColumnError(
            "there is nothing to evaluate: no score and no decision is named.",
            seen=listing(columns),
            hint="scores=… for numbers, decisions=… for labels",
        )
    models = [model for model, _ in (*scored, *decided)]
    for i, model in enumerate(models):
        if model in models[:i]:
            raise ColumnError(f"model {model!r} is named twice.", seen=listing(models), hint="a name for each model")
    for column in renames:
        if column not in [each for _, each in (*scored, *decided)]:
            raise ColumnError(
                f"names={column!r} renames a column that is neither a score nor a decision.",
                seen=listing(each for _, each in (*scored, *decided)),
                hint="names={column: model}",
            )
    found = Roles(truth, dict(scored), dict(decided), weight, group, fold, positive)
    taken: dict[str, str] = {}
    for role, column in found.columns():
        if column not in columns:
            raise absent_column(column, source)
        if column in taken:
            raise ColumnError(
                f"column {column!r} cannot be both {taken[column]} and {role}.",
                seen=listing(columns),
                hint=f"another column as {role}",
            )
        taken[column] = role
    return found


def _by_model(
    argument: str, given: Columns | None, columns: Sequence[str], renames: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Pairs of model and column, in the order given."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        pairs: list[tuple[str, Any]] = [(str(model), column) for model, column in given.items()]
    else:
        pairs = [(str(column), column) for column in ([given] if isinstance(given, str) else given)]
    for _, column in pairs:
        if isinstance(column, Mapping) or ("*" in str(column) and column not in columns):
            raise ColumnError(
                f"{argument}={column!r}: scores of several classes per model are not supported yet.",
                hint="one score column per model, and positive=…",
            )
    return [(renames.get(str(column), model), str(column)) for model, column in pairs]


def absent_column(column: str, source: Source) -> ColumnError:
    """The error for a column that is not there, with the nearest one that is."""
    near = did_you_mean(column, source.columns)
    hint = f"did you mean {near!r}?" if near else "one of these columns"
    seen = listing(source.columns) or "no columns"
    return ColumnError(f"column {column!r} is not in {source.where}.", seen=seen, hint=hint)
