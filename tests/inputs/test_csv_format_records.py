"""Every record of a file is read or the file is refused; and what a file looks like is not guessed."""

import csv
import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import scorespace as ss
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.io import fetch_columns, read, resolve_roles, validate
from scorespace.io.csv_format import CsvFile, count_json_records

HINT = "  hint: every line needs as many values as the header; lines are never skipped, and there are no comments"


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, content):
    data = content if isinstance(content, bytes) else content.encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return name


def evaluated(path, **options):
    found = ss.evaluate(path, **{"truth": "y", "scores": "s", "positive": "1", **options}).models
    return SimpleNamespace(rows=found.rows, classes=dict(found.classes))


def refused(path, **options):
    with pytest.raises(ScoreSpaceError) as caught:
        evaluated(path, **options)
    return str(caught.value)


# --- nothing is a comment, nothing is skipped


def test_ids_that_begin_with_a_hash_are_rows():
    lines = [f"{'#' if k % 5 == 0 else ''}{k},{k % 2},0.{k}" for k in range(1, 31)]
    write("hash.csv", "id,y,s\n" + "\n".join(lines) + "\n")
    assert evaluated("hash.csv").rows == 30
    source = read("hash.csv")
    sample = validate(source, resolve_roles(source, truth="y", scores="s"))
    assert fetch_columns(sample, ["id"])["id"].tolist() == [line.split(",")[0] for line in lines]


def test_a_class_that_begins_with_a_hash_is_a_class():
    write("hash.csv", "y,s\n" + "#x,0.9\nz,0.2\n" * 10)
    assert evaluated("hash.csv", positive="#x").classes == {"#x": 10, "z": 10}


def test_lines_above_a_second_header_do_not_vanish():
    write("twice.csv", "y,s\n1,0.5\n0,0.25\ny,s\n1,0.9\n0,0.1\n")
    assert refused("twice.csv").startswith("column 's' holds text, not scores.\n  seen: 's'")
    write("title.csv", "written by hand\ny,s\n1,0.9\n0,0.1\n")
    assert refused("title.csv") == (
        f"title.csv cannot be read as CSV.\n  seen: line 2 has 2 values, the header 1\n{HINT}"
    )
    write("comment.csv", "# by hand\ny,s\n1,0.9\n0,0.1\n")
    assert "line 2 has 2 values, the header 1" in refused("comment.csv")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("y,s\n1,0.5\n\n0,0.1\n", "line 3 is empty"),
        ("y,s\n\n1,0.5\n0,0.1\n", "line 2 is empty"),
        ("y,s\r\n1,0.5\r\n\r\n0,0.1\r\n", "line 3 is empty"),
        ('y,s,t\n1,0.5,"a"\n\n0,0.1,"b"\n', "line 3 is empty"),
        ("y,s\n1,0.5\n0\n1,0.2\n", "line 3 has 1 value, the header 2"),
        ("y,s\n1,0.5\n0,0.1,7\n", "line 3 has 3 values, the header 2"),
        ("y,s\n1,0.5,\n0,0.1,\n", "line 2 has 3 values, the header 2"),
        ("y,s\n1,0.5\r\n0,0.1\n", "mixed line endings"),
        ("\ny,s\n1,0.5\n0,0.1\n", "the first line is empty"),
        ('y,s,t\n1,0.5,"open\n0,0.1,x\n', "CSV Error on Line: 2"),
        ('y,s,t\n1,0.5,"a"b\n0,0.1,x\n', "CSV Error on Line: 2"),
    ],
)
def test_what_does_not_fit_is_refused_and_never_dropped(text, seen):
    assert f"\n  seen: {seen}" in refused(write("odd.csv", text))


