"""Cases drawn again: within classes or from all, alone or for several models, weighted, in groups, in part."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.strategies import counts
from scorespace.inference import bootstrap as module
from scorespace.inference.auc_variance import delong_variance
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws, ReplicateRequest, replicate_request
from scorespace.inference.subsampling import SingleSample, joint_sample
from scorespace.measures import parse
from scorespace.measures.confusion import acc, tpr
from scorespace.measures.ranking import auc, h
from scorespace.measures.request import bind
from scorespace.tables import ConfusionTable, Counts, ScoreTable, confusion, score_table
from scorespace.tables.paired import pair_table


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 400)
    return score_table(truth, np.round(truth + 1.5 * rng.normal(size=400), 1))


def drawn(table, count=50, seed=3, within=True):
    return SingleSample({"": table}, False).drawer(within)(np.random.default_rng(seed), count)[""]


def bootstrap(function, table, *, replicates=REPLICATES, seed=0, within=True, progress=None):
    """The function's value in every replicate of a table, which is not condensed."""
    source = SingleSample({"m": table}, False)
    draws = BootstrapDraws({"m": table}, replicates=replicates, seed=seed, progress=progress, sources={"m": source})
    return draws.all([ReplicateRequest("m", "asked", function, within)])[0]


def test_the_same_seed_gives_the_same_replicates(table):
    a, b = (bootstrap(auc, table, replicates=50, seed=5) for _ in range(2))
    assert a.tolist() == b.tolist()


def test_another_seed_gives_others(table):
    a, b = (bootstrap(auc, table, replicates=50, seed=seed) for seed in (5, 6))
    assert a.tolist() != b.tolist()


@pytest.mark.parametrize("processors", [1, 2, 7, None])
def test_the_number_of_processors_does_not_matter(table, processors, monkeypatch):
    monkeypatch.setattr(module, "_COUNTS_PER_BLOCK", 20 * table.counts.size)  # five pieces of work
    expected = bootstrap(auc, table, replicates=100)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert bootstrap(auc, table, replicates=100).tolist() == expected.tolist()


@pytest.mark.parametrize("replicates", [1, 19, 20, 21, 100])
def test_as_many_replicates_as_asked_for(table, replicates, monkeypatch):
    monkeypatch.setattr(module, "_COUNTS_PER_BLOCK", 20 * table.counts.size)
    assert bootstrap(auc, table, replicates=replicates).shape == (replicates,)


def test_progress_ends_with_everything_done(table, monkeypatch):
    monkeypatch.setattr(module, "_COUNTS_PER_BLOCK", 20 * table.counts.size)
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
    return BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, **options)


def test_both_models_are_drawn_from_the_same_cases(pairs):
    for within in (True, False):
        tables = joint_sample(pairs).drawer(within)(np.random.default_rng(1), 20)
        assert tables["a"].n_pos.tolist() == tables["b"].n_pos.tolist()
    same = pair_table(pairs.label, {"a": pairs.scores(0), "b": pairs.scores(0)})
    request = bind(parse("ks"), same.tables[0])
    assert not draws_of(same, replicates=50).differences("a", "b", request, request).any()


def test_what_is_asked_twice_is_drawn_once(pairs, monkeypatch):
    draws, request = draws_of(pairs, replicates=30), bind(parse("auc"), pairs.tables[0])
    first = draws.of("a", request)
    monkeypatch.setattr(module, "run_in_blocks", lambda *_, **__: pytest.fail("drawn again"))
    assert draws.of("a", request) is first


def test_together_or_one_by_one_the_replicates_are_the_same(pairs):
    specs = [parse(name) for name in ("ks", "ap", "gini")]
    wanted = [
        replicate_request(model, bind(spec, table))
        for model, table in zip("ab", pairs.tables, strict=True)
        for spec in specs
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


def test_replicates_looked_at_in_parts_are_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 80)
    table = score_table(truth, np.round(truth + rng.normal(size=80), 1))
    asked_for = [bind(parse(name), table) for name in ("auc", "h", "auprc", "ppv@0.5")]
    whole = [BootstrapDraws({"a": table}, replicates=50).of("a", one) for one in asked_for]
    monkeypatch.setattr(module, "_SCORES_PER_STEP", 7 * table.size)
    in_parts = [BootstrapDraws({"a": table}, replicates=50).of("a", one) for one in asked_for]
    np.testing.assert_array_equal(in_parts, whole)


def test_a_stated_prevalence_and_class_shares_are_told_apart(table):
    draws, spec = BootstrapDraws({"m": table}, replicates=50), parse("acc@0.5")
    plain, stated = (draws.of("m", bind(one, table)) for one in (spec.for_prevalence(0.3), spec.for_prevalence(0.1)))
    assert (plain != stated).any()
    request = bind(parse("auc"), table)
    free = ReplicateRequest("m", "auc", request.on, within=False)
    assert draws.spread([("m", request)])[0] == pytest.approx(draws.all([free])[0].std(ddof=1))
    assert request.within
