"""Set-up of an evaluation: a role menu for each column, the view in a sentence, and problems with their fixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scorespace.errors import PositiveError, ScoreSpaceError
from scorespace.evaluation.proposal import (
    FilePreview,
    Proposal,
    ProposedColumn,
    positive_label,
    propose,
    propose_raters,
    sentence,
)
from scorespace.io import read
from scorespace.io.drilldown import validated_sample
from scorespace.results import Row, grouped, join_words
from scorespace.server.request import COSTS, MODELS, PageRequest
from scorespace.server.work import error_row
from scorespace.tables.labels import label_text, positive_index

SAMPLE_ROWS: Final = 20
_BINS: Final = 4  # proposed for slices by a numeric column
_SCALES: Final = (10, 100)
_MAX_CHECKED: Final = 100_000_000  # bytes of a file that is validated while the user chooses

FIELDS: Final = {
    "cost-fp": "Cost of a false positive",
    "cost-fn": "Cost of a false negative",
    "prevalence": "Prevalence in use",
    "cost-under": "Cost of underprediction",
    "cost-over": "Cost of overprediction",
}
_WORDS: Final = {
    **{name: f"“{label}”" for name, label in FIELDS.items()},
    **{"cost-tp": "the cost of a true positive", "cost-tn": "the cost of a true negative", "costs": "“Cost matrix”"},
    **{"where": "“Only rows where”", "measures": "“Measures”", "by": "“slice by”", "scale": "“Scale of the scores”"},
    **{"positive": "the positive class", "missing": "“Leave out rows with gaps”", "at": "“Threshold”"},
    **{"fp": "the cost of a false positive", "fn": "the cost of a false negative", "rows": "the side of the matrix"},
}
_ROLE_NAMES: Final = {
    **{"truth": "truth", "score": "score", "decision": "decision", "prediction": "prediction", "rater": "rater"},
    **{"value": "value per case", "repeat": "repeat", "query": "query"},
    **{"weight": "weight", "group": "group", "fold": "fold", "by": "slice by"},
}


@dataclass(frozen=True)
class Problem:
    """Something that keeps the evaluation from running, or a remark, with fixes as (label, query of the set-up)."""

    text: str
    fixes: tuple[tuple[str, str], ...] = ()
    blocking: bool = True


@dataclass(frozen=True)
class Menu:
    """A column with its role menu: options as (value, label), and the selected value."""

    column: ProposedColumn
    options: list[tuple[str, str]]
    selected: str
    why: str = ""


@dataclass(frozen=True)
class Setup:
    """What the set-up page shows of a view."""

    request: PageRequest
    sentence: str
    problems: list[Problem]
    labels: tuple[str, ...]
    positive: str | None
    candidates: tuple[str, ...] = field(default=())

    @property
    def ready(self) -> bool:
        return self.request.complete and not any(one.blocking for one in self.problems)


def proposed(file: str, preview: FilePreview) -> PageRequest:
    """The view that is proposed for a file: truth and models, or raters."""
    raters = propose_raters(preview.columns)
    roles = {"rater": raters} if raters else propose(preview.columns).roles
    found = PageRequest.of(file, roles)
    positive = positive_label(_labels(found, preview)) if raters else None
    return found.with_values(positive=positive) if positive else found


def describe(request: PageRequest, preview: FilePreview, path: str, size: int, failed: Row | None = None) -> Setup:
    """Sentence, problems and positive class of a view; `failed` is the error that its evaluation ended with."""
    proposal = propose(preview.columns, request.one("truth"))
    labels = () if request.every("prediction") else _labels(request, preview)
    positive = request.one("positive")
    if positive is None and len(labels) == 2:
        try:
            positive = labels[positive_index(labels)]
        except PositiveError:
            positive = None
    problems = _open_choices(request, preview, proposal)
    if not problems:
        error = failed or (_invalid(request, path) if size <= _MAX_CHECKED else None)
        problems = [explain(error, request, preview)] if error else []
    problems += _remarks(request, preview)
    return Setup(request, _sentence(request, positive, preview), problems, labels, positive, proposal.candidates)


def _labels(request: PageRequest, preview: FilePreview) -> tuple[str, ...]:
    """The classes: labels of the truth, or of the first rater who gives scores, too."""
    scored = [_rater_columns(text)[0] for text in request.every("rater") if "," in text]
    name = next(iter(scored), None) if request.every("rater") else request.one("truth")
    return next((one.labels for one in preview.columns if one.name == name), ())


def _sentence(request: PageRequest, positive: str | None, preview: FilePreview) -> str:
    rows = f"{'' if preview.whole else 'more than '}{grouped(preview.rows)} rows"
    if raters := [text.partition("=")[0] for text in request.every("rater")]:
        return f"Measure the agreement of {join_words(raters)}, {rows}."
    roles = {name: request.every(name) for name in ("truth", *MODELS) if request.every(name)}
    text = sentence(Proposal(roles | ({"positive": [positive]} if positive else {}), {}), preview.rows)
    return text.replace(f"{grouped(preview.rows)} rows", rows)


def _open_choices(request: PageRequest, preview: FilePreview, proposal: Proposal) -> list[Problem]:
    """What must be chosen before there is something to evaluate."""
    raters = request.every("rater")
    if raters:
        few = "Choose a second rater: set the menu above another column to “rater”."
        return [] if len(raters) > 1 else [Problem(few)]
    truth = request.one("truth")
    if request.one("value"):
        return []
    if truth is None:
        fixes = [
            (f"Take {name} as truth", PageRequest.of(request.file, propose(preview.columns, name).roles).query)
            for name in proposal.candidates[:4]
        ]
        return [Problem("Which column holds the truth, the actual outcome?", tuple(fixes))]
    if not any(map(request.every, MODELS)):
        fixes = []
        for role in MODELS:
            if names := proposal.roles.get(role):
                label = f"Take {join_words(names)} as {role}{'s' * (len(names) > 1)}"
                fixes.append((label, request.with_values(**{role: names}).query))
        return [Problem("Which columns hold scores, decisions or predictions of a model?", tuple(fixes))]
    return []


def _invalid(request: PageRequest, path: str) -> Row | None:
    """The error that the evaluation of this view would end with, as far as reading its columns tells."""
    if request.every("rater"):
        return None
    try:
        request.arguments()
        validated_sample(read(path), request.roles(), request.one("missing") or "error")
    except (ScoreSpaceError, OSError) as error:
        return error_row(error)
    return None


def explain(error: Mapping[str, str], request: PageRequest, preview: FilePreview) -> Problem:
    """An error in the words of the page, with its fixes as buttons."""
    kind, problem, hint = error["kind"], error["problem"], error["hint"]
    fixes: list[tuple[str, PageRequest]] = []
    if kind == "FileChanged":
        fixes = [("Use the file as it is now", request)]
    elif kind == "PositiveError":
        labels = _labels(request, preview)[:6]
        fixes = [(f"Take {label} as positive", request.with_values(positive=label)) for label in labels]
    elif gaps := re.search(r"drops ([\d  ]+) rows?", hint):
        fixes = [(f"Leave out {gaps[1].strip()} rows with gaps", request.with_values(missing="drop"))]
    elif kind == "WhereError" or (request.where and "(position" in problem):
        fixes = [("Use all rows", request.with_values(where=None))]
    elif kind == "MeasureError":
        fixes = [("Use the default measures", request.with_values(measures=None))]
    elif kind == "ConditionError":
        fixes = [("Leave out the costs", request.with_values(**dict.fromkeys((*COSTS, "costs", "rows"))))]
    elif request.every("baseline") or request.every("against"):
        fixes = [("Leave out the comparison", request.with_values(baseline=None, against=None))]
    for name, value in request.stated if not fixes else ():
        column = value.partition("(")[0] if name == "by" else value
        if name in _ROLE_NAMES and (f"'{column}'" in problem or f"'{value}'" in problem):
            rest = [each for each in request.every(name) if each != value]
            fixes.append((f"Do not use {value} as {_ROLE_NAMES[name]}", request.with_values(**{name: rest})))
    text = problem[:1].upper() + problem[1:] + (f" Found: {error['seen'].removesuffix('.')}." if error["seen"] else "")
    if not fixes and hint and not re.search(r"--|=|…", hint):
        text += f" {hint[:1].upper()}{hint[1:]}."
    return Problem(in_fields(text), tuple((label, one.query) for label, one in fixes))


def in_fields(text: str) -> str:
    """Replace flags and arguments by the names of the fields of the page.

    >>> in_fields("--cost-fp x is no number.")
    '“Cost of a false positive” x is no number.'
    """
    names = "|".join(sorted(_WORDS, key=len, reverse=True))
    text = re.sub(rf"--({names})\b", lambda found: _WORDS[found[1]], text)
    return re.sub(rf"\b({names})=(?=\S)", lambda found: f"{_WORDS[found[1]]} ", text)


def _remarks(request: PageRequest, preview: FilePreview) -> list[Problem]:
    """Scores on a scale such as 0 to 100 can be read as probabilities."""
    scores = [one for one in preview.columns if one.name in request.every("score") and one.ends]
    if not scores or request.one("scale"):
        return []
    low, high = min(one.ends[0] for one in scores if one.ends), max(one.ends[1] for one in scores if one.ends)
    scale = next((top for top in _SCALES if low >= 0 and 0.6 * top < high <= top), None)
    if scale is None or any(one.is_probability for one in scores):
        return []
    fix = f"Scores run from 0 to {scale}: use the scale", request.with_values(scale=f"0..{scale}").query
    text = f"The scores lie between {label_text(low)} and {label_text(high)}."
    return [Problem(text, (fix,), blocking=False)]


# --- columns


def menus(request: PageRequest, preview: FilePreview) -> tuple[list[Menu], list[tuple[str, str]]]:
    """The columns with their role menus, and the parameters that no control of the page shows."""
    proposal = propose(preview.columns, request.one("truth"))
    patterns = {column: one for one in proposal.patterns for column in one.labels}
    raters = {column: text for text in _raters(request, preview.columns) for column in _rater_columns(text)}
    found, shown = [], set()
    for column in preview.columns:
        options = [("", "not used"), *_options(column, request, patterns, raters)]
        stated = [f"{name}:{value}" for name, value in request.stated]
        selected = next((value for value, _ in options if value and value in stated), "")
        shown.add(selected)
        role, _, why = proposal.why.get(column.name, "").partition(": ")
        found.append(Menu(column, options, selected, why if selected.startswith(f"{role}:") else ""))
    controls = {"positive", "where", "missing", "scale", "profile", "measures", *FIELDS, "costs"}
    hidden = [
        (name, value) for name, value in request.stated if name not in controls and f"{name}:{value}" not in shown
    ]
    return found, hidden


def _options(
    column: ProposedColumn, request: PageRequest, patterns: Mapping[str, ProposedColumn], raters: Mapping[str, str]
) -> Iterable[tuple[str, str]]:
    name, labels, numeric = column.name, len(column.labels) > 1, column.ends is not None
    if labels or numeric:
        yield f"truth:{name}", "truth"
    if name in patterns:
        yield f"score:{patterns[name].name}", f"score {patterns[name].name}"
    if numeric:
        yield f"score:{name}", "score"
    if labels:
        yield f"decision:{name}", "decision"
    if numeric:
        yield f"prediction:{name}", "prediction"
        yield f"value:{name}", "value per case"
    if labels or name in raters:
        yield f"rater:{raters.get(name, f'{name}={name}')}", "rater" if labels else "score of a rater"
    if numeric and column.ends and column.ends[0] >= 0:
        yield f"weight:{name}", "weight"
    yield f"group:{name}", "group"
    yield f"repeat:{name}", "repeat"
    yield f"query:{name}", "query"
    if labels:
        yield f"fold:{name}", "fold"
    if cut := slice_of(column, request):
        yield f"by:{cut}", "slice by"


def _raters(request: PageRequest, columns: Sequence[ProposedColumn]) -> list[str]:
    return [*propose_raters(columns), *request.every("rater")]


def _rater_columns(text: str) -> list[str]:
    return text.partition("=")[2].split(",")


def slice_of(column: ProposedColumn, request: PageRequest) -> str:
    """How a column makes slices: as stated, or by its labels, in bins of its numbers, or by months.

    >>> columns = ProposedColumn("age", "ratio", ends=(18.0, 90.0)), ProposedColumn("sex", labels=("f", "m"))
    >>> [slice_of(one, PageRequest()) for one in columns]
    ['age(bins=4)', 'sex']
    """
    stated = [text for text in request.every("by") if text == column.name or text.startswith(f"{column.name}(")]
    if stated or column.labels or not column.kind:
        return stated[0] if stated else column.name
    return f"{column.name}(every=month)" if column.dates else f"{column.name}(bins={_BINS})" if column.ends else ""


def sample_rows(path: str) -> list[list[str]]:
    """The first rows of a file as text; missing values are empty."""
    source = read(path)
    frame: Any = source.frame if source.as_text is None else source.as_text(source.columns)
    values = source.arrays(frame.head(SAMPLE_ROWS))
    columns = [[_text(value) for value in values[name].tolist()] for name in source.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _text(value: Any) -> str:
    text = "" if value is None or value != value else label_text(value) if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
