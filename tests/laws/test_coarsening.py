"""Coarser scores: what is kept, what is lost, and that shards still merge."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from laws.strategies import Sample, samples
from scorespace.measures.ranking import auc

widths = st.sampled_from([0.5, 0.25, 0.1, 0.07, 0.01, 1 / 3]) | st.floats(1e-6, 2)
cases = samples(both=True)
some = settings(max_examples=50)


@given(sample=cases, width=widths)
@some
def test_auc_moves_by_no_more_than_half_the_pairs_newly_tied(sample, width):
    table = sample.table()
    coarse = table.coarsen(width)
    tied = (coarse.pos @ coarse.neg - table.pos @ table.neg) / (table.n_pos * table.n_neg)
    assert abs(auc(coarse) - auc(table)) <= tied / 2 + 1e-12


@given(sample=cases, width=widths)
@some
@example(sample=Sample((1, 0), (35 * 0.1, 0.0), (1, 1)), width=0.1)
def test_coarsening_again_changes_nothing(sample, width):
    coarse = sample.table().coarsen(width)
    assert coarse.coarsen(width) == coarse


@pytest.mark.parametrize("width", [0.1, 0.01, 0.07, 1 / 3, 0.125])
def test_the_edges_of_the_grid_stay_where_they_are(width):
    edges = tuple((np.arange(1000) * width).tolist())
    table = Sample((0, 1) * 500, edges, (1.0,) * 1000).table()
    assert table.coarsen(width).score.tolist() == sorted(edges, reverse=True)


@given(sample=cases, width=widths)
@some
def test_a_cell_reaches_from_its_score_to_the_next(sample, width):
    coarse = sample.table().coarsen(width)
    for score in sample.score:
        gaps = score - coarse.score
        assert np.any((gaps >= 0) & (gaps <= width * (1 + 1e-9)))


@given(a=cases, b=cases, width=widths)
@some
def test_shards_coarsened_apart_merge_like_the_whole(a, b, width):
    assert a.table().coarsen(width) + b.table().coarsen(width) == (a.table() + b.table()).coarsen(width)


@given(sample=cases, width=widths)
@some
def test_class_totals_stay(sample, width):
    assert sample.table().coarsen(width).class_totals.tolist() == sample.table().class_totals.tolist()


@given(sample=cases, width=widths)
@some
def test_the_width_is_remembered(sample, width):
    assert sample.table().coarsen(width).resolution == width


@given(a=cases, b=cases, width=widths)
@some
def test_the_coarsest_width_of_merged_tables_is_remembered(a, b, width):
    assert (a.table() + b.table().coarsen(width)).resolution == width


@given(sample=cases)
@some
def test_an_exact_table_has_no_width(sample):
    assert sample.table().resolution == 0
