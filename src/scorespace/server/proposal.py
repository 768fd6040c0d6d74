"""What the columns of a file are, and which of them could be what: proposed with the reason, for the user to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scorespace.auditing.kinds import recognise
from scorespace.auditing.words import is_number, name_words
from scorespace.errors import PositiveError
from scorespace.frames import read
from scorespace.frames.survey import Held, survey
from scorespace.frozen import dataclass
from scorespace.server.asked import Asked
from scorespace.tables.labels import label_text, positive_index

LOOKED_AT: Final = 50_000
"""Rows by which columns are judged: the first ones."""

MOST: Final = 300
"""Columns that are looked at; of the others only the names are told."""

_MOST_LABELS: Final = 50
_TRUTHS: Final = ("truth", "target", "outcome", "label", "class", "y", "y_true", "actual", "observed", "response")
_PREDICTS: Final = {"pred", "prediction", "predictions", "predicted", "forecast", "estimate", "yhat", "fitted"}
_DECIDES: Final = _PREDICTS | {"decision", "decided", "label", "class"}
_SCORES: Final = {"score", "scores", "prob", "proba", "probability", "p", "logit", "risk"}
_ONCE: Final = {
    "weight": {"weight", "weights"},
    "group": {"group", "patient", "subject", "cluster"},
    "fold": {"fold", "folds"},
}


@dataclass(frozen=True)
class Column:
    """What a column of the first rows holds: its kind, in words, its labels if it has few, and its ends if numbers."""

    name: str
    kind: str = ""
    evidence: str = ""
    labels: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None
    fractions: bool = False
    dates: bool = False


@dataclass(frozen=True)
class Look:
    """The columns of a file, and how many rows were looked at; `whole` if that is all."""

    columns: tuple[Column, ...]
    rows: int
    whole: bool


@dataclass(frozen=True)
class Proposal:
    """The roles proposed, and why, by column; a pattern such as nb_* is a row of its own."""

    asked: Asked
    why: dict[str, str]
    patterns: tuple[Column, ...] = ()


def look(path: str) -> Look:
    """The kinds of the columns of a file, by its first rows."""
    source = read(path)
    written, most = source.as_text, LOOKED_AT + 1
    # Text is read once: with a way to read it as written, its first rows are held by the engine.
    as_text = None if written is None else lambda names: written(names).head(most)
    found = survey(replace(source, frame=source.frame.head(most), account=None, as_text=as_text))
    seen = [_column(found.held(name)) for name in found.columns[:MOST]]
    rest = [Column(name, "", "not looked at: too many columns") for name in found.columns[MOST:]]
    return Look((*seen, *rest), min(found.rows, LOOKED_AT), found.rows <= LOOKED_AT)


def _column(held: Held) -> Column:
    kind, evidence = recognise(held)
    numbers = held.stored == "number" and held.distinct > 0
    fractions = numbers and bool((held.values % 1 != 0).any())
    few = held.distinct <= _MOST_LABELS and not fractions and held.stored != "date"
    values = held.values.astype(bool) if held.stored == "boolean" else held.values
    return Column(
        held.name,
        kind.name,
        evidence,
        tuple(map(label_text, values.tolist())) if few else (),
        (float(held.values[0]), float(held.values[-1])) if numbers else None,
        fractions,
        held.stored == "date",
    )


def propose(file: str, columns: Sequence[Column]) -> Proposal:
    """Which column could be what.

    >>> found = propose("a.csv", [Column("y", labels=("0", "1")), Column("nb", ends=(0.1, 0.9), fractions=True)])
    >>> found.asked.query, found.why["nb"]
    ('file=a.csv&truth=y&positive=1&score=nb', 'score: numbers between 0 and 1')
    """
    why: dict[str, str] = {}
    said: dict[str, list[str]] = {}

    def take(role: str, column: str, reason: str) -> None:
        if column not in why:
            why[column] = f"{role}: {reason}"
            said.setdefault(role, []).append(column)

    truth = _truth(columns)
    if truth is not None:
        take("truth", truth[0].name, truth[1])
    for role, words in _ONCE.items():
        named = [one for one in columns if name_words(one.name) & words]
        if len(named) == 1 and (role != "weight" or (named[0].ends or (-1, 0))[0] >= 0):
            take(role, named[0].name, "by its name")
    if truth is None:
        return Proposal(Asked.of(file, said), why)
    labels = truth[0].labels
    patterns = _patterns(columns, labels) if len(labels) > 2 else ()
    for one in patterns:
        take("score", one.name, one.evidence)
    inside = {column for one in patterns for column in one.labels}
    for one in columns:
        for role, reason in [] if one.name in inside else _model(one, labels):
            take(role, one.name, reason)
    if len(labels) == 2 and "prediction" not in said:
        said["positive"] = _inferred(labels)
    return Proposal(Asked.of(file, said), why, patterns)


def _truth(columns: Sequence[Column]) -> tuple[Column, str] | None:
    """The column with the usual name, or else the only one of labels: words, or two codes."""
    folded = {one.name.casefold(): one for one in reversed(columns) if one.labels or one.ends}
    for name in _TRUTHS:
        if name in folded:
            return folded[name], "by its name"
    labelled = [one for one in columns if len(one.labels) > 1 and (len(one.labels) == 2 or not one.ends)]
    return (labelled[0], "the only column of labels") if len(labelled) == 1 else None


def _patterns(columns: Sequence[Column], labels: Sequence[str]) -> tuple[Column, ...]:
    """Columns that score every class: nb_* where there is a column nb_CLASS of numbers for each of them."""
    numbers = [one.name for one in columns if one.ends]
    heads = {name.removesuffix(labels[0]) for name in numbers if name.endswith(labels[0])} - {""}
    found = []
    for head in sorted(heads):
        parts = tuple(head + label for label in labels)
        if set(parts) <= set(numbers) and "*" not in head:
            found.append(Column(f"{head}*", "pattern", f"scores of the {len(labels)} classes", parts))
    return tuple(found)


def _model(one: Column, labels: Sequence[str]) -> list[tuple[str, str]]:
    """What a column could be as a model's answer, and why."""
    words = name_words(one.name)
    if not labels:
        return [("prediction", "numbers, by its name")] if one.ends and words & _PREDICTS else []
    if one.labels and set(one.labels) <= set(labels):
        if words & _DECIDES or not all(map(is_number, labels)):
            return [("decision", "it holds labels of the truth")]
        return []
    if one.ends is None:
        return []
    if one.fractions and one.ends[0] >= 0 and one.ends[1] <= 1:
        return [("score", "numbers between 0 and 1")]
    return [("score", "numbers, by its name")] if words & _SCORES else []


def _inferred(labels: Sequence[str]) -> list[str]:
    """The positive class where the two labels say so, as 0 and 1 do; of others it must be stated."""
    try:
        return [labels[positive_index(labels)]]
    except PositiveError:
        return []
