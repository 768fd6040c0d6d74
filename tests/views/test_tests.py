"""Tests described for people: all of them in a list, and each explained by its own declaration."""

import pytest

from scorespace.comparisons.test import TESTS
from scorespace.views import tests as view

KINDS = list(TESTS)


def test_the_list_names_every_test_and_what_it_is_for():
    grid = view.tests_grid(KINDS)
    assert grid.rows == tuple((one.name, one.for_) for one in KINDS)
    assert grid.prose


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.name)
def test_each_is_explained_by_its_declaration(kind):
    facts = dict(view.explained(kind).rows)
    assert facts[kind.name] == kind.title
    assert facts["for"] == kind.for_
    assert all(alias in facts["names"] for alias in kind.aliases)
    row = view.entry(kind)
    assert (row["name"], row["options"]) == (kind.name, [option.text for option in kind.options])
    assert all(words and not words.endswith(".") for words in view.suiting(kind))
