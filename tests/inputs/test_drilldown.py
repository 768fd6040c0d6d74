"""The rows behind a number are as many as the number, whatever the file; plain Python counts them."""

import csv
import random

import pytest

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.evaluation.api import evaluate
from scorespace.io.drilldown import RowRequest, list_models, select_rows

ROLES = {"truth": "y", "positive": "bad", "scores": ["s"], "decisions": ["d"], "predictions": []}
KINDS = ["csv", "tsv", "parquet", "json", "arrow"]


def rows(number=60):
    """Rows with ties, codes that are no numbers, and a column named like our own."""
    draw = random.Random(3)
    return [
        {
            "id": f"{k:03d}",
            "y": draw.choice(["bad", "good"]),
            "s": round(draw.random(), 1),
            "d": draw.choice(["bad", "good"]),
            "place": "<b>" if k % 7 else "NA",
            "score": k % 3,
        }
        for k in range(number)
    ]


def written(folder, kind, given):
    path = folder / f"in.{kind}"
    if kind in ("csv", "tsv"):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(given[0]), delimiter="\t" if kind == "tsv" else ",")
            writer.writeheader()
            writer.writerows(given)
        return str(path)
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(given)
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    elif kind == "arrow":
        from pyarrow import feather

        feather.write_feather(table, path)
    else:
        import json

        path.write_text(json.dumps(given))
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell", ["tp", "tn"])
def test_every_outcome_has_the_rows_that_it_counts(tmp_path, kind, cell):
    given = rows()
    path = written(tmp_path, kind, given)
    found = select_rows(path, ROLES, RowRequest("s", cell, 0.5))
    wanted = [
        (k + 1, row)
        for k, row in enumerate(given)
        if (row["y"] == "bad") is (cell in ("tp", "fn")) and (row["s"] >= 0.5) is (cell in ("tp", "fp"))
    ]
    wanted.sort(key=lambda one: (-one[1]["s"], one[0]))
    assert found.columns == tuple(given[0])
    assert found.total == len(wanted)
    assert [(place, str(code)) for place, code, *_ in found.first(5)] == [(k, row["id"]) for k, row in wanted[:5]]
    assert [row[0] for piece in found.pieces() for row in piece] == [k for k, _ in wanted]
    if kind == "csv":  # as the page counts them
        counts = evaluate(path, truth="y", positive="bad", scores="s").models["s"].at(0.5)
        assert float(getattr(counts, cell)) == found.total


def test_outcomes_of_decisions(tmp_path):
    given = rows()
    path = written(tmp_path, "csv", given)
    for cell, (y, d) in {"tp": ("bad", "bad"), "fp": ("good", "bad"), "fn": ("bad", "good")}.items():
        expected = [k + 1 for k, row in enumerate(given) if (row["y"], row["d"]) == (y, d)]
        assert [row[0] for row in select_rows(path, ROLES, RowRequest("d", cell)).first(100)] == expected
    found = select_rows(path, ROLES, RowRequest("d", actual="good", decided="good"))
    assert found.total == sum((row["y"], row["d"]) == ("good", "good") for row in given)


def test_a_range_holds_its_ends(tmp_path):
    given = rows()
    path = written(tmp_path, "csv", given)
    found = select_rows(path, ROLES, RowRequest("s", low=0.2, high=0.6))
    assert found.total == sum(0.2 <= row["s"] <= 0.6 for row in given)
    assert select_rows(path, ROLES, RowRequest("s")).total == len(given)
    assert list_models(path, ROLES) == ["s", "d"]


