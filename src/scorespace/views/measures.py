"""The measures of all models side by side: as one row for each model, or as one for each measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Final

from scorespace.later import later
from scorespace.measures.cost import cost
from scorespace.results import decimals, limits
from scorespace.tables import At, Top
from scorespace.tables.threshold import Threshold, threshold_text
from scorespace.views.answers import Answers
from scorespace.views.comparison import difference_text
from scorespace.views.document import Block, Grid, Text

if TYPE_CHECKING:
    from scorespace import decisions
    from scorespace.comparisons.answer import Comparison
    from scorespace.decisions import Decision, Value
    from scorespace.measures import MeasureSpec
    from scorespace.resampling.estimate import Estimate
else:
    decisions = later("scorespace.decisions")

COST: Final = "cost/case"
HONEST: Final = "cost, cross-fitted"
HERE: Final = "cost, apparent"
"""The two costs of a chosen threshold: on cases that did not choose it, and on those that did; and of no choice."""
BY_CHANCE: Final = "– by chance"
"""The row below a measure that even perfect scores have above nothing."""

_LEADING: Final = ("auc", "auc[hand_till]", "brier", "tpr", "ppv", "acc", "mcc", "f1[macro]")
_FEW: Final = 4


def model_grid(evaluation: Answers) -> Grid:
    """One row for each model with the first measures that were asked for, or the leading ones."""
    every = [(str(replace(one.spec, at=None)), one) for one in evaluation.shown]
    names = list(dict.fromkeys(name for name, _ in every))
    # The one that the verdict tells first, then the leading ones.
    chosen = [*names[:1], *(name for name in _LEADING if name in names[1:])] if len(names) > _FEW else names
    shown = (chosen if len(chosen) > 1 else names)[:_FEW]
    decided = decided_two(evaluation)
    costs = {one.model: value_text(one.honest) for one in decided.choices if one.honest.known} if decided else {}
    rows = []
    for model in evaluation.models:
        own = {name: one for name, one in every if one.model == model}
        at = {one.spec.at for one in own.values() if one.spec.at is not None}
        cells = (_cell(own[name]) if name in own else "" for name in shown)
        rows.append((model, *cells, costs.get(model, ""), _cut(at.pop()) if len(at) == 1 else ""))
    short, arrows = _short_names(evaluation), {name: one.spec.measure.arrow for name, one in every}
    heads = (f"{short.get(name, name)} {arrows[name]}".strip() for name in shown)
    grid = Grid(("model", *heads, f"{HONEST} ↓", "threshold"), tuple(rows), _interval_words(evaluation))
    return grid.without_blanks()


def measure_blocks(evaluation: Answers) -> Sequence[Block]:
    """All measures that are shown, their differences, and why some of these are blank."""
    grid = measure_grid(list(evaluation.shown), list(evaluation.models), _short_names(evaluation))
    decided = decided_two(evaluation)
    if decided is not None:
        grid = with_honest_costs(grid, decided)
    if evaluation.differences:
        grid = with_differences(grid, evaluation.differences)
    blank = undifferent(evaluation.differences, [str(one.spec) for one in evaluation.shown])
    return [replace(grid, caption=_interval_words(evaluation)), *([Text(blank)] if blank else [])]


def decided_two(evaluation: Answers) -> Decision | None:
    """The decision between two classes under the evaluation's own costs, if there is one."""
    found = evaluation.decision
    return found if found is not None and isinstance(found, decisions.Decision) else None


def measure_grid(
    estimates: Sequence[Estimate], models: Sequence[str], short_names: Mapping[str, str] | None = None
) -> Grid:
    """Measures as rows and models as columns; `short_names` replaces row names.

    A threshold that all models share joins the row name; where theirs differ, a row of its own shows them.
    """
    rows: list[tuple[str, ...]] = []
    hints: list[tuple[str, str]] = []
    shown_thresholds: tuple[str, ...] = ()
    by_row: dict[str, dict[str, Estimate]] = {}
    for key, one in zip(_row_keys(estimates), estimates, strict=True):
        by_row.setdefault(key, {})[one.model] = one
    for key, found in by_row.items():
        spec = next(iter(found.values())).spec
        at = (found[model].spec.at if model in found else None for model in models)
        thresholds = tuple("" if one is None else _cut(one) for one in at)
        if spec.at is not None and not key.endswith("@") and thresholds != shown_thresholds:
            chosen = all(isinstance(at, Threshold) and at.chosen for at in (one.spec.at for one in found.values()))
            rows.append(("chosen threshold" if chosen else "threshold", *thresholds))
            hints += (
                [("chosen threshold", "Chosen on these cases, so that values at it are apparent.")] if chosen else []
            )
            shown_thresholds = thresholds
        bare = str(replace(spec, at=None))
        name = f"{(short_names or {}).get(bare, bare)}{key.rstrip('@').removeprefix(bare)} {spec.measure.arrow}"
        rows.append((name, *(_cell(found[model]) if model in found else "" for model in models)))
        own = "" if spec.asked is None else f"{spec.name}: "
        hints.append((name, f"{own}{spec.measure.title}. {spec.measure.summary}"))
        chance = {model: decimals(one.chance) for model, one in found.items() if not isnan(one.chance)}
        if chance:
            rows.append((BY_CHANCE, *(chance.get(model, "") for model in models)))
            hints.append((BY_CHANCE, "What calibrated scores would show; the interval is of what is beyond that."))
    return Grid(("", *models), tuple(rows), hints=tuple(hints))


