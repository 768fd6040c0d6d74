"""A matrix of costs or counts from a small CSV file."""

import pytest

from scorespace.errors import DataError
from scorespace.io.matrix import parse_matrix, read_matrix

SHAPE = "  hint: a header with the class labels, then one line per class with its label and numbers"


@pytest.fixture
def written(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "costs.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def refusal(path):
    with pytest.raises(DataError) as caught:
        read_matrix(path)
    return str(caught.value)


def test_rows_are_actual(written):
    classes, cells, _ = read_matrix(written("actual,a,b\na,0,5\nb,1,0\n"))
    assert classes == ("a", "b")
    assert cells.tolist() == [[0, 5], [1, 0]]


@pytest.mark.parametrize("corner", ["decided", "Predicted", "decision", "prediction", "predicted \\ actual"])
def test_the_corner_cell_may_say_that_rows_are_decisions(written, corner):
    classes, cells, _ = read_matrix(written(f"{corner},a,b\na,0,5\nb,1,0\n"))
    assert classes == ("a", "b")
    assert cells.tolist() == [[0, 1], [5, 0]]


@pytest.mark.parametrize("corner", ["", "actual", "truth", "class", "actual \\ decided"])
def test_any_other_corner_cell_leaves_rows_actual(written, corner):
    assert read_matrix(written(f"{corner},a,b\na,0,5\nb,1,0\n"))[1].tolist() == [[0, 5], [1, 0]]


def test_columns_in_another_order_than_rows(written):
    # By label: deciding c for a costs 2, b for a costs 1.
    classes, cells, _ = read_matrix(written(",c,a,b\na,2,0,1\nb,5,3,0\nc,0,8,7\n"))
    assert classes == ("a", "b", "c")
    assert cells.tolist() == [[0, 1, 2], [3, 0, 5], [8, 7, 0]]


def test_transposed_and_in_another_order(written):
    # Rows are decisions: deciding a for b costs 1.
    classes, cells, _ = read_matrix(written("decided,b,a\na,1,0\nb,0,5\n"))
    assert classes == ("a", "b")
    assert cells.tolist() == [[0, 5], [1, 0]]


def test_blanks_empty_lines_and_byte_order_marks_do_not_matter(written):
    classes, cells, _ = read_matrix(written("\n actual , a , b \n\na, 0 ,-2.5\n,,\nb,1e3,0\n\n", "utf-8-sig"))
    assert classes == ("a", "b")
    assert cells.tolist() == [[0, -2.5], [1000, 0]]


def test_labels_with_commas_and_quotes(written):
    assert read_matrix(written('"","x, y","z"\n"x, y",0,1\nz,1,0\n'))[0] == ("x, y", "z")


def test_missing_file(tmp_path):
    path = tmp_path / "none.csv"
    assert refusal(path) == f"there is no file '{path}'.\n  hint: check the path"


def test_too_short(written):
    path = written("actual,a,b\na,0,5\n")
    assert refusal(path) == f"'{path}' holds no matrix.\n  seen: 2 lines\n{SHAPE}"


def test_a_line_too_few(written):
    path = written("actual,a,b,c\na,0,5,1\nb,1,0,1\n")
    expected = f"the matrix in '{path}' is not square.\n  seen: 2 lines of 3 numbers under 3 labels\n{SHAPE}"
    assert refusal(path) == expected


def test_a_number_too_few(written):
    path = written("actual,a,b\na,0\nb,1,0\n")
    expected = f"the matrix in '{path}' is not square.\n  seen: 2 lines of 1 or 2 numbers under 2 labels\n{SHAPE}"
    assert refusal(path) == expected


def test_labels_differ(written):
    path = written("actual,good,bad\ngood,0,5\nBad,1,0\n")
    assert refusal(path) == (
        f"the rows and columns of '{path}' name different classes.\n"
        "  seen: rows 'good', 'Bad'; columns 'good', 'bad'\n"
        "  hint: use the same labels in both"
    )


def test_a_label_twice(written):
    assert refusal(written("actual,a,a\na,0,5\na,1,0\n")).startswith("the rows and columns of ")


def test_not_a_number(written):
    path = written("actual,a,b\na,0,five\nb,1,0\n")
    assert refusal(path) == (
        f"'{path}' has a cell that is not a number.\n  seen: could not convert string to float: 'five'\n"
        "  hint: a number in every cell below the header"
    )


def test_not_text(written):
    path = written("actual,ä,ö\nä,0,5\nö,1,0\n", "latin-1")
    assert refusal(path).startswith(f"'{path}' is not a CSV file.\n  seen: ")


# --- which side is which


@pytest.mark.parametrize(
    "text",
    [
        "predicted,a,b\na,6,1\nb,2,3\n",
        ",actual a,actual b\npredicted a,6,1\npredicted b,2,3\n",
        ",a,b\ndecided: a,6,1\ndecided: b,2,3\n",
        ",true_a,true_b\na,6,1\nb,2,3\n",
    ],
)
def test_a_file_may_tell_that_its_rows_are_decisions(written, text):
    for rows in (None, "predicted"):
        classes, cells, _ = read_matrix(written(text), rows)
        assert classes == ("a", "b")
        assert cells.tolist() == [[6, 2], [1, 3]]


def test_the_rows_of_a_file_that_does_not_tell(written):
    path = written(",a,b\na,6,1\nb,2,3\n")
    assert read_matrix(path, "predicted")[1].tolist() == [[6, 2], [1, 3]]
    assert read_matrix(path, "actual")[1].tolist() == read_matrix(path)[1].tolist() == [[6, 1], [2, 3]]


@pytest.mark.parametrize(
    ("text", "stated", "told"),
    [
        (",actual a,actual b\npredicted a,6,1\npredicted b,2,3\n", "actual", "predicted"),
        ("actual,a,b\na,6,1\nb,2,3\n", "predicted", "actual"),
    ],
)
def test_a_file_that_contradicts_what_is_stated(written, text, stated, told):
    path = written(text)
    with pytest.raises(DataError) as caught:
        read_matrix(path, stated)
    assert str(caught.value).startswith(
        f"'{path}' states that its rows are {told}, not {stated}.\n  seen: the header '"
    )
    assert str(caught.value).endswith(f'\n  hint: rows="{told}", or change the labels')


def test_booleans_are_labels_and_no_sides(written):
    assert read_matrix(written(",True,False\nTrue,6,1\nFalse,2,3\n"))[0] == ("True", "False")


# --- typed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("300 200; 500", "the matrix '300 200; 500' is not square.\n  seen: 2 rows of 1 or 2 numbers"),
        ("300;", "the matrix '300;' is not square.\n  seen: 1 rows of 1 numbers"),
        (
            "1 2; 3 x",
            "the matrix '1 2; 3 x' has a cell that is not a number.\n  seen: could not convert string to float: 'x'",
        ),
    ],
)
def test_typed_matrices_that_are_none(text, problem):
    with pytest.raises(DataError) as caught:
        parse_matrix(text)
    shape = '"TP FN; FP TN": numbers separated by spaces, rows by semicolons'
    assert str(caught.value) == f"{problem}\n  hint: {shape}"


def test_typed_matrices_of_several_classes():
    classes, cells, _ = parse_matrix("5,0,1; 0,2,2; 1,1,3")
    assert classes == ("1", "2", "3")
    assert cells.tolist() == [[5, 0, 1], [0, 2, 2], [1, 1, 3]]
