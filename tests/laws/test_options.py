"""Every declared noun: its options are described, and what is written of it reads back."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.curves import CURVES
from scorespace.evaluation.curves import kinds
from scorespace.inference.bands import band
from scorespace.measures import measures
from scorespace.registry import Call

NOUNS = [*measures(), *kinds()]
OPTIONS = [pytest.param(noun, option, id=f"{noun.name}.{option.name}") for noun in NOUNS for option in noun.options]


@pytest.mark.parametrize(("noun", "option"), OPTIONS)
def test_no_option_lacks_a_description(noun, option):
    assert len(option.about) > 5
    assert option.about == option.about.strip().removesuffix(".")
    assert option.about[0].islower() or option.about[0].isdigit()


@pytest.mark.parametrize(("noun", "option"), OPTIONS)
def test_the_description_is_in_what_is_shown(noun, option):
    assert option.text.startswith(f"{option.name}=")
    assert option.about in option.text


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.name)
def test_what_is_declared_on_a_further_table_takes_the_same_options(noun):
    names = {option.name for option in noun.options}
    for function in noun.functions.values():
        keywords = set((function.__kwdefaults__ or {}).keys())
        assert not keywords or keywords == names


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_every_curve_explains_itself(kind):
    assert kind.title
    assert kind.x
    assert kind.y
    assert kind.summary.endswith(".")
    for name in (kind.name, *kind.aliases):
        assert CURVES.find(name.upper().replace("_", "-")) is kind


@pytest.mark.parametrize("name", band.functions)
def test_a_band_takes_the_options_of_its_curve(name):
    taken = inspect.signature(band.functions[name]).parameters.values()
    keywords = {one.name for one in taken if one.kind is one.KEYWORD_ONLY}
    assert {option.name for option in CURVES.find(name).options} <= keywords


VALUES = {
    bool: st.booleans(),
    int: st.integers(1, 10**6),
    float: st.floats(0, 1),
    str: st.sampled_from(["f1", "fbeta(beta=2)", "cost(fp=1, fn=5)", "median"]),
}


@st.composite
def calls(draw):
    """Any kind of curve, with some of its options at any value that they can take."""
    kind = draw(st.sampled_from(kinds()))
    given = []
    for option in kind.options:
        if draw(st.booleans()):
            kinds_of = [one for one in VALUES if one is option.kind or one in getattr(option.kind, "__args__", ())]
            values = (
                st.sampled_from(option.choices) if option.choices else st.one_of(*(VALUES[one] for one in kinds_of))
            )
            given.append((option.name, draw(values)))
    return Call(kind, tuple(given))


@given(call=calls())
def test_a_written_curve_reads_back(call):
    assert CURVES.parse(str(call)) == call


@given(call=calls())
def test_blanks_do_not_matter(call):
    assert CURVES.parse(f" {call} ".replace("(", " ( ", 1)) == call
