"""The grammar: what is written of a measure reads back as the same measure."""

import math
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from laws.strategies import specs
from scorespace.measures import find, measures, parse, parse_list
from scorespace.measures.catalog import MeasureSpec


@given(spec=specs())
@settings(max_examples=200)
@example(spec=MeasureSpec("tpr", of='say "no", [maybe]'))
@example(spec=MeasureSpec("tpr", of="back\\slash"))
@example(spec=MeasureSpec("tpr", of="a @ b"))
@example(spec=MeasureSpec("tpr", of="mail@home"))
@example(spec=MeasureSpec("tpr", of=" blanks "))
@example(spec=MeasureSpec("tpr", of="größer ≥ 3 🙂"))
@example(spec=MeasureSpec("ppv", at=math.inf))
@example(spec=MeasureSpec("ppv", at=-math.inf))
@example(spec=MeasureSpec("ppv", at=1e-300))
@example(spec=MeasureSpec("fbeta", (("beta", 1e22),), "macro", 0.1 + 0.2))
def test_written_measures_read_back(spec):
    assert parse(str(spec)) == spec


@given(wanted=st.lists(specs(), min_size=1, max_size=4))
def test_written_lists_read_back(wanted):
    assert parse_list(", ".join(map(str, wanted))) == wanted


@given(spec=specs())
def test_blanks_around_the_parts_do_not_matter(spec):
    spec = replace(spec, of=None)
    spread = str(spec).replace("(", " ( ").replace(")", " ) ").replace("@", " @ ").replace("=", " = ")
    assert parse(spread) == spec


def test_every_measure_is_found_by_every_name():
    for measure in measures():
        for name in (measure.name, *measure.aliases):
            assert find(name) is measure
            assert find(name.upper().replace("_", "-")) is measure


def test_no_name_is_used_twice():
    names = [name for measure in measures() for name in (measure.name, *measure.aliases)]
    assert len(names) == len(set(names))


def test_every_measure_explains_itself():
    for measure in measures():
        assert measure.title
        assert measure.summary.endswith(".")
