"""What holds for all of the source: what differs by kind of table is declared, and nobody above asks for the kind."""

import ast
from importlib import import_module
from pathlib import Path

import scorespace
from scorespace.tables.table import Table

ROOT = Path(scorespace.__file__).parent


def kinds():
    """The names of all classes of tables, those that load late too."""
    for file in (ROOT / "tables").glob("[a-z]*.py"):
        import_module(f"scorespace.tables.{file.stem}")
    found, new = set(), {Table}
    while new:
        new = {kind for one in new for kind in one.__subclasses__()}
        found |= {kind.__name__ for kind in new if kind.__module__.startswith("scorespace")}
    return found


def questions(source, names):
    """The lines that ask which class of table something is."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"isinstance", "issubclass"}
        ):
            asked = node.args[1:]
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            asked = node.comparators if getattr(node.left.func, "id", None) == "type" else []
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        else:
            continue
        if names & {one.id for part in asked for one in ast.walk(part) if isinstance(one, ast.Name)}:
            yield node.lineno


def test_no_code_above_the_tables_asks_which_class_a_table_is():
    names = kinds()
    assert {"ScoreTable", "ClassTable", "ConfusionTable", "ClusterTable", "ResidualTable"} <= names
    files = [file for file in sorted(ROOT.rglob("*.py")) if file.parent.name != "tables"]
    asked = [f"{file.relative_to(ROOT)}:{line}" for file in files for line in questions(file.read_text(), names)]
    assert asked == []


def test_such_questions_are_found():
    told = "isinstance(a, A)\ntype(a) is A\nisinstance(a, (B, A))\nmatch a:\n    case A(): pass\nisinstance(a, B)\n"
    assert list(questions(told, {"A"})) == [1, 2, 3, 5]


def test_frozen_dataclasses_are_those_that_load_quickly():
    texts = {str(file.relative_to(ROOT)): file.read_text() for file in ROOT.rglob("*.py")}
    frozen = {name for name, text in texts.items() if "\n@dataclass(frozen=True" in text}
    assert len(frozen) > 100
    assert {name for name in frozen if "from scorespace.frozen import dataclass" not in texts[name]} == set()


def test_every_file_says_in_its_first_line_what_it_is_about_and_no_two_say_the_same():
    about = {
        file: (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0] for file in ROOT.rglob("*.py")
    }
    assert [file.name for file, line in about.items() if len(line) < 15] == []
    assert [line for line in set(about.values()) if list(about.values()).count(line) > 1] == []


NOTICED = {
    # What once no test noticed, changed by hand, and the test that fails then.
    "the midrank of ties in the permutation test": "comparisons/test_paired.py::test_tied_cases_swap_their_mean_rank",
    "a measure declared within classes that is not": (
        "laws/test_class_sizes.py::test_within_classes_the_size_of_a_class_does_not_matter"
    ),
    "a measure within classes that is not declared": (
        "laws/test_class_sizes.py::test_of_all_others_the_size_of_some_class_matters"
    ),
    "the sideways error of the ROC band": (
        "resampling/test_band.py::test_the_error_of_a_roc_curve_has_its_sideways_part"
    ),
    "the √k narrowing of a part of the cases": "resampling/test_lighter.py::test_a_part_of_the_cases_spreads_like_all",
    "the same of a part of the groups": "resampling/test_lighter.py::test_a_part_of_the_groups_spreads_like_all",
    "the centring of condensed bootstraps": (
        "resampling/test_lighter.py::test_a_condensed_table_is_centred_on_the_exact_value"
    ),
}


def test_what_once_went_unnoticed_has_its_test_still():
    here = Path(__file__).parent
    for place in NOTICED.values():
        file, name = place.split("::")
        assert f"def {name}(" in (here / file).read_text()
