"""README and docs: examples run, shown output is current, and links have targets.

In all pages credit.csv and iris.csv are the bundled files, in the folder where the examples run.
"""

import difflib
import doctest
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer import rich_utils

import scorespace as ss
from scorespace.audit.audit import FINDING_KINDS
from scorespace.cli import main
from scorespace.cli.verbs import verbs
from scorespace.report.sections import SECTIONS

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


# Bootstrap results differ in the last digits between processors: words must be equal, numbers close.
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def alike(shown, found):
    same = _NUMBER.sub("#", shown) == _NUMBER.sub("#", found)
    return same and all(map(near, _NUMBER.findall(shown), _NUMBER.findall(found)))


def near(a, b):
    last = 10.0 ** -len(a.partition(".")[2])
    return abs(float(a) - float(b)) <= 2 * last + 0.05 * abs(float(a)) if "." in a else a == b


def test_words_and_whole_numbers_are_equal_and_others_close():
    assert alike("auc 0.913 [0.872, 0.943], 19 of 50", "auc 0.913 [0.871, 0.950], 19 of 50")
    assert not alike("19 of 50", "20 of 50")
    assert not alike("0.913", "0.813")
    assert not alike("auc 0.913", "ap 0.913")


# --- examples


@pytest.fixture
def screen(monkeypatch):
    """80 columns without colours on the day of the pages, as `generate.run` has them."""
    for name, value in {"COLUMNS": "80", "SOURCE_DATE_EPOCH": "1793707200"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(rich_utils, "FORCE_TERMINAL", None)


def ran(line, monkeypatch):
    """The exit code and the output of a command line, run in this process."""
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(SystemExit) as left, redirect_stdout(written), redirect_stderr(written):
        main()
    text = written.buffer.getvalue().decode()
    return left.value.code or 0, "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


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
def test_commands_run_and_write_what_is_shown(page, folder, screen, monkeypatch):
    for command in generate.commands(text(page)):
        generate.prepare(command, folder)
        if command.ours:
            code, output = ran(command.line, monkeypatch)
            assert code == 0, f"{command.line}\n{output}"
            if command.shown:
                differences = "\n".join(difflib.ndiff(command.shown.splitlines(), output.splitlines()))
                assert alike(command.shown, output), f"make docs writes it again: {command.line}\n{differences}"


def test_pages_to_start_with_say_how_to_get_their_file():
    first = text(ROOT / "docs" / "index.md").partition("### Getting started")[2].partition("###")[0]
    for name in ("index.md", *re.findall(r"\]\(([\w-]+\.md)\)", first)):
        lines = [command.line for command in generate.commands(text(ROOT / "docs" / name))]
        before = lines[: next((at for at, line in enumerate(lines) if "credit.csv" in line), 0)]
        assert not any("credit.csv" in line for line in lines) or "scorespace demo --copy" in before, name


def test_equivalents_of_other_programs_run(folder, monkeypatch):
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


def test_check_names_the_page_that_is_out_of_date(tmp_path):
    """Beside the pages of the repository, which a fresh process in other surroundings makes alike."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    copy = tmp_path / "docs" / "generate.py"
    (tmp_path / "docs" / "notes.md").write_text("old", encoding="utf-8")
    environment = {**os.environ, "COLUMNS": "133", "FORCE_COLOR": "1"}  # neither may change the pages
    done = subprocess.run(
        [sys.executable, copy, "--check"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == f"{Path('docs/notes.md')} is out of date: make docs\n"
    assert text(tmp_path / "docs" / "notes.md") == "old"


def test_output_under_commands_is_refreshed():
    page = "```console\n$ scorespace measures \\\n    precison\nold\n$ scorespace --version\n$ ls\nkept\n```\n"
    before, after = page.split("old")
    found = generate.refreshed(page)
    assert (found.startswith(before), found.endswith(after)) == (True, True)
    assert found.removeprefix(before).startswith("MeasureError: ")
    assert "precision" in found.removeprefix(before)


def test_the_page_of_findings_has_those_of_the_audit():
    """The page in the repository, which `make check` compares with that of a fresh process."""
    listed = re.findall(r"^\| `(SS1\d\d)`", text(ROOT / "docs" / "findings.md"), re.MULTILINE)
    assert listed == sorted(FINDING_KINDS)


def test_the_commands_page_has_every_verb():
    listed = re.findall(r"^## scorespace (\w+)$", text(ROOT / "docs" / "commands.md"), re.MULTILINE)
    assert listed == list(verbs())


# --- links


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@each(PAGES)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL)):
        if "://" in link or link.startswith(("#scorespace.", "gallery/")):  # which the website makes, strictly
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_index():
    index = text(ROOT / "docs" / "index.md")
    assert [page.name for page in PAGES[1:] if page.name != "index.md" and f"]({page.name})" not in index] == []


def test_the_page_on_the_report_has_every_section_in_its_order():
    listed = re.search(r"`--section\s+NAME`[^:]*:\s([^.]*)\.", text(ROOT / "docs" / "report.md"))[1]
    assert re.findall(r"`(\w+)`", listed) == [kind.name for kind in SECTIONS if kind.name != "verdict"]


def test_the_page_on_python_has_every_public_name():
    import scorespace

    assert set(scorespace.__all__) == set(re.findall(r"^\| \[`(\w+)`\]", text(ROOT / "docs" / "api.md"), re.MULTILINE))


def test_the_page_of_the_lectures_lists_all_their_examples():
    rows = re.findall(
        r"^\| (?!Example \|)",
        text(ROOT / "docs" / "lectures.md").partition("## Where each example is")[2],
        re.MULTILINE,
    )
    assert len(rows) == 172
