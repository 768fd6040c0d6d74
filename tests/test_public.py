"""The public names: light to import, all there, and open to measures of others."""

import importlib
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import scorespace as ss
from scorespace.cli import main
from scorespace.measures import measures, parse
from scorespace.measures.measure import MEASURES
from scorespace.report import sections

ROOT = Path(__file__).parents[1]
HEAVY = ("duckdb", "altair", "rich", "sklearn", "pandas", "polars", "pyarrow", "scipy", "numpy", "narwhals", "typer")
SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1]}


def python(code, **environment):
    """What Python code prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- names


def test_importing_loads_nothing_heavy():
    loaded = python("import sys, scorespace; print(*sys.modules)").split()
    assert [name for name in HEAVY if name in loaded] == []


def test_computing_from_arrays_loads_no_engine_and_no_view():
    code = "import sys, scorespace as ss; ss.auc(ss.score_table([1, 0], [0.9, 0.1])); print(*sys.modules)"
    loaded = python(code).split()
    assert [
        name for name in ("duckdb", "altair", "rich", "sklearn", "pandas", "narwhals", "typer") if name in loaded
    ] == []


def test_a_room_is_no_misspelt_measure():
    code = "import sys; from scorespace import io; print(io.__name__, *sys.modules)"
    name, *loaded = python(code).split()
    assert name == "scorespace.io"
    assert "scorespace.measures" not in loaded


@pytest.mark.parametrize("name", ss.__all__)
def test_every_public_name_is_there(name):
    assert getattr(ss, name) is not None


def test_public_names_are_sorted_and_unique():
    assert ss.__all__ == sorted(set(ss.__all__))


def test_every_measure_is_there_by_all_its_names():
    for measure in measures():
        for name in (measure.name, *measure.aliases):
            if name not in ss.__all__:  # a curve such as roc goes before an alias
                assert getattr(ss, name) is measure, name


def test_no_name_of_a_measure_hides_a_public_name():
    assert {measure.name for measure in measures()} & set(ss.__all__) == set()


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("acu", "auc"),
        ("precison", "precision"),
        ("evalute", "evaluate"),
    ],
)
def test_a_misspelt_name_gets_a_suggestion(name, near):
    with pytest.raises(AttributeError, match=f"scorespace has no '{name}'(.|\n)*did you mean {near}"):
        getattr(ss, name)


@pytest.mark.parametrize("name", ["__wrapped__", "_private", "qqqqqq"])
def test_an_absent_name_is_an_attribute_error(name):
    assert not hasattr(ss, name)


def test_dir_lists_public_names_and_measures():
    assert set(dir(ss)) >= {*ss.__all__, *(measure.name for measure in measures())}


def test_the_version_is_that_of_the_distribution(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["scorespace", "--version"])
    with pytest.raises(SystemExit):
        main()
    from importlib.metadata import version

    assert capsys.readouterr().out == f"scorespace {version('scorespace')}\n"


# --- a measure takes one decorated function

TOLL = '''
from scorespace.measures import measure
from scorespace.tables import Array, Counts, ratio


@measure(title="Toll", range=(0, float("inf")), best="low", undefined="there are no cases", aliases=("alarm_toll",))
def toll(c: Counts, *, price: float = 1.0) -> Array:
    """Price of the false alarms per case: price · FP / all."""
    return ratio(price * c.fp, c.total)
'''
# At 0.5, three of the six cases raise an alarm, one of them a false one.
ASKED, EXPECTED = "toll(price=3)@0.5", 3 * 1 / 6


@pytest.fixture
def toll(tmp_path, monkeypatch):
    """A measure declared in a module of somebody else, and forgotten afterwards."""
    (tmp_path / "toll_booth.py").write_text(TOLL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("toll_booth").toll
    MEASURES.nouns.pop("toll")
    sys.modules.pop("toll_booth")


def test_it_is_a_function_in_python(toll):
    assert ss.toll is ss.alarm_toll is toll
    assert ss.toll(ss.Counts(2, 1, 1, 2), price=3) == EXPECTED


def test_it_is_in_the_grammar(toll):
    assert parse("Alarm-Toll(price=3) @ 0.5") == parse(ASKED)
    assert str(parse(ASKED)) == ASKED
    assert ss.measure(ASKED, truth=SMALL["y"], score=SMALL["s"]) == EXPECTED


def test_it_is_evaluated_averaged_and_drawn(toll):
    evaluation = ss.evaluate(SMALL, truth="y", scores="s", measures=ASKED)
    assert evaluation.summary.rows()[0]["value"] == EXPECTED
    assert ss.measure("toll[macro]", truth=[0, 1, 2], decision=[0, 1, 1]) == pytest.approx(1 / 3 / 3)
    assert evaluation.curve("threshold", measure="toll").y[-1] == 3 / 6


def test_it_is_a_row_of_the_report(toll):
    document = sections.document(ss.evaluate(SMALL, truth="y", scores="s", measures=ASKED))
    section = next(section for section in document.sections if section.name == "measures")
    grid = next(block for block in section.blocks if hasattr(block, "rows"))
    assert grid.rows[0][0] == f"{ASKED} ↓"
    assert grid.rows[0][1].startswith("0.500 [")
    assert dict(grid.hints)[f"{ASKED} ↓"] == "Toll. Price of the false alarms per case: price · FP / all."


def test_it_is_in_the_catalogue_page(toll):
    page = runpy.run_path(str(ROOT / "docs" / "generate.py"))["_measures"]()
    (card,) = [part for part in page.split("\n### ") if part.startswith("toll\n")]
    title, facts = card.split("\n\n")[1:3]
    assert title == "**Toll.** Price of the false alarms per case: price · FP / all."
    (options,) = [line for line in facts.splitlines() if line.startswith("| Options ")]
    assert "`price=1`" in options
    for line in (
        "| Also called | `alarm_toll` |",
        "| Range | 0 to ∞ |",
        "| Better | lower |",
        "| Undefined when | there are no cases |",
    ):
        assert line in facts.splitlines()


def test_it_is_gone_afterwards():
    assert "toll" not in {measure.name for measure in measures()}
    assert not hasattr(ss, "toll")


# --- the same from another distribution, through its entry point


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with a distribution that declares a measure, as pip would have left it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "toll_booth.py").write_text(TOLL, encoding="utf-8")
    about = folder / "toll_booth-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toll-booth\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[scorespace.measures]\ntoll = toll_booth\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def test_an_entry_point_is_enough(installed, tmp_path):
    (tmp_path / "data.csv").write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in zip(*SMALL.values(), strict=True)))
    code = f"""
