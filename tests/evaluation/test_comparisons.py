"""Comparisons through an evaluation: the test that suits its models, other samples, values."""

import math
import re

import numpy as np
import pytest

import scorespace as ss
from oracles.load import columns, reference
from scorespace.comparisons.multiple_testing import holm
from scorespace.comparisons.unpaired import compare_samples
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.comparisons import oriented
from scorespace.tables import score_table


def data(**more):
    """Columns for `evaluate`: two scores, two decisions."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    a, b = (1 / (1 + np.exp(-(y + rng.normal(size=60)))) for _ in "ab")
    return {"y": y, "a": a, "b": b, "d": (a > 0.6).astype(int), "e": (b > 0.4).astype(int), **more}


def drawn(seed, size=150, gap=1.0):
    rng = np.random.default_rng(seed)
    label = (rng.random(size) < 0.4).astype(int)
    return label, label * gap + rng.normal(size=size)


def table(seed, **named):
    return score_table(*drawn(seed, **named))


def asah(**named):
    given = {name: values for name, values in columns("asah").items() if name in ("outcome", "s100b", "ndka")}
    return ss.evaluate(given, truth="outcome", scores=["s100b", "ndka"], positive="Poor", **named)


def test_evaluation_gives_the_numbers_of_proc():
    theirs = reference("proc_asah")["paired_tests"][0]
    (found,) = asah().compare()
    assert (found.test, found.a, found.b) == ("delong", "s100b", "ndka")
    assert (found.statistic, found.p) == pytest.approx((theirs["delong_Z"], theirs["delong_p"]), abs=1e-9)


def test_several_measures_are_adjusted_together_and_carry_their_values():
    asked = asah()
    names = ["auc", "ks", "f1@0.3"]
    alone = [asked.compare(measure=name)[0] for name in names]
    together = asked.compare(measure="auc, ks, f1@0.3")
    assert [one.of for one in together] == names
    assert [one.p for one in together] == [one.p for one in alone]
    assert [one.p_adjusted for one in together] == pytest.approx(holm([one.p for one in alone]).tolist())
    assert together.to_dict()["adjustment"] == "holm"
    values = {one.model: one.value for one in asked.measures("f1@0.3")}
    row = together.rows()[2]
    assert (row["measure"], row["value_a"], row["value_b"]) == ("f1@0.3", values["s100b"], values["ndka"])
    fixed = asked.compare_against(0.5, measure=["auc", "f1@0.3"])
    assert [(one.a, one.of, one.value_b) for one in fixed] == [
        (model, name, 0.5) for name in ("auc", "f1@0.3") for model in ("s100b", "ndka")
    ]


def test_a_notebook_shows_what_the_terminal_does():
    found = asah().compare()
    page = found._repr_html_()
    assert f'<p class="verdict">{found.words.replace("<", "&lt;")}</p>' in page
    assert "<th>row − column</th>" in page
    assert "<th>alternative</th>" not in page
    assert max(row.count("<td>") for row in page.split("</tr>")) < 8


def test_level_and_seed_are_those_of_the_evaluation():
    first, again, other = (asah(level=0.9, seed=seed).compare(measure="ks")[0] for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first.level == 0.9


@pytest.mark.parametrize(
    ("roles", "named", "tests"),
    [
        ({"scores": ["a", "b"]}, {}, ["delong"]),
        ({"scores": ["a", "b"]}, {"at": 0.5}, ["mcnemar"]),
        ({"decisions": ["d", "e"]}, {}, ["mcnemar"]),
        ({"scores": "a", "decisions": "d"}, {}, ["mcnemar"]),
        ({"scores": ["a", "b"]}, {"test": "mcnemar-exact"}, ["mcnemar, exact"]),
        ({"scores": ["a", "b"]}, {"measure": "ks"}, ["bootstrap"]),
        ({"decisions": ["d", "e"]}, {"measure": "f1@0.5"}, ["bootstrap"]),
    ],
)
def test_evaluation_chooses_the_test(roles, named, tests):
    found = ss.evaluate(data(), truth="y", **roles).compare(**named)
    assert [re.sub(", (corrected|midp)$", "", one.test) for one in found] == tests


def test_decisions_are_right_where_they_equal_the_truth():
    given = data()
    (found,) = ss.evaluate(given, truth="y", decisions=["d", "e"]).compare()
    right = [given[name] == given["y"] for name in "de"]
    assert found.table[0][1] == (right[0] & ~right[1]).sum()
    assert found.table[1][0] == (right[1] & ~right[0]).sum()
    assert found.difference == pytest.approx(right[0].mean() - right[1].mean())


def test_scores_beside_decisions_are_cut_at_the_threshold_stated():
    given = data()
    (found,) = ss.evaluate(given, truth="y", scores="a", decisions="e").compare(at=0.7)
    right = [(given["a"] >= 0.7) == given["y"], given["e"] == given["y"]]
    assert found.difference == pytest.approx(right[0].mean() - right[1].mean())


def test_named_models_only():
    found = ss.evaluate(data(), truth="y", scores=["a", "b"], decisions=["d", "e"]).compare("b", "a")
    assert [(one.a, one.b, one.test) for one in found] == [("b", "a", "delong")]


def test_an_unknown_model_gets_a_suggestion():
    with pytest.raises(ScoreSpaceError, match="did you mean 's100b'"):
        asah().compare("s100", "ndka")


@pytest.mark.parametrize("why", ["paired=False", "tables"])
def test_what_cannot_be_compared_says_so(why):
    evaluation = ss.evaluate(dict(asah().models)) if why == "tables" else asah(paired=False)
    with pytest.raises(ScoreSpaceError) as caught:
        evaluation.compare()
    assert str(caught.value) == (
        "these models cannot be compared case by case.\n  seen: tables, or more rows than are kept\n  hint: paired=True"
    )


def test_weighted_cases_are_drawn():
    evaluation = ss.evaluate(data(w=np.arange(60) % 3 + 1), truth="y", scores=["a", "b"], weight="w")
    assert evaluation.compare()[0].test == "bootstrap"
    with pytest.raises(ScoreSpaceError, match=r"DeLong's test .*weighted"):
        evaluation.compare(test="delong")


def test_scores_that_are_no_probabilities_need_a_threshold_to_be_decisions():
    # McNemar's test at cuts chosen on the same cases rejects 46 % of true nulls.
    with pytest.raises(ScoreSpaceError, match=r"state the threshold: at=0\.5"):
        asah().compare(test="mcnemar")


def test_raw_scores_beside_decisions_are_compared_by_rank():
    given = data(raw=10 * data()["a"])
    assert ss.evaluate(given, truth="y", scores="raw", decisions="e").compare()[0].measure == "auc"


def test_one_model_alone_is_told_that_a_comparison_needs_two():
    with pytest.raises(ScoreSpaceError, match=r"a comparison needs two models\.\n  seen: 'a'"):
        ss.evaluate(data(), truth="y", scores="a").compare()


@pytest.mark.parametrize(
    "named",
    [
        {"at": 0.5, "measure": "f1"},
        {"test": "mcnemar", "measure": "f1@0.5"},
        {"at": 0.5, "test": "bootstrap"},
        {"at": 0.5, "test": "permutation"},
        {"at": 0.5, "test": "delong"},
    ],
    ids=lambda named: " ".join(f"{key}={value}" for key, value in named.items()),
)
def test_what_was_asked_is_what_is_tested(named):
    # A measure or a threshold that the test leaves out must be refused, and not be overlooked.
    evaluation = ss.evaluate(data(), truth="y", scores=["a", "b"])
    try:
        (found,) = evaluation.compare(**named)
    except ScoreSpaceError:
        return
    asked = named.get("measure", "@").split("@")[0]
    assert "@0.5" in found.measure
    assert found.measure.startswith(asked)


# --- other samples and values


def evaluation(seed, name="a"):
    label, score = drawn(seed)
    return ss.evaluate({"y": label, name: score}, truth="y", scores=name)


def test_evaluations_are_compared_model_by_model():
    (found,) = evaluation(1).compare_with(evaluation(2))
    expected = compare_samples(table(1), table(2))
    assert (found.statistic, found.df, found.p) == (expected.statistic, expected.df, expected.p)
    assert (found.a, found.b) == ("a in the first sample", "a in the second sample")


def test_groups_of_an_evaluation_are_drawn():
    label, score = drawn(1)
    data = {"y": label, "a": score, "g": np.arange(label.size) // 3}
    grouped = ss.evaluate(data, truth="y", scores="a", group="g")
    found = grouped.compare_with(evaluation(2))
    assert found[0].test == "bootstrap of groups, unpaired"
    assert [note.code for note in found.notes] == ["SS016"]
    assert grouped.compare_against(0.5)[0].test == "bootstrap of groups"


def test_the_other_sample_must_have_the_models():
    with pytest.raises(ScoreSpaceError, match="'a' in arrays"):
        evaluation(1).compare_with(evaluation(2, "b"))


def test_the_other_sample_must_have_the_same_positive_class():
    label, score = drawn(1)
    turned = ss.evaluate({"y": label, "a": score}, truth="y", scores="a", positive=0)
    with pytest.raises(ScoreSpaceError, match="different positive classes"):
        evaluation(1).compare_with(turned)


def test_dropped_rows_are_noted():
    label, score = drawn(1)
    gaps = {"y": label, "a": np.where(np.arange(label.size) < 3, np.nan, score), "b": score[::-1]}
    found = ss.evaluate(gaps, truth="y", scores=["a", "b"], missing="drop")
    for tested in (found.compare(), found.compare_with(found), found.compare_against(0.5)):
        assert "SS009" in [note.code for note in tested.notes]


# --- the column of differences


def test_evaluate_and_compare_give_one_answer():
    for named in ({}, {"fold": "f"}, {"group": "g"}):
        given = data(f=np.arange(60) % 5, g=np.arange(60) // 2)
        evaluation = ss.evaluate(given, truth="y", scores=["a", "b"], **named)
        first, *others = evaluation.differences.values()
        assert first == evaluation.compare(measure=first.measure)[0]
        assert all(math.isnan(one.p) and one.reason.startswith("interval only") for one in others)


def test_decisions_are_tested_by_mcnemar_in_both():
    evaluation = ss.evaluate(data(), truth="y", decisions=["d", "e"])
    shown, tested = evaluation.differences["acc"], evaluation.compare()[0]
    assert (shown.difference, shown.low, shown.high) == (tested.difference, tested.low, tested.high)


def test_one_measure_has_one_interval_whoever_asks():
    evaluation = ss.evaluate(data(), truth="y", scores=["a", "b"])
    for measure in ("auc", "tpr@0.5", "brier", "mcc@0.5"):
        shown = evaluation.measures(measure, model="a")[0]
        against = evaluation.compare_against(0.5, "a", measure=measure)[0]
        assert (against.low + 0.5, against.high + 0.5) == pytest.approx((shown.low, shown.high), abs=1e-12)
        assert against.test == shown.method


# --- a stated threshold comes before every default


def _accuracies(given, at):
    """The share of right decisions of a and b at a threshold, and McNemar's corrected statistic."""
    right = [(given[name] >= at) == given["y"] for name in "ab"]
    only_a, only_b = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    statistic = (abs(only_a - only_b) - 1) ** 2 / (only_a + only_b)
    return right[0].mean() - right[1].mean(), statistic


