"""Generate the reference pages from the code, and the command output in the other pages.

`python docs/generate.py` writes both. With `--check` it writes nothing, lists the generated pages that are out of date,
and exits with 1 if there are any; tests/test_docs.py checks the command output.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import scorespace
from scorespace.audit.audit import FINDING_KINDS  # the module that imports all findings
from scorespace.cli.demo import COPIES
from scorespace.cli.verbs import verbs
from scorespace.comparisons.test import tests_in_order
from scorespace.curves.curve import CurveKind
from scorespace.evaluation.curves import kinds
from scorespace.inference.interval import INTERVALS
from scorespace.measures import Measure, measures
from scorespace.options import Registered, format_value
from scorespace.report.catalogue import by_topic, curve_entry, curve_example, entry, requirements, sides
from scorespace.results import NOTE_KINDS
from scorespace.tables import ClassTable, ConfusionTable

HERE = Path(__file__).parent
WIDTH = 80
WRITTEN = "<!-- Written by docs/generate.py: change the code instead, then `make docs`. -->"
_CONSOLE = re.compile(r"(^```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


# --- generated pages


def pages() -> dict[str, str]:
    """Return the generated pages by file name."""
    return {
        "measures.md": _measures(),
        "curves.md": _curves(),
        "tests.md": _tests(),
        "commands.md": _commands(),
        "notes.md": _notes(),
        "findings.md": _findings(),
        "api.md": _api(),
    }


def _measures() -> str:
    of_classes = {ConfusionTable, ClassTable}
    whole = ", ".join(f"`{measure.name}`" for measure in measures() if of_classes & set(measure.functions))
    parts = [
        "# Measures",
        WRITTEN,
        "Every measure with its formula, range, names and options. The notation is the same everywhere: in "
        "`--measures`, in `ev.measures(…)` and in `--require`.",
        "| notation | meaning |\n|:--|:--|\n"
        "| `auc` | the measure; a measure of decisions uses the threshold of the model |\n"
        "| `ppv@0.5` | at a threshold: a case is predicted positive if its score is ≥ 0.5 |\n"
        "| `sens@spec=0.9`, `ppv@tpr=0.8` | where another measure has a value: on the ROC curve, else the best value "
        "at which the other is at least as good; fractions such as `2/3` are numbers |\n"
        "| `ppv@top10%`, `tpr@top200` | by rank: the tenth of the cases, or the 200 cases, with the highest scores are "
        "predicted positive; see [an alert budget](lectures.md#an-alert-budget) |\n"
        "| `fbeta(beta=2)@0.3` | with an option |\n"
        "| `tpr[good]` | with that class as the positive one |\n"
        "| `f1[macro]` | averaged over the classes: `macro`, `micro` or `weighted` |\n"
        "| `auc[>=medium]` | ordered classes: that class and all above it are positive |\n"
        "| `auc[hand_till]` | averaged over the pairs of classes, also `hand_till_weighted`; "
        "`f1[one_vs_one]` is the same for decisions; "
        "see [multiclass](classes.md) |",
        "All names of a measure are equivalent, and results show the one you used: `recall@0.5`, `sensitivity@0.5` and "
        "`tpr@0.5` are the same. `scorespace measures NAME` explains one measure, or searches names and descriptions. "
        "Case, blanks and hyphens in names do not matter. In multiclass problems, "
        f"{whole} need no brackets. If a measure is undefined, the value is empty and the reason is given. "
        "[How to read the results](reading.md#intervals) explains the intervals; the last table lists their methods.",
    ]
    for topic, found in by_topic(measures()).items():
        parts += [f"## {topic}", *(part for measure in found for part in _measure_card(measure))]
    parts += [
        "## Interval methods",
        "The column *Interval* names the default method of each measure. `--interval METHOD` "
        '(`settings={"interval": METHOD}` in Python) selects another one if it applies to the measure; otherwise it '
        "is refused.",
        _table(
            ("What it is", "Method", "How it is computed"),
            ((kind.title[:1].upper() + kind.title[1:], f"`{kind.name}`", kind.summary) for kind in INTERVALS),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _measure_card(measure: Measure) -> tuple[str, ...]:
    low, high = (f"{bound:g}".replace("-", "−").replace("inf", "∞") for bound in measure.range)
    undefined = measure.undefined + (f"; infinite when {measure.infinite}" if measure.infinite else "")
    facts = [
        ("Also called", ", ".join(f"`{alias}`" for alias in measure.aliases)),
        ("Range", f"{low} to {high}"),
        ("Better", {"high": "higher", "low": "lower", None: "neither"}[measure.best]),
        ("Undefined when", undefined),
        ("Interval", measure.interval),
        ("Needs", str(entry(measure)["needs"])),
        ("Options", _options(measure)),
    ]
    stated = (fact for fact in facts if fact[1])
    return f"### {measure.name}", f"**{measure.title}.** {measure.summary}", _table(("", ""), stated)


def _options(noun: Registered) -> str:
    return "<br>".join(f"`{option.stated}` {option.explained}" for option in noun.options)


def _curves() -> str:
    parts = [
        "# Curves",
        WRITTEN,
        "Every kind of curve with its axes, area and options. The notation is the same everywhere: in "
        "`scorespace curve --kind`, in `ev.curve(…)`, `ev.curves(…)` and `ev.plot(…)`.",
        "| notation | meaning |\n|:--|:--|\n"
        "| `roc` | the curve of every model |\n"
        "| `smooth(midpoint=median)` | with an option |\n"
        "| `calibration(by=count, bins=20)` | with two options |\n"
        "| `threshold(measure=fbeta(beta=2))` | with a measure that has an option |",
        "`scorespace curves NAME` explains one. A multiclass model has a curve for each class; "
        '`ev.curve("roc", "nb[setosa]")` is that of one class. In Python every kind is also a function of a table: '
        '`ss.calibration(table, by="count")`.',
    ]
    for kind in kinds():
        parts += [f"## {kind.name}", f"**{kind.title}.** {kind.summary}", _facts(kind)]
    return "\n\n".join(parts) + "\n"


def _facts(kind: CurveKind[Any]) -> str:
    row = curve_entry(kind)
    facts = [
        ("Axes", f"{kind.y} against {kind.x.lower()}"),
        ("Area", kind.area or "not meaningful"),
        ("Band", "yes, with `--band`" if row["band"] else "none"),
        ("Needs", str(row["needs"])),
        ("Also called", ", ".join(f"`{alias}`" for alias in kind.aliases) or "–"),
        ("Write", f"`{curve_example(kind)}`"),
        *(("Option", f"`{option.stated}` {option.explained}") for option in kind.options),
    ]
    return _table(("", ""), facts)


def _tests() -> str:
    parts = [
        "# Tests",
        WRITTEN,
        "Every test between models: what it is for, when it applies, and its options. The notation is the same in "
        "`scorespace compare --test` and in `ev.compare(test=…)`. If you name no test, the first in this list that "
        "applies is used; if an earlier one was skipped because of too few cases, the result says so.",
        "| notation | meaning |\n|:--|:--|\n"
        "| `delong` | the test |\n"
        "| `mcnemar(method=exact)` | with an option |\n"
        "| `bootstrap(replicates=5000)` | with more replicates |\n"
        "| `bayes_t(rope=0.02)` | with the largest difference that counts as practically equal |",
        "`scorespace tests NAME` explains one. Tests [over data sets](compare.md#many-data-sets) are used by "
        "`scorespace ranks`.",
    ]
    for kind in tests_in_order():
        facts = [("for", kind.for_), ("can", "; ".join(form.asks for form in kind.forms))]
        facts += [("suits", "; ".join(requirements(kind))), ("sides", sides(kind))]
        facts += [
            ("option", f"`{option.name}={format_value(option.default)}`: {option.about}") for option in kind.options
        ]
        facts += [("also called", ", ".join(f"`{name}`" for name in kind.aliases))] if kind.aliases else []
        title = kind.title[0].upper() + kind.title[1:]
        parts += [f"## {kind.name}", f"**{title}.** {kind.summary}", _table(("", ""), facts)]
    return "\n\n".join(parts) + "\n"


def _commands() -> str:
    parts = ["# Commands", WRITTEN, "The output of `scorespace VERB --help-all` for every verb."]
    for verb in ("", *verbs()):
        command = f"scorespace {verb}".strip()
        flag = "--help-all" if command != "scorespace" else "--help"
        parts.append(f"## {command}\n\n```text\n{run(f'{command} {flag}').output}\n```")
    return "\n\n".join(parts) + "\n"


def _notes() -> str:
    rows = ((f"`{code}`", kind.level, kind.title) for code, kind in NOTE_KINDS.items())
    about = (
        "A note is something to know before trusting a number. It never stops the computation. Terminal, report, JSON "
        "and `ev.notes` show the same notes, warnings first, with the numbers of your data. A code never changes its "
        "meaning, so programs may rely on it."
    )
    return "\n\n".join(["# Notes", WRITTEN, about, _table(("Code", "Level", "About"), rows)]) + "\n"


def _findings() -> str:
    rows = (
        (f"`{code}`", kind.level, kind.title + (" (a leak)" if kind.leak else ""), kind.advice)
        for code, kind in sorted(FINDING_KINDS.items())
    )
    about = (
        "What `scorespace audit` can find; see [data audit](audit.md). The level is the usual one; a finding that is "
        "not significant has the level info. A code never changes its meaning, so programs may rely on it."
    )
    return "\n\n".join(["# Findings", WRITTEN, about, _table(("Code", "Level", "About", "What to do"), rows)]) + "\n"


def _api() -> str:
    about = (
        "Every public function and class, from the docstrings: `import scorespace as ss`, then `ss.NAME`. Every "
        "measure of [the catalogue](measures.md) is also a function of a table, by any of its names: `ss.auc(table)`, "
        "`ss.recall(table.at(0.5))`. Results are immutable; each has `rows()`, `to_dict()` and `notes`, and its `repr` "
        "shows the result."
    )
    homes: dict[str, list[str]] = {}
    for name in scorespace.__all__:
        homes.setdefault(getattr(scorespace, name).__module__.split(".")[1], []).append(name)
    first = [("evaluation", homes.pop("evaluation"))]
    parts = ["# Python", WRITTEN, about]
    for home, names in [*first, *sorted(homes.items())]:
        title = (import_module(f"scorespace.{home}").__doc__ or "").strip().splitlines()[0]
        named = {name: _home(getattr(scorespace, name)) for name in sorted(names, key=str.casefold)}
        rows = ((f"[`{name}`](#{path})", _first_line(getattr(scorespace, name))) for name, path in named.items())
        parts += [f"## {home}", title, _table(("name", "what it is"), rows)]
        parts += [f"::: {path}" for path in named.values()]
    return "\n\n".join(parts) + "\n"


def _home(found: Any) -> str:
    """Return where a public name is defined."""
    defined = inspect.unwrap(getattr(found, "function", found))
    return f"{defined.__module__}.{defined.__qualname__}"


def _first_line(found: Any) -> str:
    return (inspect.unwrap(found).__doc__ or "").strip().partition("\n")[0]


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [columns, (":--" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


# --- commands in hand-written pages


class Command(NamedTuple):
    """A command of a console block and the output shown under it."""

    text: str
    shown: str

    @property
    def ours(self) -> bool:
        return self.text.startswith("$ scorespace")

    @property
    def line(self) -> str:
        """The command in one line, without the prompt."""
        return self.text.removeprefix("$ ").replace("\\\n", " ")


class Run(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    output: str


def run(line: str, where: str | Path = ".") -> Run:
    """Run a command line in a folder, in a new process, with 80 columns and without colours."""
    third_of_november = "1793707200"
    surroundings = {"COLUMNS": str(WIDTH), "SOURCE_DATE_EPOCH": third_of_november, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(line)],
        cwd=where,
        env={**os.environ, **surroundings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    plain = _COLOUR.sub("", done.stdout)
    return Run(done.returncode, "\n".join(line.rstrip() for line in plain.splitlines()).strip("\n"))


def commands(page: str) -> Iterator[Command]:
    """Yield the commands in the console blocks of a page."""
    for block in _CONSOLE.finditer(page):
        for part in re.split(r"^(?=\$ )", block[2], flags=re.MULTILINE):
            if part.strip():
                text = re.match(r"(?:.*\\\n)*.*", part)[0]  # type: ignore[index]
                yield Command(text, part[len(text) :].strip("\n"))


def refreshed(page: str) -> str:
    """Return the page with the current output of its commands; a command without output keeps none."""
    with folder() as here:
        for command in commands(page):
            prepare(command, here)
            output = run(command.line, here).output if command.ours else command.shown
            if command.shown:
                page = page.replace(f"{command.text}\n{command.shown}\n", f"{command.text}\n{output}\n")
    return page


def prepare(command: Command, where: Path) -> None:
    """Emulate other commands: create the file that `cat` shows, and run commands that write with `>`."""
    if command.ours:
        return
    if command.line.startswith("cat "):
        (where / command.line.removeprefix("cat ")).write_text(command.shown + "\n", encoding="utf-8")
    elif " > " in command.line:
        subprocess.run(command.line, shell=True, cwd=where, check=True)


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a temporary folder with the bundled predictions, as all pages assume."""
    with tempfile.TemporaryDirectory() as name:
        for called, bundled in COPIES.items():
            (Path(name) / called).write_bytes((files("scorespace.data") / bundled).read_bytes())
        yield Path(name)


def _write_or_check(check: bool) -> int:
    wanted = {HERE / name: text for name, text in pages().items()}
    if not check:
        others = (path for path in (HERE.parent / "README.md", *HERE.glob("*.md")) if path not in wanted)
        wanted |= {path: refreshed(path.read_text(encoding="utf-8")) for path in others}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(HERE.parent)} {'is out of date: make docs' if check else 'written'}")
        if not check:
            path.write_text(wanted[path], encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(_write_or_check(check="--check" in sys.argv[1:]))
