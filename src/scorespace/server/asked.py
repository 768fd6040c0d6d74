"""What a page is asked for: a file and the roles of its columns, alike in the address, on the command line and here."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from scorespace.errors import ConditionError

if TYPE_CHECKING:
    from scorespace.conditions import Asymmetry, Condition

COSTS: Final = ("cost-fp", "cost-fn", "cost-tp", "cost-tn", "prevalence", "cost-under", "cost-over")
MODELS: Final = ("score", "decision", "prediction")
ONCE: Final = ("weight", "group", "fold")
NAMES: Final = ("truth", "positive", *MODELS, *ONCE, "missing", "measures", *COSTS)
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
        return {name: self.one(name) for name in ("truth", "positive", *ONCE)} | {
            role: self.every(name) for role, name in models.items()
        }

    def arguments(self) -> dict[str, Any]:
        """All that `evaluate` is told."""
        more = {"measures": self.one("measures") or "", "missing": self.one("missing") or "error"}
        return {**self.roles(), **more, "condition": self.condition()}

    def condition(self) -> Condition | Asymmetry | None:
        """The costs and the prevalence, or None where none are stated."""
        from scorespace.conditions import Asymmetry, Condition

        given = {name: _number(name, text) for name in COSTS if (text := self.one(name)) is not None}
        sides = [given.pop(name, None) for name in ("cost-under", "cost-over")]
        if sides != [None, None]:
            if given or None in sides:
                raise ConditionError("the costs of both sides are needed, and no others.", hint="cost-under, cost-over")
            return Asymmetry(*sides)  # type: ignore[arg-type]
        if not given:
            return None
        if not {"cost-fp", "cost-fn"} <= set(given):
            seen = ", ".join(f"{name} {value:g}" for name, value in given.items())
            raise ConditionError("the costs of both errors are needed.", seen=seen, hint="cost-fp 1 and cost-fn 5")
        return Condition(**{name.removeprefix("cost-"): value for name, value in given.items()})


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
        raise ConditionError(f"{name} {text!r} is no number.", hint=f"{name} 1")
    return number