@pytest.mark.parametrize(
    "text",
    [
        "y,s\n1,0.5\n0,0.1",
        "y,s\n1,0.5\n0,0.1\n\n\n",
        "y,s\r\n1,0.5\r\n0,0.1\r\n\r\n",
        "y,s\r1,0.5\r0,0.1\r",
        'y,s,t\n1,0.5,"two\nlines"\n0,0.1,"a ""quote"" and, a comma"\n',
        'y,s,t\n1,0.5,5" pipe\n0,0.1,x\n',
        "y,s,t\n1,0.5,it's\n0,0.1,\"'\"\n",
        "y;s\n1;0.5\n0;0.1\n",
        "y|s\n1|0.5\n0|0.1\n",
        "y\ts\n1\t0.5\n0\t0.1\n",
        "\ufeffy,s\n1,0.5\n0,0.1\n",
        "y,s,t\n1,0.5,a;b;c\n0,0.1,d\n",
    ],
)
@pytest.mark.parametrize("name", ["fine.csv", "fine.csv.gz"])
def test_what_fits_is_read_whole(name, text):
    assert evaluated(write(name, text)).rows == 2


def test_several_files_are_joined_by_the_names_of_their_columns():
    write("a1.csv", "y,s\n1,0.5\n0,0.1\n")
    write("a2.csv", "s;y;more\n0.9;1;x\n0.2;0;y\n")
    assert evaluated("a*.csv").rows == 4
    write("a3.csv", "s,y\n0.9,1\n\n0.2,0\n")
    assert "line 3 is empty" in refused("a*.csv")


def test_a_folder_named_like_a_partition_makes_no_column(tmp_path):
    (tmp_path / "y=1").mkdir()
    write("y=1/a.csv", "y,s\n1,0.5\n0,0.1\n")
    parquet.write_table(pa.table({"y": [1, 0], "s": [0.5, 0.1]}), "y=1/a.parquet")
    for name in ("y=1/a.csv", "y=1/a.parquet"):
        assert evaluated(name).classes == {"0": 1, "1": 1}


# --- the independent count


CSV_RULES = st.lists(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6), min_size=3, max_size=3),
    min_size=1,
    max_size=8,
)


@given(CSV_RULES, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]))
def test_the_count_is_that_of_another_reader(tmp_path_factory, lines, separator, ending):
    path = tmp_path_factory.mktemp("lines") / "a.csv"
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator=ending, quoting=csv.QUOTE_ALL).writerows(
        [["a", "b", "c"], *lines]
    )
    path.write_bytes(out.getvalue().encode())
    file = CsvFile(str(path), separator, ("a", "b", "c"))
    assert file.records() == file.count_records_strictly("a.csv") == len(lines)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(['"', "\\", '\\"', "[{", "},"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=6), st.booleans(), st.integers(1, 64)
)
def test_the_count_of_json(tmp_path_factory, records, array, piece):
    path = tmp_path_factory.mktemp("json") / "a.json"
    text = json.dumps(records, indent=1) if array else "\n".join(map(json.dumps, records))
    path.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scorespace.io.csv_format._CHUNK_BYTES", piece)
        assert count_json_records(str(path)) == len(records)


def test_a_count_that_does_not_agree_is_refused(monkeypatch):
    write("a.json", '[{"y": 1, "s": 0.5}, {"y": 0, "s": 0.1}]')
    monkeypatch.setattr("scorespace.io.files.count_json_records", lambda path: 3)
    assert refused("a.json") == (
        "not all records of a.json could be read.\n"
        "  seen: 3 records, of which 2 were read\n"
        "  hint: check that the file is complete and that no other program writes to it"
    )


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.ndjson", "a.parquet", "a.arrow"])
def test_rows_in_use_and_rows_dropped_make_all_records(name):
    rows = [{"y": k % 2, "s": None if k % 4 == 0 else k / 100, "w": k % 3} for k in range(60)]
    table = pa.Table.from_pylist(rows)
    if name.endswith("json"):
        write(name, json.dumps(rows) if name == "a.json" else "\n".join(map(json.dumps, rows)))
    elif name == "a.csv":
        write(name, "y,s,w\n" + "".join(f"{r['y']},{'' if r['s'] is None else r['s']},{r['w']}\n" for r in rows))
    else:
        (parquet.write_table if name.endswith("parquet") else feather.write_feather)(table, name)
    source = read(name)
    plain = validate(source, resolve_roles(source, truth="y", scores="s"), missing="drop")
    weighted = validate(source, resolve_roles(source, truth="y", scores="s", weight="w"), missing="drop")
    assert (plain.rows, plain.dropped) == (45, 15)
    assert (weighted.rows, weighted.dropped) == (30, 10)  # the 20 of weight 0 equal absent rows


