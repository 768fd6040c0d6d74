"""Cases drawn again: within classes or from all, alone or for several models, weighted, in groups, in part."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from laws.strategies import counts
from scorespace.measures import parse
from scorespace.measures.confusion import acc, tpr
from scorespace.measures.ranking import auc, h
from scorespace.measures.request import bind
from scorespace.resampling import draw as module
from scorespace.resampling.area import delong_variance
from scorespace.resampling.draw import Alone, Asked, Draws, _chosen, _pairs_of, asked, bootstrap, together
from scorespace.tables import ConfusionTable, Counts, ScoreTable, class_table, confusion, score_table
from scorespace.tables.pair import PairTable, binned_pair, pair_table


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 400)
    return score_table(truth, np.round(truth + 1.5 * rng.normal(size=400), 1))


def drawn(table, count=50, seed=3, within=True):
    return Alone({"": table}, False).drawer(within, False)(np.random.default_rng(seed), count)[""]


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


def test_pairs_are_counted_as_on_whole_tables():
    # The draws kept apart by class, and the same draws laid out as a table, with ties and without.
    rng = np.random.default_rng(5)
    for score in (rng.random(300), rng.integers(0, 12, 300)):
        table = score_table(rng.integers(0, 2, 300), score)
        cases = _pairs_of(table)(np.random.default_rng(1), 7)
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


# --- from all cases


def test_from_all_cases_the_classes_vary_as_chance_has_it(table):
    stack = drawn(table, count=4000, within=False)
    assert (stack.total == table.total).all()
    share = float(table.n_pos / table.total)
    assert stack.n_pos.std() == pytest.approx(np.sqrt(float(table.total) * share * (1 - share)), rel=0.05)


def test_the_brier_score_spreads_as_the_mean_that_it_is():
    # A mean over cases has the standard error s / √n, which drawing within classes would miss.
    rng = np.random.default_rng(2)
    truth = rng.random(400) < 0.1
    score = np.clip(0.1 + 0.2 * truth + 0.1 * rng.normal(size=400), 0, 1)
    loss = (score - truth) ** 2
    values = bootstrap(bind(parse("brier"), score_table(truth, score)).on, score_table(truth, score), within=False)
    assert values.std() == pytest.approx(loss.std() / 20, rel=0.05)


# --- weights


def test_a_weighted_row_is_one_case():
    # The mean of a weighted 0/1 variable by linearisation: se² = Σ w² (y − mean)² / (Σ w)².
    rng = np.random.default_rng(4)
    weight, hit = rng.lognormal(size=500), rng.random(500) < 0.3
    table = confusion(["a"] * 500, np.where(hit, "a", "b"), classes=["a", "b"], positive="a", weight=weight)
    mean = np.average(hit, weights=weight)
    error = np.sqrt(np.sum(weight**2 * (hit - mean) ** 2)) / weight.sum()
    values = bootstrap(bind(parse("tpr"), table).on, table)
    assert values.std() == pytest.approx(error, rel=0.08)


def test_copies_are_as_many_cases():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 100)
    score, weight = truth + rng.normal(size=100), np.full(100, 100)
    plain = bootstrap(auc, score_table(truth, score)).std()
    kinds = [score_table(truth, score, weight=weight, copies=copies) for copies in (False, True)]
    assert [bootstrap(auc, table).std() for table in kinds] == pytest.approx([plain, plain / 10], rel=0.1)


# --- several models on the same cases


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 300)
    first = truth + rng.normal(size=300)
    return pair_table(truth, {"a": np.round(first, 1), "b": first + 0.5 * rng.normal(size=300)})


def draws_of(pairs, **options):
    return Draws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, **options)


def test_both_models_are_drawn_from_the_same_cases(pairs):
    for within in (True, False):
        tables = together(pairs).drawer(within, False)(np.random.default_rng(1), 20)
        assert tables["a"].n_pos.tolist() == tables["b"].n_pos.tolist()
    same = pair_table(pairs.label, {"a": pairs.scores(0), "b": pairs.scores(0)})
    request = bind(parse("ks"), same.tables[0])
    assert not draws_of(same, replicates=50).differences("a", "b", request, request).any()


def test_what_is_asked_twice_is_drawn_once(pairs, monkeypatch):
    draws, request = draws_of(pairs, replicates=30), bind(parse("auc"), pairs.tables[0])
    first = draws.of("a", request)
    monkeypatch.setattr(module, "blocks", lambda *_, **__: pytest.fail("drawn again"))
    assert draws.of("a", request) is first


def test_together_or_one_by_one_the_replicates_are_the_same(pairs):
    specs = [parse(name) for name in ("ks", "ap", "gini")]
    wanted = [
        asked(model, bind(spec, table)) for model, table in zip("ab", pairs.tables, strict=True) for spec in specs
    ]
    at_once = draws_of(pairs, replicates=40).all(wanted)
    one_by_one = [draws_of(pairs, replicates=40).all([one])[0] for one in wanted]
    for first, second in zip(at_once, one_by_one, strict=True):
        assert first.tolist() == second.tolist()


def test_the_difference_of_two_areas_spreads_as_delong_says(pairs):
    from scorespace.comparisons.delong import delong_covariance

    _, covariance = delong_covariance(pairs)
    error = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    requests = (bind(parse("auc"), table) for table in pairs.tables)
    values = draws_of(pairs).differences("a", "b", *requests)
    assert values.std() == pytest.approx(error, rel=0.08)


def test_groups_are_drawn_whole(pairs):
    grouped = replace(pairs, group=np.repeat(np.arange(30, dtype=np.int32), 10))
    tables = together(grouped).drawer(False, False)(np.random.default_rng(1), 50)
    assert (tables["a"].total % 10 == 0).all()


def test_weights_of_cases_are_drawn_with_them(pairs):
    weighted = replace(pairs, weight=np.full(300, 3.0))
    tables = together(weighted).drawer(False, False)(np.random.default_rng(1), 5)
    assert (tables["b"].total == 900).all()


# --- lighter tables


def test_a_condensed_table_is_centred_on_the_exact_value():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 20_000)
    table = score_table(truth, truth + rng.normal(size=20_000))
    request = bind(parse("ks"), table)
    draws = Draws({"a": table}, replicates=400)
    light = draws.source("a").tables["a"]
    assert light.score.size < 1024
    # A value that is another on a lighter table shows whether the replicates were moved: the number of its rows.
    (values,) = draws.all([Asked("a", "shifted", lambda t: t.score.size + request.on(t), True)])
    assert values.mean() == pytest.approx(20_000 + request.value, abs=0.02)


def test_a_part_of_the_cases_spreads_like_all():
    # Accuracy is a mean over cases: its standard error is known, and a part of the cases must show that of all.
    rng = np.random.default_rng(5)
    size = 30_000
    truth = rng.integers(0, 3, size)
    score = rng.dirichlet([1, 1, 1], size) + np.eye(3)[truth]
    table = class_table(truth, score / 2)
    request = bind(parse("acc"), table)
    draws = Draws({"a": table}, replicates=1000)
    assert draws.source("a").scale < 0.6
    values = draws.of("a", request)
    assert values.mean() == pytest.approx(request.value, abs=0.001)
    assert values.std() == pytest.approx(np.sqrt(request.value * (1 - request.value) / size), rel=0.08)


def test_large_cells_spread_like_the_multinomial_that_they_stand_for():
    weights = np.concatenate([np.full(100, 400.0), [3.0, 7.0]])
    counts = module._counts_of_cells(weights, int(weights.sum()), np.random.default_rng(2), 4000)
    share = weights / weights.sum()
    assert_allclose(counts.sum(axis=1), weights.sum(), rtol=1e-3)
    assert_allclose(counts.mean(axis=0), weights, atol=4 * np.sqrt(400 / 4000))
    assert_allclose(counts.std(axis=0), np.sqrt(weights * (1 - share)), rtol=0.08)


def test_many_groups_are_drawn_in_part_and_few_in_part_of_their_cases():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 24_000)
    pairs = pair_table(truth, {"a": truth + rng.normal(size=24_000)})
    many = together(replace(pairs, group=(np.arange(24_000) // 10).astype(np.int32)))
    assert many.scale < 1
    assert isinstance(many.pairs, PairTable)
    few = together(replace(pairs, group=(np.arange(24_000) // 2_000).astype(np.int32)))
    assert few.scale == 1
    assert few.pairs.group.max() == 11


def test_rows_that_stand_for_many_cases_spread_like_the_cases():
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, 3000)
    scores = {name: np.round((rng.random(3000) + truth * size) / 2, 2) for name, size in (("a", 0.3), ("b", 0.2))}
    cases = pair_table(truth, scores)
    keys = np.stack([*scores.values(), truth])
    rows, times = np.unique(keys, axis=1, return_counts=True)
    binned = binned_pair(dict(zip(scores, rows[:2], strict=True)), rows[2].astype(int), times, cases.classes, 1)
    assert repr(binned) == repr(cases)
    spreads = []
    for pairs in (cases, binned):
        draws = Draws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, replicates=400)
        bound = [bind(parse("auc"), table) for table in pairs.tables]
        spreads.append(draws.differences("a", "b", *bound).std())
    assert spreads[1] == pytest.approx(spreads[0], rel=0.15)
