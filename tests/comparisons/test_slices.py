"""Gaps between slices and the rest: the tests of two samples, adjusted; the level held; words."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from scorespace.comparisons.multiple_testing import holm
from scorespace.comparisons.slices import Slices, slices, slices_of_columns
from scorespace.comparisons.unpaired import compare_samples
from scorespace.measures import parse
from scorespace.tables import Table, confusion, score_table
from scorespace.tables.models import Models, SubgroupModels, models_from_tables


def parts_of(truth: np.ndarray, score: np.ndarray, part: np.ndarray) -> SubgroupModels:
    def table(chosen: np.ndarray) -> Models:
        return models_from_tables({"m": score_table(truth[chosen], score[chosen], classes=("0", "1"), positive="1")})

    names = [str(one) for one in np.unique(part)]
    own, rest = ({name: table((part == name) == side) for name in names} for side in (True, False))
    return SubgroupModels(("ward",), own, rest)


def sample(
    rng: np.random.Generator, sizes: Sequence[int], signal: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    part = np.repeat(np.array([chr(65 + k) for k in range(len(sizes))]), sizes)
    truth = (rng.random(part.size) < 0.4).astype(int)
    return truth, 1 / (1 + np.exp(-rng.normal(size=part.size) - truth * np.repeat(signal, sizes))), part


def found_in(sizes: Sequence[int], signal: Sequence[float], measures: str = "auc", seed: int = 0) -> Slices:
    rng = np.random.default_rng(seed)
    return slices(parts_of(*sample(rng, sizes, signal)), {"m": [parse(one) for one in measures.split(";")]})


_MEASURES = [parse(one) for one in ("auc", "tpr@0.6", "acc@0.6", "auprc")]


def test_a_gap_is_that_of_two_independent_samples_adjusted_over_slices_and_measures() -> None:
    parts = parts_of(*sample(np.random.default_rng(2), [80, 90, 120], [1.0, 0.2, 1.2]))
    found = slices(parts, {"m": [parse("auc"), parse("tpr@0.6")]})
    assert [one.test.p_adjusted for one in found.gaps] == pytest.approx(
        holm([one.test.p for one in found.gaps]).tolist()
    )
    for measure in ("auc", "tpr@0.6"):
        gaps = found.of("m", parse(measure))
        tables: list[tuple[Table, Table]] = [
            (parts.slices[one.slice]["m"], parts.rests[one.slice]["m"]) for one in gaps
        ]
        alone = [compare_samples(*pair, measure, test="interval") for pair in tables]
        assert [one.test.p for one in gaps] == [one.p for one in alone]
        assert [one.test.difference for one in gaps] == [one.difference for one in alone]


def test_two_slices_are_one_test() -> None:
    a, b = found_in([60, 80], [1.0, 0.1]).gaps
    assert a.test.reported_p == b.test.reported_p == a.test.p
    assert (b.test.difference, b.test.low, b.test.high) == (-a.test.difference, -a.test.high, -a.test.low)


def test_the_verdict_is_one_sentence_over_models_and_measures() -> None:
    found = slices(parts_of(*sample(np.random.default_rng(0), [300, 300], [2.0, -1.0])), {"m": _MEASURES[:2]})
    assert [(str(one.estimate.spec), one.slice) for one in found.worse] == [("auc", "B"), ("tpr@0.6", "B")]
    assert found.words.count(". ") == 0
    assert found.words.startswith("By ward, worse than in the rest: auc of m for B, ")
    assert "; tpr@0.6 of m for B, " in found.words
    assert "adjusted p < 0.001" in found.words
    assert "[" not in found.words  # intervals are not adjusted
    assert "SS091" not in [one.code for one in found.notes]


def test_what_the_verdict_does_not_name_is_noted() -> None:
    found = slices(parts_of(*sample(np.random.default_rng(0), [300, 300], [2.0, -1.0])), {"m": _MEASURES})
    assert len(found.worse) == 4
    assert found.words.endswith("; 1 more.")
    (told,) = [one.text for one in found.notes if one.code == "SS091"]
    last = found.worse[-1]
    assert told == f"also significantly worse than in the rest: {last.estimate.spec} of m for {last.slice}."


def test_bands_of_the_own_score_are_not_worse() -> None:
    truth, score, _ = sample(np.random.default_rng(0), [400], [2.0])
    bands = replace(parts_of(truth, score, np.where(score < 0.5, "low", "high")), bands=frozenset({"m"}))
    found = slices(bands, {"m": _MEASURES}, at={"m": 0.6}, parity_columns=1)
    assert np.isnan([one.test.p for one in found.gaps]).all()
    assert (found.worse, found.parity) == ([], ())
    assert found.words == "By ward, no gap can be tested: the slices are made from the scores of m."


def test_a_slice_with_one_class_is_not_worse() -> None:
    truth, score, part = sample(np.random.default_rng(0), [150, 150, 150], [1.0, 1.0, 1.0])
    truth[part == "C"] = 1
    score[part == "C"] /= 10
    found = slices(parts_of(truth, score, part), {"m": [parse("brier"), parse("tpr@0.6")]})
    alone = [one for one in found.gaps if one.slice == "C"]
    assert [one.estimate.value for one in alone] == pytest.approx([((1 - score[part == "C"]) ** 2).mean(), 0.0])
    assert [one.test.reason for one in alone] == ["all cases in C are 1"] * 2
    assert np.isnan([one.test.p for one in alone]).all()
    assert "C" not in {one.slice for one in found.worse}


def test_constant_scores_of_a_slice_are_not_compared() -> None:
    truth, score, part = sample(np.random.default_rng(1), [150, 150, 150], [2.0, 2.0, 2.0])
    score = np.where(part == "B", 0.4, score)
    found = slices(parts_of(truth, score, part), {"m": [parse("auc"), parse("brier")]})
    _, flat, _ = found.of("m", parse("auc"))
    assert flat.estimate.value == 0.5
    assert np.isnan([flat.estimate.low, flat.estimate.high, flat.test.p, flat.test.low]).all()
    assert flat.test.reason == flat.estimate.reason == "all scores in B are the same, so they rank nothing"
    assert not flat.is_significant
    assert "B" not in {one.slice for one in found.worse}
    assert any("all scores of m are the same, so they rank nothing, for B" in one.text for one in found.notes)
    brier = found.of("m", parse("brier"))[1]
    assert np.isnan(brier.test.p)
    assert not np.isnan(brier.estimate.low)  # a constant is a probability like others


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
    assert found.words.startswith("By ward, worse than in the rest: auc of m for B, 0.482 (−")
    assert [one.slice for one in found.gaps if one.is_significant and one.worse] == ["B"]
    codes = [one.code for one in found.notes]
    assert codes == ["SS092", "SS015"]
    assert found.notes[0].text.startswith("slices too small for reliable results by ward: C (")


def test_words_of_a_measure_that_has_no_better_side() -> None:
    rng = np.random.default_rng(3)
    truth = np.concatenate([rng.random(400) < share for share in (0.2, 0.8)])
    parts = parts_of(truth, rng.random(800), np.repeat(["low", "high"], 400))
    spec = parse("prevalence@0.5")
    found = slices(parts, {"m": [spec]}, at={"m": 0.5}, leads={"m": spec})
    assert found.words.startswith("By ward, different from the rest: prevalence@0.5 of m for high, 0.")


def test_words_where_nothing_differs() -> None:
    found = found_in([60, 60, 60], [1, 1, 1], seed=4)
    worst = -min(one.test.low for one in found.gaps)
    assert found.words == (
        "By ward, no slice is clearly worse than the rest in auc; the single 95 % intervals exclude that a slice is "
        f"worse than the rest by more than {worst:.3f}."
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
        assert one.test.reason == "interval only: the measure depends on the number of cases"
        assert one.test.low <= one.test.difference <= one.test.high
        assert np.isnan(one.test.p)
    assert found.words == "By ward, no gap can be tested: the measure depends on the number of cases."


def test_so_many_at_the_top_of_a_small_slice_are_no_gap_to_those_of_a_large_rest() -> None:
    found = found_in([300, 3000, 3000], [1.0, 1.0, 1.0], "ppv@top200;ppv@top5%")
    counted, shared = (found.of("m", parse(name)) for name in ("ppv@top200", "ppv@top5%"))
    assert counted[0].test.difference < -0.2  # 200 of 300 against 200 of 6 000
    assert all(
        np.isnan(one.test.p) and not one.is_significant and "number of cases" in str(one.test.reason) for one in counted
    )
    assert all(0 <= one.test.p <= 1 for one in shared)


def test_the_level_holds_under_no_gap() -> None:
    """A slice of the simulation that docs/slices.md tells of; of decisions, whose intervals are quick."""
    rng = np.random.default_rng(11)
    alarms = dict.fromkeys(("tpr", "ppv", "acc"), 0)
    for _ in range(25):
        truth, score, part = sample(rng, [30, 60, 120], [1, 1, 1])

        def held(chosen: np.ndarray, truth: np.ndarray = truth, score: np.ndarray = score) -> Models:
            return models_from_tables({"m": confusion(truth[chosen], (score[chosen] > 0.6).astype(int))})

        both = ({name: held((part == name) == side) for name in "ABC"} for side in (True, False))
        found = slices(SubgroupModels(("ward",), *both), {"m": [parse(one) for one in alarms]})
        for measure in alarms:
            alarms[measure] += any(one.is_significant for one in found.of("m", parse(measure)))
    assert max(alarms.values()) <= 4  # 0.05 · 25 and two standard errors


def test_the_level_of_areas_holds_over_small_slices() -> None:
    """Six slices of some 30 positives, AUC 0.94: by DeLong's Z one differed in 15 % of samples without a gap."""
    rng = np.random.default_rng(12)
    alarms = 0
    for _ in range(30):
        truth, part = (rng.random(600) < 0.3).astype(int), rng.choice(list("ABCDEF"), 600)
        found = slices(parts_of(truth, rng.normal(size=600) + 2.2 * truth, part), {"m": [parse("auc")]})
        alarms += any(one.is_significant for one in found.gaps)
    assert alarms <= 3  # 0.05 · 30 and 1.3 standard errors


