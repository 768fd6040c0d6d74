"""Printed numbers: the confusion matrices that give them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from scorespace.audit.printed_numbers import consistent_tables, read_number
from scorespace.errors import DataError, MeasureError
from scorespace.measures import parse
from scorespace.tables import Counts

NAMES = ("acc", "tpr", "tnr", "ppv", "npv", "f1", "mcc", "kappa")


def test_the_worked_example():
    found = consistent_tables(100, {"acc": ".85", "tpr": ".80", "tnr": ".88"}, positives=40)
    assert [(table.tp, table.tn) for table in found.tables] == [(32, 53)]
    none = consistent_tables(100, {"acc": ".86", "tpr": ".80", "tnr": ".88"}, positives=40)
    assert (none.found, dict(none.without)) == (0, {"acc": 1, "tpr": 1, "tnr": 1})
    assert "if they come from one table" in none.words
    assert [note.code for note in none.notes] == ["SS196"]


@given(
    st.tuples(*[st.integers(0, 40)] * 4).filter(lambda cells: cells[0] + cells[1] and cells[2] + cells[3]),
    st.sets(st.sampled_from(NAMES), min_size=1, max_size=4),
    st.integers(1, 4),
    st.booleans(),
)
def test_true_tables_are_never_accused(cells, names, digits, known):
    table = Counts(*cells)
    printed = {name: float(parse(name).along(table)) for name in names}
    printed = {name: f"{0.0 if np.isnan(value) else value:.{digits}f}" for name, value in printed.items()}
    found = consistent_tables(int(table.total), printed, positives=int(table.p) if known else None)
    assert found.consistent


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=30), st.integers(0, 6))
def test_a_true_auc_is_never_accused(cases, at):
    label, score = np.array([one for one, _ in cases], dtype=int), np.array([one for _, one in cases])
    if label.min() == label.max():
        return
    table = ss.score_table(label, score)
    counts = table.at(at)
    printed = {"auc": ss.auc(table), "tpr": ss.tpr(counts), "tnr": ss.tnr(counts)}
    found = consistent_tables(len(cases), {name: f"{value:.3f}" for name, value in printed.items()})
    assert found.consistent


def test_the_search_is_that_of_all_tables():
    """All tables of 30 cases by hand, one after the other."""
    spec, f1 = parse("mcc"), parse("f1")
    expected = 0
    for p in range(1, 30):
        for tp in range(p + 1):
            for tn in range(31 - p):
                table = Counts(tp=tp, fp=30 - p - tn, fn=p - tp, tn=tn)
                values = float(spec.along(table)), float(f1.along(table))
                expected += 0.395 <= values[0] <= 0.405 and 0.55 <= values[1] <= 0.65
    assert consistent_tables(30, {"mcc": ".40", "f1": ".6"}).found == expected > 0


@pytest.mark.parametrize(
    ("text", "cut", "ends"),
    [
        (".80", False, (0.795, 0.805)),
        ("0.8", False, (0.75, 0.85)),
        ("80 %", False, (0.795, 0.805)),
        ("80.5%", True, (0.805, 0.806)),
        ("1", False, (0.5, 1.0)),
        ("0,85", False, (0.845, 0.855)),
    ],
)
def test_what_a_printed_number_stands_for(text, cut, ends):
    found = read_number("recall", text, cut=cut)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-15)


def test_a_count_stands_for_itself_and_a_minus_is_read():
    assert [table.fp for table in consistent_tables(20, {"fp": "3", "tp": "8", "fn": "2"}).tables] == [3]
    assert (read_number("mcc", "−.20").low, read_number("mcc", "-.20").high) == pytest.approx((-0.205, -0.195))


@pytest.mark.parametrize(
    ("error", "n", "numbers", "options"),
    [
        (DataError, 100, {"acc": "85"}, {}),
        (DataError, 100, {"acc": "x"}, {}),
        (DataError, 100, {}, {}),
        (DataError, 0, {"acc": ".8"}, {}),
        (DataError, 10, {"acc": ".8"}, {"positives": 11}),
        (DataError, 6000, {"acc": ".8"}, {}),
        (MeasureError, 100, {"brier": ".8"}, {}),
        (MeasureError, 100, {"tpr@0.5": ".8"}, {}),
    ],
)
def test_bad_input(error, n, numbers, options):
    with pytest.raises(error, match="hint"):
        consistent_tables(n, numbers, **options)


@pytest.mark.parametrize(("tp", "tn"), [(9, 0), (0, 9)])
def test_numbers_of_a_single_class_are_not_accused(tp, tn):
    assert consistent_tables(10, {"acc": ".9", "tpr": tp / 10, "tnr": tn / 10}).consistent
