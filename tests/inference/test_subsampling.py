"""What is drawn from: whole groups, weighted cases, and lighter tables that spread like all cases."""

from dataclasses import replace

import numpy as np
import pytest

from scorespace.inference.bootstrap import BootstrapDraws, ReplicateRequest
from scorespace.inference.subsampling import joint_sample
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import class_table, score_table
from scorespace.tables.paired import PairTable, binned_pair, pair_table


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 300)
    first = truth + rng.normal(size=300)
    return pair_table(truth, {"a": np.round(first, 1), "b": first + 0.5 * rng.normal(size=300)})


def draws_of(pairs, **options):
    return BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, **options)


def test_groups_are_drawn_whole(pairs):
    grouped = replace(pairs, group=np.repeat(np.arange(30, dtype=np.int32), 10))
    tables = joint_sample(grouped).drawer(False)(np.random.default_rng(1), 50)
    assert (tables["a"].total % 10 == 0).all()


def test_weights_of_cases_are_drawn_with_them(pairs):
    weighted = replace(pairs, weight=np.full(300, 3.0))
    tables = joint_sample(weighted).drawer(False)(np.random.default_rng(1), 5)
    assert (tables["b"].total == 900).all()


def test_a_condensed_table_is_centred_on_the_exact_value():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 20_000)
    table = score_table(truth, truth + rng.normal(size=20_000))
    request = bind(parse("ks"), table)
    draws = BootstrapDraws({"a": table}, replicates=400)
    light = draws.source("a").tables["a"]
    assert light.score.size < 1024
    # A value that is another on a lighter table shows whether the replicates were moved: the number of its rows.
    (values,) = draws.all([ReplicateRequest("a", "shifted", lambda t: t.score.size + request.on(t), True)])
    assert values.mean() == pytest.approx(20_000 + request.value, abs=0.02)


def test_a_part_of_the_cases_spreads_like_all():
    # Accuracy is a mean over cases: its standard error is known, and a part of the cases must show that of all.
    rng = np.random.default_rng(5)
    size = 30_000
    truth = rng.integers(0, 3, size)
    score = rng.dirichlet([1, 1, 1], size) + np.eye(3)[truth]
    table = class_table(truth, score / 2)
    request = bind(parse("acc"), table)
    draws = BootstrapDraws({"a": table}, replicates=1000)
    assert draws.source("a").part
    values = draws.of("a", request)
    assert values.mean() == pytest.approx(request.value, abs=0.001)
    assert values.std() == pytest.approx(np.sqrt(request.value * (1 - request.value) / size), rel=0.08)


def test_of_rare_positives_the_part_of_the_negatives_spreads_like_all():
    # False positive rates are means over negatives: the standard error of their difference is known. All positives are
    # kept and every sixth negative, which must not spread as if there were no others.
    rng = np.random.default_rng(11)
    size = 60_000
    truth = (rng.random(size) < 0.005).astype(int)
    scores = {"a": 2 * truth + rng.normal(size=size), "b": 2 * truth + rng.normal(size=size)}
    pairs = pair_table(truth, scores)
    draws = draws_of(pairs, replicates=500)
    values = draws.differences("a", "b", *(bind(parse("fpr@1"), table) for table in pairs.tables))
    apart = ((scores["a"] >= 1).astype(int) - (scores["b"] >= 1))[truth == 0]
    assert values.std() == pytest.approx(apart.std() / np.sqrt(apart.size), rel=0.1)


def test_many_groups_are_drawn_in_part_and_few_in_part_of_their_cases():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 24_000)
    pairs = pair_table(truth, {"a": truth + rng.normal(size=24_000)})
    many = joint_sample(replace(pairs, group=(np.arange(24_000) // 10).astype(np.int32)))
    assert many.scale < 1
    assert isinstance(many.pairs, PairTable)
    few = joint_sample(replace(pairs, group=(np.arange(24_000) // 2_000).astype(np.int32)))
    assert few.scale == 1
    assert few.pairs.group.max() == 11


@pytest.mark.parametrize("times", [None, 3])
def test_a_part_of_the_groups_spreads_like_all(times):
    # The share of positives is a mean over groups of one size, drawn whole: its standard error is known.
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(6000), 2)
    truth = (rng.random(12_000) < rng.choice([0.2, 0.8], 6000)[group]).astype(int)
    pairs = pair_table(truth, {"a": np.round(rng.random(12_000), 2)}, group=group)
    if times is not None:  # rows that each stand for so many cases
        pairs = replace(pairs, times=np.full(12_000, times))
    draws = draws_of(pairs, replicates=300)
    assert draws.source("a").scale == pytest.approx(np.sqrt(1 / 2))
    (values,) = draws.all([ReplicateRequest("a", "share", lambda t: t.n_pos / t.total, within=False)])
    assert values.std() == pytest.approx(truth.reshape(-1, 2).mean(axis=1).std() / np.sqrt(6000), rel=0.12)


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
        draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, replicates=400)
        bound = [bind(parse("auc"), table) for table in pairs.tables]
        spreads.append(draws.differences("a", "b", *bound).std())
    assert spreads[1] == pytest.approx(spreads[0], rel=0.15)
