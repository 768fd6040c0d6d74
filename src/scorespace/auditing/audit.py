"""The way in: from data to what its columns are and what about them would fool a modeller."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.auditing import labels, leaks, rows, scores, sentinels, split, target, twins  # noqa: F401 - their rules
from scorespace.auditing.association import associate, gap, outcome
from scorespace.auditing.column import Column, Profile
from scorespace.auditing.finding import FINDING_KINDS, LEVELS, Finding, first_rows, look
from scorespace.auditing.kinds import Declared, declared, recognise, spread
from scorespace.auditing.words import is_id_name
from scorespace.errors import ColumnError, PositiveError, ScoreSpaceError, listing
from scorespace.frames.survey import Survey, survey
from scorespace.frozen import dataclass
from scorespace.results import Note, Progress, Result, Row, so_many
from scorespace.tables.labels import label_text, positive_index

HEADER: Final = ("code", "level", "columns", "text", "advice")
"""The columns of the findings, also where there are none."""


@dataclass(frozen=True)
class Audit(Result):
    """What the columns are and what was found, the most serious first."""

    name: str
    size: int
    target: str | None
    columns: tuple[Profile, ...]
    findings: tuple[Finding, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """The findings as notes, warnings first."""
        return tuple(one.note for one in self.findings)

    @property
    def verdict(self) -> str:
        """What to do first, in a sentence or two."""
        serious = [one for one in self.findings if one.level != "info"]
        known = len(self.findings) - len(serious)
        rest = f" {known} more {'is' if known == 1 else 'are'} good to know." if known else ""
        if not serious:
            return "Nothing was found that would fool a model." + rest
        leaking = dict.fromkeys(one.columns[0] for one in serious if FINDING_KINDS[one.code].leak and one.columns)
        first = f" Begin with {listing(leaking, 3)}: the target leaks there." if leaking else ""
        things = "1 thing" if len(serious) == 1 else f"{len(serious)} things"
        return f"Settle {things} before modelling.{first}{rest}"

    def failing(self, on: Sequence[str]) -> tuple[Finding, ...]:
        """The findings of these codes, or of this level and above.

        >>> audit({"x": [1, 1, 1], "y": [1, 0, 1]}, target="y").failing(["SS150"])[0].columns
        ('x',)
        """
        for name in on:
            if name not in FINDING_KINDS and name not in LEVELS:
                raise ScoreSpaceError(
                    f"{name!r} is neither a code nor a level of findings.",
                    seen=", ".join(sorted(FINDING_KINDS)),
                    hint="SS101, warning or info",
                )
        least = min((LEVELS.index(name) for name in on if name in LEVELS), default=len(LEVELS))
        return tuple(one for one in self.findings if one.code in on or LEVELS.index(one.level) >= least)

    def rows(self) -> list[Row]:
        values = ((one.code, one.level, ", ".join(one.columns), one.text, one.advice) for one in self.findings)
        return [dict(zip(HEADER, each, strict=True)) for each in values]

    words = verdict

    def facts(self) -> Row:
        data = {"name": self.name, "rows": self.size, "target": self.target}
        return {"data": data, "columns": [one.row() for one in self.columns]}

    def to_dict(self) -> Row:
        return {**super().to_dict(), "rows": [one.to_dict() for one in self.findings]}

    def __repr__(self) -> str:
        head = f"{self.name}: {so_many(self.size, 'row')}, {so_many(len(self.columns), 'column')}"
        found = [f"  {one.code} {one.level}: {one.text}" for one in self.findings]
        return "\n".join([head, *found, self.verdict])


@dataclass(frozen=True, eq=False)
class Roles:
    """Which columns play a part, and what the user knows of the others."""

    target: str | None
    scores: tuple[str, ...]
    positive: Any
    group: str | None
    fold: str | None
    stated: Mapping[str, Declared]


@dataclasses.dataclass(eq=False)
class Gathered:
    """What is gathered while the columns pass by, for the rules that look at all of them together."""

    leads: leaks.Leads | None
    findings: list[Finding] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    prints: list[twins.Print] = field(default_factory=list)
    chances: dict[str, tuple[float, bool]] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)


def audit(
    data: Any,
    *,
    target: str | None = None,
    test: Any = None,
    scores: str | Sequence[str] = (),
    positive: Any = None,
    group: str | None = None,
    fold: str | None = None,
    kinds: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Look at every column of the data before any model does.

    `data` and `test` are paths, frames or dicts of arrays; `test` is a sample that should share no case with the data.
    `scores` names columns that models produced, `kinds` overrules what a column is taken for.

    >>> audit({"size": ["small", "large", "medium"] * 10, "y": [0, 1, 1] * 10}, target="y").columns[0].kind
    'ordinal'
    """
    source = survey(data)
    roles = Roles(
        target,
        (scores,) if isinstance(scores, str) else tuple(scores),
        positive,
        group,
        fold,
        {name: declared(text) for name, text in (kinds or {}).items()},
    )
    for name in (target, group, fold, *roles.scores, *roles.stated):
        if name is not None and name not in source.columns:
            source.held(name)  # its complaint names the nearest
    beside = _target(source, roles)
    gathered = Gathered(None)
    if beside is not None:
        told = outcome(beside.column.held, beside.classes, seed, _groups(source, roles))
        gathered.leads = leaks.Leads(told, [leaks.ordered("", np.arange(told.size, dtype=np.float64), told)])
    _gather(gathered, source, roles, beside, progress)
    findings = [*gathered.findings, *_together(gathered, source, roles, beside)]
    other = survey(test) if test is not None else None
    if roles.scores and beside is not None:
        findings += [
            one for name in roles.scores for one in look(_scored(source, other, name, roles, beside, gathered))
        ]
    if other is not None:
        findings += look(_split(source, other, roles, gathered))
    findings = _settled(findings)
    by_column = {name: tuple(one.code for one in findings if name in one.columns) for name in source.columns}
    profiles = tuple(replace(one, findings=by_column[one.name]) for one in gathered.profiles)
    return Audit(source.name, source.rows, target, profiles, tuple(findings))


