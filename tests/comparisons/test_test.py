"""Tests as declarations: what each suits, which is chosen, how it is written, and one of a third party."""

import itertools
import re
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
from scipy import stats

import scorespace.comparisons.test as declaration
from scorespace.comparisons.design import PairedModels
from scorespace.comparisons.paired import compare
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import TESTS, ChosenTest, Discouraged, parse_test
from scorespace.errors import ScoreSpaceError
from scorespace.measures import parse
from scorespace.registry import Call
from scorespace.tables.paired import PairTable, pair_table
from scorespace.tables.table import Table

NAMES = [kind.name for kind in TESTS]


def sample(group=None, size=120):
    rng = np.random.default_rng(1)
    label = (rng.random(size) < 0.4).astype(int)
    shared = rng.normal(size=size) + label
    return pair_table(label, {name: shared + rng.normal(size=size) for name in "ab"}, group=group)


# --- how it is written


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("delong", "delong"),
        ("mcnemar-exact", "mcnemar(method=exact)"),
        ("mcnemar(method=midp)", "mcnemar(method=midp)"),
        ("corrected-t", "corrected_t"),
        ("5x2cv-f", "five_by_two_f"),
        ("5x2-t", "five_by_two_t"),
        ("bayes-t", "bayes_t"),
        ("bayes_t(rope=0.02)", "bayes_t(rope=0.02)"),
        ("Bootstrap(replicates=5000)", "bootstrap(replicates=5000)"),
    ],
)
def test_one_grammar_and_the_older_spellings(written, meant):
    assert str(parse_test(written)) == meant
    assert str(parse_test(meant)) == meant


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("mcnemar(method=exactly)", "method=exactly in 'mcnemar(method=exactly)' is unknown."),
        ("bootstrap(replicates=many)", "replicates=many in 'bootstrap(replicates=many)' is not a number."),
        ("delong(replicates=10)", "delong has no option 'replicates'.\n  seen: its options: 'reference'"),
    ],
)
def test_options_that_a_test_lacks_are_refused(written, message):
    with pytest.raises(ScoreSpaceError, match=re.escape(message)):
        parse_test(written)


@pytest.mark.parametrize("name", NAMES)
def test_every_test_says_what_it_is(name):
    kind = TESTS.find(name)
    assert kind.title
    assert kind.for_
    assert kind.summary.endswith(".")
    assert all(option.about for option in kind.options)
    assert all(rule.__doc__ for form in kind.forms.values() for rule in form.suits)
    assert TESTS.find(name.replace("_", "-")) is kind


def test_the_first_parameter_names_the_question():
    with pytest.raises(TypeError, match="design it supports"):
        declaration.test(title="t", for_="nothing")(lambda design: None)


# --- which is chosen


