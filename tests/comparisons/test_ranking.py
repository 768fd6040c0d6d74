"""Models over data sets, whole: the test that suits, the direction, groups, and what cannot be ranked."""

import json
from typing import Annotated

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from oracles.load import reference
from scorespace.comparisons.design import AllOverDatasets
from scorespace.comparisons.ranking import dataset_tests, direction, rank_models
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import TESTS
from scorespace.comparisons.test import test as declared
from scorespace.errors import DataError, MeasureError, ScoreSpaceError
from scorespace.report.ranking import document


def demsar(**named):
    theirs = reference("r_friedman_nemenyi")
    return rank_models(theirs["data"], theirs["names"], **{"measure": "auc", **named}), theirs


def two(**named):
    theirs = reference("r_wilcoxon")["signed_rank"]["paired_random"]
    return rank_models({"x": theirs["x"], "y": theirs["y"]}, best="high", **named), theirs


# --- the test that suits


def test_several_models_are_tested_by_friedman_and_nemenyi():
    found, theirs = demsar()
    assert list(found.average_ranks.values()) == pytest.approx(theirs["avg_ranks"])
    assert found.friedman.chi2.value == pytest.approx(theirs["friedman_test_chi2_tie_corrected"], abs=1e-9)
    assert found.friedman.f.p == pytest.approx(theirs["iman_davenport_p_tie"], abs=1e-9)
    assert found.nemenyi.critical_difference == pytest.approx(theirs["nemenyi"]["CD_05"], abs=1e-8)
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)
    assert found.control is found.pairs is None


def test_a_control_is_tested_by_holm():
    found, theirs = demsar(control="C4.5")
    assert [row["p_adjusted"] for row in found.rows()] == pytest.approx(theirs["vs_control_first"]["holm"], abs=1e-9)
    assert [row["hochberg"] for row in found.rows()] == pytest.approx(theirs["vs_control_first"]["hochberg"], abs=1e-9)
    assert found.groups == (("C4.5+cf", "C4.5"),)  # those not told from it
    assert found.nemenyi is None


def test_another_test_of_all_models_is_run_as_asked():
    def kruskal(design: AllOverDatasets, *, factor: Annotated[float, "of p"] = 1.0) -> Comparison:
        """Kruskal and Wallis's H."""
        h, p = stats.kruskal(*design.outcomes.values.T)
        a, *others = design.outcomes.models
        return Comparison(a, ", ".join(others), "kruskal", "auc", statistic=h, p=factor * p, several=True)

    try:
        declared(title="Kruskal and Wallis's test", for_="values over data sets")(kruskal)
        found, theirs = demsar(test="kruskal(factor=0.5)")
    finally:
        TESTS.nouns.pop("kruskal", None)
    h, p = stats.kruskal(*np.transpose(theirs["data"]))
    assert (found.friedman.statistic, found.friedman.p) == pytest.approx((h, p / 2))
    assert found.words.startswith("Together, C4.5, C4.5+m, C4.5+cf, C4.5+m+cf do not differ significantly in auc")
    assert found.nemenyi is not None
    shown = document(found, "results").sections[0].blocks[1]
    assert shown.rows == (("kruskal", f"{h:.3f}", "", f"{p / 2:.3f}"),)


def test_two_models_are_tested_by_wilcoxon():
    found, theirs = two()
    (row,) = found.rows()
    assert (row["test"], row["statistic"]) == ("Wilcoxon signed rank, exact", theirs["V"])
    assert row["p"] == pytest.approx(theirs["p_exact"], abs=1e-9)
    assert (found.friedman, found.groups, found.notes) == (None, (), ())


def test_pairs_of_several_models_are_adjusted():
    found, _ = demsar(test="wilcoxon")
    assert len(found.rows()) == 6
    assert [note.code for note in found.notes] == ["SS015"]
    assert found.words.count("adjusted") == 6


