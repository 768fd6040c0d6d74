"""Rules for the whole source: no type tests outside the defining package, and a distinct docstring in every module."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import scorespace
from scorespace.calibration.maps import ScoreMap
from scorespace.comparisons.design import Design
from scorespace.tables.table import Table

ROOT = Path(scorespace.__file__).parent


def subclass_names(base, home):
    """Names of all subclasses, after importing every module of the package that defines them."""
    for file in (ROOT / home).glob("[a-z]*.py"):
        import_module(f"scorespace.{home}.{file.stem}")
    names, level = set(), {base}
    while level:
        level = {subclass for cls in level for subclass in cls.__subclasses__()}
        names |= {cls.__name__ for cls in level if cls.__module__.startswith("scorespace")}
    return names


def type_tests(source, names):
    """Lines that test whether a value is an instance of one of these classes."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"isinstance", "issubclass"}
        ):
            classes = node.args[1:]
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            classes = node.comparators if getattr(node.left.func, "id", None) == "type" else []
        elif isinstance(node, ast.MatchClass):
            classes = [node.cls]
        else:
            continue
        if names & {name.id for part in classes for name in ast.walk(part) if isinstance(name, ast.Name)}:
            yield node.lineno


@pytest.mark.parametrize(
    ("base", "home", "expected"),
    [
        (Table, "tables", {"ScoreTable", "ClassTable", "ConfusionTable", "ClusterTable", "ResidualTable"}),
        (
            Design,
            "comparisons/design.py",
            {"PairedModels", "MultipleModels", "IndependentSamples", "FixedValue", "OverDatasets"},
        ),
        (ScoreMap, "calibration/maps.py", {"IsotonicMap", "PlattMap", "ClassMaps"}),
    ],
)
def test_types_are_tested_only_where_they_are_defined(base, home, expected):
    names = subclass_names(base, home)
    assert expected <= names
    files = [file for file in sorted(ROOT.rglob("*.py")) if not file.is_relative_to(ROOT / home)]
    places = [f"{file.relative_to(ROOT)}:{line}" for file in files for line in type_tests(file.read_text(), names)]
    assert places == []


def test_type_tests_are_found():
    source = "isinstance(a, A)\ntype(a) is A\nisinstance(a, (B, A))\nmatch a:\n    case A(): pass\nisinstance(a, B)\n"
    assert list(type_tests(source, {"A"})) == [1, 2, 3, 5]


def test_every_module_has_a_distinct_docstring():
    about = {
        file: (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0] for file in ROOT.rglob("*.py")
    }
    assert [file.name for file, line in about.items() if len(line) < 15] == []
    assert [line for line in set(about.values()) if list(about.values()).count(line) > 1] == []


REGRESSION_TESTS = {
    # Faults that the suite once missed, and the test that now detects each.
    "the midrank of ties in the permutation test": "comparisons/test_paired.py::test_tied_cases_swap_their_mean_rank",
    "a measure declared within classes that is not": (
        "laws/test_class_sizes.py::test_within_classes_the_size_of_a_class_does_not_matter"
    ),
    "a measure within classes that is not declared": (
        "laws/test_class_sizes.py::test_of_all_others_the_size_of_some_class_matters"
    ),
    "the sideways error of the ROC band": (
        "inference/test_bands.py::test_the_error_of_a_roc_curve_has_its_sideways_part"
    ),
    "the √k narrowing of a part of cases": "inference/test_subsampling.py::test_a_part_of_the_cases_spreads_like_all",
    "the same of a part of the groups": "inference/test_subsampling.py::test_a_part_of_the_groups_spreads_like_all",
    "the centring of condensed bootstraps": (
        "inference/test_subsampling.py::test_a_condensed_table_is_centred_on_the_exact_value"
    ),
}


def test_tests_of_former_faults_exist():
    here = Path(__file__).parent
    for place in REGRESSION_TESTS.values():
        file, name = place.split("::")
        assert f"def {name}(" in (here / file).read_text()
