"""Tables of results, wide and long."""

import numpy as np
import pytest

from scorespace.errors import ColumnError, DataError
from scorespace.io.result_tables import read_results

WIDE = {"data": ["iris", "vote", "wine"], "nb": [0.9, 0.8, 0.7], "tree": [0.8, 0.7, 0.9]}
LONG = {
    "set": ["iris", "iris", "vote", "vote", "wine", "wine"],
    "learner": ["nb", "tree", "tree", "nb", "nb", "tree"],
    "auc": [0.9, 0.8, 0.7, 0.8, 0.7, 0.9],
}
ROLES = {"dataset": "set", "model": "learner", "value": "auc"}


def test_wide_and_long_are_the_same():
    wide, long = read_results(WIDE), read_results(LONG, **ROLES)
    assert wide == long
    assert (wide.datasets, wide.models) == (("iris", "vote", "wine"), ("nb", "tree"))
    assert wide.values.tolist() == [[0.9, 0.8], [0.8, 0.7], [0.7, 0.9]]


@pytest.mark.parametrize(
    ("first", "named", "models"),
    [
        ({"data": [1, 2, 3]}, {}, ("nb", "tree")),
        ({"id": [1, 2, 3]}, {}, ("nb", "tree")),
        ({"number": [1, 2, 3]}, {"dataset": "number"}, ("nb", "tree")),
        ({"forest": [0.5, 2, 3]}, {}, ("forest", "nb", "tree")),
        ({}, {}, ("nb", "tree")),
    ],
)
def test_the_column_of_data_sets(first, named, models):
    found = read_results({**first, "nb": WIDE["nb"], "tree": WIDE["tree"]}, **named)
    assert found.models == models
    assert found.datasets == ("1", "2", "3")


def test_text_further_on_is_refused():
    with pytest.raises(ColumnError) as caught:
        read_results({**WIDE, "tree": ["0.8", "n/a", "0.9"]})
    assert str(caught.value).startswith("column 'tree' holds text, not numeric results.\n  seen: '0.8', 'n/a', '0.9'\n")


def test_missing_values_are_named_or_left_out():
    gaps = {**WIDE, "nb": [0.9, np.nan, 0.7]}
    with pytest.raises(DataError) as caught:
        read_results(gaps)
    assert str(caught.value) == (
        "1 of the 6 values is missing or infinite.\n"
        "  seen: no value for nb on the data set 'vote'\n"
        '  hint: missing="drop" drops such data sets for all models'
    )
    found = read_results(gaps, missing="drop")
    assert found.datasets == ("iris", "wine")
    assert [(note.code, note.text) for note in found.notes] == [
        ("SS009", "1 of 3 data sets were dropped because a model has no value.")
    ]


def test_a_pair_that_is_absent_from_a_long_table_is_missing():
    short = {name: values[:-1] for name, values in LONG.items()}
    with pytest.raises(DataError, match="1 of the 6 values"):
        read_results(short, **ROLES)


def test_a_pair_that_occurs_twice_is_refused():
    twice = {name: [*values, values[0]] for name, values in LONG.items()}
    with pytest.raises(DataError, match="nb has 2 values on the data set 'iris'"):
        read_results(twice, **ROLES)


def test_nothing_is_left_to_drop():
    with pytest.raises(DataError, match="fill the values"):
        read_results({"a": [np.nan, 1.0], "b": [1.0, np.nan]}, missing="drop")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"model": "learner"}, "a long table needs the columns of data sets"),
        ({**ROLES, "value": "acu"}, "column 'acu' is not in"),
        ({**ROLES, "value": "learner", "model": "auc"}, "column 'learner' holds text, not numeric results"),
    ],
)
def test_roles_that_do_not_fit(named, message):
    with pytest.raises(ColumnError, match=message):
        read_results(LONG, **named)


def test_no_rows():
    with pytest.raises(DataError, match="no rows"):
        read_results({"a": np.empty(0), "b": np.empty(0)})


def test_names_may_not_be_missing():
    gaps = LONG | {"learner": ["nb", None, "tree", "nb", "nb", "tree"]}
    with pytest.raises(DataError, match="learner"):
        read_results(gaps, **ROLES)


def test_models_and_data_sets_keep_their_order():
    turned = {name: values[::-1] for name, values in LONG.items()}
    found = read_results(turned, **ROLES)
    assert (found.datasets, found.models) == (("wine", "vote", "iris"), ("tree", "nb"))
    assert found.values.tolist() == [[0.9, 0.7], [0.7, 0.8], [0.8, 0.9]]


def test_a_data_set_that_is_there_twice_is_refused():
    with pytest.raises(DataError, match="set 'iris' has 2"):
        read_results({"data": ["iris", "vote", "iris"], "a": [0.9, 0.8, 0.7], "b": [0.8, 0.7, 0.6]})


def test_seeds_are_no_model():
    assert read_results({"seed": [1, 2], "a": [0.9, 0.8], "b": [0.8, 0.7]}).models == ("a", "b")


def test_a_long_table_that_was_not_said_to_be_one_says_how():
    with pytest.raises(ColumnError, match="'learner' holds text"):
        read_results({"data": ["iris", "iris"], "learner": ["nb", "tree"], "auc": [0.9, 0.8]})


def test_a_long_table_with_further_columns_leaves_the_value_open():
    long = {"data": ["iris", "iris"], "learner": ["nb", "tree"], "seed": [1, 1], "auc": [0.9, 0.8], "error": [0.1, 0.2]}
    with pytest.raises(ColumnError, match="'learner' holds text"):
        read_results(long)
