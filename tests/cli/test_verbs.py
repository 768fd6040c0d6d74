"""The verbs: listed without being loaded, and the same once they are."""

import inspect
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from scorespace import cli
from scorespace.cli.verbs import VERBS

SCREEN = ("answers", "classes", "comparison", "document", "folds", "measures", "sections", "slices", "terminal")
HEAVY = ("numpy", "scipy", "duckdb", "narwhals", "altair", "vl_convert", "jinja2")


def loaded(*arguments):
    """The modules in use after a command, in a process of its own."""
    code = (
        "import sys\n"
        "from scorespace.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    return set(done.stderr.split())


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_summary_is_the_first_sentence_of_the_help(verb):
    told = inspect.getdoc(getattr(import_module(f"scorespace.cli.{verb.name}"), verb.name))
    assert " ".join(told.split("\n\n")[0].split()) == verb.summary


def test_examples_of_the_help_run_on_the_files_of_the_demo(run):
    assert run("demo", "--copy").code == 0
    texts = (inspect.getdoc(getattr(import_module(f"scorespace.cli.{verb.name}"), verb.name)) for verb in VERBS)
    examples = re.findall(r"Example: scorespace (.*credit\.csv.*)", "\n".join(texts))
    assert len(examples) > 5
    for example in examples:
        if not example.startswith("serve"):  # which never ends
            done = run(*shlex.split(example))
            assert done.code == 0, f"{example}\n{done.err}"


def test_help_shows_no_value_beside_a_switch(run):
    assert re.search(r"--band +Draw bands", run("curve", "--help").out)


def test_every_module_but_the_shared_ones_is_a_verb():
    there = {path.stem for path in Path(cli.__file__).parent.glob("*.py")}
    shared = {"__init__", "given", "lookup", "memory", "options", "output", "runs", "verbs"}
    assert there - shared == {verb.name for verb in VERBS}


@pytest.mark.parametrize("asked", ["--help", "-h", "--version"])
def test_help_and_version_load_nothing_heavy(asked):
    found = loaded(asked)
    assert found.isdisjoint(HEAVY)
    assert not {name for name in found if name.startswith("scorespace.")} - {
        "scorespace.cli",
        "scorespace.cli.options",
        "scorespace.cli.output",
        "scorespace.cli.verbs",
        "scorespace.errors",
        "scorespace.files",
        "scorespace.later",
    }


def test_a_mistake_in_the_name_loads_nothing_heavy():
    assert loaded("evaluat").isdisjoint(HEAVY)


def test_a_verb_loads_no_other_verb():
    verbs = {f"scorespace.cli.{verb.name}" for verb in VERBS}
    assert loaded("measures", "auc") & verbs == {"scorespace.cli.measures"}
    assert loaded("evaluate", "-h") & verbs == {"scorespace.cli.evaluate"}


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_the_help_of_a_verb_loads_no_engine_of_pictures(verb):
    assert loaded(verb, "-h").isdisjoint({"altair", "vl_convert", "scipy.stats", "scipy.optimize"})


def test_one_number_loads_no_room_that_it_does_not_need(tmp_path):
    (tmp_path / "in.csv").write_text("y,s\n" + "".join(f"{k % 2},{(k * 37 % 100) / 100}\n" for k in range(60)))
    found = loaded("evaluate", str(tmp_path / "in.csv"), "--truth", "y", "--score", "s", "--measures", "auc")
    rooms = {name.split(".")[1] for name in found if name.startswith("scorespace.")}
    assert rooms.isdisjoint({"comparisons", "decisions", "experiments", "groups", "probabilities", "samples"})
    views = {name for name in found if name.startswith("scorespace.views.")}
    assert views == {f"scorespace.views.{name}" for name in SCREEN}
    # NumPy loads its masked arrays for a set of distinct values, and nothing is drawn at random for DeLong's interval.
    assert found.isdisjoint({"numpy.ma", "numpy.random", "scipy", "pandas", "pydantic", "concurrent.futures"})


def test_two_models_load_no_scipy_and_nothing_of_the_page(tmp_path):
    rows = (f"{k % 3 // 2},{(k * 37 % 101) / 101},{(k * 53 % 103 + k % 3 * 20) / 143}\n" for k in range(400))
    (tmp_path / "in.csv").write_text("y,a,b\n" + "".join(rows))
    found = loaded("evaluate", str(tmp_path / "in.csv"), "--truth", "y", "--score", "a", "--score", "b")
    views = {name for name in found if name.startswith("scorespace.views.")}
    assert views == {f"scorespace.views.{name}" for name in SCREEN}
    assert found.isdisjoint({"scipy", "scorespace.decisions", "scorespace.experiments", "scorespace.groups", "altair"})
    asked_for = ("where", "slices", "sums", "tally", "outcomes", "batches", "behind", "points", "transactions")
    assert found.isdisjoint({f"scorespace.frames.{name}" for name in asked_for})
    assert found.isdisjoint({"scorespace.comparisons.slices", "scorespace.comparisons.since", "pandas", "pydantic"})


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_page_lists_all_verbs_within_the_width(run, columns):
    done = run("--help", columns=columns)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= columns
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.out).split())
    for verb in VERBS:
        assert verb.name in words
        assert columns < 80 or verb.summary in words or verb.summary.split(":")[0] in words
    assert "--help, -h Show this message and exit." in words
    assert words.endswith(
        "Begin with: scorespace demo. The examples of every --help read the credit.csv that scorespace demo --copy "
        "writes. In Python and notebooks: import scorespace as ss; ss.evaluate(…) takes files, frames and arrays, such "
        "as predictions of scikit-learn."
    )


def test_without_arguments_the_page_is_shown(run):
    assert run().out.strip() == run("--help").out.strip()
    assert "Usage: scorespace evaluate" in run("evaluate").out


def test_a_misspelt_verb(run):
    done = run("evaluat")
    assert (done.code, done.out) == (2, "")
    assert "No such command 'evaluat'. Did you mean 'evaluate'?" in done.err


@pytest.mark.parametrize(
    ("words", "place", "found"),
    [
        ("scorespace ca", 1, ["calibrate", "cases"]),
        ("scorespace evaluate --mi", 2, ["--missing"]),
        ("scorespace evaluate --missing ", 3, ["error", "drop"]),
    ],
)
def test_the_shell_completes(command, words, place, found):
    asked = {"_SCORESPACE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = subprocess.run([command], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == found


def test_what_is_our_own_fault_is_said_to_be(run, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a thing\nthat is broken")

    monkeypatch.setattr("scorespace.cli.app", broken)
    assert run("measures").err == (
        "InternalError: scorespace failed, which is its own fault.\n  seen: RuntimeError: a thing that is broken\n"
        "  hint: please report it; with SCORESPACE_TRACEBACK=1 it tells where\n"
    )

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("scorespace.cli.app", stopped)
    assert (run("measures").code, run("measures").err) == (130, "stopped\n")