def test_adjustments_are_reached_by_their_names():
    found, theirs = demsar(control="C4.5", adjust="bonferroni")
    against = theirs["vs_control_first"]
    assert [row["p_adjusted"] for row in found.rows()] == pytest.approx(against["bonferroni"], abs=1e-9)
    assert found.words.splitlines()[1].startswith("Against C4.5 over 14 data sets (Bonferroni): ")
    pairs, _ = demsar(adjust="shaffer")
    upper = np.array(theirs["pairwise_z_p_unadjusted"], dtype=float)[np.triu_indices(4, 1)]
    assert [one.p for one in pairs.pairs] == pytest.approx(upper, abs=1e-9)
    # Of four models the equal pairs left are 6, 3, 3, 3, 2, 1 (Shaffer 1986), from the smallest p up.
    order = np.argsort(upper)
    stepped = np.minimum(1, np.maximum.accumulate(np.array([6, 3, 3, 3, 2, 1]) * upper[order]))
    assert np.array([one.p_adjusted for one in pairs.pairs])[order] == pytest.approx(stepped)
    assert pairs.nemenyi is None
    sure = {frozenset((one.a, one.b)) for one in pairs.pairs if one.p_adjusted < 0.05}
    for group in pairs.groups:  # no two of a group are told apart, and those beside it are told from one of them
        assert not any(pair <= set(group) for pair in sure)
    assert pairs.groups[0][0] == min(pairs.average_ranks, key=pairs.average_ranks.get)
    wilcoxon, _ = demsar(test="wilcoxon", adjust="hochberg")
    assert wilcoxon.pairs.adjustment == "hochberg"
    with pytest.raises(ScoreSpaceError, match="Shaffer's method"):
        demsar(control="C4.5", adjust="shaffer")


def test_one_sided_signed_ranks_are_scipys():
    theirs = reference("r_wilcoxon")["signed_rank"]["paired_random"]
    for side in ("greater", "less"):
        (row,) = two(alternative=side)[0].rows()
        assert row["p"] == pytest.approx(stats.wilcoxon(theirs["x"], theirs["y"], alternative=side).pvalue)
        assert row["alternative"] == side
    with pytest.raises(ScoreSpaceError) as caught:
        demsar(alternative="less")
    assert str(caught.value) == (
        "Friedman's test tests whether any of several models differ, in any direction, so alternative='less' is not "
        "possible.\n  hint: omit alternative, or use a test of two models"
    )


def test_all_who_rank_best_are_named_by_every_sentence():
    values = [[0.8, 0.7, 0.6], [0.7, 0.8, 0.5]] * 4
    found = rank_models(values, ["b", "a", "c"], measure="auc")
    assert found.words == (
        "Over 8 data sets the ranks differ significantly, and b and a rank best, 1.50 "
        "(χ²(2) = 12.00, p = 0.002; Iman–Davenport F(2, 14) = 21.00, p < 0.001).\n"
        "b and a rank best, 1.50 on average over 8 data sets; they beat c (Nemenyi, critical difference 1.17)."
    )


def test_zeros_are_handled_as_stated():
    dropped, split = (demsar(test="wilcoxon", zeros=zeros)[0].rows()[0] for zeros in ("wilcox", "split"))
    assert "dropped" in dropped["test"]
    assert "split" in split["test"]
    assert dropped["p"] != split["p"]


def test_posteriors_have_their_rope():
    found, _ = two(test="bayes-signed-rank", rope=0.5)
    (row,) = found.rows()
    assert row["width"] == 0.5
    assert row["left"] + row["rope"] + row["right"] == pytest.approx(1)


# --- direction