def _column(source: Survey, name: str, roles: Roles) -> Column:
    held, stated = source.held(name), roles.stated.get(name)
    kind, evidence = recognise(held, stated)
    return Column(held, kind, evidence, spread(held, kind), stated, name == roles.target)


def _target(source: Survey, roles: Roles) -> target.Target | None:
    if roles.target is None:
        return None
    found = target.target(_column(source, roles.target, roles))
    if not found.column.known:
        raise ColumnError(f"the target {roles.target!r} is empty.", hint="another column as target")
    return found


def _groups(source: Survey, roles: Roles) -> NDArray[np.int32] | None:
    """The groups of related rows: as stated, or the first identifier by name that several rows share."""
    if roles.group is not None:
        return source.held(roles.group).codes
    for name in source.columns:
        if is_id_name(name) and name not in (roles.target, roles.fold, *roles.scores):
            held = source.held(name)
            if 5 < held.distinct < 0.5 * held.known:
                return held.codes
    return None


def _gather(
    gathered: Gathered, source: Survey, roles: Roles, beside: target.Target | None, progress: Progress | None
) -> None:
    """Let every column pass by once."""
    sample = twins.sample_rows(source.rows)
    for place, name in enumerate(source.columns):
        column = beside.column if beside and name == roles.target else _column(source, name, roles)
        gathered.profiles.append(column.profile())
        gathered.findings += look(column)
        if progress is not None:
            progress((place + 1) / (len(source.columns) + 1))
        if name == roles.target or name in roles.scores or name == roles.fold:
            continue
        if column.kind.name == "identifier" or name == roles.group:
            repeated = column.held.distinct < 0.95 * column.known
            gathered.groups += [name] if repeated or name == roles.group or is_id_name(name) else []
        else:
            gathered.chances[name] = rows.agreement(column)
        if column.kind.name != "constant":
            gathered.prints.append(twins.fingerprint(column, sample))
        if gathered.leads is not None and column.held.distinct > 1:
            _beside_target(source, column, gathered.leads)


def _beside_target(source: Survey, column: Column, leads: leaks.Leads) -> None:
    """What a column says of the target."""
    held, told = column.held, leads.target
    found = gap(held, told)
    leads.gaps.extend([found] if found else [])
    if column.kind.name in ("identifier", "date"):
        place = source.digits(column.name) if held.stored == "text" else held.numbers()
        time = column.kind.name == "date"
        leads.orders.append(leaks.ordered(column.name, place[told.rows], told, time=time))
    elif column.kind.feature:
        leads.associations.append(associate(held, told))


def _together(gathered: Gathered, source: Survey, roles: Roles, beside: target.Target | None) -> list[Finding]:
    """What shows only when all columns are seen together."""
    findings = look(twins.Prints(tuple(gathered.prints)))
    if beside is not None:
        findings += [*look(beside), *look(gathered.leads)]
    if gathered.chances:
        features = source.row_digests([*gathered.chances])
        twin = {name for one in findings if one.code.startswith("SS12") for name in one.columns[1:]}
        chances = [chance for name, chance in gathered.chances.items() if name not in twin]
        whole = features if beside is None else source.row_digests([*gathered.chances, beside.column.name])
        findings += look(rows.repeats(whole, features, chances, beside))
    if roles.fold is not None:
        fold = source.held(roles.fold)
        findings += [one for name in gathered.groups for one in look(split.Folds(fold, source.held(name)))]
    return findings