def probabilities(size=400):
    rng = np.random.default_rng(7)
    y = (rng.random(size) < 0.4).astype(int)
    a, b = (1 / (1 + np.exp(-(gap * y + rng.normal(size=size) - shift))) for gap, shift in ((2.0, 0.3), (1.0, 0.9)))
    return {"y": y, "a": a, "b": b, "part": np.where(np.arange(size) % 2, "odd", "even")}


def test_a_stated_threshold_decides_in_every_comparison():
    given = probabilities()
    at_three, at_half = _accuracies(given, 0.3), _accuracies(given, 0.5)
    assert abs(at_three[0] - at_half[0]) > 0.01  # else this tells nothing
    ev = ss.evaluate(given, truth="y", scores=["a", "b"], measures="acc@0.3", paired=True)
    compared = ev.compare(measure="acc@0.3")[0]
    assert compared.difference == pytest.approx(at_three[0])
    assert compared.statistic == pytest.approx(at_three[1])
    assert ev.differences["acc@0.3"].difference == pytest.approx(at_three[0])
    assert ev.compare(at=0.3)[0].difference == pytest.approx(at_three[0])
    # the evaluation was asked at 0.3, so decisions are made there, too
    assert ev.compare(test="mcnemar")[0].difference == pytest.approx(at_three[0])
    assert ev.compare(measure="acc@0.5")[0].difference == pytest.approx(at_half[0])
    plain = ss.evaluate(given, truth="y", scores=["a", "b"], paired=True)
    assert plain.compare(test="mcnemar")[0].difference == pytest.approx(at_half[0])
    assert plain.compare(test="mcnemar", measure="acc@0.3")[0].statistic == pytest.approx(at_three[1])


