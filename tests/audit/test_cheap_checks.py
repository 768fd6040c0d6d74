"""The checks that an evaluation runs without asking."""

import numpy as np

from scorespace import evaluate
from scorespace.audit import (
    split,  # noqa: F401 - which declare the findings
)
from scorespace.audit.cheap_checks import check_arrays, check_sample
from scorespace.audit.finding import FINDING_KINDS
from scorespace.io import Source, count_tables, read, resolve_roles, validate


def codes(*given, **named):
    return [note.code for note in check_arrays(*given, **named)]


def test_nothing_to_say():
    source = np.random.default_rng(0)
    y, group = source.integers(0, 2, 200), np.repeat(np.arange(40), 5)
    assert codes(y, ids=np.arange(200), group=group, fold=group % 5) == []


def test_rows_sorted_by_the_truth():
    assert codes(np.repeat([0, 1, 2], 30)) == ["SS102"]
    assert codes(np.repeat([0, 1], 5)) == []  # too few to say
    assert codes(np.zeros(100)) == []


def test_repeated_identifiers():
    y = np.random.default_rng(1).integers(0, 2, 100)
    (one,) = check_arrays(y, ids=[f"c{n % 98}" for n in range(100)])
    assert one.text == ("2 rows repeat an identifier, so such cases count more than once. Details: `scorespace audit`.")


def test_groups_over_folds_within_a_repeat():
    source = np.random.default_rng(2)
    y, group, fold = source.integers(0, 2, 200), np.tile(np.arange(40), 5), np.repeat(np.arange(5), 40)
    assert codes(y, group=group, fold=fold) == ["SS167"]
    assert codes(y, group=group, fold=fold, repeat=fold) == []


def test_the_codes_are_those_of_the_audit_with_their_level():
    y = [0] * 50 + [1] * 50
    found = check_arrays(y, ids=[*range(99), 0], group=[*range(50)] * 2, fold=y)
    assert [one.code for one in found] == ["SS102", "SS142", "SS167"]
    # Sorted rows change no number of an evaluation: there they are told, and warned of in an audit.
    assert [one.level for one in found] == ["info", *(FINDING_KINDS[one.code].level for one in found[1:])]


def test_an_evaluation_runs_them_and_points_to_the_audit():
    source = np.random.default_rng(3)
    y, s = source.integers(0, 2, 100), source.random(100)
    data = {"y": y, "s": s, "case_id": [*range(99), 0], "age": source.integers(20, 90, 100)}
    (note,) = [note for note in evaluate(data, truth="y", scores="s").notes if note.code.startswith("SS1")]
    assert str(note.text) == (
        "1 row repeats an identifier, so such cases count more than once. Details: `scorespace audit`."
    )
    ordered = evaluate({"y": np.sort(y), "s": s}, truth="y", scores="s")
    assert "SS102" in [note.code for note in ordered.notes]
    again = evaluate(data | {"turn": y}, truth="y", scores="s", fold="age", repeat="turn")
    assert "SS142" not in [note.code for note in again.notes]


def test_the_classes_that_were_counted_are_not_read_again(monkeypatch):
    source = read({"y": [0] * 20 + [1] * 20, "s": [*range(40)]})
    sample = validate(source, resolve_roles(source, truth="y", scores="s"))
    count_tables(sample)
    monkeypatch.delattr(Source, "arrays")
    assert [one.code for one in check_sample(sample)] == ["SS102"]
