"""Audit a data set: column kinds, leaks and other problems for modelling."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.audit import (
    duplicate_columns,
    leaks,
    rows,
    scores,
    sentinels,  # noqa: F401 - declares its findings
    split,
    target,
)
from scorespace.audit.association import associate_missingness, associate_with_target, sample_target
from scorespace.audit.column import AuditedColumn, ColumnProfile
from scorespace.audit.column_kinds import StatedKind, parse_kind, recognise_kind, value_spread
from scorespace.audit.finding import FINDING_KINDS, LEVELS, AuditFinding, first_rows, run_checks
from scorespace.audit.vocabulary import is_id_name
from scorespace.errors import ColumnError, PositiveError, ScoreSpaceError, listing
from scorespace.io.column_profile import ColumnReader, read_columns
from scorespace.results import Note, Progress, Result, Row, count_noun
from scorespace.tables.labels import label_text, positive_index

FINDING_COLUMNS: Final = ("code", "level", "columns", "text", "advice")
"""Columns of the findings, also if there are none."""


@dataclass(frozen=True)
class Audit(Result):
    """Column profiles and findings, the most serious first.

    Parameters
    ----------
    name : str
        Name of the data.
    size : int
        Number of rows.
    target : str, optional
        Column of the target.
    columns : tuple of ColumnProfile
        The kind, the values and the findings of each column.
    findings : tuple of AuditFinding
        All findings.
    """

    name: str
    size: int
    target: str | None
    columns: tuple[ColumnProfile, ...]
    findings: tuple[AuditFinding, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """The findings as notes, warnings first."""
        return tuple(finding.note for finding in self.findings)

    @property
    def verdict(self) -> str:
        """What to do first, in a sentence or two."""
        serious = [finding for finding in self.findings if finding.level != "info"]
        n_info = len(self.findings) - len(serious)
        rest = f" {n_info} {'note' if n_info == 1 else 'notes'} for information." if n_info else ""
        if not serious:
            return "No problems found." + rest
        leaking = dict.fromkeys(
            finding.columns[0] for finding in serious if FINDING_KINDS[finding.code].leak and finding.columns
        )
        first = f" Begin with the target leak in {listing(leaking, 3)}." if leaking else ""
        problems = "1 problem" if len(serious) == 1 else f"{len(serious)} problems"
        return f"Resolve {problems} before modelling.{first}{rest}"

    def failing(self, on: Sequence[str]) -> tuple[AuditFinding, ...]:
        """Findings with these codes, or of this level and above.

        Parameters
        ----------
        on : sequence of str
            Codes such as "SS101", or the levels "warning" and "info".

        Returns
        -------
        tuple of AuditFinding
            The findings, the most serious first.

        Examples
        --------
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
        return tuple(finding for finding in self.findings if finding.code in on or LEVELS.index(finding.level) >= least)

    def rows(self) -> list[Row]:
        """One row per finding: code, level, columns, text and advice."""
        values = (
            (finding.code, finding.level, ", ".join(finding.columns), finding.text, finding.advice)
            for finding in self.findings
        )
        return [dict(zip(FINDING_COLUMNS, row, strict=True)) for row in values]

    words = verdict

    def facts(self) -> Row:
        """The data and the profile of each column, for JSON."""
        data = {"name": self.name, "rows": self.size, "target": self.target}
        return {"data": data, "columns": [column.row() for column in self.columns]}

    def to_dict(self) -> Row:
        """The audit as a dict for JSON."""
        return {**super().to_dict(), "rows": [finding.to_dict() for finding in self.findings]}

    def __repr__(self) -> str:
        head = f"{self.name}: {count_noun(self.size, 'row')}, {count_noun(len(self.columns), 'column')}"
        lines = [f"  {finding.code} {finding.level}: {finding.text}" for finding in self.findings]
        return "\n".join([head, *lines, self.verdict])


@dataclass(frozen=True, eq=False)
class AuditRoles:
    """Roles of columns, and kinds that the user states."""

    target: str | None
    scores: tuple[str, ...]
    positive: Any
    group: str | None
    fold: str | None
    stated: Mapping[str, StatedKind]


