"""Ledger of looks at a test set: record an evaluation, and correct the best model for the number of looks."""

from __future__ import annotations

import getpass
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from scorespace.comparisons.best_of_many import BestOfMany, best_of_many, ladder_answer
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.evaluation import Evaluation
from scorespace.inference.estimate import Estimate
from scorespace.inference.interval import is_proportion
from scorespace.io.ledger_file import append_looks, read_ledger
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.results import Note, Result, Row, count_noun, decimals, note, to_json_types
from scorespace.tables import Array
from scorespace.tables.paired import PairTable

REPLICATES: Final = 500
DIGITS: Final = 3
"""Decimals of the values that are shown."""

_MAX_CASES: Final = 100_000
_BLOCK: Final = 5_000_000  # weights of cases drawn at once
_HINT: Final = "leave out --ledger"


@dataclass(frozen=True, repr=False)
class Ledger(Result):
    """Looks at one test set, and the best model by each measure, corrected for the choice.

    `others` are looks at other truths in the same file. `added` counts the new looks; `answers` are those of the
    Ladder.
    """

    name: str
    looks: tuple[Row, ...]
    others: int = 0
    added: int = 0
    answers: Mapping[str, tuple[float, bool]] | None = None
    level: float = 0.95

    @property
    def models(self) -> int:
        """Number of distinct models, by their scores: the number of looks."""
        return len({look["scores_hash"] for look in self.looks})

    @property
    def bits(self) -> float:
        """Bits that all answers reveal about the truth."""
        return float(sum(look["bits"] for look in self.looks))

    @property
    def best(self) -> dict[str, tuple[str, BestOfMany]]:
        """The best model by each measure, with its corrected value and bound."""
        found: dict[str, tuple[str, BestOfMany]] = {}
        for measure in dict.fromkeys(name for look in self.looks for name in look["measures"]):
            looks = [look for look in self.looks if measure in look["measures"]]
            looks = list({look["scores_hash"]: look for look in looks}.values())
            held = [look["measures"][measure] for look in looks]
            values = _numbers([one["value"] for one in held])
            spec = parse(measure)
            if spec.best is None or np.isnan(values).all():
                continue
            trials = None if any(one["trials"] is None for one in held) else _numbers([one["trials"] for one in held])
            unit = tuple(spec.measure.range) == (0.0, 1.0)
            sides = (np.array([_numbers(one[side]) for one in held]) for side in ("inside", "outside"))
            options: dict[str, Any] = {"best": spec.best, "trials": trials, "unit": unit, "models": self.models}
            one = best_of_many(values, *sides, level=self.level, **options)
            found[measure] = looks[one.place]["model"], one
        return found

    def rows(self) -> list[Row]:
        """One row per look: when, who, which model, and what was shown."""
        return [
            {name: look[name] for name in ("time", "user", "model", "bits", "ladder")}
            | {"scores": look["scores_hash"][:12]}
            | {name: one["shown"] for name, one in look["measures"].items()}
            for look in self.looks
        ]

    def facts(self) -> Row:
        """Numbers of looks and the best models."""
        if self.answers is not None:
            answers = {name: {"answer": value, "new": new} for name, (value, new) in self.answers.items()}
            return {"ledger": self.name, "looks": self.models, "added": self.added, "answers": answers}
        best = {
            measure: {
                "model": model,
                "value": one.value,
                "corrected": one.corrected,
                "bound": one.bound,
                "quantile": one.quantile,
            }
            for measure, (model, one) in self.best.items()
        }
        counts = {"ledger": self.name, "looks": self.models, "added": self.added, "bits_told": self.bits}
        return to_json_types({**counts, "best": best})

    @property
    def notes(self) -> tuple[Note, ...]:
        """Looks at another truth in the same file."""
        if not self.others:
            return ()
        others = count_noun(self.others, "look")
        return (note("SS198", f"{self.name} also holds {others} at another truth, not counted here."),)

    @property
    def words(self) -> str:
        """The number of looks, and the best model of all with its corrected value and bound."""
        start = (
            f"Look {self.models} on this test set"
            if self.added
            else f"{count_noun(self.models, 'look')} on this test set"
        )
        if self.answers is not None:
            revealed = [
                f"{name}: {decimals(value, DIGITS)}"
                + ("" if new else ", the best answer so far, as this is no clear gain")
                for name, (value, new) in self.answers.items()
            ]
            return f"{start}. {'; '.join(revealed)}."
        parts = []
        for measure, (model, one) in self.best.items():
            side = "at least" if parse(measure).best == "high" else "at most"
            of = f"best of {self.models}: " if self.models > 1 else ""
            parts.append(
                f"{measure}, {of}{decimals(one.value, DIGITS)} ({model}), corrected {decimals(one.corrected, DIGITS)}, "
                f"{side} {decimals(one.bound, DIGITS)}"
            )
        if not parts:
            return f"{start}."
        if self.models == 1:
            return f"{start}: {'; '.join(parts)}."
        return f"{start}; {'; '.join(parts)}, if no model was made with the help of earlier answers."


