"""The page of a comparison."""

import math
from dataclasses import replace

import numpy as np
import pytest

import scorespace as ss
from scorespace.comparisons.result import Comparison, Comparisons
from scorespace.comparisons.t_tests import bayes_correlated_t
from scorespace.report import comparison as view
from scorespace.report.comparison import grid
from scorespace.report.document import Grid, Notes, Text, Verdict

NAN = math.nan
# a is right on all six cases, b on four, c on one of those that b gets wrong.
DECISIONS = {"y": [1, 1, 1, 0, 0, 0], "a": [1, 1, 1, 0, 0, 0], "b": [1, 1, 0, 0, 0, 1], "c": [0, 0, 1, 1, 1, 1]}


@pytest.fixture
def decided():
    return ss.evaluate(DECISIONS, truth="y", decisions=["a", "b"])


def blocks(evaluation, found, kind):
    (section,) = view.document(evaluation, found).sections
    assert section.brief
    return [block for block in section.blocks if isinstance(block, kind)]


def three(**more):
    pairs = [
        Comparison("a", "b", "delong", "auc", 0.1, 0.02, 0.18, statistic=2.5, p=0.012, p_adjusted=0.036),
        Comparison("a", "c", "delong", "auc", 0.05, -0.01, 0.11, statistic=1.6, p=0.11, p_adjusted=0.11, **more),
        Comparison("b", "c", "delong", "auc", -0.05, -0.09, -0.01, statistic=-2, p=0.04, p_adjusted=0.08),
    ]
    return Comparisons(("a", "b", "c"), tuple(pairs), "holm")


def test_the_page(decided):
    found = decided.compare()
    grids = blocks(decided, found, Grid)
    assert [grid.columns[0] for grid in grids] == ["row − column", "models", "cases"]
    assert blocks(decided, found, Verdict) == [Verdict(found.words)]
    (notes,) = blocks(decided, found, Notes)
    assert [note.code for note in notes.notes] == ["SS014"]


def test_a_page_without_notes(decided):
    found = Comparisons(("a", "b"), decided.compare().comparisons)
    assert blocks(decided, found, Notes) == []


def test_the_matrix_stands_above_its_diagonal():
    grid = view.matrix_grid(three())
    assert grid.columns == ("row − column", "b", "c")
    # The star goes by the adjusted p: 0.04 alone would have earned one.
    assert grid.rows == (
        ("a", "+0.100 [0.020, 0.180]*", "+0.050 [−0.010, 0.110]"),
        ("b", "", "−0.050 [−0.090, −0.010]"),
    )
    assert grid.caption == "Row minus column with confidence interval; * marks p < 0.05."


def test_differences_without_interval_or_value():
    pairs = (
        Comparison("a", "b", "permutation", "ks", 0.2, p=0.01),
        Comparison("a", "c", "delong", "auc", reason="few"),
    )
    assert view.matrix_grid(Comparisons(("a", "b", "c"), pairs)).rows == (("a", "+0.200*", ""), ("b", "", ""))


def test_the_tests_show_columns_that_hold_something_only():
    grid = view.test_grid(three())
    assert grid.columns == ("models", "test", "of", "statistic", "p", "p adjusted")
    assert grid.rows[0] == ("a, b", "delong", "auc", "2.500", "0.012", "0.036")
    single = view.test_grid(Comparisons(("a", "b"), (Comparison("a", "b", "delong", "auc", reason="few"),)))
    assert single.columns == ("models", "test", "of")


@pytest.mark.parametrize(
    ("df", "text"), [(1.0, "1"), (222.23539, "222.2"), ((10.0, 5.0), "10, 5"), (394_961.3, "394 961")]
)
def test_degrees_of_freedom(df, text):
    one = Comparison("a", "b", "t", "auc", 0.1, statistic=2.0, df=df, p=0.0001)
    assert view.test_grid(Comparisons(("a", "b"), (one,))).rows == (("a, b", "t", "auc", "2.000", text, "< 0.001"),)


def test_how_often_one_both_or_neither_is_right(decided):
    (found,) = decided.compare()
    assert view.discordance_grid(found) == Grid(
        ("cases", "b correct", "b wrong"), (("a correct", "4", "2"), ("a wrong", "0", "0"))
    )


def test_every_pair_of_decisions_has_its_table():
    evaluation = ss.evaluate(DECISIONS, truth="y", decisions=["a", "b", "c"])
    found = evaluation.compare()
    grids = blocks(evaluation, found, Grid)
    assert [grid.rows[0][0] for grid in grids if grid.columns[0] == "cases"] == ["a correct", "a correct", "b correct"]
    assert grids[1].rows[0][:3] == ("a, b, c", "cochran q", "acc")


def test_nothing_undefined_is_shown_as_nan():
    data = {"y": [1, 0, 0, 0], "a": [9, 8, 7, 1], "b": [7, 8, 9, 2]}
    evaluation = ss.evaluate(data, truth="y", scores=["a", "b"])
    found = evaluation.compare(test="delong")
    assert np.isnan(found[0].p)
    for table in blocks(evaluation, found, Grid):
        assert not any("nan" in cell for row in table.rows for cell in row)
    (verdict,) = blocks(evaluation, found, Verdict)
    assert verdict.text == ("a and b: auc differs by +0.667; no test is possible: a class has fewer than two cases.")


