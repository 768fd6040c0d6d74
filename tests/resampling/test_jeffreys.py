"""Outcomes as they may be, also of decisions by rank."""

import math

import numpy as np
import pytest

from scorespace.errors import MeasureError
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.resampling.estimate import estimate
from scorespace.resampling.interval import suiting
from scorespace.tables import score_table


def ranked(rng, cases, share, gap):
    truth = rng.random(cases) < share
    return score_table(truth, rng.normal(size=cases) + gap * truth, positive=True)


@pytest.mark.parametrize("name", ["ppv", "tpr", "f1", "lift"])
def test_a_cut_by_rank_is_covered(name):
    # A slice of a simulation: 92 to 99 % of 300 samples of 100 to 2 000 cases, where Wilson's interval of ppv has 90 %.
    rng = np.random.default_rng(4)
    spec = parse(f"{name}@top10%")
    truth = bind(spec, ranked(rng, 400_000, 0.2, 2.0)).value
    found = [estimate(spec, ranked(rng, 200, 0.2, 2.0), replicates=400) for _ in range(120)]
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.9
    assert {one.method for one in found} == {"jeffreys"}


def test_a_cut_by_rank_moves_with_the_cases():
    # The share of positives in the top p varies as p · E[(Y − η)²] − p² (ppv − η)² over p², η the rate at the cut.
    rng = np.random.default_rng(5)
    table = ranked(rng, 20_000, 0.3, 1.5)
    cut = table.cut(parse("ppv@top20%").at)
    value = bind(parse("ppv@top20%"), table).value
    near = (table.score > cut - 0.1) & (table.score < cut + 0.1)
    rate = table.pos[near].sum() / table.counts[:, near].sum()
    error = math.sqrt((value * (1 - value) + 0.8 * (value - rate) ** 2) / 0.2 / 20_000)
    found = estimate(parse("ppv@top20%"), table)
    assert (found.high - found.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.08)


def test_a_share_by_rank_has_no_wilson_interval():
    table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
    assert "wilson" not in suiting(bind(parse("ppv@top50%"), table))
    with pytest.raises(MeasureError, match="method='wilson' does not suit ppv@top50%"):
        estimate(parse("ppv@top50%"), table, method="wilson")


def test_so_many_by_rank_are_a_share_of_what_is_drawn():
    table = score_table([1, 0, 1, 0] * 10, list(range(40)))
    request = bind(parse("tpr@top10"), table)
    assert request.on(table.with_cells(table.cells * 3)) == request.value
    whole = estimate(parse("pp_rate@top10"), table, method="bootstrap")
    assert whole.low == pytest.approx(0.25)
    assert whole.high == pytest.approx(0.25)


@pytest.mark.parametrize("of", ["0", "1"])
def test_a_cut_by_rank_is_the_same_seen_from_either_class(of):
    rng = np.random.default_rng(6)
    truth = (rng.random(300) < 0.3).astype(int)
    table = score_table(truth, rng.normal(size=300) + truth)
    one, other = (estimate(parse(text), table) for text in (f"mcc[{of}]@top20%", "mcc@top20%"))
    assert [one.value, one.low, one.high] == pytest.approx([other.value, other.low, other.high], abs=0.02)
