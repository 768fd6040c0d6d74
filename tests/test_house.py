"""What holds for all of the source: what differs by kind of table is declared, and nobody above asks for the kind."""

import ast
from pathlib import Path

import scorespace
from scorespace.tables.table import Table

ROOT = Path(scorespace.__file__).parent


def kinds():
    """The names of all classes of tables."""
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
