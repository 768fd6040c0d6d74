"""Coarse tables: bins keep the order, shards give the table of all, and nothing is lost on the way."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.strategies import samples
from scorespace.measures.ranking import auc
from scorespace.tables import score_table
from scorespace.tables.bins import MIDDLE, bin_number, bin_of_score, split_at_edge

BITS = (52, 50, 48, 45)
WIDEST = 0.34  # bins in the middle are a third of 2^(bits − 53) wide, whatever the score
cases = samples(both=True)
bits = st.sampled_from(BITS)
edges = st.lists(st.floats(0, 1), max_size=2)
some = settings(max_examples=60)
finite = st.floats(-1e150, 1e150)


@given(a=finite | st.floats(0, 1), b=finite | st.floats(0, 1), k=st.integers(0, 52), cuts=st.lists(finite, max_size=3))
@settings(max_examples=300)
def test_bins_keep_the_order(a, b, k, cuts):
    both = np.array(sorted([a, b]))
    found = bin_of_score(both, k)
    for cut in cuts:
        found = split_at_edge(found, both, cut)
    assert found[0] <= found[1]


@given(x=st.floats(-1e150, 1e150))
@settings(max_examples=200)
def test_no_bit_less_changes_nothing(x):
    assert bin_of_score(np.array([x]), 0)[0] == x


@given(k=st.integers(3, 52), x=st.floats(0, 1))
@settings(max_examples=200)
def test_one_half_is_always_an_edge(k, x):
    both = bin_of_score(np.array([x, 0.5, np.nextafter(0.5, 0)]), k)
    assert (both[0] >= both[1]) == (x >= 0.5)
    assert both[2] < both[1]


@given(x=st.floats(2.0**-900, 0.5) | st.floats(1, 1e150), k=st.integers(3, 50))
@settings(max_examples=200)
def test_a_bin_is_narrow_beside_its_scores(x, k):
    assert abs(bin_of_score(np.array([x]), k)[0] - x) <= max(x, WIDEST) * 2.0 ** (k - 53) + (2.0**-52 if x > 0.1 else 0)


@given(x=st.floats(0.5, 1), k=st.integers(3, 50))
@settings(max_examples=200)
def test_and_beside_their_distance_from_one(x, k):
    assert abs(bin_of_score(np.array([x]), k)[0] - x) <= max(1 - x, WIDEST) * 2.0 ** (k - 53) + 2.0**-52


@given(a=st.floats(*MIDDLE), b=st.floats(*MIDDLE), k=st.integers(4, 52))
@settings(max_examples=200)
def test_bins_in_the_middle_have_whole_numbers(a, b, k):
    scores = np.array([a, b])
    found, bins = bin_number(scores, k), bin_of_score(scores, k)
    assert np.all(found == np.floor(found))
    assert (found[0] == found[1]) == (bins[0] == bins[1])


@given(x=finite, edge=finite, k=st.integers(0, 52))
@settings(max_examples=200)
def test_an_edge_parts_scores(x, edge, k):
    near = np.array([x, edge, np.nextafter(edge, -np.inf), edge * 1.0001, edge * 0.9999])
    at_least = near >= edge
    found = split_at_edge(bin_of_score(near, k), near, edge)
    assert not set(found[at_least]) & set(found[~at_least])


@given(a=cases, b=cases, k=bits, cuts=edges)
@some
def test_shards_give_the_table_of_all(a, b, k, cuts):
    merged = a.table().rounded(k, cuts) + b.table().rounded(k, cuts)
    whole = (a.table() + b.table()).rounded(k, cuts)
    # Sums of scores depend on their order by the last bit; all else does not.
    for name in ("first", "second"):
        np.testing.assert_allclose(getattr(merged.bins, name), getattr(whole.bins, name), rtol=1e-14, atol=1e-300)
    assert replace(merged, bins=replace(merged.bins, first=whole.bins.first, second=whole.bins.second)) == whole


@given(a=cases, b=cases, c=cases, one=bits, other=bits)
@some
def test_shards_of_different_grids_merge_in_any_order_and_keep_every_case(a, b, c, one, other):
    parts = [a.table().rounded(one), b.table().rounded(other, [0.5]), c.table()]
    merged = (parts[0] + parts[1]) + parts[2]
    whole = a.table() + b.table() + c.table()
    assert merged.class_totals.tolist() == whole.class_totals.tolist()
    assert np.all(merged.bins.low[:-1] > merged.bins.high[1:])  # bins do not overlap
    assert merged.at(merged.score).tp.tolist() == whole.at(merged.score).tp.tolist()
    assert merged.bins.first.sum() == pytest.approx(float((whole.counts * whole.score).sum()))


@given(sample=cases, k=bits, cuts=edges)
@some
def test_rounding_again_changes_nothing(sample, k, cuts):
    table = sample.table().rounded(k, cuts)
    assert table.rounded(k, cuts) == table


@given(sample=cases, k=bits)
@some
def test_the_worst_and_the_best_order_enclose_the_area(sample, k):
    exact = sample.table()
    coarse = exact.rounded(k)
    worst, best = (auc(coarse.ordered(way)) for way in (False, True))
    assert worst - 1e-12 <= auc(exact) <= best + 1e-12
    assert auc(coarse) == pytest.approx((worst + best) / 2)
    assert best - worst == pytest.approx(float(coarse.open_pairs.sum()))


@given(sample=cases, k=bits)
@some
def test_the_other_class_sees_the_same_bins(sample, k):
    coarse = sample.table().rounded(k)
    assert coarse.swapped().swapped() == coarse
    assert auc(coarse.swapped()) == pytest.approx(auc(coarse))
    turned = coarse.complemented()
    assert turned.class_totals.tolist() == coarse.class_totals.tolist()
    assert np.all(turned.bins.low[:-1] > turned.bins.high[1:])


@pytest.mark.parametrize("weight", [None, np.arange(1, 401) % 3 + 0.5])
def test_a_refined_table_is_that_of_fewer_bits(weight):
    rng = np.random.default_rng(1)
    truth, score = rng.integers(0, 2, 400), rng.random(400)
    exact = score_table(truth, score, weight=weight)
    coarse = exact.rounded(49)
    chosen = coarse.open_pairs > 2e-5
    among = np.zeros(score.size, dtype=bool)
    for low, high in zip(coarse.bins.low[chosen], coarse.bins.high[chosen], strict=True):
        among |= (score >= low) & (score <= high)
    part = score_table(truth[among], score[among], weight=None if weight is None else weight[among])
    finer = coarse.refined(chosen, part.rounded(0))
    assert weight is None or finer.squares.sum(axis=1) == pytest.approx(exact.squares.sum(axis=1))
    assert finer.open_pairs.sum() < coarse.open_pairs.sum()
    assert finer.class_totals.tolist() == exact.class_totals.tolist()
    assert np.all(finer.bins.low[:-1] > finer.bins.high[1:])
    assert float(coarse.open_pairs[~chosen].sum()) == pytest.approx(float(finer.open_pairs.sum()))


def test_the_width_is_that_of_the_widest_bin():
    coarse = score_table([1, 0, 1, 0], [0.4, 0.4001, 0.8, 0.9]).rounded(45)
    assert coarse.binned.low.tolist() != coarse.binned.high.tolist()
    assert 0 < coarse.binned.width == (coarse.binned.high - coarse.binned.low).max() < 0.001
    assert score_table([1, 0], [0.2, 0.9]).rounded(45).binned.width == 0