def test_the_measure_says_which_end_is_best():
    # mlr3benchmark 29: ranks ignored that a measure is minimised.
    values = {"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.4], "c": [0.3, 0.4, 0.5]}
    assert rank_models(values, measure="auc").average_ranks == {"a": 3, "b": 2, "c": 1}
    assert rank_models(values, measure="err").average_ranks == {"a": 1, "b": 2, "c": 3}
    assert rank_models(values, measure="seconds", best="low").average_ranks == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize(
    ("measure", "best"), [("auc", "high"), ("err", "low"), ("f1[macro]", "high"), ("cost(fp=1, fn=5)@0.2", "low")]
)
def test_directions(measure, best):
    assert direction(measure) == best


@pytest.mark.parametrize(
    ("measure", "best", "message"),
    [
        ("", None, "the better direction of the values is unknown"),
        ("prevalence", None, "the better direction of prevalence is unknown"),
        ("acuracy", None, "there is no measure 'acuracy'"),
        ("auc", "low", "auc is better when it is higher"),
    ],
)
def test_a_direction_that_is_not_known(measure, best, message):
    with pytest.raises(MeasureError) as caught:
        direction(measure, best)
    assert message in str(caught.value)


# --- what cannot be ranked


@pytest.mark.parametrize(
    ("values", "named", "message"),
    [
        ({"a": [1], "b": [2]}, {}, "needs at least two of them"),
        ({"a": [1, 2]}, {}, "at least one data set and two models"),
        ({"a": [1, 2], "b": [2, np.nan]}, {}, "1 of the 4 values is missing"),
        ({"a": [1, 2], "b": [2, "x"]}, {}, "not a matrix of numbers"),
        ({"a": [1, 2], "b": [2, 3]}, {"control": "c"}, "'c' is not a model of this table"),
        ({"a": [1, 2], "b": [2, 3]}, {"test": "fredman"}, "there is no test 'fredman'"),
        ({"a": [1, 2], "b": [2, 3]}, {"test": "sign", "control": "a"}, "control=a needs the test friedman"),
        ({"a": [1, 2], "b": [2, 3]}, {"test": "friedman", "zeros": "split"}, "zeros=split is for the test wilcoxon"),
        ({"a": [1, 2], "b": [2, 3]}, {"rope": 0.1}, "rope=0.1 is for the test bayes_signed_rank, and not for wilcoxon"),
        ({"a": [1, 2], "b": [2, 3]}, {"test": "sign", "zeros": "pratt"}, "zeros=pratt in 'sign' is unknown"),
        ({"a": [1, 2], "b": [2, 3]}, {"level": 95}, "level=95 is not a confidence level"),
    ],
)
def test_errors(values, named, message):
    with pytest.raises((DataError, ScoreSpaceError)) as caught:
        rank_models(values, best="high", **named)
    assert message in str(caught.value)


@pytest.mark.parametrize("test", dataset_tests())
def test_equal_models_do_not_differ(test):
    found = rank_models({"a": [1.0, 2, 3], "b": [1.0, 2, 3], "c": [1.0, 2, 3]}, best="high", test=test)
    assert set(found.average_ranks.values()) == {2}
    assert "nan" not in found.words
    assert all(row["p"] in (1, None) for row in found.rows())


def test_models_that_rank_alike_everywhere():
    found = rank_models([[3, 2, 1]] * 6, ["a", "b", "c"], best="high")
    assert "infinite" in found.friedman.f.reason
    assert found.to_dict()["friedman"][2]["statistic"] is None
    assert "∞" in found.words


# --- results


@pytest.mark.parametrize("named", [{}, {"control": "C4.5"}, {"test": "sign"}, {"test": "bayes-signed-rank"}])
def test_a_result_is_rows_and_json(named):
    found, _ = demsar(**named)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (told["schema"], told["verdict"], told["best"]) == (1, found.words, "high")
    assert told["rows"]
    assert {"a", "b", "test", "measure", "difference", "statistic", "p", "reason"} <= set(told["rows"][0])
    assert told["average_ranks"] == pytest.approx(found.average_ranks)


def test_frames_are_tables():
    import pandas

    theirs = reference("r_friedman_nemenyi")
    frame = pandas.DataFrame(theirs["data"], columns=theirs["names"])
    assert ss.rank_models(frame, measure="acc").average_ranks == demsar()[0].average_ranks


def test_the_answer_is_the_repr():
    found, _ = two()
    assert repr(found).startswith("12 data sets, average ranks: x ")
    assert repr(found).endswith(found.words)


def test_tests_over_data_sets_are_declared_like_all_others():
    assert dataset_tests() == ("wilcoxon", "friedman", "sign", "bayes_signed_rank")
    values = {"a": [0.9, 0.8, 0.7, 0.7], "b": [0.8, 0.8, 0.6, 0.5]}
    written = rank_models(values, best="high", test="wilcoxon(zeros=split)").rows()
    assert written == rank_models(values, best="high", zeros="split").rows()
    with pytest.raises(ScoreSpaceError, match="delong cannot compare"):
        rank_models(values, best="high", test="delong")


def test_values_that_a_measure_cannot_have_are_refused():
    with pytest.raises(MeasureError) as caught:
        rank_models({"a": [0.5, 0.6, 2.0], "b": [0.4, 0.7, 0.9]}, measure="auc")
    assert str(caught.value) == (
        "auc lies between 0 and 1, and some values do not.\n"
        "  seen: 2\n"
        "  hint: correct them, or omit the measure and state which direction is best"
    )
    assert rank_models({"a": [50, 60, 200], "b": [40, 70, 90]}, best="high").table.datasets == 3