@dataclasses.dataclass(eq=False)
class ColumnSummaries:
    """What is collected column by column for the checks of several columns."""

    leads: leaks.LeakCandidates | None
    findings: list[AuditFinding] = field(default_factory=list)
    profiles: list[ColumnProfile] = field(default_factory=list)
    prints: list[duplicate_columns.Fingerprint] = field(default_factory=list)
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
    """Check every column of a data set before modelling.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        A file (CSV, Parquet, JSON, Arrow), a frame of pandas, polars or pyarrow, or arrays by name.
    target : str, optional
        Column of the target.
    test : path, data frame, or mapping of arrays, optional
        A sample that should share no case with the data.
    scores : str or sequence of str
        Columns of model scores.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    group : str, optional
        Column that groups cases, such as a patient.
    fold : str, optional
        Column with the fold of each case.
    kinds : mapping of str to str, optional
        Kinds of columns where the detected ones are wrong, such as ``{"size": "ordinal(low, medium, high)"}``.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    Audit
        A profile of every column, and the findings.

    Examples
    --------
    >>> audit({"size": ["small", "large", "medium"] * 10, "y": [0, 1, 1] * 10}, target="y").columns[0].kind
    'ordinal'
    """
    source = read_columns(data)
    roles = AuditRoles(
        target,
        (scores,) if isinstance(scores, str) else tuple(scores),
        positive,
        group,
        fold,
        {name: parse_kind(text) for name, text in (kinds or {}).items()},
    )
    for name in (target, group, fold, *roles.scores, *roles.stated):
        if name is not None and name not in source.columns:
            source.held(name)  # raises an error with the nearest name
    target_column = _find_target(source, roles)
    summaries = ColumnSummaries(None)
    if target_column is not None:
        sampled_target = sample_target(
            target_column.column.held, target_column.classes, seed, _find_groups(source, roles)
        )
        summaries.leads = leaks.LeakCandidates(
            sampled_target,
            [leaks.order_of_target("", np.arange(sampled_target.size, dtype=np.float64), sampled_target)],
        )
    _check_columns(summaries, source, roles, target_column, progress)
    findings = [*summaries.findings, *_check_jointly(summaries, source, roles, target_column)]
    other = read_columns(test) if test is not None else None
    if roles.scores and target_column is not None:
        findings += [
            finding
            for name in roles.scores
            for finding in run_checks(_assess_scores(source, other, name, roles, target_column, summaries))
        ]
    if other is not None:
        findings += run_checks(_compare_samples(source, other, roles, summaries))
    findings = _order_findings(findings)
    codes_by_column = {
        name: tuple(finding.code for finding in findings if name in finding.columns) for name in source.columns
    }
    profiles = tuple(replace(profile, findings=codes_by_column[profile.name]) for profile in summaries.profiles)
    return Audit(source.name, source.rows, target, profiles, tuple(findings))


def _read_column(source: ColumnReader, name: str, roles: AuditRoles) -> AuditedColumn:
    values, stated = source.held(name), roles.stated.get(name)
    kind, evidence = recognise_kind(values, stated)
    return AuditedColumn(values, kind, evidence, value_spread(values, kind), stated, name == roles.target)


def _find_target(source: ColumnReader, roles: AuditRoles) -> target.Target | None:
    if roles.target is None:
        return None
    result = target.resolve_target(_read_column(source, roles.target, roles))
    if not result.column.known:
        raise ColumnError(f"the target {roles.target!r} is empty.", hint="choose another column as target")
    return result


def _find_groups(source: ColumnReader, roles: AuditRoles) -> NDArray[np.int32] | None:
    """Group of each row: as stated, or by the first column named like an identifier with repeated values."""
    if roles.group is not None:
        return source.held(roles.group).codes
    for name in source.columns:
        if is_id_name(name) and name not in (roles.target, roles.fold, *roles.scores):
            values = source.held(name)
            if 5 < values.distinct < 0.5 * values.known:
                return values.codes
    return None


