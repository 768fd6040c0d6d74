"""The result of comparing models: differences with intervals, tests, and words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scorespace.comparisons.adjust import holm
from scorespace.results import SCHEMA, Note, Row, note, p_text, plain, signed


@dataclass(frozen=True)
class Comparison:
    """A test of two models, or of several at once: then `b` names all but the first, and no difference is defined.

    `independent`: a and b were measured on two samples and not on the same cases.
    """

    a: str
    b: str
    test: str
    measure: str
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    statistic: float = math.nan
    df: float | tuple[float, float] = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    reason: str | None = None
    several: bool = False
    table: tuple[tuple[int, int], tuple[int, int]] | None = None
    independent: bool = False

    def row(self) -> Row:
        return plain(
            {
                "a": self.a,
                "b": self.b,
                "test": self.test,
                "measure": self.measure,
                "difference": self.difference,
                "low": self.low,
                "high": self.high,
                "level": self.level,
                "statistic": self.statistic,
                "df": self.df,
                "p": self.p,
                "p_adjusted": self.p_adjusted,
                "table": self.table,
                "reason": self.reason,
            }
        )

    @property
    def telling_p(self) -> float:
        """The p-value to judge by: adjusted where several tests are made."""
        return self.p if math.isnan(self.p_adjusted) else self.p_adjusted

    @property
    def sure(self) -> bool:
        """Whether the difference is called distinguishable from chance: p below one minus the level."""
        return self.telling_p < round(1 - self.level, 12)

    @property
    def words(self) -> str:
        """What differs, by how much, and whether chance alone could have done it."""
        if self.several and not math.isnan(self.p):
            judged = "differ by more than chance explains" if self.sure else "are not distinguishable here"
            return f"All together, {self.a}, {self.b} {judged} in {self.measure} ({p_text(self.p)})."
        if math.isnan(self.difference):
            return f"{self.a} and {self.b}: {self.reason or 'the difference is undefined'}."
        size = f"{self.measure} differs by {signed(self.difference)}"
        if not math.isnan(self.low):
            size += f" [{signed(self.low)}, {signed(self.high)}]"
        if math.isnan(self.p):
            return f"{self.a} and {self.b}: {size}; no test is possible: {self.reason}."
        return f"{self.a} and {self.b}: {size}, {self.judgement}."

    @property
    def judgement(self) -> str:
        """Whether chance alone could have done it, with the p-value to judge by."""
        told = ["two independent samples"] if self.independent else []
        told += [p_text(self.telling_p)] + ([] if math.isnan(self.p_adjusted) else ["adjusted"])
        judged = "more than chance explains" if self.sure else "not distinguishable from chance here"
        return f"{judged} ({', '.join(told)})"

    def __repr__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Comparisons:
    """Tests between models, as tidy rows.

    `sides` is there when every model is compared with something else than the other models: what the two
    numbers of each comparison are, which `values` then holds by model.
    """

    models: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    adjustment: str | None = None
    notes: tuple[Note, ...] = ()
    sides: tuple[str, str] | None = None
    values: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        return [one.row() for one in self.comparisons]

    def to_dict(self) -> Row:
        return {
            "schema": SCHEMA,
            "adjustment": self.adjustment,
            "rows": self.rows(),
            "verdict": self.words,
            "notes": [note.to_dict() for note in self.notes],
        }

    @property
    def words(self) -> str:
        """One sentence per comparison."""
        return "\n".join(one.words for one in self.comparisons)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, index: int) -> Comparison:
        return self.comparisons[index]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.comparisons))


def adjusted_by_holm(found: Sequence[Comparison], what: str) -> tuple[list[Comparison], tuple[Note, ...]]:
    """The tests with p-values adjusted by Holm where there are several, and the note that says so.

    >>> two = [Comparison("a", "b", "t", "auc", p=0.01), Comparison("a", "c", "t", "auc", p=0.04)]
    >>> [one.p_adjusted for one in adjusted_by_holm(two, "pairs")[0]]
    [0.02, 0.04]
    """
    tested = [k for k, one in enumerate(found) if not math.isnan(one.p)]
    if len(found) < 2 or not tested:
        return list(found), ()
    by_place = dict(zip(tested, holm([found[k].p for k in tested]), strict=True))
    adjusted = [replace(one, p_adjusted=float(by_place[k])) if k in by_place else one for k, one in enumerate(found)]
    return adjusted, (note("SS015", f"p-values of the {len(found)} {what} are adjusted by Holm's method."),)


def group_notes(found: Sequence[Comparison]) -> tuple[Note, ...]:
    """What tests of grouped cases do about the groups: draw them whole, or overlook them."""
    if any(one.test.startswith("bootstrap of groups") for one in found):
        text = "cases of a group are not independent, so whole groups are drawn; DeLong's test would be too sure."
    else:
        text = "cases of a group are not independent, but this test takes them for it: it is too sure; try bootstrap."
    return (note("SS016", text),)
