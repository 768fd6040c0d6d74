"""A slice of the fuzzer with fixed seeds, and every case that ever broke a rule; `make fuzz` throws more."""

from pathlib import Path

import pytest

from fuzz.cases import Case, drawn
from fuzz.options import FITTING, UNTRIED, options_of
from fuzz.oracles import violations
from scorespace.cli.verbs import verbs

KEPT = sorted((Path(__file__).parent / "kept").glob("*.json"))


@pytest.mark.parametrize("seed", range(120))
def test_no_rule_is_broken(seed):
    case = drawn(seed)
    assert violations(case) == [], case.arguments


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_broke_a_rule_once_does_so_no_more(path):
    assert violations(Case.from_json(path.read_text(encoding="utf-8"))) == []


def test_a_case_is_kept_as_it_is():
    case = drawn(7)
    assert Case.from_json(case.to_json()) == case


@pytest.mark.parametrize("verb", list(verbs()))
def test_every_option_of_a_verb_is_thrown(verb):
    flags = {flag for flag, one in options_of(verb).items() if not one.is_flag}
    assert flags <= {*FITTING, *UNTRIED}


def test_every_verb_is_thrown():
    assert {drawn(seed).arguments[0] for seed in range(600)} == {*verbs()} - {"serve"}  # never ends