@pytest.mark.parametrize("measure", ["acc@0.3", "f1@0.7", "tpr@0.2", "ppv@top30%", "acc@top20%", "fpr@0.45"])
def test_the_difference_of_a_comparison_is_that_of_the_values(measure):
    ev = ss.evaluate(probabilities(), truth="y", scores=["a", "b"], measures=measure, paired=True, by="part")
    a, b = (one.value for one in ev.summary)
    assert ev.compare(measure=measure)[0].difference == pytest.approx(a - b)
    assert ev.differences[measure].difference == pytest.approx(a - b)


def test_the_cases_decided_differently_are_counted_at_the_operating_point():
    # At 0.5 the models decide all cases alike; among the four highest scores they differ.
    y = np.tile([1, 0], 30)
    a, b = np.linspace(0.51, 0.99, 60), np.linspace(0.51, 0.99, 60)[::-1]
    ev = ss.evaluate({"y": y, "a": a, "b": b}, truth="y", scores=["a", "b"], paired=True)
    found = ev.compare(measure="tpr@top4")
    assert any(note.code == "SS001" and note.text.startswith("8 ") for note in found.notes)


def test_models_are_compared_by_four_counts():
    found = ss.compare_counts(20, 40, 20, 120, names=("first", "second"))[0]
    assert (found.a, found.b) == ("first", "second")
    assert found.difference == pytest.approx((40 - 20) / 200)  # the first alone is right on n01
    assert found.statistic == pytest.approx(19**2 / 60)
    assert found.table == ((120, 40), (20, 20))


@pytest.mark.parametrize("counts", [(1, 2, 3, -4), (0, 0, 0, 0)])
def test_four_counts_that_are_none(counts):
    with pytest.raises(ScoreSpaceError, match="four counts"):
        ss.compare_counts(*counts)


def test_two_models_have_two_names():
    with pytest.raises(ScoreSpaceError, match="do not name"):
        ss.compare_counts(1, 2, 3, 4, names=("a", "a"))


def test_a_comparison_turned_round_has_the_opposite_difference_and_limits():
    rows = {"y": [0, 1] * 30, "a": [k % 17 / 17 for k in range(60)], "b": [k % 11 / 11 for k in range(60)]}
    one = ss.evaluate(rows, truth="y", scores=["a", "b"]).compare(measure="auc")[0]
    turned = oriented(one, one.b)
    assert (turned.a, turned.b, turned.difference) == (one.b, one.a, -one.difference)
    assert (turned.low, turned.high, turned.p) == (-one.high, -one.low, one.p)