def record(evaluation: Evaluation, path: str | os.PathLike[str], *, ladder: bool = False) -> Ledger:
    """Add the models of an evaluation to a ledger, with replicates of the requested measures.

    A model whose scores and measures are in the ledger is no new look. With `ladder`, a measure is answered only if it
    is better than the best answer so far by one standard error of the paired difference; else that is repeated.
    """
    pairs = _cases(evaluation)
    truth = _digest(pairs.label if pairs.positive is not None else pairs.code, *evaluation.models.classes)
    known = read_ledger(path)
    mine = [look for look in known if look["truth_hash"] == truth]
    new: list[Row] = []
    answers: dict[str, tuple[float, bool]] = {}
    for model in evaluation.models:
        shown = [one for one in evaluation.measures(model=model) if not _refuse_chosen(evaluation, one)]
        scores = _scores_hash(pairs, model)
        kept = {name for look in mine if look["scores_hash"] == scores for name in look["measures"]}
        missing = [one for one in shown if one.spec.canonical not in kept]
        held = _replicates(pairs, model, missing, truth) if missing else {}
        for name, numbers in held.items():
            answer, is_new = _answer([*mine, *new], name, numbers) if ladder else (numbers["value"], True)
            numbers["shown"] = None if answer is None else round(answer, DIGITS)
            numbers["own"] = is_new
            answers[name] = (math.nan if answer is None else answer, is_new or answers.get(name, (0.0, False))[1])
        if held:
            revealed = sum(math.log2(10**DIGITS + 1) if one["own"] else 1.0 for one in held.values())
            new.append(_look(evaluation, model, scores, truth, pairs.cases, held, revealed, ladder))
        for one in shown:
            if ladder and one.spec.canonical not in held:
                answers[one.spec.canonical] = _last_answer(mine, one.spec.canonical), False
    looks = append_looks(path, known, new)
    own = tuple(look for look in looks if look["truth_hash"] == truth)
    distinct = len({look["scores_hash"] for look in own}) - len({look["scores_hash"] for look in mine})
    settings: dict[str, Any] = {"answers": answers if ladder else None, "level": evaluation.level}
    return Ledger(Path(path).name, own, len(looks) - len(own), distinct, **settings)


def open_ledger(path: str | os.PathLike[str], *, level: float = 0.95) -> Ledger:
    """The looks of a ledger at its latest truth, and the best model of each measure."""
    looks = read_ledger(path)
    if not looks:
        raise ScoreSpaceError(f"there is no ledger {Path(path).name}.", hint="evaluate … --ledger FILE writes one")
    own = tuple(look for look in looks if look["truth_hash"] == looks[-1]["truth_hash"])
    return Ledger(Path(path).name, own, len(looks) - len(own), level=level)


def _cases(evaluation: Evaluation) -> PairTable:
    """The cases in their order; refused where they cannot be resampled alike for every submission."""
    if not evaluation.requested:
        raise ScoreSpaceError("a ledger needs the measures that are looked at.", hint="--measures auc,acc@0.5")
    pairs = evaluation.models.pairs or evaluation.models.order
    if pairs is None or pairs.times is not None or set(evaluation.models) - set(pairs.models):
        raise ScoreSpaceError("a ledger needs the single cases of every model.", hint=_HINT)
    if not all(table.thresholded or table.counts_outcomes for table in pairs.tables):
        raise ScoreSpaceError("a ledger needs scores of one class, or decisions.", hint=_HINT)
    if pairs.weight is not None or pairs.group is not None or pairs.repeat is not None:
        raise ScoreSpaceError("a ledger needs independent cases without weights.", hint=_HINT)
    if pairs.cases > _MAX_CASES:
        raise ScoreSpaceError(f"a ledger holds at most {_MAX_CASES} cases.", seen=str(pairs.cases), hint=_HINT)
    return pairs