def test_rows_without_weight_or_with_gaps_are_not_behind_anything(tmp_path):
    (tmp_path / "in.csv").write_text("y,s,w\n1,0.9,1\n1,0.8,0\n1,NA,1\n0,0.7,2\n0,0.1,1\n")
    roles = {"truth": "y", "positive": None, "scores": ["s"], "decisions": [], "predictions": [], "weight": "w"}
    found = select_rows(str(tmp_path / "in.csv"), roles, RowRequest("s", "tp", 0.5), missing="drop")
    assert found.first(9) == [(1, "1", "0.9", "1")]
    with pytest.raises(DataError, match="missing values"):
        select_rows(str(tmp_path / "in.csv"), roles, RowRequest("s", "tp", 0.5))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_take_part_keep_their_number_in_the_file(tmp_path, kind):
    given = rows()
    path = written(tmp_path, kind, given)
    found = select_rows(path, {**ROLES, "where": "score > 0 and d = 'bad'"}, RowRequest("s", "tp", 0.5))
    wanted = [
        (k + 1, row["id"])
        for k, row in enumerate(given)
        if row["score"] > 0 and row["d"] == "bad" and row["y"] == "bad" and row["s"] >= 0.5
    ]
    assert found.total == len(wanted) > 3
    assert sorted((place, str(code)) for place, code, *_ in found.first(100)) == wanted
    with pytest.raises(ScoreSpaceError, match="where='score > 9' is true"):
        select_rows(path, {**ROLES, "where": "score > 9"}, RowRequest("s", "tp", 0.5))


def test_cells_of_several_classes_by_the_highest_score(tmp_path):
    draw = random.Random(5)
    names = ["a", "b", "c"]
    given = [{"y": draw.choice(names), **{f"nb_{n}": round(draw.random(), 1) for n in names}} for _ in range(80)]
    path = written(tmp_path, "csv", given)
    roles = {"truth": "y", "positive": None, "scores": ["nb_*"], "decisions": [], "predictions": []}
    for lead, asked in ((None, names[:2]), (0.3, names[:1])):
        for actual in asked:
            for decided in names:
                expected = 0
                for row in given:
                    scores = [row[f"nb_{n}"] for n in names]
                    second, best = sorted(scores)[-2:]
                    first = names[scores.index(best)]
                    kept = lead is None or best - second >= lead
                    expected += (row["y"], first) == (actual, decided) and kept
                found = select_rows(path, roles, RowRequest("nb", actual=actual, decided=decided, lead=lead))
                assert found.total == expected
    one = select_rows(path, roles, RowRequest("nb[b]", "fp", 0.5))
    assert one.total == sum(row["y"] != "b" and row["nb_b"] >= 0.5 for row in given)


def test_predicted_numbers_by_their_range(tmp_path):
    (tmp_path / "in.csv").write_text("y,p\n" + "".join(f"{k},{k + 1}\n" for k in range(10)))
    roles = {"truth": "y", "positive": None, "scores": [], "decisions": [], "predictions": ["p"]}
    assert select_rows(str(tmp_path / "in.csv"), roles, RowRequest("p", low=9)).first(9) == [
        (10, "9", "10"),
        (9, "8", "9"),
    ]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (RowRequest("t"), "there is no model 't'.\n  seen: 's', 'd'\n  hint: s"),
        (RowRequest("s", "xx", 0.5), ("there is no confusion cell 'xx'.\n  seen: 'tp', 'fp', 'fn', 'tn'\n  hint: tp")),
        (RowRequest("s", "tp"), "a confusion cell needs a threshold.\n  hint: threshold=0.5"),
        (RowRequest("d", actual="ugly"), "there is no class 'ugly'.\n  seen: 'bad', 'good'\n  hint: bad"),
    ],
)
def test_what_is_not_there(tmp_path, wanted, message):
    with pytest.raises(DataError) as told:
        select_rows(written(tmp_path, "csv", rows()), ROLES, wanted)
    assert str(told.value) == message


def test_rows_behind_a_score_with_its_sign_changed(tmp_path):
    (tmp_path / "in.csv").write_text("y;points\nbad;4,2\ngood;7,0\nbad;6,1\ngood;6,0\n")
    roles = {"truth": "y", "positive": "bad", "scores": ["card=minus(points)"], "decisions": [], "predictions": []}
    found = select_rows(str(tmp_path / "in.csv"), roles, RowRequest("card", "fp", -6.1))
    assert found.first(5) == [(4, "good", 6.0, -6.0)]
