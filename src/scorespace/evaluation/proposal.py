"""Proposes roles for the columns of a file, with reasons: truth, positive class, scores, decisions, groups."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from scorespace.audit.column_kinds import recognise_kind
from scorespace.audit.vocabulary import is_number, name_words
from scorespace.errors import PositiveError
from scorespace.io import read
from scorespace.io.column_profile import ColumnValues, read_columns
from scorespace.results import grouped, join_words
from scorespace.tables.labels import label_text, positive_index

MAX_ROWS: Final = 50_000
"""Rows, from the first on, by which columns are described."""

MAX_COLUMNS: Final = 300
"""Columns that are described; of further ones only the names are listed."""

_MAX_LABELS: Final = 50
_BARS: Final = 16
_RATER_SCORES: Final = ("_score", "_s", "_p", "_prob", "_confidence")
_TRUTH_NAMES: Final = ("truth", "target", "outcome", "y_true", "label", "class", "y", "actual", "observed", "response")
_TRUTH_WORDS: Final = {
    *("truth", "target", "outcome", "label", "class", "actual", "observed", "response", "status", "diagnosis", "event"),
    *("disease", "sepsis", "cancer", "death", "died", "dead", "mortality", "survived", "ill", "sick", "relapse"),
    *("default", "defaulted", "bad", "fraud", "fraudulent", "churn", "churned", "spam", "readmitted", "species"),
}
_ATTRIBUTE_WORDS: Final = {"sex", "gender", "smoker", "region", "site", "country", "hospital", "treatment", "arm"}
_PREDICTION_WORDS: Final = {"pred", "prediction", "predictions", "predicted", "forecast", "estimate", "yhat", "fitted"}
_DECISION_WORDS: Final = _PREDICTION_WORDS | {"decision", "decided", "label", "class"}
_SCORE_WORDS: Final = {"score", "scores", "prob", "proba", "probability", "p", "logit", "risk", "marker", "points"}
_NAMED_ROLES: Final = {
    "weight": {"weight", "weights"},
    "group": {"group", "patient", "subject", "cluster"},
    "fold": {"fold", "folds"},
}
_POSITIVE_LABELS: Final = (
    *("yes", "y", "true", "t", "positive", "pos", "+", "bad", "fraud", "case", "dead", "died", "ill", "sick", "event"),
    *("diseased", "disease", "malignant", "default", "spam", "churn", "churned", "abnormal", "poor", "cancer"),
)


@dataclass(frozen=True)
class ProposedColumn:
    """What a column holds: its kind, in words, its labels if there are few, its range if it is numeric.

    `bars` are the counts of a small histogram, `examples` three values.
    """

    name: str
    kind: str = ""
    evidence: str = ""
    labels: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None
    fractions: bool = False
    dates: bool = False
    missing: int = 0
    bars: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def is_probability(self) -> bool:
        """Whether it holds fractions from 0 to 1."""
        return self.fractions and self.ends is not None and self.ends[0] >= 0 and self.ends[1] <= 1


@dataclass(frozen=True)
class FilePreview:
    """The columns of a file and the number of rows that were read; `whole` if these are all."""

    columns: tuple[ProposedColumn, ...]
    rows: int
    whole: bool


@dataclass(frozen=True)
class Proposal:
    """Proposed roles, with the reason by column.

    Attributes
    ----------
    roles : dict of str to list of str
        Columns by role: truth, score, decision, prediction, weight, group, fold; and `positive`, a label.
    why : dict of str to str
        The reason, by column.
    patterns : tuple of ProposedColumn
        Patterns such as nb_* that stand for one score column per class.
    candidates : tuple of str
        Columns that could be the truth, the most likely first.
    """

    roles: dict[str, list[str]]
    why: dict[str, str]
    patterns: tuple[ProposedColumn, ...] = ()
    candidates: tuple[str, ...] = field(default=())

    @property
    def is_complete(self) -> bool:
        """Whether truth and at least one model are proposed."""
        return "truth" in self.roles and bool({"score", "decision", "prediction"} & set(self.roles))

    def arguments(self, verb: str, file: str) -> list[str]:
        """The command line that evaluates the file with these roles."""
        flags = [part for role, names in self.roles.items() for name in names for part in (f"--{role}", name)]
        return [verb, file, *flags]

    def command(self, verb: str, file: str) -> str:
        """The same as text to type.

        >>> Proposal({"truth": ["y"], "score": ["p 1"]}, {}).command("evaluate", "a.csv")
        "scorespace evaluate a.csv --truth y --score 'p 1'"
        """
        return shlex.join(["scorespace", *self.arguments(verb, file)])


def preview(path: str) -> FilePreview:
    """Describe the columns of a file by its first rows."""
    source = read(path)
    written, limit = source.as_text, MAX_ROWS + 1
    # Text files are read once: the engine keeps the first rows for the second look at values as they are written.
    as_text = None if written is None else lambda names: written(names).head(limit)
    found = read_columns(replace(source, frame=source.frame.head(limit), account=None, as_text=as_text))
    seen = [_describe(found.held(name)) for name in found.columns[:MAX_COLUMNS]]
    rest = [ProposedColumn(name, "", "not described: too many columns") for name in found.columns[MAX_COLUMNS:]]
    return FilePreview((*seen, *rest), min(found.rows, MAX_ROWS), found.rows <= MAX_ROWS)


def _describe(column: ColumnValues) -> ProposedColumn:
    kind, evidence = recognise_kind(column)
    is_numeric = column.stored == "number" and column.distinct > 0
    fractions = is_numeric and bool((column.values % 1 != 0).any())
    few = column.distinct <= _MAX_LABELS and not fractions and column.stored != "date"
    values = column.values.astype(bool) if column.stored == "boolean" else column.values
    return ProposedColumn(
        column.name,
        kind.name,
        evidence,
        tuple(map(label_text, values.tolist())) if few else (),
        (float(column.values[0]), float(column.values[-1])) if is_numeric else None,
        fractions,
        column.stored == "date",
        column.missing,
        _histogram(column),
        () if column.stored == "date" else tuple(label_text(values[k]) for k in dict.fromkeys(_spread(values.size, 3))),
    )


def _histogram(column: ColumnValues) -> tuple[int, ...]:
    """Counts of the most frequent labels, or of ranges of equal width."""
    if column.distinct == 0:
        return ()
    if column.stored == "text" or column.distinct <= _BARS:
        return tuple(column.counts[:_BARS].tolist())
    return tuple(np.histogram(column.values.astype(float), _BARS, weights=column.counts)[0].astype(int).tolist())


def _spread(size: int, most: int) -> list[int]:
    """Indices spread over a range: the first, the last and those between."""
    return [] if not size else np.linspace(0, size - 1, most).astype(int).tolist()


def propose_raters(columns: Sequence[ProposedColumn]) -> list[str]:
    """Raters as NAME=DECISION[,SCORE], where two or more columns have the same labels and none is named like a truth.

    >>> labels = ("no", "yes")
    >>> propose_raters([ProposedColumn("ann", labels=labels), ProposedColumn("bob", labels=labels)])
    ['ann=ann', 'bob=bob']
    """
    named = _TRUTH_WORDS | _ATTRIBUTE_WORDS | _PREDICTION_WORDS
    judged = [one for one in columns if len(one.labels) > 1 and not one.fractions and not name_words(one.name) & {"id"}]
    if any(one.name.casefold() in _TRUTH_NAMES or name_words(one.name) & named for one in judged):
        return []
    alike = {frozenset(one.labels): [each for each in judged if set(each.labels) == set(one.labels)] for one in judged}
    raters = max(alike.values(), key=len, default=[])
    if len(raters) < 2:
        return []
    numeric = {one.name for one in columns if one.ends and one not in raters}
    scores = [[f"{one.name}{end}" for end in _RATER_SCORES if f"{one.name}{end}" in numeric] for one in raters]
    with_scores = all(scores)
    return [
        f"{one.name}={one.name}" + (f",{score[0]}" if with_scores else "")
        for one, score in zip(raters, scores, strict=True)
    ]


def propose(columns: Sequence[ProposedColumn], truth: str | None = None) -> Proposal:
    """Propose roles for columns; `truth` overrides the proposed one.

    >>> found = propose([ProposedColumn("y", labels=("0", "1")), ProposedColumn("nb", ends=(0.1, 0.9), fractions=True)])
    >>> found.roles, found.why["nb"]
    ({'truth': ['y'], 'score': ['nb'], 'positive': ['1']}, 'score: numbers between 0 and 1')
    """
    why: dict[str, str] = {}
    roles: dict[str, list[str]] = {}

    def take(role: str, column: str, reason: str) -> None:
        if column not in why:
            why[column] = f"{role}: {reason}"
            roles.setdefault(role, []).append(column)

    ranked = _rank_truths(columns)
    stated = next((one for one in columns if one.name == truth), None)
    if stated is not None:
        ranked = [(stated, "stated"), *(pair for pair in ranked if pair[0] is not stated)]
    candidates = tuple(one.name for one, _ in ranked)
    if ranked:
        take("truth", ranked[0][0].name, ranked[0][1])
    for role, words in _NAMED_ROLES.items():
        named = [one for one in columns if name_words(one.name) & words]
        if len(named) == 1 and (role != "weight" or (named[0].ends or (-1, 0))[0] >= 0):
            take(role, named[0].name, "by its name")
    if not ranked:
        return Proposal(roles, why)
    labels = ranked[0][0].labels
    patterns = _class_patterns(columns, labels) if len(labels) > 2 else ()
    for one in patterns:
        take("score", one.name, one.evidence)
    in_patterns = {column for one in patterns for column in one.labels}
    for one in columns:
        found = None if one.name in in_patterns else _model_role(one, labels)
        if found is not None:
            take(found[0], one.name, found[1])
    if len(labels) == 2 and "prediction" not in roles and (positive := positive_label(labels)) is not None:
        roles["positive"] = [positive]
    return Proposal(roles, why, patterns, candidates)


def _rank_truths(columns: Sequence[ProposedColumn]) -> list[tuple[ProposedColumn, str]]:
    """Columns that could be the truth with the reason, the most likely first: by name, then by its labels."""
    ranked: list[tuple[int, int, ProposedColumn, str]] = []
    for place, one in enumerate(columns):
        words, name = name_words(one.name), one.name.casefold()
        if name in _TRUTH_NAMES and (one.labels or one.ends):
            ranked.append((_TRUTH_NAMES.index(name), place, one, "by its name"))
        elif one.is_probability or one.dates or len(one.labels) < 2 or words & {"id", *_PREDICTION_WORDS}:
            continue
        elif words & _ATTRIBUTE_WORDS:
            ranked.append((60, place, one, "two labels" if len(one.labels) == 2 else "labels"))
        elif words & _TRUTH_WORDS:
            ranked.append((20, place, one, "by its name"))
        elif positive_label(one.labels) is not None:
            ranked.append((30, place, one, f"labels {join_words(one.labels)}"))
        elif len(one.labels) == 2 or not one.ends:
            ranked.append((40 if len(one.labels) == 2 else 50, place, one, "labels"))
    found = [(one, why) for _, _, one, why in sorted(ranked, key=lambda entry: entry[:2])]
    if len(found) == 1 and found[0][1].startswith("label"):
        return [(found[0][0], "the only column of labels")]
    return found


def _class_patterns(columns: Sequence[ProposedColumn], labels: Sequence[str]) -> tuple[ProposedColumn, ...]:
    """Patterns such as nb_*, where there is a numeric column nb_CLASS for every class."""
    numeric = [one.name for one in columns if one.ends]
    heads = {name.removesuffix(labels[0]) for name in numeric if name.endswith(labels[0])} - {""}
    found = []
    for head in sorted(heads):
        members = tuple(head + label for label in labels)
        if set(members) <= set(numeric) and "*" not in head:
            found.append(ProposedColumn(f"{head}*", "pattern", f"scores of the {len(labels)} classes", members))
    return tuple(found)


def _model_role(column: ProposedColumn, labels: Sequence[str]) -> tuple[str, str] | None:
    """The role of a column as a model's output, and why."""
    words = name_words(column.name)
    if not labels:
        return ("prediction", "numbers, by its name") if column.ends and words & _PREDICTION_WORDS else None
    if column.labels and set(column.labels) <= set(labels):
        if words & _DECISION_WORDS or not all(map(is_number, labels)):
            return "decision", "it holds labels of the truth"
        return None
    if column.ends is None or words & {"id"}:
        return None
    if column.is_probability:
        return "score", "numbers between 0 and 1"
    return ("score", "numbers, by its name") if words & _SCORE_WORDS else None


