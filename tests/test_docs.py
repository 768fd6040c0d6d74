"""README and docs: every example runs, every output shown is what comes out, every link leads somewhere.

In all pages credit.csv and iris.csv are the bundled files, in the folder where the examples run.
"""

import difflib
import doctest
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest

import scorespace as ss
from scorespace.cli import main
from scorespace.views.sections import SECTIONS

ROOT = Path(__file__).parents[1]
GENERATE = ROOT / "docs" / "generate.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
generate = SimpleNamespace(**runpy.run_path(str(GENERATE)))


def each(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.name)


def text(page):
    return page.read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(monkeypatch):
    with generate.folder() as here:
        monkeypatch.chdir(here)
        yield here
        monkeypatch.undo()  # leave the folder before it goes


# Draws end in other last digits on other processors: words must be the same, numbers nearly.
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def alike(shown, found):
    same = _NUMBER.sub("#", shown) == _NUMBER.sub("#", found)
    return same and all(map(near, _NUMBER.findall(shown), _NUMBER.findall(found)))


def near(a, b):
    last = 10.0 ** -len(a.partition(".")[2])
    return abs(float(a) - float(b)) <= 2 * last + 0.05 * abs(float(a)) if "." in a else a == b


def test_words_and_whole_numbers_must_be_the_same_and_others_nearly():
    assert alike("auc 0.913 [0.872, 0.943], 19 of 50", "auc 0.913 [0.871, 0.950], 19 of 50")
    assert not alike("19 of 50", "20 of 50")
    assert not alike("0.913", "0.813")
    assert not alike("auc 0.913", "ap 0.913")


# --- examples


@each([page for page in PAGES if blocks(page, "python")])
def test_python_examples_run(page, folder):
    names = {}
    for number, block in enumerate(blocks(page, "python"), start=1):
        if block.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, names, f"{page.name}, example {number}", None, 0)
            failures = []
            doctest.DocTestRunner().run(test, out=failures.append, clear_globs=False)
            assert not failures, "".join(failures)
            names = test.globs
        else:
            exec(compile(block, f"{page.name}, example {number}", "exec"), names)


@each([page for page in PAGES if any(command.ours for command in generate.commands(text(page)))])
def test_commands_run_and_write_what_is_shown(page, folder):
    for command in generate.commands(text(page)):
        generate.prepare(command, folder)
        if command.ours:
            done = generate.run(command.line, folder)
            assert done.code == 0, f"{command.line}\n{done.output}"
            if command.shown:
                differences = "\n".join(difflib.ndiff(command.shown.splitlines(), done.output.splitlines()))
                assert alike(command.shown, done.output), f"make docs writes it again: {command.line}\n{differences}"


def test_pages_to_begin_with_say_where_their_file_comes_from():
    first = text(ROOT / "docs" / "index.md").partition("### Begin")[2].partition("###")[0]
    for name in ("index.md", *re.findall(r"\]\(([\w-]+\.md)\)", first)):
        lines = [command.line for command in generate.commands(text(ROOT / "docs" / name))]
        before = lines[: next((at for at, line in enumerate(lines) if "credit.csv" in line), 0)]
        assert not any("credit.csv" in line for line in lines) or "scorespace demo --copy" in before, name


def test_what_stands_beside_the_calls_of_others_runs(folder, monkeypatch):
    page = text(ROOT / "docs" / "peers.md")
    roles = "credit.csv --truth outcome --positive bad --score naive_bayes --score tree"
    ran = set(re.findall(r"`(scorespace [^`]*(?:…| --)[^`]*)`", page.partition("## ")[2]))
    assert len(ran) > 25
    for line in ran:
        monkeypatch.setattr(sys, "argv", shlex.split(line.replace("…", roles)))
        with pytest.raises(SystemExit) as left, redirect_stdout(io.StringIO()):
            main()
        assert not left.value.code, line
    ev = ss.evaluate("credit.csv", truth="outcome", positive="bad", scores=["naive_bayes", "tree"])
    called = re.findall(r"`((?:ss|ev)\.[^`]*)`", page.partition("## ")[2])
    assert len(called) > 10
    for call in called:
        assert eval(call, {"ss": ss, "ev": ev, "y": [1, 0, 1, 0], "p": [0.9, 0.4, 0.6, 0.7]}) is not None, call


# --- generated pages


@pytest.mark.parametrize("name", generate.pages())
def test_generated_pages_are_in_step(name):
    assert text(ROOT / "docs" / name) == generate.pages()[name], "make docs writes it again"


def test_check_names_the_page_that_is_not_in_step(tmp_path):
    (tmp_path / "docs").mkdir()
    copy = tmp_path / "docs" / "generate.py"
    copy.write_text(text(GENERATE), encoding="utf-8")
    for name, page in generate.pages().items():
        (tmp_path / "docs" / name).write_text(page, encoding="utf-8")
    assert _check(copy) == (0, "")
    (tmp_path / "docs" / "notes.md").write_text("old", encoding="utf-8")
    assert _check(copy) == (1, f"{Path('docs/notes.md')} is not in step: make docs\n")
    assert text(tmp_path / "docs" / "notes.md") == "old"


def _check(script):
    environment = {**os.environ, "COLUMNS": "133", "FORCE_COLOR": "1"}  # neither may change the pages
    done = subprocess.run(
        [sys.executable, script, "--check"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_output_under_commands_is_refreshed():
    page = "```console\n$ scorespace measures \\\n    precison\nold\n$ scorespace --version\n$ ls\nkept\n```\n"
    assert generate.refreshed(page) == page.replace(
        "old", "MeasureError: there is no measure 'precison'.\n  hint: did you mean precision?"
    )


def test_the_commands_page_has_every_verb():
    verbs = re.findall(r"^## scorespace (\w+)$", generate.pages()["commands.md"], re.MULTILINE)
    assert set(verbs) >= {"evaluate", "compare", "decide", "curve", "measures", "demo"}


# --- links


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@each(PAGES)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_on_the_map():
    index = text(ROOT / "docs" / "index.md")
    assert [page.name for page in PAGES[1:] if page.name != "index.md" and f"]({page.name})" not in index] == []


def test_the_page_on_the_report_has_every_section_in_its_order():
    told = text(ROOT / "docs" / "report.md").partition("shows only some: ")[2].partition(". That")[0]
    assert re.findall(r"`(\w+)`", told) == [kind.name for kind in SECTIONS if kind.name != "verdict"]


def test_the_page_on_python_has_every_public_name():
    import scorespace

    assert set(scorespace.__all__) == set(re.findall(r"^### (\w+)$", text(ROOT / "docs" / "api.md"), re.MULTILINE))