def _split(source: Survey, other: Survey, roles: Roles, gathered: Gathered) -> split.Split:
    """The other sample beside this one."""
    common = [name for name in source.columns if name in other.columns]
    if not common:
        raise ColumnError(
            "the two samples have no column in common.",
            seen=f"{listing(source.columns, 4)} and {listing(other.columns, 4)}",
            hint="the same names of columns in both",
        )
    named = [name for name in gathered.chances if name in common]
    again, near, near_expected = np.zeros(0, dtype=bool), 0, 0.0
    if named:
        again = np.isin(other.row_digests(named), source.row_digests(named))
        rough = source.row_digests(named, rough=True)
        near = int(np.isin(other.row_digests(named, rough=True), rough).sum())
        # As many rows of one sample are near another of the same by chance.
        near_expected = (1 - np.unique(rough).size / rough.size) * other.rows
    every = max(1, source.rows * (source.rows - 1) / 2)
    chance = rows.expected_pairs(source.rows, [gathered.chances[name][0] for name in named]) / every
    kinds = {one.name: one.kind for one in gathered.profiles}
    stated = {**roles.stated, **{name: Declared(kinds[name]) for name in common if name not in roles.stated}}
    moved, shared = [], []
    for name in common:
        ours, theirs = _column(source, name, roles), _column(other, name, replace(roles, stated=stated))
        if ours.kind.name == "identifier" or name == roles.group:
            digests = (source.row_digests([name]), other.row_digests([name]))
            group = name == roles.group or ours.held.distinct < 0.95 * ours.known
            shared.append(split.shared(ours, theirs, digests, group=group))
        elif ours.kind.feature and name not in (*roles.scores, roles.fold):
            moved.append(split.moved(ours, theirs))
    return split.Split(
        _called(other),
        other.rows,
        int(again.sum()),
        near,
        near_expected,
        chance * source.rows * other.rows,
        any(gathered.chances[name][1] for name in named),
        first_rows(again),
        tuple(shared),
        tuple(moved),
        tuple(name for name in source.columns if name not in other.columns and name != roles.target),
        tuple(name for name in other.columns if name not in source.columns),
    )


def _scored(
    source: Survey, other: Survey | None, name: str, roles: Roles, beside: target.Target, gathered: Gathered
) -> scores.Scored:
    """A column of scores beside the target, here and on held-out rows."""
    if len(beside.classes) != 2:
        raise ColumnError(
            f"scores are judged beside a target of two classes, which {roles.target!r} has not.",
            seen=listing(beside.classes) or "numbers",
            hint="a target of two classes, or no scores",
        )
    positive = _positive(beside, roles.positive)
    own = source.held(name)
    if own.stored == "text":
        raise ColumnError(f"the column {name!r} holds text, and scores are numbers.", hint="another --score")
    here = scores.judged(own.numbers(), beside.column.held.codes == positive)
    there = None
    if other is not None and name in other.columns and roles.target in other.columns:
        truth = other.held(str(roles.target))
        match = [code for code in range(truth.values.size) if truth.values[code] == beside.column.held.values[positive]]
        held = other.held(name)
        if match and held.stored != "text":
            there = scores.judged(held.numbers(), truth.codes == match[0])
    cases = [one for one in gathered.groups if is_id_name(one)] or [*gathered.chances]
    exact = bool(gathered.groups) or any(fine for _, fine in gathered.chances.values())
    again: tuple[int, int, tuple[Row, ...]] = (0, 0, ())
    if cases and exact:
        again = scores.scored_twice(source.row_digests(cases), np.nan_to_num(own.numbers()))
    return scores.Scored(name, str(roles.target), here, there, _called(other) if other else "", *again)


def _positive(beside: target.Target, stated: Any) -> int:
    """The code of the positive class; either will do to see whether scores were fitted, so the second by default."""
    try:
        return positive_index(beside.classes, stated)
    except PositiveError:
        if stated is not None:
            raise ColumnError(
                f"positive={label_text(stated)!r} never occurs in column {beside.column.name!r}.",
                seen=listing(beside.classes),
                hint="one of these labels",
            ) from None
        return 1


def _called(other: Survey) -> str:
    return "the other sample" if other.name in ("arrays", "frame") else other.name


def _settled(findings: Sequence[Finding]) -> list[Finding]:
    """The most serious first; a scale that lost its top says all that its zeros would say again."""
    swallowed = {one.columns for one in findings if one.code == "SS111"}
    kept = [one for one in findings if not (one.code == "SS110" and one.columns in swallowed)]
    return sorted(kept, key=lambda one: (-LEVELS.index(one.level), one.code))