def positive_label(labels: Sequence[str]) -> str | None:
    """The positive class of two labels, as 0 and 1 or a word such as yes tell; None if neither does."""
    if len(labels) != 2:
        return None
    try:
        return labels[positive_index(labels)]
    except PositiveError:
        words = [label for label in labels if label.casefold() in _POSITIVE_LABELS]
        return words[0] if len(words) == 1 else None


def sentence(proposal: Proposal, rows: int) -> str:
    """The proposal in one sentence.

    >>> sentence(Proposal({"truth": ["sepsis"], "score": ["a", "b"], "positive": ["yes"]}, {}), 2000)
    'Compare 2 scores with sepsis (positive: yes), 2 000 rows.'
    """
    roles = proposal.roles
    if count := len(roles.get("value", ())):
        what = "column of values" if count == 1 else "columns of values"
        return f"{'Compare' if count > 1 else 'Evaluate'} {count} {what} per case, {grouped(rows)} rows."
    if "truth" not in roles:
        return "No column looks like the truth: choose one."
    models = {role: len(roles[role]) for role in ("score", "decision", "prediction") if role in roles}
    if not models:
        return f"The truth could be {roles['truth'][0]}; no column looks like a model's output: choose one."
    verb = "Compare" if sum(models.values()) > 1 else "Evaluate"
    counts = join_words([f"{count} {role}{'s' * (count > 1)}" for role, count in models.items()])
    positive = f" (positive: {roles['positive'][0]})" if "positive" in roles else ""
    return f"{verb} {counts} with {roles['truth'][0]}{positive}, {grouped(rows)} rows."