def _refuse_chosen(evaluation: Evaluation, one: Estimate) -> bool:
    if evaluation.out_of_sample_cost(one) is not None:
        raise ScoreSpaceError(
            f"{one.spec.label} is at a threshold chosen on these cases.", hint=f"state it: {one.spec.label}@0.2"
        )
    return False


def _digest(array: Any, *words: str) -> str:
    found = hashlib.sha256("\0".join(words).encode())
    found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _scores_hash(pairs: PairTable, model: str) -> str:
    table, place = pairs.tables[pairs.index(model)], pairs.cell[pairs.index(model)]
    if table.thresholded:
        scores = np.asarray(table.score, dtype=np.float64)[place % table.score.size]
        return _digest(scores + 0.0)
    return _digest(place, type(table).__name__, *map(str, table.class_names))


def _replicates(pairs: PairTable, model: str, shown: Sequence[Estimate], truth: str) -> dict[str, Row]:
    """Values of measures in replicates drawn by the truth, the same for every model, and on the cases left out."""
    row = pairs.index(model)
    table, cell = pairs.tables[row], pairs.cell[row]
    requests = {one.spec.canonical: bind(one.spec, table) for one in shown}
    order = np.argsort(cell, kind="stable")
    filled, starts = np.unique(cell[order], return_index=True)
    values: dict[str, list[list[Array]]] = {name: [[], []] for name in requests}
    rng = np.random.default_rng(int(truth[:16], 16))
    step = max(1, _BLOCK // pairs.cases)
    for start in range(0, REPLICATES, step):
        size = min(step, REPLICATES - start)
        drawn = rng.integers(pairs.cases, size=(size, pairs.cases))
        drawn += np.arange(size)[:, None] * pairs.cases
        times = np.bincount(drawn.ravel(), minlength=size * pairs.cases).reshape(size, pairs.cases)
        for side, weights in enumerate((times, times == 0)):
            cells = np.zeros((size, table.cells.shape[-1]))
            cells[:, filled] = np.add.reduceat(weights[:, order], starts, axis=1, dtype=np.float64)
            for name, request in requests.items():
                values[name][side].append(np.asarray(request.on(table.with_cells(cells)), dtype=np.float64))
    found = {}
    for one in shown:
        request = requests[one.spec.canonical]
        trials = (
            float(request.table.effective(one.spec.measure.trials))
            if is_proportion(request) and one.spec.measure.trials and one.spec.measure.share is None
            else None
        )
        inside, outside = (np.concatenate(side) for side in values[one.spec.canonical])
        numbers = {"value": one.value, "trials": trials, "inside": _short(inside), "outside": _short(outside)}
        found[one.spec.canonical] = to_json_types(numbers)
    return found


def _short(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]


def _numbers(values: Sequence[float | None]) -> Array:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _answer(looks: Sequence[Row], name: str, numbers: Row) -> tuple[float | None, bool]:
    """The value of a new model where it is a clear gain on the best answer so far, else that answer."""
    answered = [look["measures"][name] for look in looks if name in look["measures"] and look["measures"][name]["own"]]
    answered = [one for one in answered if one["value"] is not None]
    if not answered:
        return numbers["value"], True
    side = parse(name).best or "high"
    before = (max if side == "high" else min)(answered, key=lambda one: one["value"])
    if numbers["value"] is not None and ladder_answer(
        numbers["value"], _numbers(numbers["inside"]), before["value"], _numbers(before["inside"]), side
    ):
        return numbers["value"], True
    return before["value"], False


def _last_answer(looks: Sequence[Row], name: str) -> float:
    shown = [look["measures"][name]["shown"] for look in looks if name in look["measures"]]
    return math.nan if not shown or shown[-1] is None else float(shown[-1])


def _look(
    evaluation: Evaluation, model: str, scores: str, truth: str, n: int, held: Row, bits: float, ladder: bool
) -> Row:
    user = ""
    with suppress(Exception):  # there may be no name
        user = getpass.getuser()
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "user": user,
        "truth_hash": truth,
        "n": n,
        "model": model,
        "scores_hash": scores,
        "digits": DIGITS,
        "bits": round(bits, 2),
        "ladder": ladder,
        "seed": int(truth[:16], 16),
        "data": evaluation.models.name,
        "measures": held,
    }