# --- beside the matrix


def test_models_that_are_not_compared_with_each_other_stand_below_each_other():
    one = Comparison("nb in x", "nb in y", "delong, unpaired", "auc", 0.1, 0.02, 0.18, statistic=2.5, df=90.5, p=0.012)
    one = replace(one, value_a=0.8, value_b=0.7)
    found = Comparisons(("nb",), (one,), sides=("x", "y"))
    first, tests = view.grids(found)
    assert first.columns == ("model", "x", "y", "difference")
    assert first.rows == (("nb", "0.800", "0.700", "+0.100 [0.020, 0.180]*"),)
    assert first.caption == "First minus second with confidence interval; * marks p < 0.05."
    assert tests.columns == ("model", "test", "of", "statistic", "df", "p")
    assert tests.rows[0][0] == "nb"


def test_the_other_sample_is_named(decided):
    found = decided.compare_with(decided)
    (section,) = view.document(decided, found, decided).sections
    assert section.blocks[0] == Text("with arrays   6 cases   positive = 1 (3, 50.0 %)   negative = 0 (3)")


def test_posteriors_show_their_probabilities():
    one = bayes_correlated_t([0.02, 0.01, 0.04, 0.01], folds=4, names=("nb", "tree"), measure="auc")
    matrix, tests = view.grids(Comparisons(("nb", "tree"), (one,)))
    assert matrix.rows == (("nb", "+0.020"),)
    assert matrix.caption.endswith("* marks a difference beyond ±0.01 with probability above 0.95.")
    assert tests.columns == ("models", "test", "of", "P lower", "P within ±0.01", "P higher")
    assert tests.rows == (("nb, tree", "Bayesian correlated t", "auc", "0.035", "0.177", "0.789"),)


def test_stars_go_by_the_level():
    one = Comparison("a", "b", "delong", "auc", 0.1, 0.02, 0.18, level=0.8, p=0.15)
    grid = view.matrix_grid(Comparisons(("a", "b"), (one,)))
    assert grid.rows == (("a", "+0.100 [0.020, 0.180]*"),)
    assert grid.caption.endswith("* marks p < 0.2.")


def test_many_pairs_are_counted_and_few_told():
    names = ("a", "b", "c", "d")
    pairs = [(one, other) for k, one in enumerate(names) for other in names[k + 1 :]]
    found = [Comparison(*pair, "t", "auc", difference=0.1, p=0.001 if pair[0] == "a" else 0.9) for pair in pairs]
    many = Comparisons(names, tuple(found))
    assert view.summarise(many) == "3 of 6 pairs differ significantly (p < 0.05)."
    few = Comparisons(names[:2], tuple(found[:1]))
    assert view.summarise(few) == found[0].words
    first, tests, letters = view.grids(many, folded=True)
    assert letters.rows == (("a", "a"), ("b", "b"), ("c", "b"), ("d", "b"))
    assert (first.folded, tests.folded) == ("", "Tests")
    together = Comparison("a, b, c", "d", "t", "auc", p=0.001, several=True)
    assert view.test_grid(Comparisons(names, (together,))).rows[0][0] == "a, b, c, d"
    more = Comparison("a, b, c, d", "e", "t", "auc", p=0.001, several=True)
    assert view.test_grid(Comparisons((*names, "e"), (more,))).rows[0][0] == "5 models"


def evaluated(seed, **more):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 200)
    data = {"y": truth, "a": rng.normal(truth), "b": rng.normal(size=200)}
    return ss.evaluate(data, truth="y", **more)


def test_a_row_for_each_number(tmp_path):
    evaluated(1, scores=["a", "b"], measures="auc, ks").save(tmp_path / "e.json")
    now = evaluated(2, scores=["a", "b"], measures="auc, ks", baseline=tmp_path / "e.json")
    shown = grid(now.changes)
    assert shown.columns == ("model", "measure", "baseline", "now", "change", "p")
    assert [row[:2] for row in shown.rows] == [("a", "auc ↑"), ("a", "ks ↑"), ("b", "auc ↑"), ("b", "ks ↑")]
    assert [bool(row[-1]) for row in shown.rows] == [True, False, True, False]
    assert shown.caption.endswith(
        "two independent samples. p is adjusted by Holm's method over 2 tests; intervals are not adjusted."
    )
    alone = grid(evaluated(2, scores="a", measures="auc", baseline=tmp_path / "e.json").changes)
    assert alone.columns[0] == "measure"
    assert "adjusted" not in alone.caption


def test_what_cannot_be_said_has_its_reason(tmp_path):
    evaluated(1, scores="a", measures="auc", group=None).save(tmp_path / "e.json")
    now = evaluated(2, scores="a", measures="ppv@inf", baseline=tmp_path / "e.json")
    assert grid(now.changes).rows[0][1:] == ("–", "–", "– undefined: nothing is predicted positive")
