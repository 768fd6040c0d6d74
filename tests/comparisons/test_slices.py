"""Gaps between slices and the rest: the tests of two samples, adjusted; the level held; words."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from scorespace.comparisons.adjust import holm
from scorespace.comparisons.slices import Slices, slices, slices_of_columns
from scorespace.comparisons.unpaired import compare_samples
from scorespace.measures import parse
from scorespace.tables import Table, confusion, score_table
from scorespace.tables.models import Models, Parts, models_of


def parts_of(truth: np.ndarray, score: np.ndarray, part: np.ndarray) -> Parts:
    def table(chosen: np.ndarray) -> Models:
        return models_of({"m": score_table(truth[chosen], score[chosen], classes=("0", "1"), positive="1")})

    names = [str(one) for one in np.unique(part)]
    own, rest = ({name: table((part == name) == side) for name in names} for side in (True, False))
    return Parts(("ward",), own, rest)


def sample(
    rng: np.random.Generator, sizes: Sequence[int], signal: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    part = np.repeat(np.array([chr(65 + k) for k in range(len(sizes))]), sizes)
    truth = (rng.random(part.size) < 0.4).astype(int)
    return truth, 1 / (1 + np.exp(-rng.normal(size=part.size) - truth * np.repeat(signal, sizes))), part


def found_in(sizes: Sequence[int], signal: Sequence[float], measures: str = "auc", seed: int = 0) -> Slices:
    rng = np.random.default_rng(seed)
    return slices(parts_of(*sample(rng, sizes, signal)), {"m": [parse(one) for one in measures.split(";")]})


def test_a_gap_is_that_of_two_independent_samples_adjusted_by_holm() -> None:
    parts = parts_of(*sample(np.random.default_rng(2), [80, 90, 120], [1.0, 0.2, 1.2]))
    found = slices(parts, {"m": [parse("auc"), parse("tpr@0.6")]})
    for measure in ("auc", "tpr@0.6"):
        gaps = found.of("m", parse(measure))
        tables: list[tuple[Table, Table]] = [
            (parts.slices[one.slice]["m"], parts.rests[one.slice]["m"]) for one in gaps
        ]
        alone = [compare_samples(*pair, measure, test="interval") for pair in tables]
        assert [one.test.p for one in gaps] == [one.p for one in alone]
        assert [one.test.difference for one in gaps] == [one.difference for one in alone]
        assert [one.test.p_adjusted for one in gaps] == pytest.approx(holm([one.p for one in alone]).tolist())


def test_two_slices_are_one_test() -> None:
    a, b = found_in([60, 80], [1.0, 0.1]).gaps
    assert a.test.telling_p == b.test.telling_p == a.test.p
    assert (b.test.difference, b.test.low, b.test.high) == (-a.test.difference, -a.test.high, -a.test.low)


def test_a_slice_that_is_worse_by_a_further_measure_is_noted() -> None:
    parts = parts_of(*sample(np.random.default_rng(0), [300, 300], [2.0, -1.0]))
    found = slices(parts, {"m": [parse("auc"), parse("tpr@0.6")]}, leads={"m": parse("auc")})
    (told,) = [one.text for one in found.notes if one.code == "SS091"]
    over = "beyond chance (adjusted over all of its other measures)"
    assert told == f"m is worse than in the rest, {over}, in tpr@0.6 for B."


def test_a_warning_is_adjusted_over_all_measures_that_it_pools() -> None:
    measures = ["auc", "tpr@0.5", "tpr@0.6", "tpr@0.7", "fpr@0.5", "fpr@0.6", "acc@0.5", "brier"]
    specs = [parse(one) for one in measures]
    for seed in range(40):
        truth, score, part = sample(np.random.default_rng(seed), [80, 90, 100], [1.2, 1.2, 0.5])
        found = slices(parts_of(truth, score, part), {"m": specs}, leads={"m": specs[0]})
        others = [one for one in found.gaps if one.estimate.spec != specs[0]]
        chances = holm([one.test.p for one in others])
        named = [one for one, p in zip(others, chances, strict=True) if one.worse and p < 0.05]
        alone = [one for one in others if one.worse and one.sure]
        told = [one.text for one in found.notes if one.code == "SS091"]
        assert bool(told) == bool(named)
        if named and len(named) < len(alone):
            break  # so that this test can tell
    else:
        pytest.fail("no sample tells the adjustments apart")
    assert all(f"{one.estimate.spec.shown} for" in told[0] for one in named)


def test_constant_scores_of_a_slice_are_not_compared() -> None:
    truth, score, part = sample(np.random.default_rng(1), [150, 150, 150], [2.0, 2.0, 2.0])
    score = np.where(part == "B", 0.4, score)
    found = slices(parts_of(truth, score, part), {"m": [parse("auc"), parse("brier")]})
    _, flat, _ = found.of("m", parse("auc"))
    assert flat.estimate.value == 0.5
    assert np.isnan([flat.estimate.low, flat.estimate.high, flat.test.p, flat.test.low]).all()
    assert flat.test.reason == flat.estimate.reason == "all scores in B are the same, so they rank nothing"
    assert not flat.sure
    assert "worse than in the rest for B" not in found.words
    assert any("all scores of m are the same, so they rank nothing, for B" in one.text for one in found.notes)
    assert not np.isnan(found.of("m", parse("brier"))[1].test.p)  # a constant is a probability like others


def test_several_columns_make_slices_by_themselves() -> None:
    truth, score, ward = sample(np.random.default_rng(2), [80, 90, 120], [1.0, 0.2, 1.2])
    sex = np.random.default_rng(3).choice(["f", "m"], truth.size)
    parts = [parts_of(truth, score, ward), replace(parts_of(truth, score, sex), by=("sex",))]
    found = slices_of_columns(parts, {"m": [parse("auc")]})
    alone = [gap for one in parts for gap in slices(one, {"m": [parse("auc")]}).gaps]
    assert [one.slice for one in found.gaps] == ["ward = A", "ward = B", "ward = C", "sex = f", "sex = m"]
    assert [one.test.p for one in found.gaps] == [one.test.p for one in alone]
    adjusted = holm([one.test.p for one in alone[:4]]).tolist()  # two slices are one test
    assert [one.test.p_adjusted for one in found.gaps] == pytest.approx([*adjusted, adjusted[-1]])
    assert found.by_column == {"ward": ["ward = A", "ward = B", "ward = C"], "sex": ["sex = f", "sex = m"]}
    assert (found.title, found.cases, found.label("sex = f")) == ("ward and sex", 290, "f")
    assert found.facts()["by"] == ("ward", "sex")


def test_words_name_the_slice_that_is_worse() -> None:
    found = found_in([150, 150, 12], [2.0, 0.0, 2.0])
    assert found.words.startswith("By ward, auc of m is worse than in the rest for B, 0.482 [")
    assert [one.slice for one in found.gaps if one.sure and one.worse] == ["B"]
    codes = [one.code for one in found.notes]
    assert codes == ["SS092", "SS015"]
    assert found.notes[0].text.startswith("too small to tell by ward: C (")


def test_words_of_a_measure_that_has_no_better_side() -> None:
    rng = np.random.default_rng(3)
    truth = np.concatenate([rng.random(400) < share for share in (0.2, 0.8)])
    parts = parts_of(truth, rng.random(800), np.repeat(["low", "high"], 400))
    spec = parse("prevalence@0.5")
    found = slices(parts, {"m": [spec]}, at={"m": 0.5}, leads={"m": spec})
    assert found.words == "By ward, prevalence@0.5 of m differs from the rest for high and low."


def test_words_where_nothing_differs() -> None:
    found = found_in([60, 60, 60], [1, 1, 1], seed=4)
    worst = -min(one.test.low for one in found.gaps)
    assert found.words == (
        "By ward, no gap in auc of m is shown; the single 95 % intervals exclude that a slice is worse than the rest "
        f"by more than {worst:.3f}."
    )


def test_a_slice_with_one_class_is_undefined_and_stays() -> None:
    truth, score, part = sample(np.random.default_rng(0), [40, 40, 5], [1, 1, 1])
    truth[part == "C"] = 0
    found = slices(parts_of(truth, score, part), {"m": [parse("auc")]})
    last = found.gaps[-1]
    assert last.slice == "C"
    assert np.isnan(last.estimate.value)
    assert last.estimate.reason
    assert last.row()["p"] is None
    assert last.row()["gap_reason"]
    assert found.small["C"] == "5 cases, none of 1"
    assert not np.isnan([one.test.p_adjusted for one in found.gaps[:2]]).any()


def test_measures_that_depend_on_size_have_intervals_alone() -> None:
    found = found_in([60, 60, 60], [1, 1, 1], "ks")
    for one in found.gaps:
        assert one.test.reason == "interval only: the measure depends on how many cases there are"
        assert one.test.low <= one.test.difference <= one.test.high
        assert np.isnan(one.test.p)
    assert found.words == "By ward, nothing can be said of ks of m: no gap can be tested."


def test_so_many_at_the_top_of_a_small_slice_are_no_gap_to_those_of_a_large_rest() -> None:
    found = found_in([300, 3000, 3000], [1.0, 1.0, 1.0], "ppv@top200;ppv@top5%")
    counted, shared = (found.of("m", parse(name)) for name in ("ppv@top200", "ppv@top5%"))
    assert counted[0].test.difference < -0.2  # 200 of 300 against 200 of 6 000
    assert all(np.isnan(one.test.p) and not one.sure and "how many cases" in str(one.test.reason) for one in counted)
    assert all(0 <= one.test.p <= 1 for one in shared)


def test_the_level_holds_under_no_gap() -> None:
    """A slice of the simulation that docs/slices.md tells of; of decisions, whose intervals are quick."""
    rng = np.random.default_rng(11)
    alarms = dict.fromkeys(("tpr", "ppv", "acc"), 0)
    for _ in range(25):
        truth, score, part = sample(rng, [30, 60, 120], [1, 1, 1])

        def held(chosen: np.ndarray, truth: np.ndarray = truth, score: np.ndarray = score) -> Models:
            return models_of({"m": confusion(truth[chosen], (score[chosen] > 0.6).astype(int))})

        both = ({name: held((part == name) == side) for name in "ABC"} for side in (True, False))
        found = slices(Parts(("ward",), *both), {"m": [parse(one) for one in alarms]})
        for measure in alarms:
            alarms[measure] += any(one.sure for one in found.of("m", parse(measure)))
    assert max(alarms.values()) <= 4  # 0.05 · 25 and two standard errors


def test_the_level_of_areas_holds_over_small_slices() -> None:
    """Six slices of some 30 positives, AUC 0.94: by DeLong's Z one differed in 15 % of samples without a gap."""
    rng = np.random.default_rng(12)
    alarms = 0
    for _ in range(30):
        truth, part = (rng.random(600) < 0.3).astype(int), rng.choice(list("ABCDEF"), 600)
        found = slices(parts_of(truth, rng.normal(size=600) + 2.2 * truth, part), {"m": [parse("auc")]})
        alarms += any(one.sure for one in found.gaps)
    assert alarms <= 3  # 0.05 · 30 and 1.3 standard errors