def _check_columns(
    summaries: ColumnSummaries,
    source: ColumnReader,
    roles: AuditRoles,
    target_column: target.Target | None,
    progress: Progress | None,
) -> None:
    """Check and summarise every column once."""
    sample = duplicate_columns.sample_rows(source.rows)
    for index, name in enumerate(source.columns):
        column = target_column.column if target_column and name == roles.target else _read_column(source, name, roles)
        summaries.profiles.append(column.profile())
        summaries.findings += run_checks(column)
        if progress is not None:
            progress((index + 1) / (len(source.columns) + 1))
        if name == roles.target or name in roles.scores or name == roles.fold:
            continue
        if column.kind.name == "identifier" or name == roles.group:
            repeated = column.held.distinct < 0.95 * column.known
            summaries.groups += [name] if repeated or name == roles.group or is_id_name(name) else []
        else:
            summaries.chances[name] = rows.column_agreement(column)
        if column.kind.name != "constant":
            summaries.prints.append(duplicate_columns.make_fingerprint(column, sample))
        if summaries.leads is not None and column.held.distinct > 1:
            _relate_to_target(source, column, summaries.leads)


def _relate_to_target(source: ColumnReader, column: AuditedColumn, candidates: leaks.LeakCandidates) -> None:
    """Add the relations of a column with the target to the leak candidates."""
    values, sampled_target = column.held, candidates.target
    missingness = associate_missingness(values, sampled_target)
    candidates.gaps.extend([missingness] if missingness else [])
    if column.kind.name in ("identifier", "date"):
        position = source.digits(column.name) if values.stored == "text" else values.numbers()
        time = column.kind.name == "date"
        candidates.orders.append(
            leaks.order_of_target(column.name, position[sampled_target.rows], sampled_target, time=time)
        )
    elif column.kind.feature:
        candidates.associations.append(associate_with_target(values, sampled_target))


def _check_jointly(
    summaries: ColumnSummaries, source: ColumnReader, roles: AuditRoles, target_column: target.Target | None
) -> list[AuditFinding]:
    """Findings that need several columns."""
    findings = run_checks(duplicate_columns.Fingerprints(tuple(summaries.prints)))
    if target_column is not None:
        findings += [*run_checks(target_column), *run_checks(summaries.leads)]
    if summaries.chances:
        features = source.row_digests([*summaries.chances])
        duplicates = {name for finding in findings if finding.code.startswith("SS12") for name in finding.columns[1:]}
        chances = [chance for name, chance in summaries.chances.items() if name not in duplicates]
        all_columns = (
            features if target_column is None else source.row_digests([*summaries.chances, target_column.column.name])
        )
        findings += run_checks(rows.find_duplicate_rows(all_columns, features, chances, target_column))
    if roles.fold is not None:
        fold = source.held(roles.fold)
        findings += [
            finding for name in summaries.groups for finding in run_checks(split.FoldGroups(fold, source.held(name)))
        ]
    return findings