# --- long numbers


LONG = [9007199254740993, 9007199254740995, 123456789012345678901234567890, 7]


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet", "a.arrow"])
def test_long_whole_numbers_keep_every_digit(name):
    held = LONG if name in ("a.csv", "a.json") else [9007199254740993, 9007199254740995, 9223372036854775807, 7]
    if name == "a.csv":
        write(name, "id,y,s\n" + "".join(f"{each},{k % 2},0.{k}\n" for k, each in enumerate(held)))
    elif name == "a.json":
        write(name, json.dumps([{"id": each, "y": k % 2, "s": k / 10} for k, each in enumerate(held)]))
    else:
        table = pa.table({"id": held, "y": [0, 1, 0, 1], "s": [0.0, 0.1, 0.2, 0.3]})
        (parquet.write_table if name.endswith("parquet") else feather.write_feather)(table, name)
    source = read(name)
    sample = validate(source, resolve_roles(source, truth="y", scores="s", group="id"))
    assert [int(each) for each in fetch_columns(sample, ["id"])["id"].tolist()] == held
    found = fetch_columns(validate(source, resolve_roles(source, truth="y", scores="s")), ["id"])["id"]
    assert [int(each) for each in found.tolist()] == held


def test_classes_that_are_long_numbers_stay_apart():
    write("a.csv", "y,s\n9007199254740993,0.9\n9007199254740992,0.1\n")
    assert evaluated("a.csv", positive="9007199254740993").classes == {"9007199254740992": 1, "9007199254740993": 1}
    data = {"y": [2**70, 2**70 + 1], "s": [0.9, 0.1]}
    assert set(evaluated(data, positive=str(2**70)).classes) == {str(2**70), str(2**70 + 1)}


# --- corrupt files


def test_a_corrupt_arrow_file_is_refused():
    """Offsets that point nowhere: followed, they would end the interpreter."""
    table = pa.table({"y": ["a", "b"] * 50, "s": [0.5, 0.25] * 50})
    feather.write_feather(table, "a.arrow", compression="uncompressed")
    data = bytearray(Path("a.arrow").read_bytes())
    place = data.index(bytes(pa.array([0, 1, 2, 3], pa.int32()).buffers()[1])[:16])  # the offsets of the texts
    for k in range(4, 100):
        data[place + 4 * k : place + 4 * k + 4] = (0x70000000 + k).to_bytes(4, "little")
    write("a.arrow", bytes(data))
    assert refused("a.arrow", positive="a").startswith("a.arrow cannot be read as Arrow.\n  seen: ")


def test_a_time_with_a_zone_needs_no_further_library():
    when = pa.array([0, 10**15], pa.timestamp("us", tz="Europe/Berlin"))
    parquet.write_table(pa.table({"y": [1, 0], "s": [0.9, 0.1], "when": when}), "a.parquet")
    assert evaluated("a.parquet").rows == 2
    source = read("a.parquet")
    sample = validate(source, resolve_roles(source, truth="y", scores="s", group="when"))
    assert [text[:10] for text in fetch_columns(sample, ["when"])["when"].tolist()] == ["1970-01-01", "2001-09-09"]