def with_honest_costs(grid: Grid, decision: Decision) -> Grid:
    """The grid with the cost on cases that did not choose the threshold above that on those that did."""
    here = [place for place, row in enumerate(grid.rows) if row[0].startswith(HERE)]
    by_model = {choice.model: choice.honest for choice in decision.choices}
    known = [by_model[name] for name in grid.columns[1:] if name in by_model and by_model[name].known]
    if not here or not known:
        return grid
    if all(isnan(choice.threshold) for choice in decision.choices):  # nothing was chosen: there is one cost
        row = grid.rows[here[0]]
        named = f"{COST}{row[0].removeprefix(HERE)}"
        rows = [*grid.rows[: here[0]], (named, *row[1:]), *grid.rows[here[0] + 1 :]]
        return replace(grid, rows=tuple(rows), hints=tuple((named if a == row[0] else a, b) for a, b in grid.hints))
    cells = [value_text(by_model[name]) if name in by_model else "" for name in grid.columns[1:]]
    rows = list(grid.rows)
    rows.insert(here[0], (f"{HONEST} ↓", *cells))
    hint = "What it costs to choose a threshold so, on cases that had no part in the choice (repeated cross-fitting)."
    return replace(grid, rows=tuple(rows), hints=(*grid.hints, (f"{HONEST} ↓", hint)))


def with_differences(grid: Grid, differences: Mapping[str, Comparison]) -> Grid:
    """The grid with a last column for the first model minus the second."""
    first = next(iter(differences.values()))
    by_row = {name.rsplit(" ", 1)[0]: name for name, *_ in grid.rows}
    cells = {by_row[spec]: difference_text(one) for spec, one in differences.items() if spec in by_row}
    rows = tuple((*row, cells.get(row[0], "")) for row in grid.rows)
    heading = f"{first.a} − {first.b}{', ' if first.averaged else ''}{first.averaged}"
    return replace(grid, columns=(*grid.columns, heading), rows=rows)


def undifferent(differences: Mapping[str, Comparison], shown: Sequence[str] = ()) -> str:
    """Which differences are blank, and why: those for one reason in one sentence."""
    reasons: dict[str, list[str]] = {}
    for name, one in differences.items():
        if isnan(one.difference):
            why = (one.reason or "it is undefined for one of the models").removeprefix("undefined: ")
            reasons.setdefault(why, []).append(name)
    said = [f"No difference of {', '.join(names)}: {why}." for why, names in reasons.items()]
    if differences and len(differences) < sum(models > 1 for models in Counter(shown).values()):
        said.append("Of so many scores only the first difference is told: compare --measure NAME has others.")
    return " ".join(said)


def _row_keys(estimates: Sequence[Estimate]) -> list[str]:
    """The row that each estimate belongs to; it ends in @ when the threshold is part of its name."""
    bare = [replace(one.spec, at=None) for one in estimates]
    points: dict[MeasureSpec, dict[str, set[At | None]]] = {}
    for one, spec in zip(estimates, bare, strict=True):
        points.setdefault(spec, {}).setdefault(one.model, set()).add(one.spec.at)
    return [_row_key(one, str(spec), points[spec]) for one, spec in zip(estimates, bare, strict=True)]


def _row_key(one: Estimate, bare: str, points: Mapping[str, set[At | None]]) -> str:
    at = one.spec.at
    if at is None:
        return str(one.spec)
    shared = len(set(map(frozenset, points.values()))) == 1
    short = isinstance(at, Top) or len(f"{at!r}") <= 5  # enough to stand in a row name
    return f"{one.spec}@" if shared and (len(points) > 1 or len(points[one.model]) > 1 or short) else bare


def _cell(one: Estimate) -> str:
    """Value and interval, or why there is none."""
    return f"{one.text} {one.reason.removeprefix('undefined: ')}" if isnan(one.value) and one.reason else one.text


def _cut(at: At) -> str:
    """A threshold, or so many of the highest scores."""
    return str(at) if isinstance(at, Top) else threshold_text(at)


def value_text(value: Value) -> str:
    """A number of a decision with its interval, where it has one."""
    return limits(value.value, value.low, value.high)


def _interval_words(evaluation: Answers) -> str:
    words = f"Value and {100 * evaluation.level:g} % interval; ↑ higher is better, ↓ lower is better."
    if any(one.certified is not None for one in evaluation.summary):
        words += " ± is what the scores, counted in bins, leave open whatever their order inside: it is no chance."
    return words


def _short_names(evaluation: Answers) -> dict[str, str]:
    """The cost under the evaluation's own condition needs no restatement of that condition."""
    found = evaluation.decision
    if found is None or isinstance(found, decisions.ShiftDecision):
        return {}
    stated, name = (found.costs, COST) if isinstance(found, decisions.CostChoice) else (found.condition, HERE)
    own = (
        str(replace(one.spec, at=None))
        for one in evaluation.summary
        if one.spec.name == cost.name
        and dict(one.spec.options) == stated.stated(evaluation.models[one.model].class_names)
    )
    return dict.fromkeys(own, name)
