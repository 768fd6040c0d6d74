"""Writes the pages that follow from the code, and the output that other pages show under commands.

`python docs/generate.py` writes them again. With `--check` it writes nothing, names the generated pages that are not
in step, and exits with 1 if there are any; the output under commands is checked by tests/test_docs.py.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from typer.main import get_command

import scorespace
from scorespace.auditing.audit import FINDING_KINDS
from scorespace.cli import app
from scorespace.comparisons.test import ranked
from scorespace.declaration import Noun, written
from scorespace.evaluation.curves import CurveKind, kinds
from scorespace.measures import Measure, measures
from scorespace.results import NOTE_KINDS
from scorespace.tables import ClassTable, ConfusionTable
from scorespace.views.catalogue import by_topic, curve_entry, curve_example, entry
from scorespace.views.tests import sides, suiting

HERE = Path(__file__).parent
WIDTH = 80
WRITTEN = "<!-- Written by docs/generate.py: change the code instead, then `make docs`. -->"
_COLUMNS = (
    "Name",
    "What it is",
    "Also called",
    "Range",
    "Better",
    "Undefined when",
    "Interval",
    "Needs",
    "Options",
)
_CONSOLE = re.compile(r"(^```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


# --- generated pages


def pages() -> dict[str, str]:
    """The generated pages by file name."""
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
        "A measure is written the same way everywhere: in `--measures`, in `ev.measures(…)`, in `--require`.",
        "| you write | you get |\n|:--|:--|\n"
        "| `auc` | the measure; one of decisions at the threshold that the model is shown at |\n"
        "| `ppv@0.5` | at a threshold: a case is predicted positive when its score is ≥ 0.5 |\n"
        "| `ppv@top10%`, `tpr@top200` | by rank: a tenth of the cases, or 200 of them, with the highest scores; "
        "see [an alert budget](lectures.md#an-alert-budget) |\n"
        "| `fbeta(beta=2)@0.3` | with an option |\n"
        "| `tpr[good]` | with that class as the positive one |\n"
        "| `f1[macro]` | averaged over the classes: `macro`, `micro` or `weighted` |\n"
        "| `auc[>=medium]` | with that class and all above it as positive, of classes in order |\n"
        "| `auc[hand_till]` | averaged over the pairs of classes, also `hand_till_weighted`; "
        "`f1[one_vs_one]` is the same of decisions; "
        "see [more than two classes](classes.md) |",
        "Any of its names will do, and results then show that one: `recall@0.5` is `sensitivity@0.5` is `tpr@0.5`. "
        "`scorespace measures NAME` explains one, and finds those whose words you remember. "
        "Upper and lower case, blanks and hyphens do not matter in names. Of several classes, "
        f"{whole} need no brackets. Where a measure is undefined, the value is empty and the reason is stated; what "
        "the intervals are is told in [how to read the numbers](reading.md#intervals).",
    ]
    for topic, found in by_topic(measures()).items():
        parts += [f"## {topic}", _table(_COLUMNS, map(_measure_row, found))]
    return "\n\n".join(parts) + "\n"


def _measure_row(measure: Measure) -> tuple[str, ...]:
    low, high = (f"{bound:g}".replace("-", "−").replace("inf", "∞") for bound in measure.range)
    undefined = measure.undefined + (f"; infinite when {measure.infinite}" if measure.infinite else "")
    return (
        f"`{measure.name}`",
        f"**{measure.title}.** {measure.summary}",
        ", ".join(f"`{alias}`" for alias in measure.aliases),
        f"{low} to {high}",
        {"high": "higher", "low": "lower", None: "–"}[measure.best],
        undefined,
        measure.interval,
        str(entry(measure)["needs"]),
        _options(measure),
    )


def _options(noun: Noun) -> str:
    return "<br>".join(f"`{option.stated}` {option.explained}" for option in noun.options)


def _curves() -> str:
    parts = [
        "# Curves",
        WRITTEN,
        "A curve is written the same way everywhere: in `scorespace curve --kind`, in `ev.curve(…)`, `ev.curves(…)` "
        "and `ev.plot(…)`.",
        "| you write | you get |\n|:--|:--|\n"
        "| `roc` | the curve of every model |\n"
        "| `smooth(midpoint=median)` | with an option |\n"
        "| `calibration(by=count, bins=20)` | with several |\n"
        "| `threshold(measure=fbeta(beta=2))` | with a measure that has an option itself |",
        "`scorespace curves NAME` explains one. Of a model that scores several classes there is the curve of each, "
        'and `ev.curve("roc", "nb[setosa]")` is that of one. In Python every kind is a function of a table, too: '
        '`ss.calibration(table, by="count")`.',
    ]
    for kind in kinds():
        parts += [f"## {kind.name}", f"**{kind.title}.** {kind.summary}", _facts(kind)]
    return "\n\n".join(parts) + "\n"


def _facts(kind: CurveKind[Any]) -> str:
    row = curve_entry(kind)
    facts = [
        ("Axes", f"{kind.y} against {kind.x.lower()}"),
        ("Area", kind.area or "none that means anything"),
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
        "A test is written the same way everywhere: in `scorespace compare --test` and in `ev.compare(test=…)`. Name "
        "none, and the first of these that suits the question is used; where one that came before it was passed over "
        "for too few cases, the answer says so.",
        "| you write | you get |\n|:--|:--|\n"
        "| `delong` | the test |\n"
        "| `mcnemar(method=exact)` | with an option |\n"
        "| `bootstrap(replicates=5000)` | with more replicates |\n"
        "| `bayes_t(rope=0.02)` | with what counts as practically equal |",
        "`scorespace tests NAME` explains one. Tests [over data sets](compare.md#many-data-sets) belong to "
        "`scorespace ranks`.",
    ]
    for kind in ranked():
        facts = [("for", kind.for_), ("can", "; ".join(form.asks for form in kind.forms))]
        facts += [("suits", "; ".join(suiting(kind))), ("sides", sides(kind))]
        facts += [("option", f"`{option.name}={written(option.default)}`: {option.about}") for option in kind.options]
        facts += [("also called", ", ".join(f"`{name}`" for name in kind.aliases))] if kind.aliases else []
        title = kind.title[0].upper() + kind.title[1:]
        parts += [f"## {kind.name}", f"**{title}.** {kind.summary}", _table(("", ""), facts)]
    return "\n\n".join(parts) + "\n"


def _commands() -> str:
    parts = ["# Commands", WRITTEN, "What `scorespace VERB --help` says."]
    for verb in ("", *get_command(app).commands):  # type: ignore[attr-defined]
        command = f"scorespace {verb}".strip()
        parts.append(f"## {command}\n\n```text\n{run(f'{command} --help').output}\n```")
    return "\n\n".join(parts) + "\n"


def _notes() -> str:
    rows = ((f"`{code}`", kind.level, kind.title) for code, kind in NOTE_KINDS.items())
    about = (
        "A note is something to know before trusting a number. It never stops the work. Terminal, report, JSON and "
        "`ev.notes` all show the same ones, warnings first, with the numbers of your data in their text. A code keeps "
        "its meaning for ever, so programs may rely on it."
    )
    return "\n\n".join(["# Notes", WRITTEN, about, _table(("Code", "Level", "About"), rows)]) + "\n"


def _findings() -> str:
    rows = (
        (f"`{code}`", kind.level, kind.title + (" (a leak)" if kind.leak else ""), kind.advice)
        for code, kind in sorted(FINDING_KINDS.items())
    )
    about = (
        "What `scorespace audit` can find; see [understand the data first](audit.md). The level is the usual one: a "
        "finding that chance could bring is told as info. A code keeps its meaning for ever: programs may rely on it."
    )
    return "\n\n".join(["# Findings", WRITTEN, about, _table(("Code", "Level", "About", "What to do"), rows)]) + "\n"


def _api() -> str:
    about = (
        "Every public name, from the docstrings: `import scorespace as ss`, then `ss.NAME`. Every measure of "
        "[the catalogue](measures.md) is a function of a table, too, by any of its names: `ss.auc(table)`, "
        "`ss.recall(table.at(0.5))`. Results are frozen; each has `rows()`, `to_dict()` and `notes`, and a `repr` "
        "that is the answer."
    )
    homes: dict[str, list[str]] = {}
    for name, home in scorespace._listed().items():
        homes.setdefault(home.split(".")[1], []).append(name)
    first = [("evaluation", homes.pop("evaluation"))]
    parts = ["# Python", WRITTEN, about]
    for home, names in [*first, *sorted(homes.items())]:
        about = (import_module(f"scorespace.{home}").__doc__ or "").strip().splitlines()[0]
        parts += [f"## {home}", about, *(_documented(name) for name in sorted(names, key=str.casefold))]
    return "\n\n".join(parts) + "\n"


def _documented(name: str) -> str:
    """A public name with its signature, its docstring, and what a class offers."""
    found = getattr(import_module(scorespace._listed()[name]), name)
    text, *example = re.split(r"\n(?=\s*>>> )", inspect.cleandoc(found.__doc__ or ""), maxsplit=1)
    parts = [f"### {name}", f"```text\n{name}{_signature(found)}\n```", text.strip()]
    parts += [f"```pycon\n{textwrap.dedent(one).strip()}\n```" for one in example]
    if inspect.isclass(found):
        members = sorted(member for member in vars(found) if not member.startswith("_"))
        rows = [(f"`{member}`", _first_line(getattr(found, member))) for member in members]
        told = [row for row in rows if row[1]]
        parts += [_table(("", ""), told)] if told else []
    return "\n\n".join(parts)


def _signature(found: Any) -> str:
    """The parameters, a line each where they are many; annotations are read elsewhere."""
    try:
        signature = inspect.signature(getattr(found, "function", found))
    except (TypeError, ValueError):
        return ""
    shown = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    text = str(signature.replace(parameters=shown, return_annotation=inspect.Signature.empty))
    return text if len(text) <= 100 else text.replace(", ", ",\n    ").replace("(", "(\n    ", 1)[:-1] + ",\n)"


def _first_line(member: Any) -> str:
    described = callable(member) or isinstance(member, (property, functools.cached_property))
    return ((member.__doc__ if described else "") or "").strip().partition("\n")[0]


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [columns, (":--" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


# --- commands in hand-written pages


class Command(NamedTuple):
    """A command of a console block, as written, and the output shown under it."""

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
    """How a command ended and all that it wrote."""

    code: int
    output: str


def run(line: str, where: str | Path = ".") -> Run:
    """Run a command line in a folder as users do, in a process of its own and 80 columns without colours."""
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
    """The commands in the console blocks of a page."""
    for block in _CONSOLE.finditer(page):
        for part in re.split(r"^(?=\$ )", block[2], flags=re.MULTILINE):
            if part.strip():
                text = re.match(r"(?:.*\\\n)*.*", part)[0]  # type: ignore[index]
                yield Command(text, part[len(text) :].strip("\n"))


def refreshed(page: str) -> str:
    """The page with the output of its commands as it is now; a command without output shown keeps none."""
    with folder() as here:
        for command in commands(page):
            prepare(command, here)
            output = run(command.line, here).output if command.ours else command.shown
            if command.shown:
                page = page.replace(f"{command.text}\n{command.shown}\n", f"{command.text}\n{output}\n")
    return page


def prepare(command: Command, where: Path) -> None:
    """Do what commands other than ours do: a file that `cat` shows is there, one that `>` writes is written."""
    if command.ours:
        return
    if command.line.startswith("cat "):
        (where / command.line.removeprefix("cat ")).write_text(command.shown + "\n", encoding="utf-8")
    elif " > " in command.line:
        subprocess.run(command.line, shell=True, cwd=where, check=True)


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder with the bundled predictions as credit.csv and iris.csv, as all pages assume."""
    with tempfile.TemporaryDirectory() as name:
        for bundled, called in (("german_credit.csv", "credit.csv"), ("iris.csv", "iris.csv")):
            (Path(name) / called).write_bytes((files("scorespace.data") / bundled).read_bytes())
        yield Path(name)


def _write_or_check(check: bool) -> int:
    wanted = {HERE / name: text for name, text in pages().items()}
    if not check:
        others = (path for path in (HERE.parent / "README.md", *HERE.glob("*.md")) if path not in wanted)
        wanted |= {path: refreshed(path.read_text(encoding="utf-8")) for path in others}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(HERE.parent)} {'is not in step: make docs' if check else 'written'}")
        if not check:
            path.write_text(wanted[path], encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(_write_or_check(check="--check" in sys.argv[1:]))
