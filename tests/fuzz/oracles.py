"""What any answer of the command line must obey, whatever it was given."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO
from unittest.mock import patch

from fuzz.cases import Case
from scorespace.cli import main
from scorespace.measures import parse

_DROPPED = re.compile(r"([\d ]+) of ([\d ]+) rows? (?:was|were) dropped")
_CHOSEN = re.compile(r"([\d ]+) of ([\d ]+) rows? (?:is|are) included")
_TOLD = re.compile(r"\w*Error: |Usage: ")


def violations(case: Case) -> list[str]:
    """Run a case in a folder of its own, and say what it broke."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder, spare = Path(name) / "work", Path(name) / "tmp"
        folder.mkdir()
        spare.mkdir()
        case.write(folder)
        before = _hashes(folder)
        here = os.getcwd()
        os.chdir(folder)
        try:
            with patch.object(tempfile, "tempdir", str(spare)):
                code, out, err = _run(case)
        finally:
            os.chdir(here)
        after = _hashes(folder)
        broken = _streams(code, out, err)
        written = {
            value for flag, value in zip(case.arguments, case.arguments[1:], strict=False) if flag.startswith("--")
        }
        if "--copy" in case.arguments:
            written |= {"credit.csv", "iris.csv", "deliveries.csv"}  # what the demo is made of
        # A run that goes on: what it finishes stays, whatever else is wrong in its folder.
        kept = written & {Path(each).parts[0] for each in case.files} if case.arguments[0] == "benchmark" else set()
        broken += [
            f"the input {each} changed"
            for each in case.files
            if after.get(each) != before[each] and Path(each).parts[0] not in kept
        ]
        left = [each for each in after if each not in before and Path(each).parts[0] not in written]
        broken += [f"{each} was left behind" for each in (*left, *os.listdir(spare))]
        if code == 2:
            early = [each for each in after if each not in before and Path(each).parts[0] not in kept]
            broken += [f"{each} was written before an error" for each in early]
        if code in (0, 1):
            broken += _answers(case, out, folder)
        return broken


def _run(case: Case) -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        _redirected(case.stdin or os.devnull) as given,
        patch.object(sys, "argv", ["scorespace", *case.arguments]),
        patch.object(sys, "stdin", given),
    ):
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
                code: Any = 0
            except SystemExit as left:
                code = left.code or 0
            except BaseException as error:
                code = f"{type(error).__name__}: {error}"
        for stream in (out, err):
            if not stream.closed:
                stream.flush()
    return code, *(
        "" if each.closed else each.buffer.getvalue().decode("utf-8", "surrogateescape") for each in (out, err)
    )


@contextmanager
def _redirected(name: str) -> Iterator[TextIO]:
    """A file as standard input, by its descriptor too, as a shell would have it."""
    before = os.dup(0)
    try:
        with open(name, encoding="utf-8", errors="surrogateescape") as given:
            os.dup2(given.fileno(), 0)
            yield given
    finally:
        os.dup2(before, 0)
        os.close(before)


def _streams(code: Any, out: str, err: str) -> list[str]:
    broken = [] if code in (0, 1, 2) else [f"it ended with {code!r}"]
    broken += ["a traceback"] if "Traceback" in err or "Traceback" in out else []
    broken += (
        [f"a failure of its own: {err[:300]}"] if "InternalError" in err or "cannot be done with these" in err else []
    )
    if code == 2:
        broken += [f"output before an error: {out[:80]!r}"] if out else []
        broken += [f"an error without words: {err[:80]!r}"] if not _TOLD.search(err) else []
    broken += [f"a warning of Python: {err[:200]}"] if "Warning" in err else []
    return broken


def _answers(case: Case, out: str, folder: Path) -> list[str]:
    verb = case.arguments[0]
    if "--format" not in case.arguments or (verb in ("curve", "cases") and not out):
        return []
    if case.arguments[case.arguments.index("--format") + 1] != "json":
        return []
    try:
        content = json.loads(out, parse_constant=lambda token: (_ for _ in ()).throw(ValueError(token)))
    except ValueError as error:
        return [f"no strict JSON: {error}"]
    judged = verb in ("evaluate", "clusters", "rules")
    broken = [text for row in content.get("rows", ()) for text in _row(row)] if judged else []
    return broken + _rows(case, content, folder)


def _row(row: dict[str, Any]) -> list[str]:
    value, low, high = row.get("value"), row.get("low"), row.get("high")
    if value is None:
        return [] if row.get("reason") else [f"no reason for {row}"]
    kind = parse(row["measure"]).measure
    ranges = [kind.range, *kind.ranges.values()]  # some have another of another table
    least, most = min(low for low, _ in ranges), max(high for _, high in ranges)
    slack = 1e-9 * max(1.0, abs(value))
    broken = [] if least - slack <= value <= most + slack else [f"out of range: {row}"]
    if low is not None and high is not None and not low - slack <= value <= high + slack:
        broken.append(f"an interval without its value: {row}")
    return broken


def _rows(case: Case, content: dict[str, Any], folder: Path) -> list[str]:
    held = content.get("data")
    if not isinstance(held, dict) or case.arguments[0] == "drift" or {"--matrix", "--noise"} & {*case.arguments}:
        return []
    if case.arguments[0] == "rules" and {"--transaction", "--weight"} & {*case.arguments}:
        return []  # a row is an item, or several transactions, and what is told are transactions
    used = next((held[name] for name in ("rows", "points", "transactions") if name in held), None)
    if used is None:
        return []
    records = case.records if case.records is not None else _counted(case, folder)
    if records is None:
        return []
    text = " ".join(note["text"] for note in content.get("notes", ()))
    found = _DROPPED.search(text)
    dropped = int(found[1].replace(" ", "")) if found else 0
    if case.arguments[0] == "agree" and used <= records:
        return []  # its note tells rows in use only
    if "--where" in case.arguments:
        chosen = _CHOSEN.search(text)
        held, rows = (int(each.replace(" ", "")) for each in chosen.groups()) if chosen else (records, records)
        told = rows == records and used + dropped <= held
        return [] if told else [f"{records} records, {used} in use of {held} chosen of {rows}"]
    whole = used + dropped
    weighed = case.weightless or "--weight" in case.arguments  # rows that weigh nothing are not in use
    if whole + case.weightless == records or (weighed and whole <= records):
        return []
    return [f"{records} records, {used} rows in use, {dropped} dropped"]


def _counted(case: Case, folder: Path) -> int | None:
    """The records of a CSV file that was bent, by another reader."""
    name = case.stdin or case.arguments[1]
    if ".csv" not in name or not (folder / name).is_file():
        return None
    try:
        data = (folder / name).read_bytes()
        text = (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text)))
    except (OSError, EOFError, ValueError, csv.Error):
        return None
    while lines and not lines[-1]:
        lines.pop()
    return len(lines) - 1


def _separator(text: str) -> str:
    return max(",;\t|", key=text.split("\n")[0].count)


def _hashes(folder: Path) -> dict[str, str]:
    files = [each for each in folder.rglob("*") if each.is_file()]
    return {str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}
