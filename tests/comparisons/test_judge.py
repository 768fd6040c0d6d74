"""A judge against people: the authors' notebook, scikit-learn, brute force, and bad input."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from sklearn.metrics import cohen_kappa_score

import scorespace as ss
from oracles.load import reference
from scorespace.agreement.raters import rater_agreement
from scorespace.comparisons.judge import AlternativeAnnotator, JudgeAgainstPeople, alt_test
from scorespace.comparisons.margin import Margin
from scorespace.comparisons.multiple_testing import benjamini_yekutieli
from scorespace.errors import DataError, ScoreSpaceError, WeightError
from scorespace.tables.ratings import rating_table

CASE = next(case for case in reference("trades") if case["topic"] == "judge against humans")
RATINGS = {f"h{k}": labels for k, labels in enumerate(CASE["inputs"]["humans"])} | {"llm": CASE["inputs"]["judge"]}
EXPECTED = CASE["expected"]


def judged(ratings=RATINGS, **options):
    return rater_agreement(ratings, judges=["llm"], **options).judged


def test_the_notebook_of_the_authors():
    *_, found = judged(epsilon=CASE["inputs"]["epsilon"])
    assert isinstance(found, AlternativeAnnotator)
    assert [one.p for one in found.people] == pytest.approx(EXPECTED["p"])
    assert found.winning_rate == pytest.approx(EXPECTED["winning_rate"])
    assert found.value_a == pytest.approx(EXPECTED["advantage"])
    assert not found.is_significant
    assert "does not pass" in found.words


def test_differences_of_kappa_are_scikit_learns():
    kappa, *_ = judged()
    assert (kappa.a, kappa.b, kappa.alternative) == ("llm", "people", "less")
    assert kappa.value_a == pytest.approx(EXPECTED["kappa_judge_human"])
    assert kappa.value_b == pytest.approx(EXPECTED["kappa_human_human"])
    assert kappa.difference == pytest.approx(EXPECTED["difference"])
    assert kappa.low < kappa.difference < kappa.high
    assert kappa.df == 39


def test_the_spread_is_that_of_resampled_items():
    kappa = judged()[0]
    rng, labels = np.random.default_rng(3), np.array(list(RATINGS.values()))
    drawn = []
    for _ in range(400):
        *people, judge = labels[:, rng.integers(0, 40, 40)]
        pairs = [cohen_kappa_score(people[a], people[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
        drawn.append(np.mean([cohen_kappa_score(one, judge) for one in people]) - np.mean(pairs))
    assert kappa.difference / kappa.statistic == pytest.approx(np.std(drawn, ddof=1), rel=0.12)


def test_a_margin_shifts_the_test():
    plain, near = judged()[0], judged(margin=Margin(0.05))[0]
    se = plain.difference / plain.statistic
    from scipy.stats import t

    assert near.p == pytest.approx(t.sf((plain.difference + 0.05) / se, 39))
    assert near.is_significant == (plain.low > -0.05)


def test_gaps_leave_out_the_rating_alone():
    gaps = {name: list(labels) for name, labels in RATINGS.items()}
    gaps["h0"][:5] = [None] * 5
    kappa, *_, found = judged(gaps, epsilon=0.2)
    pairs = [("h0", "h1", 5), ("h0", "h2", 5), ("h1", "h2", 0)]
    theirs = [cohen_kappa_score(RATINGS[a][start:], RATINGS[b][start:]) for a, b, start in pairs]
    assert kappa.value_b == pytest.approx(np.mean(theirs))
    assert [one.df for one in found.people] == [34, 39, 39]


def test_numbers_agree_by_their_distance():
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 60)
    ratings = {f"h{k}": np.clip(truth + rng.integers(-1, 2, 60), 1, 5).tolist() for k in range(3)}
    ratings["llm"] = np.clip(truth + rng.integers(-1, 2, 60), 1, 5).tolist()
    *_, found = judged(ratings, epsilon=0.1, order=[1, 2, 3, 4, 5])
    people, judge = np.array([ratings[f"h{k}"] for k in range(3)]), np.array(ratings["llm"])
    for j, one in enumerate(found.people):
        rest = np.delete(people, j, axis=0)
        of_judge, of_person = (-np.sqrt(((x - rest) ** 2).mean(axis=0)) for x in (judge, people[j]))
        assert one.value_a == pytest.approx((of_judge >= of_person).mean())
        assert one.value_b == pytest.approx((of_person >= of_judge).mean())


def test_false_discoveries_are_scipys():
    p = [0.01, 0.2, 0.03, 0.5, 0.004]
    assert benjamini_yekutieli(p) == pytest.approx(false_discovery_control(p, method="by"))


def test_several_judges_are_adjusted_and_no_people():
    both = RATINGS | {"other": RATINGS["llm"][::-1]}
    found = rater_agreement(both, judges=["llm", "other"])
    kappas = [one for one in found.judged if one.measure == "rater_kappa"]
    assert kappas[0].difference == pytest.approx(EXPECTED["difference"])  # the other judge is no person
    assert kappas[1].p_adjusted == pytest.approx(min(1, 2 * kappas[1].p))
    assert [note.code for note in found.notes] == ["SS015", "SS160"]


def test_undefined_with_a_reason():
    same = {"h0": ["a"] * 40, "h1": ["a"] * 40, "llm": ["a"] * 39 + ["b"]}
    kappa, *_, agreed = judged(same)
    assert np.isnan(kappa.difference)
    assert "all ratings are the same class" in kappa.reason
    assert agreed.difference == pytest.approx(-1 / 40)
    *_, found = judged({name: labels[:20] for name, labels in RATINGS.items()}, epsilon=0.1)
    assert "no person has 30 instances" in found.words
    apart = {"h0": ["a", "b", None, None], "h1": [None, None, "a", "b"], "llm": ["a", "b", "a", "b"]}
    assert judged(apart)[0].reason == "no two people rated an instance in common"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"judges": ["gpt"]}, DataError, "compare=gpt is not a rater"),
        ({"judges": ["llm", "llm"]}, DataError, "named twice"),
        ({"judges": ["llm", "h0", "h1"]}, DataError, "at least two people"),
        ({"margin": Margin(0.1)}, ScoreSpaceError, "margin is for a judge"),
        ({"epsilon": 0.1}, ScoreSpaceError, "epsilon is for a judge"),
        ({"judges": ["llm"], "epsilon": 1.5}, ScoreSpaceError, "needs epsilon, a share"),
        ({"judges": ["llm"], "epsilon": 0.1, "weight": [2.0] * 40}, WeightError, "takes no weights"),
    ],
)
def test_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        rater_agreement(RATINGS, **options)


def test_numeric_needs_numbers():
    table = rating_table({name: [f"c{label}" for label in labels] for name, labels in RATINGS.items()})
    design = JudgeAgainstPeople(spec=None, ratings=table, judge="llm")
    with pytest.raises(DataError, match="numeric classes"):
        alt_test(design, epsilon=0.1, metric="numeric")


def test_python_takes_a_list_of_columns():
    found = ss.agree(RATINGS, raters=["h0", "h1", "h2", "llm"], compare="llm", margin=0.1, epsilon=0.1)
    rows = [row for row in found.rows() if row.get("test") == "alt_test"]
    assert [row["b"] for row in rows] == ["people", "h0", "h1", "h2"]
    assert rows[0]["winning_rate"] == pytest.approx(1 / 3)
    with pytest.raises(DataError, match="compare is for raters without scores"):
        ss.agree({"a": [1, 0], "s": [0.1, 0.9]}, raters={"A": ("a", "s"), "B": ("a", "s")}, compare="A")