def test_a_mean_over_classes_is_not_compared_with_one_over_others() -> None:
    def one_of(matrix: list[list[float]]) -> Models:
        return models_of({"m": confusion(matrix, classes=["a", "b", "c"])})

    # In slice B no case is of class c, yet some are decided for it: its F1 is 0 there, which is no gap of the model.
    own, rest = one_of([[40, 2, 6], [2, 40, 6], [0, 0, 0]]), one_of([[40, 3, 3], [3, 40, 3], [3, 3, 40]])
    parts = Parts(("ward",), {"A": rest, "B": own, "C": rest}, {"A": rest, "B": rest, "C": rest})
    found = slices(parts, {"m": [parse("f1[macro]"), parse("acc")]})
    gap = found.of("m", parse("f1[macro]"))[1]
    assert gap.test.difference < -0.2
    assert np.isnan(gap.test.p)
    assert gap.test.reason == "'c' is absent on one side, and the mean is over other classes"
    assert not np.isnan(found.of("m", parse("acc"))[1].test.p)
    assert "SS091" not in [one.code for one in found.notes]
    (told,) = [one.text for one in found.notes if one.code == "SS015"]
    assert told.startswith("p-values of the 3 slices")


def test_only_slices_that_are_tested_are_adjusted_for() -> None:
    truth, score, part = sample(np.random.default_rng(0), [80, 80, 80, 6], [1.0, 1.0, 1.0, 1.0])
    truth[part == "D"] = 0
    found = slices(parts_of(truth, score, part), {"m": [parse("auc")]})
    (told,) = [one.text for one in found.notes if one.code == "SS015"]
    assert told == (
        "p-values of the 3 slices are adjusted by Holm's method, for each measure alone; intervals are those of single "
        "gaps."
    )
