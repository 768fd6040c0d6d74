"""The declaration of a measure."""

import numpy as np
import pytest

from scorespace.errors import MeasureError
from scorespace.measures import find, measure, parse
from scorespace.measures.confusion import err, fbeta, prevalence, tpr
from scorespace.measures.measure import MEASURES
from scorespace.tables import Array, Counts, confusion


@pytest.fixture
def declared():
    @measure(title="Hits per miss", range=(0, float("inf")), best="high", undefined="nothing", aliases=("hpm",))
    def hits_per_miss(c: Counts, *, least: float = 0.0) -> Array:
        """Found positives for each one missed: TP / FN."""
        return np.maximum(c.tp / c.fn, least)

    yield hits_per_miss
    del MEASURES.nouns["hits_per_miss"]


def test_the_annotation_names_the_table(declared):
    assert declared.table is Counts


def test_keyword_parameters_are_options(declared):
    assert [(option.name, option.kind, option.default) for option in declared.options] == [("least", float, 0.0)]


def test_the_first_line_of_the_docstring_explains(declared):
    assert declared.summary == "Found positives for each one missed: TP / FN."


def test_a_declared_measure_is_in_the_catalogue(declared):
    assert find("hpm") is declared
    assert parse("hpm(least=2)@0.5").measure is declared


def test_a_scalar_comes_back_as_a_float():
    assert type(tpr(Counts(1, 2, 3, 4))) is float


def test_an_axis_comes_back_as_an_array():
    assert tpr(Counts([1, 2], [0, 0], [1, 0], [0, 0])).tolist() == [0.5, 1]


def test_a_measure_of_outcomes_takes_a_two_class_table():
    assert tpr(confusion([[6, 2], [1, 3]], classes=["p", "n"], positive="p")) == 0.75


@pytest.mark.parametrize(("which", "arrow"), [(tpr, "↑"), (err, "↓"), (prevalence, " ")])
def test_arrow_points_to_the_better(which, arrow):
    assert which.arrow == arrow


def test_unknown_options_are_refused():
    with pytest.raises(MeasureError) as caught:
        fbeta(Counts(1, 2, 3, 4), bet=2)
    assert str(caught.value) == "fbeta has no option 'bet'.\n  seen: its options: 'beta'\n  hint: did you mean beta?"


def test_options_of_a_measure_without_any():
    with pytest.raises(MeasureError) as caught:
        tpr(Counts(1, 2, 3, 4), beta=2)
    assert (
        str(caught.value) == "tpr has no option 'beta'.\n  seen: its options: none\n  hint: write tpr without options"
    )


def test_a_taken_name_is_refused():
    with pytest.raises(
        MeasureError, match=r"^the name 'recall' of measure mine is taken by tpr.\n  hint: another name$"
    ):

        @measure(title="Mine", range=(0, 1), best="high", undefined="never", aliases=("recall",))
        def mine(c: Counts) -> Array:
            """Mine: 1."""
            return np.ones_like(c.tp)


def test_the_first_parameter_must_be_a_table():
    with pytest.raises(TypeError, match="annotate the first"):

        @measure(title="Loose", range=(0, 1), best="high", undefined="never")
        def loose(c: "Counts | None") -> Array:
            """Loose: 1."""
            return np.ones(1)


def test_text_of_a_measure():
    assert repr(tpr).startswith("tpr: True positive rate. ")
    assert repr(tpr).endswith(": TP / (TP + FN).")
