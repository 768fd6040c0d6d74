"""A slice of the fuzzer with fixed seeds, and every case that ever broke a rule; `make fuzz` throws more."""

from pathlib import Path

import pytest

from fuzz.cases import Case, drawn
from fuzz.oracles import violations

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
