"""Public function that chooses the rows to label next, for the measure that they should make precise."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace import io
from scorespace.calibration.fit import fit_map
from scorespace.errors import DataError, MeasureError, ScoreError
from scorespace.inference.label_design import SAFETY, gain, label_probabilities, spreads
from scorespace.measures import parse
from scorespace.results import Note, Result, Row, count_noun, decimals, grouped, note
from scorespace.tables.labels import label_text
from scorespace.tables.scores import ScoreTable

PROBABILITY: Final = "probability"
PROXY: Final = "proxy"
_MOST: Final = 2.0  # the gain that is promised at most; simulated gains are 0.9 to 2.4
_BANDS: Final = 5
_FEWEST: Final = 10
_STREAM: Final = 194  # so that the choice is independent of data simulated with the same seed


@dataclass(frozen=True, repr=False, eq=False)
class LabelPlan(Result):
    """Rows to label, chosen with known probabilities.

    Attributes
    ----------
    name : str
        Name of the data.
    measure : str
        The measure that the labels should make precise.
    score, truth : str
        The columns of the scores, and of a truth that some rows have already.
    positive : object
        The positive class, if it was stated.
    calibrated : bool
        Whether the proxy is a calibration of the scores, not the scores themselves.
    budget : int
        Expected number of rows to label.
    probability : ndarray
        Probability of each row to be chosen; NaN for rows without a score.
    chosen : ndarray of bool
        The rows to label.
    proxy : ndarray
        Probability of the positive class of each row.
    scores : ndarray
        Score of each row.
    gain : float
        How many random labels one of these is expected to be worth, if the proxy is right; at most 2.
    """

    name: str
    measure: str
    score: str
    truth: str | None
    positive: Any
    calibrated: bool
    budget: int
    probability: NDArray[np.float64] = field(repr=False)
    chosen: NDArray[np.bool_] = field(repr=False)
    proxy: NDArray[np.float64] = field(repr=False)
    scores: NDArray[np.float64] = field(repr=False)
    gain: float = 1.0

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.probability.size)

    @property
    def words(self) -> str:
        """How many rows to label, and what this is worth."""
        low, high = np.nanmin(self.probability), np.nanmax(self.probability)
        worth = f"up to {decimals(self.gain, 1)} times as many" if self.gain >= 1.05 else "about as many"
        return (
            f"{count_noun(int(self.chosen.sum()), 'row')} to label, chosen with probabilities from "
            f"{decimals(float(low), 4)} to {decimals(float(high), 4)}. For {self.measure} of {self.score} they are "
            f"worth {worth} rows chosen at random, if the proxy is calibrated."
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to do next."""
        proxy = PROXY if self.calibrated else self.score
        positive = "" if self.positive is None else f" --positive {label_text(self.positive)}"
        text = (
            f"Find the truth of the rows with a value in {PROBABILITY!r}, then: scorespace evaluate FILE "
            f"--truth {self.truth or 'COL'}{positive} --score {self.score} --proxy {proxy} --probability {PROBABILITY} "
            f'--measures "{self.measure}". Never count on a gain above {_MOST:g}; with wrong scores there may be none.'
        )
        return (note("SS194", text),)

    def facts(self) -> Row:
        """What was asked for, and the expected gain."""
        names = ("measure", "score", "budget", "gain")
        return {"data": {"rows": self.size}, **{one: getattr(self, one) for one in names}}

    def rows(self) -> list[Row]:
        """Rows and rows to label by fifths of the scores, the highest first."""
        used = np.flatnonzero(~np.isnan(self.scores))
        parts = np.array_split(used[np.argsort(-self.scores[used], kind="stable")], min(_BANDS, used.size))
        return [
            {
                "scores": f"{decimals(float(self.scores[part[-1]]), 3)} to {decimals(float(self.scores[part[0]]), 3)}",
                "rows": int(part.size),
                "chosen": int(self.chosen[part].sum()),
                "probability": float(self.probability[part].mean()),
            }
            for part in parts
        ]

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """The columns to add to the data: the probability of rows to label, and the proxy unless it is the score."""
        found = {PROBABILITY: np.where(self.chosen, self.probability, np.nan)}
        return found | ({PROXY: self.proxy} if self.calibrated else {})