@pytest.mark.parametrize(("values", "held"), [([[1], [2]], "nested values"), ([{"a": 1}, {"a": 2}], "nested values")])
@pytest.mark.parametrize("role", ["truth", "group", "fold"])
def test_nested_labels_are_refused(values, held, role):
    data = pa.table({"x": values, "y": [1, 0], "s": [0.9, 0.1]})
    parquet.write_table(data, "a.parquet")
    named = {role: "x"}
    assert refused("a.parquet", **named).startswith(f"column 'x' holds {held}, not ")


def test_bytes_that_are_no_text_are_refused():
    parquet.write_table(pa.table({"y": [b"\xff\xfe", b"\x80"], "s": [0.9, 0.1]}), "a.parquet")
    assert refused("a.parquet", positive="x")
    feather.write_feather(pa.table({"y": [b"\xff\xfe", b"\x80"], "s": [0.9, 0.1]}), "a.arrow")
    assert refused("a.arrow", positive="x").startswith("column 'y' holds bytes, not classes.")


# --- names


def test_odd_names_of_columns():
    write("a.csv", 'y,*,"a=b","it\'s, ""so""",x\x00y\n1,0.9,0.8,0.7,0.6\n0,0.1,0.2,0.3,0.4\n')
    for name in ("a=b", 'it\'s, "so"', "x␀y"):
        assert evaluated("a.csv", scores=[name]).rows == 2
    assert refused("a.csv", scores=["*"]) == ("a column named '*' would select all columns.\n  hint: rename the column")
    assert refused("a.csv", scores=["\ud800"]).startswith("column '\\ud800' is not in a.csv.")


def test_a_path_that_is_no_text():
    for path in (b"\xff.csv", "\udcff.csv"):
        assert refused(path) == "the name '\\udcff.csv' is not UTF-8.\n  hint: rename the file"
    with pytest.raises(DataError, match=r"'a\\x00b\.csv'"):
        read("a\0b.csv")


@pytest.mark.parametrize("weight", ["1e20", "1e308"])
def test_weights_that_cannot_be_counted_are_refused(weight):
    write("a.csv", f"y,s,w\n1,0.9,{weight}\n0,0.1,{weight}\n")
    assert refused("a.csv", weight="w").startswith(
        "the weights in column 'w' add up to more than doubles count exactly."
    )
    with pytest.raises(ScoreSpaceError, match="too large"):
        ss.score_table([1, 0], [0.9, 0.1], weight=[float(weight)] * 2)
    with pytest.raises(ScoreSpaceError, match="too large"):
        ss.confusion([[float(weight), 1], [1, 1]])


@pytest.mark.parametrize("weight", ["1e-300", "1e-80"])
def test_weights_too_small_to_be_multiplied_are_refused(weight):
    write("a.csv", f"y,s,w\n1,0.9,{weight}\n0,0.1,{weight}\n1,0.8,0\n")
    assert refused("a.csv", weight="w") == (
        "the weights in column 'w' are too small: their products would underflow.\n"
        "  seen: 2 of 2 rows between 0 and 1e-70\n"
        "  hint: multiply all weights by the same number, or set these to 0"
    )
    with pytest.raises(ScoreSpaceError, match="too small"):
        ss.score_table([1, 0], [0.9, 0.1], weight=[float(weight)] * 2)
    with pytest.raises(ScoreSpaceError, match="too small"):
        ss.confusion([[float(weight), 1], [1, 1]])


@pytest.mark.parametrize(
    ("size", "said"),
    [("e150", "beyond 1e70"), ("e-170", "column 'y' has only numbers below 1e-70, whose squares would underflow")],
)
def test_predicted_numbers_whose_squares_are_none_are_refused(size, said):
    write("a.csv", f"y,s\n1{size},2{size}\n-2{size},1{size}\n")
    with pytest.raises(ScoreSpaceError, match=said):
        ss.evaluate("a.csv", truth="y", predictions="s")