def test_a_mean_over_classes_is_not_compared_with_one_over_others() -> None:
    def one_of(matrix: list[list[float]]) -> Models:
        return models_from_tables({"m": confusion(matrix, classes=["a", "b", "c"])})

    # In slice B no case is of class c, yet some are decided for it: its F1 is 0 there, which is no gap of the model.
    own, rest = one_of([[40, 2, 6], [2, 40, 6], [0, 0, 0]]), one_of([[40, 3, 3], [3, 40, 3], [3, 3, 40]])
    parts = SubgroupModels(("ward",), {"A": rest, "B": own, "C": rest}, {"A": rest, "B": rest, "C": rest})
    found = slices(parts, {"m": [parse("f1[macro]"), parse("acc")]})
    gap = found.of("m", parse("f1[macro]"))[1]
    assert gap.test.difference < -0.2
    assert np.isnan(gap.test.p)
    assert gap.test.reason == "'c' is absent on one side, and the mean is over other classes"
    assert not np.isnan(found.of("m", parse("acc"))[1].test.p)
    assert "SS091" not in [one.code for one in found.notes]


def test_only_slices_that_are_tested_are_adjusted_for() -> None:
    truth, score, part = sample(np.random.default_rng(0), [80, 80, 80, 6], [1.0, 1.0, 1.0, 1.0])
    truth[part == "D"] = 0
    found = slices(parts_of(truth, score, part), {"m": [parse("auc")]})
    tested = [one.test for one in found.gaps[:3]]
    assert [one.p_adjusted for one in tested] == pytest.approx(holm([one.p for one in tested]).tolist())
    assert np.isnan(found.gaps[3].test.p_adjusted)
    assert "SS015" in [one.code for one in found.notes]
