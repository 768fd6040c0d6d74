"""What a test can be asked: differences, replicates and units of two models, two samples, or one and a value."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scorespace.comparisons.design import (
    Design,
    FixedValue,
    IndependentSamples,
    MultipleModels,
    PairedModels,
    has_decisions,
    model_of,
)
from scorespace.comparisons.result import ValueTest
from scorespace.errors import MeasureError
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.measures import parse
from scorespace.tables import confusion, score_table
from scorespace.tables.paired import pair_table

RNG = np.random.default_rng(4)
LABEL = np.array([1, 0, 0] * 12)
SHARED = LABEL + RNG.normal(size=36)
SCORES = {name: SHARED + 0.5 * RNG.normal(size=36) for name in "abc"}
PAIRS = pair_table(LABEL, SCORES)
GROUPED = pair_table(LABEL, SCORES, group=np.arange(36) // 4)
AUC = parse("auc")


def draws(pairs, replicates=40):
    return BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs, replicates=replicates)


def paired(pairs=PAIRS, spec=AUC, **named):
    return PairedModels(spec=spec, cases=pairs, draws=draws(pairs), models=("a", "b"), **named)


def area(name):
    pos, neg = SCORES[name][LABEL == 1], SCORES[name][LABEL == 0]
    return float((pos[:, None] > neg).mean())


def unpaired(**named):
    first, second = (BootstrapDraws({name: PAIRS.tables[k]}, replicates=40, seed=k) for k, name in enumerate("ab"))
    return IndependentSamples(**{"spec": AUC, "first": first, "second": second, "names": ("a in x", "b in y"), **named})


def against(value=0.5, table=PAIRS.tables[0], spec=AUC):
    return FixedValue(spec=spec, draws=BootstrapDraws({"a": table}, replicates=40), model="a", value=value)


def test_the_difference_is_of_the_measures():
    assert paired().difference == unpaired().difference == pytest.approx(area("a") - area("b"))
    assert against(0.25).difference == pytest.approx(area("a") - 0.25)


def test_between_which_numbers_a_difference_lies():
    assert (paired().range, unpaired().range, against(0.25).range) == ((-1, 1), (-1, 1), (-0.25, 0.75))
    assert paired(spec=parse("mcc@0.5")).range == (-2, 2)


def test_an_answer_begins_with_the_difference_alone():
    found = unpaired(level=0.9).answer("some test", reason="because")
    assert (found.a, found.b, found.test, found.measure) == ("a in x", "b in y", "some test", "auc")
    assert (found.difference, found.level, found.independent) == (pytest.approx(area("a") - area("b")), 0.9, True)
    assert (found.reason, math.isnan(found.p), math.isnan(found.low)) == ("because", True, True)
    one = against(0.25).answer("some test")
    assert (type(one), one.a, one.b, one.value) == (ValueTest, "a", "0.25", 0.25)
    # A measure that is infinite or undefined leaves no difference.
    perfect = score_table([1, 1, 0, 0], [4, 3, 2, 1])
    assert math.isnan(against(1.0, perfect, parse("lr_pos@3")).answer("t").difference)
    assert math.isnan(against(0.5, perfect, parse("ppv@9")).answer("t").difference)


def test_replicates_of_two_models_share_their_cases():
    design = paired(among=("a", "b", "c"))
    drawn = design.differences(30)
    kept = design.drawn(30)
    assert kept is design.drawn(30)  # all that are compared were drawn at once
    by_model = [kept.of(model, design.bound[0]) for model in "ab"]
    assert drawn.tolist() == (by_model[0] - by_model[1]).tolist()
    assert drawn.size == 30
    # Cases that both models share make their difference spread less than that of independent samples.
    assert paired().differences(400).std() < unpaired().differences(400).std()


def test_replicates_of_one_model_and_a_value():
    drawn = against(0.25).differences(30)
    assert drawn.size == 30
    assert np.allclose(drawn, against(0.0).differences(30) - 0.25)


def test_units_are_cases_or_groups_of_them():
    assert (paired().units, paired().fewest, paired().grouped) == (36, 12, False)
    assert (paired(GROUPED).units, paired(GROUPED).fewest, paired(GROUPED).grouped) == (9, 9, True)
    smaller = BootstrapDraws({"b": score_table([1, 0, 0], [3, 2, 1])})
    assert (unpaired(second=smaller).units, unpaired(second=smaller).fewest) == (3, 1)
    # Weights 1 and 3 are worth (1 + 3)² / (1 + 9) = 1.6 cases: one whole one.
    weighed = score_table([1, 1, 0, 0], [4, 3, 2, 1], weight=[1, 3, 2, 2])
    assert (against(table=weighed).weighted, against(table=weighed).fewest) == (True, 1)
    assert not against().weighted


def test_which_decisions_are_right():
    several = MultipleModels(spec=None, cases=PAIRS, draws=draws(PAIRS), models=("a", "b"), at={"a": 0.5, "b": 0.0})
    assert several.right("a").tolist() == ((SCORES["a"] >= 0.5) == LABEL).tolist()
    assert several.right("b").tolist() == ((SCORES["b"] >= 0.0) == LABEL).tolist()
    stated = replace(several, spec=parse("acc@0.5"))  # comes before the thresholds of the models
    assert stated.right("b").tolist() == ((SCORES["b"] >= 0.5) == LABEL).tolist()
    assert (several.pairs, several.tables, several.samples[0].pairs) == (PAIRS, PAIRS.tables[:2], PAIRS)


def test_decisions_have_no_measure():
    with pytest.raises(MeasureError) as caught:
        _ = paired(spec=None).bound
    assert str(caught.value) == 'this test compares decisions, not a measure.\n  hint: measure="auc"'
    assert [has_decisions(table) for table in (PAIRS.tables[0], confusion([[3, 1], [1, 3]], classes="ab"))] == [
        False,
        True,
    ]


def test_a_bare_question_is_about_nothing():
    bare = Design(spec=AUC)
    assert bare.pairs is None
    assert bare.samples == bare.tables == ()
    assert model_of(draws(PAIRS)) == "a"