@pytest.mark.parametrize(
    ("spec", "at", "grouped", "test", "measure"),
    [
        (None, None, False, "delong", "auc"),
        ("auc", None, False, "delong", "auc"),
        ("gini", None, False, "delong", "gini"),
        ("auc", None, True, "bootstrap of groups", "auc"),
        (None, None, True, "bootstrap of groups", "auc"),
        ("pauc(fpr_high=0.2)", None, False, "bootstrap", "pauc(fpr_high=0.2)"),
        ("f1@0.3", None, False, "bootstrap", "f1@0.3"),
        ("acc@0.3", None, False, "mcnemar, corrected", "acc@0.3"),
        (None, 0.5, False, "mcnemar, corrected", "acc"),
    ],
)
def test_the_test_suits_the_question(spec, at, grouped, test, measure):
    pairs = sample(group=np.arange(120) // 3 if grouped else None)
    (found,) = compare(pairs, spec=spec and parse(spec), at=at)
    assert (found.test, found.measure) == (test, measure)


@pytest.mark.parametrize(
    ("test", "label"),
    [
        ("delong", "delong"),
        ("bootstrap", "bootstrap"),
        ("permutation(null=exchangeable)", "permutation"),
        ("mcnemar", "mcnemar, corrected"),
        ("mcnemar(method=exact)", "mcnemar, exact"),
        ("mcnemar-midp", "mcnemar, midp"),
        ("mcnemar-uncorrected", "mcnemar, uncorrected"),
    ],
)
def test_a_named_test_is_used(test, label):
    (found,) = compare(sample(), test=test, at=0.5 if "mcnemar" in test else None)
    assert found.test == label


def test_general_tests_come_last():
    assert [kind.general for kind in declaration.tests_in_order()] == sorted(kind.general for kind in TESTS)


def test_doubts_are_told_where_they_made_the_choice():
    doubt = Discouraged("too few", "SS001")
    chosen = ChosenTest(Call(TESTS.find("permutation")), (doubt, Discouraged("folds")), stated=False)
    assert [note.text for note in chosen.notes] == ["too few; the permutation test is used instead."]
    assert chosen.reason == "too few"
    stated = ChosenTest(Call(TESTS.find("delong")), (doubt,))
    assert [note.text for note in stated.notes] == ["too few."]
    assert stated.reason is None


def test_level_reaches_every_interval():
    wide, narrow = (compare(sample(), level=level)[0] for level in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (wide.level, wide.p) == (0.99, narrow.p)


# --- a test of a third party, for a table of its own


@dataclass(frozen=True, eq=False)
class Residuals(Table):
    """Errors of predictions, each in a cell of its own."""

    error: np.ndarray
    weight: np.ndarray

    def described(self):
        return "residuals"

    @property
    def cells(self):
        return self.weight

    @property
    def strata(self):
        return np.zeros(self.error.size, dtype=np.intp)

    def with_cells(self, cells):
        return Residuals(self.error, cells)

    def __add__(self, other):
        return Residuals(np.append(self.error, other.error), np.append(self.weight, other.weight))


@pytest.fixture
def signs():
    """A sign test of residuals, declared for the time of a test."""

    @declaration.test(title="Sign test", for_="which model is nearer more often", name="signs_of_residuals")
    def signs_of_residuals(
        design: PairedModels[Residuals], *, margin: Annotated[float, "errors within it are equal"] = 0.0
    ) -> Comparison:
        """Share of cases on which the first model is nearer, less one half."""
        pairs = design.cases
        a, b = (np.abs(t.error[c]) for t, c in zip(pairs.tables, pairs.cell, strict=True))
        share = float((a + margin < b).mean())
        return Comparison(*design.names, "signs", "nearer", share - 0.5, level=design.level, p=0.5)

    yield signs_of_residuals
    del TESTS.nouns["signs_of_residuals"]


def residuals(size=30):
    rng = np.random.default_rng(3)
    tables = tuple(Residuals(scale * rng.normal(size=size), np.ones(size)) for scale in (1, 3))
    cell = np.tile(np.arange(size, dtype=np.int32), (2, 1))
    return PairTable(("near", "far"), tables, cell, np.zeros(size, dtype=np.uint8), (), None)


def test_a_test_for_a_table_of_ones_own_is_the_default_there(signs, toll):
    found = compare(residuals())
    assert found[0].test == "signs"
    assert found[0].difference > 0
    assert compare(residuals(), test="signs_of_residuals(margin=100)")[0].difference == -0.5


def test_it_is_refused_for_other_tables(signs):
    with pytest.raises(ScoreSpaceError) as caught:
        compare(sample(), test="signs_of_residuals")
    assert str(caught.value).startswith("signs_of_residuals needs a Residuals, and this is a score table.")
    assert compare(sample())[0].test == "delong"


@pytest.fixture
def toll():
    """A measure of residuals."""
    from scorespace.measures.measure import MEASURES, measure

    @measure(title="Mean absolute error", range=(0, np.inf), best="low", undefined="there are no cases")
    def toll_of_residuals(table: Residuals):
        """Mean of |error|."""
        return (table.cells * np.abs(table.error)).sum(axis=-1) / table.cells.sum(axis=-1)

    yield toll_of_residuals
    del MEASURES.nouns["toll_of_residuals"]


def test_any_table_is_drawn_again(toll):
    pairs = residuals()
    (found,) = compare(pairs, test="bootstrap")
    means = [np.abs(table.error).mean() for table in pairs.tables]
    assert (found.measure, found.difference) == ("toll_of_residuals", pytest.approx(means[0] - means[1]))
    assert found.low < found.difference < found.high < 0


# --- one direction alone


def requires_two_sided(**asked):
    pairs = asked.pop("pairs", None) or sample()
    sides = ("two-sided", "greater", "less")
    return [compare(pairs, alternative=side, **asked)[0] for side in sides]


def test_one_sided_delong_is_the_upper_tail_of_its_z():
    found, greater, less = requires_two_sided(test="delong")
    assert greater.p == pytest.approx(stats.norm.sf(found.statistic))
    assert less.p == pytest.approx(stats.norm.cdf(found.statistic))
    assert (greater.low, greater.high) == (found.low, found.high)  # the interval stays two-sided


@pytest.mark.parametrize(
    ("method", "tail"),
    [
        ("midp", lambda a, n: stats.binom.sf(a, n, 0.5) + stats.binom.pmf(a, n, 0.5) / 2),
        ("corrected", lambda a, n: stats.norm.sf((2 * a - n - 1) / np.sqrt(n))),
        ("uncorrected", lambda a, n: stats.norm.sf((2 * a - n) / np.sqrt(n))),
    ],
)
def test_one_sided_mcnemar_is_a_tail(method, tail):
    label = np.ones(60, dtype=int)
    right = {"a": np.repeat([1, 1, 0, 0], [30, 14, 6, 10]), "b": np.repeat([1, 0, 1, 0], [30, 14, 6, 10])}
    pairs = pair_table(np.append(label, 0), {name: np.append(one, 0) for name, one in right.items()})
    _, greater, less = requires_two_sided(pairs=pairs, test=f"mcnemar(method={method})", at=0.5)
    assert greater.p == pytest.approx(tail(14, 20))
    assert less.p == pytest.approx(1 - greater.p)


def test_one_sided_permutation_counts_all_swaps():
    label, rng = np.array([1, 0] * 5), np.random.default_rng(3)
    scores = {name: np.round(rng.random(10), 2) for name in "ab"}
    spec = parse("acc@0.5")
    greater = compare(pair_table(label, scores), test="permutation", spec=spec, alternative="greater")[0]
    right = ((np.stack(list(scores.values())) >= 0.5) == label).astype(int)
    gap = right[0] - right[1]
    signs = np.array(list(itertools.product([1, -1], repeat=10)))
    assert greater.difference == pytest.approx(gap.sum() / 10)
    assert greater.p == pytest.approx((signs @ gap >= gap.sum()).mean())
    less = compare(pair_table(label, scores), test="permutation", spec=spec, alternative="less")[0]
    assert less.p == pytest.approx((signs @ gap <= gap.sum()).mean())


def test_one_sided_tests_keep_their_size():
    rng, below = np.random.default_rng(11), np.zeros(2)
    for _ in range(400):
        label = np.repeat([1, 0], [40, 60])
        shared = rng.normal(size=100) + label
        pairs = pair_table(label, {name: shared + rng.normal(size=100) for name in "ab"})
        below += [compare(pairs, test="delong", alternative=side)[0].p < 0.05 for side in ("greater", "less")]
    assert (below / 400 <= 0.08).all()
    assert (below / 400 >= 0.02).all()


def test_a_test_without_direction_refuses_one():
    fold = np.arange(120, dtype=np.int32) % 10
    pairs = replace(sample(), fold=fold)
    with pytest.raises(ScoreSpaceError) as caught:
        compare(pairs, test="bayes_t", alternative="less")
    assert str(caught.value) == (
        "Bayesian correlated t-test returns the probability of each side and takes no alternative='less'.\n"
        "  hint: omit it and read P lower"
    )
    with pytest.raises(ScoreSpaceError, match="alternative='more'"):
        compare(pairs, alternative="more")
    assert compare(pairs, test="corrected_t", alternative="less")[0].alternative == "less"


def test_five_times_two_folds_in_one_direction():
    rng = np.random.default_rng(12)
    label = np.tile([1, 0, 0], 100)
    scores = {name: label + rng.normal(0, 1.5, 300) for name in "ab"}
    fold, repeat = np.arange(300, dtype=np.int32) // 30 % 2, np.arange(300, dtype=np.int32) // 60
    pairs = replace(pair_table(label, scores), fold=fold, repeat=repeat)
    both, *sides = (compare(pairs, test="5x2cv_t", alternative=side)[0] for side in ("two-sided", "greater", "less"))
    assert [one.p for one in sides] == pytest.approx([stats.t.sf(both.statistic, 5), stats.t.cdf(both.statistic, 5)])
    assert [one.alternative for one in sides] == ["greater", "less"]
    assert "one-sided: a less" in sides[1].words
    with pytest.raises(ScoreSpaceError) as caught:
        compare(pairs, test="5x2cv_f", alternative="less")
    assert str(caught.value) == (
        "5×2cv F-test uses squared differences, which have no sign, so alternative='less' is not possible.\n"
        "  hint: omit alternative, or use a test of signed differences"
    )


def test_what_is_no_test_for_a_question_is_told_before_its_sides():
    with pytest.raises(ScoreSpaceError, match="bayes_t compares folds, but"):
        compare(sample(), test="bayes_t", alternative="less")


def test_several_models_at_once_have_no_direction():
    rng = np.random.default_rng(5)
    pairs = pair_table([1, 0] * 40, {name: rng.normal(size=80) for name in "abc"})
    assert [one.several for one in compare(pairs)] == [True, False, False, False]
    assert [one.several for one in compare(pairs, alternative="greater")] == [False, False, False]
