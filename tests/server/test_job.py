"""One evaluation: the page with a place for the bar, the report as a file has it, and errors in three lines."""

import json
import subprocess
import sys

from scorespace.errors import DataError
from scorespace.server.asked import Asked
from scorespace.server.job import made, told
from scorespace.server.pages import SLOT

SAID = {"truth": ["y"], "score": ["s"], "measures": ["auc"]}
ROWS = "y,s\n" + "".join(f"{k % 2},{(k * 37 % 100) / 100}\n" for k in range(40))


def test_a_page_and_the_report(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    steps = []
    page, report = made([str(tmp_path / "a.csv")], Asked.of("a.csv", SAID), lambda *step: steps.append(step))
    assert page.count(SLOT) == 1
    assert "rowsAt" in page
    assert SLOT not in report
    assert "rowsAt" not in report  # a page in a file has no rows to lead to
    assert "scorespace evaluate a.csv --truth y --score s --measures auc --report a.html" in report
    assert [doing for doing, _ in steps][:1] == ["reading a.csv"]
    assert ("drawing the page", None) in steps


def test_rows_slices_and_costs_as_on_the_command_line(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "costs.csv").write_text(",1,0\n1,0,5\n0,1,0\n")
    said = {**SAID, "where": ["s < 0.9"], "by": ["s(bins=2)"], "costs": ["costs.csv"]}
    asked = Asked.of("a.csv", said)
    page, _ = made([str(tmp_path / "a.csv"), str(tmp_path / "costs.csv")], asked, lambda *_: None)
    assert "rows take part: s &lt; 0.9." in page
    assert "gap to the rest" in page
    assert "per case" in page
    flags = "--where &#39;s &lt; 0.9&#39; --by &#39;s(bins=2)&#39; --measures auc --costs costs.csv"
    assert flags in page


def test_errors_are_told_in_three_lines_and_never_as_a_traceback():
    known = told(DataError("the problem.", seen="what was seen", hint="one thing to do"))
    assert known == {"kind": "DataError", "problem": "the problem.", "seen": "what was seen", "hint": "one thing to do"}
    assert told(MemoryError())["problem"] == "there is not enough memory."
    own = told(KeyError("a" * 500))
    assert own["problem"] == "scorespace failed, which is its own fault."
    assert len(own["seen"]) <= 200


def asked(question, *, closed=False):
    """The answers of a process of its own."""
    command = [sys.executable, "-P", "-m", "scorespace.server.job"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(question).encode() + b"\n")
        process.stdin.flush()
        if closed:
            process.stdin.close()
        return process.stdout.read(), process.wait(60)


def test_as_a_process_it_answers_by_lines(tmp_path):
    answers, code = asked({"paths": [str(tmp_path / "none.csv")], "file": "none.csv", "said": [["truth", "y"]]})
    *_, last = map(json.loads, answers.splitlines())
    assert last["error"]["kind"] == "DataError"
    assert "does not exist" in last["error"]["problem"]
    assert code == 0


def test_it_ends_when_whoever_asked_has_gone(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    _, code = asked(
        {"paths": [str(tmp_path / "a.csv")], "file": "a.csv", "said": [["truth", "y"], ["score", "s"]]}, closed=True
    )
    assert code == 1
