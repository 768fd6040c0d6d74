"""Words that say what a column is: names taken apart, and orders in which every label has one place."""

import pytest

from scorespace.audit import vocabulary
from scorespace.audit.column_kinds import ordered_words
from scorespace.audit.vocabulary import LABEL_ORDERS, is_id_name, name_words
from scorespace.io.column_values import MISSING_VALUE_TEXTS


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("customerNo_2", {"customer", "no", "2"}),
        ("PatientID", {"patient", "id"}),
        ("  zip-code ", {"zip", "code"}),
        ("Größe (cm)", {"größe", "cm"}),
        ("número", {"número"}),  # and not n and mero: n would be a count
        ("年齢", {"年齢"}),
        ("___", set()),
    ],
)
def test_the_words_of_a_name(name, found):
    assert name_words(name) == found


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "customerId", "userID", "row-id", "Serial", "Kunden Nr"])
def test_names_of_identifiers(name):
    assert is_id_name(name)


@pytest.mark.parametrize("name", ["paid", "humidity", "number_of_doors", "idle", "body_mass_index", "mid", "Covid"])
def test_names_that_only_look_like_identifiers(name):
    assert not is_id_name(name)


@pytest.mark.parametrize("order", LABEL_ORDERS, ids=lambda order: order[0])
def test_every_order_is_found_whatever_the_case_and_the_rows(order):
    assert len(set(order)) == len(order)  # a label has one place
    few = order[:20]
    shown = [label.upper().replace(" ", "_") for label in reversed(few)]
    found = ordered_words(shown)
    # Another line may hold the same labels; then it must agree on their order.
    assert set(found) == set(shown)
    assert found == tuple(reversed(shown))


def test_labels_with_letters_of_their_own():
    assert ordered_words(["groß", "klein", "mittel"]) == ("klein", "mittel", "groß")


def test_words_are_written_as_they_are_compared():
    for name in (
        "ID_WORDS",
        "NOT_ID_WORDS",
        "CODE_NAMES",
        "SCALE_NAMES",
        "INTERVAL_NAMES",
        "COUNT_NAMES",
        "POST_OUTCOME_WORDS",
    ):
        for word in getattr(vocabulary, name):
            assert name_words(word) == {word}, (name, word)
    for word in MISSING_VALUE_TEXTS | vocabulary.UNKNOWN_LABELS:
        assert word == word.strip().casefold()
    assert not MISSING_VALUE_TEXTS & vocabulary.UNKNOWN_LABELS
