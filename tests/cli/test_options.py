"""Options that verbs share: hints in flags, pairs taken apart, and outputs checked at once."""

from pathlib import Path

import pytest

from scorespace.cli import options
from scorespace.errors import ScoreSpaceError
from scorespace.tables import confusion


def told(ask):
    with pytest.raises(ScoreSpaceError) as caught:
        ask()
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.parametrize(
    ("hint", "typed"),
    [
        ('positive="bad"', "--positive bad"),
        ('positive="it\'s bad"', "--positive 'it'\"'\"'s bad'"),
        ('scores="nb"', "--score nb"),
        ("decisions=… instead of scores=…", "--decision COL instead of --score COL"),
        ("names={column: model}", "--name COL=NAME"),
        ('best="high" or best="low"', "--higher-is-better or --lower-is-better"),
        ('missing="drop" leaves them empty', "--missing drop leaves them empty"),
        ('unknown="x" stays', 'unknown="x" stays'),
    ],
)
def test_a_hint_is_told_as_one_types_it(hint, typed):
    assert options.in_flags(f'positive="x" is in the problem.\n  hint: {hint}') == (
        f'positive="x" is in the problem.\n  hint: {typed}'
    )
    assert options.in_flags(hint) == hint  # without a hint nothing is typed


def test_pairs_are_taken_apart_at_the_first_sign():
    assert options.renames(["p1=forest", "p2=a=b"]) == {"p1": "forest", "p2": "a=b"}
    assert options.model_kinds(["near=residual(x)"]) == {"near": "residual(x)"}
    assert options.matrix_files(["a=dir/x=1.csv"]) == ["dir/x=1.csv"]
    for wrong in ("p1", "=forest", "p1=", ""):
        assert told(lambda wrong=wrong: options.renames([wrong])) == (
            f"ColumnError: --name {wrong} cannot be parsed.\n  hint: COL=NAME, such as --name p1=forest"
        )
    assert told(lambda: options.model_kinds(["near"])) == (
        "ColumnError: --model near cannot be parsed.\n  hint: NAME=KIND(near); a column of scores is --score near"
    )


def test_the_data_and_matrices_beside_or_instead(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("c1.csv").write_text(",ill,well\nill,6,2\nwell,1,3\n")
    table = {"c1": confusion([[6, 2], [1, 3]], classes=["ill", "well"], positive="ill")}
    assert options.data_and_matrices("credit.csv", [], None, None) == ("credit.csv", {}, {})
    assert options.data_and_matrices("credit.csv", ["c1=c1.csv"], None, "ill")[:2] == ("credit.csv", table)
    assert options.data_and_matrices(None, ["c1=c1.csv"], None, "ill")[:2] == (table, {})
    assert told(lambda: options.data_and_matrices(None, [], None, None)) == (
        "DataError: name the data, or confusion matrices instead.\n  hint: DATA, or --matrix NAME=FILE.csv"
    )


def test_an_output_is_checked_before_the_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("y\n1\n")
    options.check_output(None, options.PICTURES, "in.csv")
    options.check_output(Path("out.png"), options.PICTURES, "in.csv")
    assert told(lambda: options.check_output(Path("in.csv"), options.DATA_FILES, "in.csv")).startswith(
        "DataError: 'in.csv' is an input file"
    )
    assert told(lambda: options.check_output(Path("out.txt"), options.PICTURES)) == (
        "DataError: 'out.txt' has no known file extension.\n  hint: .png .svg .pdf .html"
    )


def test_intervals_have_one_method_and_each_model_its_own():
    assert told(lambda: options.intervals(["bca", "wilson"])) == (
        "DataError: two interval methods are stated.\n  seen: bca and wilson\n  hint: one --interval METHOD"
    )
    assert told(lambda: options.intervals(["low,high,0.9", "nb=l,h,0.9"])) == (
        "DataError: it is unclear which model each prediction interval belongs to.\n  seen: low,high,0.9, nb=l,h,0.9\n"
        "  hint: --interval MODEL=LOW,HIGH,0.9"
    )
