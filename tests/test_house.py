"""What holds for all of the source: what differs by kind is declared with it, and nobody else asks for the kind."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import scorespace
from scorespace.comparisons.question import Question
from scorespace.probabilities.maps import ScoreMap
from scorespace.tables.table import Table

ROOT = Path(scorespace.__file__).parent


def kinds(base, home):
    """The names of all classes of a kind, those that load late too."""
    for file in (ROOT / home).glob("[a-z]*.py"):
        import_module(f"scorespace.{home}.{file.stem}")
    found, new = set(), {base}
    while new:
        new = {kind for one in new for kind in one.__subclasses__()}
        found |= {kind.__name__ for kind in new if kind.__module__.startswith("scorespace")}
    return found


def questions(source, names):
    """The lines that ask which of these classes something is."""
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


@pytest.mark.parametrize(
    ("base", "home", "some"),
    [
        (Table, "tables", {"ScoreTable", "ClassTable", "ConfusionTable", "ClusterTable", "ResidualTable"}),
        (Question, "comparisons/question.py", {"Paired", "Several", "Unpaired", "Against", "OverDatasets"}),
        (ScoreMap, "probabilities/maps.py", {"IsotonicMap", "PlattMap", "ClassMaps"}),
    ],
)
def test_no_code_outside_their_home_asks_which_class_something_is(base, home, some):
    names = kinds(base, home)
    assert some <= names
    files = [file for file in sorted(ROOT.rglob("*.py")) if not file.is_relative_to(ROOT / home)]
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