def _compare_samples(
    source: ColumnReader, other: ColumnReader, roles: AuditRoles, summaries: ColumnSummaries
) -> split.SamplePair:
    """Comparison with the other sample."""
    common = [name for name in source.columns if name in other.columns]
    if not common:
        raise ColumnError(
            "the two samples have no column in common.",
            seen=f"{listing(source.columns, 4)} and {listing(other.columns, 4)}",
            hint="use the same column names in both",
        )
    feature_names = [name for name in summaries.chances if name in common]
    is_shared, near, near_expected = np.zeros(0, dtype=bool), 0, 0.0
    if feature_names:
        is_shared = np.isin(other.row_digests(feature_names), source.row_digests(feature_names))
        rounded_digests = source.row_digests(feature_names, rough=True)
        near = int(np.isin(other.row_digests(feature_names, rough=True), rounded_digests).sum())
        # Expected by chance, from near duplicates within one sample.
        near_expected = (1 - np.unique(rounded_digests).size / rounded_digests.size) * other.rows
    n_pairs = max(1, source.rows * (source.rows - 1) / 2)
    pair_probability = (
        rows.expected_pairs(source.rows, [summaries.chances[name][0] for name in feature_names]) / n_pairs
    )
    kinds = {profile.name: profile.kind for profile in summaries.profiles}
    stated = {**roles.stated, **{name: StatedKind(kinds[name]) for name in common if name not in roles.stated}}
    shifts, shared = [], []
    for name in common:
        ours, theirs = _read_column(source, name, roles), _read_column(other, name, replace(roles, stated=stated))
        if ours.kind.name == "identifier" or name == roles.group:
            digests = (source.row_digests([name]), other.row_digests([name]))
            group = name == roles.group or ours.held.distinct < 0.95 * ours.known
            shared.append(split.count_shared_values(ours, theirs, digests, group=group))
        elif ours.kind.feature and name not in (*roles.scores, roles.fold):
            shifts.append(split.measure_shift(ours, theirs))
    return split.SamplePair(
        _sample_name(other),
        other.rows,
        int(is_shared.sum()),
        near,
        near_expected,
        pair_probability * source.rows * other.rows,
        any(summaries.chances[name][1] for name in feature_names),
        first_rows(is_shared),
        tuple(shared),
        tuple(shifts),
        tuple(name for name in source.columns if name not in other.columns and name != roles.target),
        tuple(name for name in other.columns if name not in source.columns),
    )


def _assess_scores(
    source: ColumnReader,
    other: ColumnReader | None,
    name: str,
    roles: AuditRoles,
    target_column: target.Target,
    summaries: ColumnSummaries,
) -> scores.AuditedScores:
    """Quality of a score column on these rows and on held-out rows."""
    if len(target_column.classes) != 2:
        raise ColumnError(
            f"scores need a target of two classes, which {roles.target!r} is not.",
            seen=listing(target_column.classes) or "numbers",
            hint="use a target of two classes, or omit the scores",
        )
    positive = _positive_code(target_column, roles.positive)
    score_values = source.held(name)
    if score_values.stored == "text":
        raise ColumnError(f"the column {name!r} holds text, not scores.", hint="choose another --score")
    quality = scores.assess_quality(score_values.numbers(), target_column.column.held.codes == positive)
    held_out_quality = None
    if other is not None and name in other.columns and roles.target in other.columns:
        truth = other.held(str(roles.target))
        match = [
            code
            for code in range(truth.values.size)
            if truth.values[code] == target_column.column.held.values[positive]
        ]
        other_scores = other.held(name)
        if match and other_scores.stored != "text":
            held_out_quality = scores.assess_quality(other_scores.numbers(), truth.codes == match[0])
    case_columns = [group for group in summaries.groups if is_id_name(group)] or [*summaries.chances]
    identifies_cases = bool(summaries.groups) or any(is_fine for _, is_fine in summaries.chances.values())
    repeats: tuple[int, int, tuple[Row, ...]] = (0, 0, ())
    if case_columns and identifies_cases:
        repeats = scores.find_repeated_scores(source.row_digests(case_columns), np.nan_to_num(score_values.numbers()))
    return scores.AuditedScores(
        name, str(roles.target), quality, held_out_quality, _sample_name(other) if other else "", *repeats
    )


def _positive_code(target_column: target.Target, stated: Any) -> int:
    """Code of the positive class; the second by default, since either shows whether scores were fitted."""
    try:
        return positive_index(target_column.classes, stated)
    except PositiveError:
        if stated is not None:
            raise ColumnError(
                f"positive={label_text(stated)!r} does not occur in column {target_column.column.name!r}.",
                seen=listing(target_column.classes),
                hint="choose one of these labels",
            ) from None
        return 1


def _sample_name(other: ColumnReader) -> str:
    return "the other sample" if other.name in ("arrays", "frame") else other.name


def _order_findings(findings: Sequence[AuditFinding]) -> list[AuditFinding]:
    """Sort by seriousness; SS111 on a column replaces SS110."""
    clipped = {finding.columns for finding in findings if finding.code == "SS111"}
    remaining = [finding for finding in findings if not (finding.code == "SS110" and finding.columns in clipped)]
    return sorted(remaining, key=lambda finding: (-LEVELS.index(finding.level), finding.code))