def rows_to_label(
    data: Any,
    *,
    score: str,
    measure: str,
    budget: int,
    truth: str | None = None,
    positive: Any = None,
    safety: float = SAFETY,
    missing: str = "error",
    seed: int = 0,
    out: str | Path | None = None,
) -> LabelPlan:
    """Choose rows to label with known probabilities, so that a measure becomes precise with few labels.

    Each row is chosen by itself with its probability, so the number of rows varies around the budget.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        The data.
    score : str
        Column of the scores of the model to evaluate.
    measure : str
        The measure to make precise, such as "auc", "tpr@0.5" or "cost(fp=1, fn=9)@0.1".
    budget : int
        Expected number of labels.
    truth : str, optional
        Column of the truth, where some rows have one already: scores that are not probabilities are calibrated on them.
    positive : object, optional
        The positive class.
    safety : float
        Share of the probabilities that is alike for all rows.
    missing : {"error", "drop"}
        What to do with rows without a score.
    seed : int
        Seed of the choice.
    out : path, optional
        Write the data with the column ``probability``, empty for rows that were not chosen (.csv, .tsv, .parquet).

    Returns
    -------
    LabelPlan
        The rows to label and their probabilities.

    See Also
    --------
    evaluate_partial_truth

    References
    ----------
    Särndal, C.-E., Swensson, B., & Wretman, J. (1992). Model Assisted Survey Sampling. Springer.

    Examples
    --------
    >>> plan = rows_to_label({"s": np.linspace(0.01, 0.99, 500)}, score="s", measure="auc", budget=100)
    >>> round(float(plan.probability.sum()))
    100
    """
    if not 0 < safety <= 1:
        raise DataError(f"safety={safety:g} is not a share.", hint="above 0 and at most 1, such as 0.2")
    source = io.read(data)
    columns, used = io.read_score_columns(source, [score], missing)
    values = columns[score]
    if not _FEWEST <= budget <= values.size:
        raise DataError(
            f"budget={budget} is not a number of rows to label.",
            seen=count_noun(values.size, "row"),
            hint=f"from {_FEWEST} to {grouped(values.size)}",
        )
    spec = parse(measure)
    if spec.measure.probability and not _are_probabilities(values):
        raise MeasureError(f"{spec} needs probabilities.", hint="scorespace calibrate maps scores to probabilities")
    calibrated = not _are_probabilities(values)
    if calibrated and truth is None:
        raise ScoreError(
            f"the scores {score!r} are no probabilities, so nothing is known about unlabelled rows.",
            seen=f"{values.min():g} to {values.max():g}",
            hint="--truth COL with the truth of some rows, to calibrate them",
        )
    proxy = _calibrated(data, truth, score, positive, values) if calibrated and truth else values
    spread = spreads(spec, values, proxy)
    chance = label_probabilities(spread, budget, safety)
    drawn = np.random.default_rng([seed, _STREAM]).random(chance.size) < chance

    def of_all(array: NDArray[np.float64]) -> NDArray[np.float64]:
        filled = np.full(used.size, np.nan)
        filled[used] = array
        return filled

    chosen = of_all(drawn.astype(np.float64)) == 1
    named = str(spec), score, truth, positive, calibrated, budget
    arrays = of_all(chance), chosen, of_all(proxy), of_all(values)
    plan = LabelPlan(source.name, *named, *arrays, min(_MOST, max(1.0, gain(spread, chance))))
    if out is not None:
        io.write_with_columns(data, plan.columns(), Path(out))
    return plan


def _are_probabilities(values: NDArray[np.float64]) -> bool:
    return bool(values.size and values.min() >= 0 and values.max() <= 1)


def _calibrated(data: Any, truth: str, score: str, positive: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all rows, by Platt's map fitted to the rows that have a truth."""
    source = io.read(data)
    sample = io.validate(source, io.resolve_roles(source, truth=truth, scores=score, positive=positive), "drop")
    tables = io.count_tables(sample) if sample.positive is not None else {}
    table = tables[score].inside(ScoreTable) if tables else None
    if table is None or min(float(table.n_pos), float(table.n_neg)) < _FEWEST:
        raise DataError(
            "too few rows have a truth to calibrate the scores.",
            seen=count_noun(sample.rows, "row"),
            hint=f"{_FEWEST} of each class at least, or probabilities as scores",
        )
    return np.asarray(fit_map(table, "platt").apply(values))