import json, runpy
import scorespace as ss

data = {str(tmp_path / "data.csv")!r}
page = runpy.run_path({str(ROOT / "docs" / "generate.py")!r})["_measures"]()
print(json.dumps({{
    "python": ss.toll(ss.Counts(2, 1, 1, 2), price=3),
    "evaluate": ss.evaluate(data, truth="y", scores="s", measures={ASKED!r}).summary.rows()[0]["value"],
    "catalogue": "### toll" in page.splitlines(),
    "listed": "toll" in dir(ss),
}}))
"""
    assert json.loads(python(code, **installed)) == {
        "python": EXPECTED,
        "evaluate": EXPECTED,
        "catalogue": True,
        "listed": True,
    }


def command(environment, *arguments):
    executable = Path(sys.executable).with_name("scorespace")
    plain = {**os.environ, **environment, "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run([executable, *arguments], env=plain, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_command_line_lists_and_explains_it(installed):
    assert "Price of the false alarms per case: price · FP / all." in command(installed, "measures")
    assert "price=1" in command(installed, "measures", "alarm_toll")


def test_the_command_line_computes_it(installed, tmp_path):
    (tmp_path / "data.csv").write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in zip(*SMALL.values(), strict=True)))
    asked = ("evaluate", str(tmp_path / "data.csv"), "--truth", "y", "--score", "s", "--measures", ASKED)
    assert json.loads(command(installed, *asked, "--format", "json"))["rows"][0]["value"] == EXPECTED


def test_the_laws_cover_it(installed):
    laws = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/laws/test_laws.py", "-k"]
    done = subprocess.run(
        [*laws, "toll and declared_range"],
        cwd=ROOT,
        env={**os.environ, **installed, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
