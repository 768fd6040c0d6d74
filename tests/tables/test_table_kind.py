"""Kinds of tables of numbers: declared once, and found by NAME=KIND(COLUMN)."""

import numpy as np
import pytest

from scorespace.errors import ColumnError
from scorespace.tables import ConfusionTable
from scorespace.tables.table_kind import TABLE_KINDS, read_kind, table_kind


@pytest.fixture
def squares():
    """A kind for the time of a test."""

    @table_kind("squares of a number", aliases=("squared-number",))
    def squared(truth, column, weight):
        return ConfusionTable(np.zeros((2, 2)), ("a", "b"))

    yield squared
    del TABLE_KINDS.nouns["squared"]


@pytest.mark.parametrize("text", ["squared(x)", " Squared-Number ( x ) ", "SQUARED( x)"])
def test_a_kind_is_found_by_its_names(squares, text):
    kind, column = read_kind(text)
    assert (kind.name, kind.title, column) == ("squared", "squares of a number", "x")
    assert kind is squares
    assert repr(kind(1, 2, 3)) == repr(kind.function(1, 2, 3))


def test_a_column_may_have_blanks_and_parentheses(squares):
    assert read_kind("squared(price (net) in €)")[1] == "price (net) in €"


@pytest.mark.parametrize("text", ["squared", "squared()", "squared( )", "(x)", "", "squared(x"])
def test_what_is_no_kind_of_a_column(squares, text):
    with pytest.raises(ColumnError) as caught:
        read_kind(text)
    assert str(caught.value) == f"the model {text!r} cannot be parsed.\n  hint: NAME=KIND(COLUMN)"


def test_an_unknown_kind(squares):
    with pytest.raises(ColumnError) as caught:
        read_kind("sqared(x)")
    assert str(caught.value) == "there is no kind of table 'sqared'.\n  hint: did you mean squared?"


def test_a_name_is_taken_once(squares):
    with pytest.raises(ColumnError) as caught:

        @table_kind("another", aliases=("squared",))
        def other(truth, column, weight): ...

    assert str(caught.value) == "the name 'squared' of kind of table other is taken by squared.\n  hint: another name"
    assert "other" not in TABLE_KINDS.nouns


def test_what_a_reader_does_not_know_is_refused(squares):
    with pytest.raises(ColumnError) as caught:
        TABLE_KINDS.find("squared").read(np.ones(2), np.ones(2), np.ones(2), copies=True)
    assert str(caught.value) == (
        'models read by squared(COLUMN) do not support weights="copies".\n  hint: remove weights="copies"'
    )
