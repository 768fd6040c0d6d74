"""What a page is asked for: a file and the roles of its columns, alike in the address, on the command line and here."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from scorespace.errors import ConditionError
from scorespace.frozen import dataclass

if TYPE_CHECKING:
    from scorespace.conditions import Asymmetry, Condition, CostMatrix

COSTS: Final = ("cost-fp", "cost-fn", "cost-tp", "cost-tn", "prevalence", "cost-under", "cost-over")
MODELS: Final = ("score", "decision", "prediction")
ONCE: Final = ("weight", "group", "fold")
NAMES: Final = ("truth", "positive", *MODELS, *ONCE, "where", "by", "missing", "measures", *COSTS, "costs", "rows")
"""The names in an address; with two dashes they are those of the command line."""


@dataclass(frozen=True)
class Asked:
    """A file of the folder and what is said of it, name by name, in one order."""

    file: str = ""
    said: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, file: str, given: Mapping[str, Sequence[str]]) -> Asked:
        """What is given for the names that are known; empty answers are none.

        >>> Asked.of("a.csv", {"score": ["nb", "tree"], "weight": [""], "truth": ["y"], "x": ["1"]}).query
        'file=a.csv&truth=y&score=nb&score=tree'
        """
        said = ((name, value) for name in NAMES for value in dict.fromkeys(given.get(name, ())) if value.strip())
        return cls(file, tuple(said))

    def every(self, name: str) -> list[str]:
        """All that is said under a name."""
        return [value for each, value in self.said if each == name]

    def one(self, name: str) -> str | None:
        """What is said under a name, the last if more than once."""
        return next(iter(self.every(name)[::-1]), None)

    @property
    def complete(self) -> bool:
        """Whether there is something to evaluate."""
        return bool(self.file and self.one("truth") and any(map(self.every, MODELS)))

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the folder that are read: that of the data, and that of the costs if they are in one."""
        return self.file, *self.every("costs")[-1:]

    @property
    def query(self) -> str:
        """The address of the page, without what begins every address here."""
        return urlencode([("file", self.file), *self.said] if self.file else [])

    @property
    def command(self) -> str:
        """The command that makes this page again, as a file."""
        flags = [word for name, value in self.said for word in (f"--{name}", value)]
        file = f"./{self.file}" if self.file.startswith("-") else self.file
        return shlex.join(["scorespace", "evaluate", file, *flags, "--report", f"{stem(self.file)}.html"])

    def roles(self) -> dict[str, Any]:
        """Which column is what, as `evaluate` takes it."""
        models = {"scores": "score", "decisions": "decision", "predictions": "prediction"}
        return {name: self.one(name) for name in ("truth", "positive", *ONCE, "where")} | {
            role: self.every(name) for role, name in models.items()
        }

    def arguments(self, costs: str | None = None) -> dict[str, Any]:
        """All that `evaluate` is told; `costs` is where the file of the costs lies."""
        more = {"measures": self.one("measures") or "", "missing": self.one("missing") or "error"}
        return {**self.roles(), "by": self.every("by"), **more, "condition": self.condition(costs)}

    def condition(self, costs: str | None = None) -> Condition | CostMatrix | Asymmetry | None:
        """The costs and the prevalence, or None where none are stated."""
        from scorespace.conditions import CostMatrix, condition_of
        from scorespace.frames.matrix import read_matrix

        rows: Any = self.one("rows")
        if rows not in (None, "actual", "predicted"):
            raise ConditionError(f"--rows {rows} is no side of a matrix.", hint="--rows actual, or --rows predicted")
        given = {name: _number(name, text) for name in COSTS if (text := self.one(name)) is not None}
        return condition_of(given, None if costs is None else lambda: CostMatrix(*read_matrix(costs, rows)[:2]))


def stem(file: str) -> str:
    """The name of a file without its endings.

    >>> stem("credit.csv.gz")
    'credit'
    """
    return file.removesuffix(".gz").rpartition(".")[0] or file


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConditionError(f"--{name} {text} is no number.", hint=f"--{name} 1")
    return number
