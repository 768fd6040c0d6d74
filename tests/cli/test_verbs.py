"""The verbs: listed without being loaded, and the same once they are."""

import os
import re
import shlex
import subprocess
import sys

import duckdb
import pytest

from scorespace.cli.verbs import load, verbs

VERBS = tuple(verbs().values())

SCREEN = ("answers", "classes", "comparison", "document", "folds", "measures", "sections", "slices", "terminal")
HEAVY = ("scipy", "duckdb", "narwhals", "altair", "vl_convert", "jinja2")


def loaded(*commands):
    """The modules in use after these commands, in a process of its own."""
    code = (
        "import sys\n"
        "from scorespace.cli import main\n"
        "for command in sys.argv[1:]:\n"
        "    sys.argv = ['scorespace', *command.split()]\n"
        "    try:\n        main()\n"
        "    except SystemExit:\n        pass\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *commands], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_summary_is_the_first_sentence_of_the_help(verb):
    assert " ".join(load(verb).help.split("\n\n")[0].split()) == verb.summary


def test_examples_of_the_help_run_on_the_files_of_the_demo(run):
    assert run("demo", "--copy").code == 0
    texts = (load(verb).help for verb in VERBS)
    examples = re.findall(r"Example: scorespace (.*credit\.csv.*)", "\n".join(texts))
    assert len(examples) > 5
    for example in examples:
        if not example.startswith("serve"):  # which never ends
            done = run(*shlex.split(example))
            assert done.code == 0, f"{example}\n{done.err}"


def test_help_shows_no_value_beside_a_switch(run):
    assert re.search(r"--unpaired +Two", run("power", "--help-all").out)


def test_help_version_and_a_mistake_in_the_name_load_nothing_heavy():
    assert loaded("--help", "-h", "--version", "evaluat").isdisjoint(HEAVY)


def test_a_verb_loads_no_other_verb():
    verbs = {verb.function.partition(":")[0] for verb in VERBS}
    assert loaded("measures auc") & verbs == {"scorespace.cli.lookup"}
    assert loaded("evaluate -h") & verbs == {"scorespace.cli.evaluate"}


def test_the_help_of_no_verb_loads_an_engine_of_pictures():
    found = loaded(*(f"{verb.name} -h" for verb in VERBS))
    assert found >= {verb.function.partition(":")[0] for verb in VERBS}
    assert found.isdisjoint({"altair", "vl_convert", "scipy.stats", "scipy.optimize"})


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
        "import scorespace as ss; ss.evaluate(…) accepts files, data frames and arrays, such as the predictions of "
        "scikit-learn."
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
        "InternalError: an unexpected error in scorespace.\n  seen: RuntimeError: a thing that is broken\n"
        "  hint: please report this; SCORESPACE_TRACEBACK=1 shows the traceback\n"
    )

    def exhausted(*_, **__):
        raise duckdb.OutOfMemoryException("could not allocate block of size 256.0 KiB")

    monkeypatch.setattr("scorespace.cli.app", exhausted)
    assert "not enough memory" in run("measures").err

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("scorespace.cli.app", stopped)
    assert (run("measures").code, run("measures").err) == (130, "stopped\n")


@pytest.mark.parametrize(
    "name", ["evaluate", "compare", "decide", "curve", "calibrate", "drift", "cases", "audit", "agree"]
)
def test_the_short_help_fits_one_screen(run, name):
    page = run(name, "--help", columns=80).out
    assert len(page.strip().splitlines()) <= 30
    assert f"scorespace {name} --help-all" in page
    assert len(run(name, "--help-all", columns=80).out.splitlines()) > len(page.splitlines())


def test_the_short_help_names_five_interval_methods(run):
    page = " ".join(run("evaluate", "--help", columns=80).out.split())
    assert "bootstrap, bca, wilson, clopper-pearson or delong" in page
