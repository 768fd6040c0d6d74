"""The stratified bootstrap."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from laws.strategies import counts
from scorespace.measures.confusion import acc, tpr
from scorespace.measures.ranking import auc, h
from scorespace.resampling import draw as module
from scorespace.resampling.draw import _chosen, _pairs_resampler, bootstrap, resampler
from scorespace.resampling.estimate import delong_variance
from scorespace.tables import ConfusionTable, Counts, ScoreTable, confusion, score_table


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 400)
    return score_table(truth, np.round(truth + 1.5 * rng.normal(size=400), 1))


def drawn(table, count=50, seed=3):
    return resampler(table)(np.random.default_rng(seed), count)


def test_the_same_seed_gives_the_same_replicates(table):
    a, b = (bootstrap(auc, table, replicates=50, seed=5) for _ in range(2))
    assert a.tolist() == b.tolist()


def test_another_seed_gives_others(table):
    a, b = (bootstrap(auc, table, replicates=50, seed=seed) for seed in (5, 6))
    assert a.tolist() != b.tolist()


@pytest.mark.parametrize("processors", [1, 2, 7, None])
def test_the_number_of_processors_does_not_matter(table, processors, monkeypatch):
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", 20 * table.counts.size)  # five pieces of work
    expected = bootstrap(auc, table, replicates=100)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert bootstrap(auc, table, replicates=100).tolist() == expected.tolist()


@pytest.mark.parametrize("replicates", [1, 19, 20, 21, 100])
def test_as_many_replicates_as_asked_for(table, replicates, monkeypatch):
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", 20 * table.counts.size)
    assert bootstrap(auc, table, replicates=replicates).shape == (replicates,)


def test_progress_ends_with_everything_done(table, monkeypatch):
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", 20 * table.counts.size)
    seen = []
    bootstrap(auc, table, replicates=100, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_progress_of_a_single_piece_ends_too(table):
    seen = []
    bootstrap(auc, table, replicates=2, progress=seen.append)
    assert seen[-1] == 1


def test_spread_is_near_delongs(table):
    values = bootstrap(auc, table, replicates=2000)
    assert values.mean() == pytest.approx(auc(table), abs=0.005)
    assert values.std() == pytest.approx(np.sqrt(delong_variance(table)), rel=0.1)


# --- what a replicate is


def test_replicates_of_scores_keep_the_class_totals(table):
    # Resamples of one class only were dropped in silence (MLstatkit); within classes there are none.
    assert (drawn(table).class_totals == table.class_totals).all()


def test_replicates_of_scores_draw_from_what_is_there(table):
    stack = drawn(table)
    assert (stack.counts >= 0).all()
    assert (stack.counts[:, table.counts == 0] == 0).all()


def test_expected_counts_are_those_of_the_table(table):
    mean = drawn(table, count=4000).counts.mean(axis=0)
    assert np.abs(mean - table.counts).max() < 6 * np.sqrt(table.counts.max() / 4000)


@pytest.mark.parametrize("truth", [[1, 1, 1], [0, 0]])
def test_one_class_can_be_drawn(truth):
    stack = drawn(score_table(truth, range(len(truth))))
    assert (stack.counts.sum(axis=(-2, -1)) == len(truth)).all()


@given(c=counts())
@settings(max_examples=30)
def test_replicates_of_outcomes_keep_the_class_totals(c):
    stack = drawn(c)
    assert (stack.p == c.p).all()
    assert (stack.n == c.n).all()
    assert min(cells.min() for cells in (stack.tp, stack.fp, stack.fn, stack.tn)) >= 0


@given(cells=st.lists(st.integers(0, 20), min_size=9, max_size=9).filter(any))
@settings(max_examples=30)
def test_replicates_of_decisions_keep_the_class_totals(cells):
    table = ConfusionTable(np.reshape(cells, (3, 3)).astype(float), ("a", "b", "c"))
    stack = drawn(table)
    assert stack.matrix.shape == (50, 3, 3)
    assert (stack.class_totals == table.class_totals).all()
    assert (stack.matrix >= 0).all()


@pytest.mark.parametrize(("weight", "size"), [(1, 30), (1000, 3), (10**6, 4)])
def test_every_way_of_drawing_keeps_the_totals(weight, size):
    cells = np.full((2, size), weight)
    table = ScoreTable(np.arange(float(size))[::-1], cells, ("0", "1"), 1)
    assert (drawn(table).class_totals == weight * size).all()


@pytest.mark.parametrize("measure", [auc, h])
def test_measures_of_replicates_are_measures_of_each(measure, table):
    stack = drawn(table, count=5)
    alone = [measure(ScoreTable(table.score, cells, table.classes, table.positive)) for cells in stack.counts]
    assert measure(stack).tolist() == pytest.approx(alone, rel=1e-12)


def test_decisions_can_be_bootstrapped():
    values = bootstrap(acc.functions[ConfusionTable], confusion([[50, 5], [8, 40]]), replicates=1000)
    assert values.mean() == pytest.approx(90 / 103, abs=0.01)


def test_outcomes_can_be_bootstrapped():
    values = bootstrap(tpr, Counts(30, 5, 10, 40), replicates=2000)
    assert values.std() == pytest.approx(np.sqrt(0.75 * 0.25 / 40), rel=0.1)


def test_other_things_cannot():
    with pytest.raises(TypeError, match=r"^cannot resample a list$"):
        resampler([1, 2])


def test_pairs_are_counted_as_on_whole_tables():
    # The draws kept apart by class, and the same draws laid out as a table, with ties and without.
    rng = np.random.default_rng(5)
    for score in (rng.random(300), rng.integers(0, 12, 300)):
        table = score_table(rng.integers(0, 2, 300), score)
        cases = _pairs_resampler(table)(np.random.default_rng(1), 7)
        counts = np.zeros((7, 2, table.score.size))
        pos, neg = table.columns
        counts[:, 1, np.flatnonzero(pos)] = cases.pos
        counts[:, 0, np.flatnonzero(neg)] = cases.neg
        assert_allclose(auc(cases), auc(replace(table, counts=counts)), atol=1e-12)
        assert np.all(cases.pos.sum(axis=1) == table.n_pos)
        assert np.all(cases.neg.sum(axis=1) == table.n_neg)


def test_many_cases_drawn_block_by_block_are_drawn_evenly():
    total, count = 100_003, 40  # the last block is short
    chosen = _chosen(total, np.random.Generator(np.random.SFC64(3)), count)
    assert chosen.shape == (count, total)
    assert chosen.max() < total
    times = np.bincount(chosen.ravel(), minlength=total)
    # Each case is drawn Binomial(count · total, 1 / total) times: mean and variance are both 40.
    assert times.mean() == count
    assert times.var() == pytest.approx(count, rel=0.03)
    by_block = np.add.reduceat(times, np.arange(0, total, 4096)) / np.diff([*range(0, total, 4096), total])
    assert_allclose(by_block, count, atol=6 * np.sqrt(count / (total % 4096)))
