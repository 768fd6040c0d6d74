"""Models that score several classes, compared on the same cases."""

from dataclasses import replace

import numpy as np
import pytest
from scorespace.comparisons.classes import compare_classes

from scorespace.comparisons.mcnemar import mcnemar
from scorespace.errors import ScoreSpaceError
from scorespace.measures import parse
from scorespace.tables import class_table

RNG = np.random.default_rng(5)
LABEL = RNG.integers(0, 3, 240)


def scored(strength, seed):
    rng = np.random.default_rng(seed)
    raw = rng.random((LABEL.size, 3)) + strength * (LABEL[:, None] == np.arange(3))
    return class_table(LABEL, raw / raw.sum(axis=1, keepdims=True))


GOOD, POOR = scored(0.8, 1), scored(0.2, 2)


def test_a_better_model_is_told_from_a_poorer_one():
    (found,) = compare_classes({"good": GOOD, "poor": POOR}, replicates=400)
    areas = [np.nanmean(table.pair_areas()) for table in (GOOD, POOR)]
    assert found.measure == "auc[hand_till]"
    assert found.difference == pytest.approx(areas[0] - areas[1])
    assert found.low > 0
    assert found.p < 0.01


def test_identical_models_do_not_differ():
    (found,) = compare_classes({"a": GOOD, "b": GOOD}, replicates=50)
    assert (found.difference, found.p) == (0, 1)


def test_order_of_models_turns_the_sign():
    (there,) = compare_classes({"a": GOOD, "b": POOR}, replicates=200)
    (back,) = compare_classes({"b": POOR, "a": GOOD}, replicates=200)
    assert back.difference == -there.difference
    assert back.p == there.p


@pytest.mark.parametrize("name", ["brier", "acc", "f1[macro]", "auc[1]", "tpr[2]@0.4", "cal"])
def test_any_measure_of_classes_is_compared(name):
    (found,) = compare_classes({"a": GOOD, "b": POOR}, spec=parse(name), replicates=100)
    assert found.measure == name
    assert found.low <= found.difference <= found.high


def test_decisions_are_compared_by_mcnemar():
    (found,) = compare_classes({"a": GOOD, "b": POOR}, test="mcnemar")
    wanted = mcnemar(GOOD.decided == GOOD.label, POOR.decided == POOR.label, names=("a", "b"))
    assert (found.p, found.table) == (wanted.p, wanted.table)


def test_several_models_are_adjusted_and_tested_together():
    found = compare_classes({"a": GOOD, "b": POOR, "c": scored(0.3, 3)}, test="mcnemar")
    assert [one.several for one in found] == [True, False, False, False]
    assert found.adjustment == "holm"


def test_the_null_is_rejected_about_as_often_as_it_should():
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        label = rng.integers(0, 3, 90)
        models = {}
        for name in "ab":
            raw = rng.random((90, 3)) + 0.4 * (label[:, None] == np.arange(3))
            models[name] = class_table(label, raw / raw.sum(axis=1, keepdims=True))
        rejected += compare_classes(models, replicates=200, seed=seed)[0].p < 0.05
    assert rejected <= 8  # 3 expected; more than 8 has a chance of 0.4 %


def test_groups_are_drawn_whole():
    group = np.arange(LABEL.size, dtype=np.int32) // 4
    grouped = {name: replace(table, group=group) for name, table in {"a": GOOD, "b": POOR}.items()}
    (found,) = compare_classes(grouped, replicates=100)
    assert found.test == "bootstrap of groups"


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ScoreSpaceError, match="needs two models"):
        compare_classes({"a": GOOD})
    with pytest.raises(ScoreSpaceError, match="there is no test 'delong'"):
        compare_classes({"a": GOOD, "b": POOR}, test="delong")
    with pytest.raises(ScoreSpaceError, match="weighted"):
        compare_classes({"a": GOOD.with_cells(np.ones(LABEL.size)), "b": POOR})
