"""Findings are declared once: codes are unique, and every one says what to do."""

import re

import pytest

import scorespace.audit.audit  # noqa: F401 - declares them all
from scorespace.audit.column import AuditedColumn
from scorespace.audit.finding import FINDING_KINDS, LEVELS, Occurrence, finding


def test_every_finding_is_declared_in_full():
    for code, kind in FINDING_KINDS.items():
        assert re.fullmatch(r"SS1\d\d", code)
        assert kind.level in LEVELS
        assert kind.title
        assert kind.title[0].islower()
        assert kind.advice.endswith((".", "?"))


def test_codes_keep_their_meaning():
    """A code is never reused: change a title's words if you must, but not what it is about."""
    assert {code: kind.title for code, kind in FINDING_KINDS.items()}.items() >= {
        "SS101": "an identifier predicts the target",
        "SS102": "the order of the rows predicts the target",
        "SS103": "a single column nearly determines the target",
        "SS110": "a number that may be a missing-value code",
        "SS111": "a scale without its top value, while 0 is frequent",
        "SS120": "duplicate columns",
        "SS130": "the target is skewed and fits a log scale better",
        "SS140": "duplicate rows",
        "SS160": "rows in both samples",
        "SS170": "scores of training rows",
    }.items()


def test_a_code_cannot_be_declared_twice():
    with pytest.raises(ValueError, match="SS101 is declared twice"):

        @finding("SS101", "info", "another")
        def other(column: AuditedColumn):
            yield Occurrence((), "")
