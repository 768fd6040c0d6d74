"""A view of the page: a file and the roles of its columns, alike in the address, on the command line and in Python."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from scorespace.errors import ColumnError, ConditionError

if TYPE_CHECKING:
    from scorespace.costs import Asymmetry, Condition, CostMatrix

COSTS: Final = ("cost-fp", "cost-fn", "cost-tp", "cost-tn", "prevalence", "cost-under", "cost-over")
MODELS: Final = ("score", "decision", "prediction", "value")
ONCE: Final = ("weight", "group", "fold", "repeat", "query")
NAMES: Final = (
    *("truth", "positive", *MODELS, "rater", *ONCE, "scale", "missing", "where", "by", "profile", "measures", "at"),
    *(*COSTS, "costs", "rows", "baseline", "against", "memory"),
)
"""The parameters of an address; all but `against` are options of the command line."""

_LISTS: Final = {"score": "scores", "decision": "decisions", "prediction": "predictions", "value": "values"}
_RATER_OPTIONS: Final = ("truth", "positive", "weight", "scale", "missing", "where")


@dataclass(frozen=True)
class PageRequest:
    """A file and what is stated about it, parameter by parameter, in one order."""

    file: str = ""
    stated: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, file: str, given: Mapping[str, Sequence[str]]) -> PageRequest:
        """Keep the known parameters; `role` holds both parameter and value, as the menus of the set-up send it.

        >>> PageRequest.of("a.csv", {"score": ["nb"], "role": ["score:tree", "truth:y"], "weight": [""]}).query
        'file=a.csv&truth=y&score=nb&score=tree'
        """
        values = {name: [*given.get(name, ())] for name in NAMES}
        for role in given.get("role", ()):
            name, _, value = role.partition(":")
            values.get(name, []).append(value)
        stated = ((name, value) for name in NAMES for value in dict.fromkeys(values[name]) if value.strip())
        return cls(file, tuple(stated))

    def every(self, name: str) -> list[str]:
        """All values of a parameter."""
        return [value for each, value in self.stated if each == name]

    def one(self, name: str) -> str | None:
        """The value of a parameter, the last if there are several."""
        return next(iter(self.every(name)[::-1]), None)

    def with_values(self, **changes: str | Sequence[str] | None) -> PageRequest:
        """The same view with other values; None removes a parameter. Underscores stand for hyphens.

        >>> PageRequest("a.csv", (("truth", "y"), ("missing", "drop"))).with_values(missing=None, cost_fp="1").query
        'file=a.csv&truth=y&cost-fp=1'
        """
        given = {name: self.every(name) for name in NAMES}
        for name, value in changes.items():
            given[name.replace("_", "-")] = [] if value is None else [value] if isinstance(value, str) else list(value)
        return PageRequest.of(self.file, given)

    @property
    def where(self) -> str | None:
        """All conditions on the rows as one.

        >>> PageRequest("a.csv", (("where", "age > 65"), ("where", "sex = 'f'"))).where
        "(age > 65) and (sex = 'f')"
        """
        conditions = self.every("where")
        return " and ".join(f"({one})" for one in conditions) if len(conditions) > 1 else self.one("where")

    @property
    def complete(self) -> bool:
        """Whether there is something to evaluate."""
        models = self.one("value") or (self.one("truth") and any(map(self.every, MODELS)))
        return bool(self.file and (models or len(self.every("rater")) > 1))

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read: data, cost matrix, baseline, and the data to compare with."""
        return self.file, *(name for key in ("costs", "baseline", "against") for name in self.every(key)[-1:])

    @property
    def query(self) -> str:
        """The query of the address."""
        return urlencode([("file", self.file), *self.stated] if self.file else [])

    # --- as arguments

    def roles(self) -> dict[str, Any]:
        """Roles of the columns, as `select_rows` and `evaluate` take them."""
        single = {name: self.one(name) for name in ("truth", "positive", *ONCE)} | {"where": self.where}
        return single | {role: self.every(name) for name, role in _LISTS.items()}

    def arguments(self, costs: str | None = None) -> dict[str, Any]:
        """The arguments of `evaluate_data`; `costs` is the path of the cost matrix."""
        at = self.one("at")
        more: dict[str, Any] = {name: self.one(name) for name in ("scale", "profile")} | {"by": self.every("by")}
        more |= {"measures": self.one("measures") or "", "missing": self.one("missing") or "error"}
        more |= {"threshold": None if at is None else _number("at", at), "condition": self.condition(costs)}
        more |= {"prevalence": self.prevalence_alone, "memory": self.one("memory")}
        return {**self.roles(), **more}

    def rater_arguments(self) -> dict[str, Any]:
        """The arguments of `agree`, without the condition on rows."""
        raters = {}
        for text in self.every("rater"):
            name, _, columns = text.partition("=")
            if not (name and columns) or name in raters:
                raise ColumnError(f"rater {text!r} cannot be parsed.", hint="choose the raters' columns again")
            raters[name] = tuple(columns.split(","))
        stated = {name: value for name in _RATER_OPTIONS if name != "where" and (value := self.one(name)) is not None}
        return {"raters": raters, **stated}

    @property
    def prevalence_alone(self) -> float | None:
        """The prevalence in use if it is stated without costs."""
        from scorespace.costs import Condition

        text = self.one("prevalence")
        if text is None or any(map(self.every, (*COSTS[:4], *COSTS[5:], "costs"))):
            return None
        return Condition(1, 1, prevalence=_number("prevalence", text)).prevalence  # refuses what is no proportion

    def condition(self, costs: str | None = None) -> Condition | CostMatrix | Asymmetry | None:
        """The costs and the prevalence, or None where no costs are stated."""
        from scorespace.costs import CostMatrix, condition_from_flags
        from scorespace.io.matrix import read_matrix

        rows: Any = self.one("rows")
        if rows not in (None, "actual", "predicted"):
            raise ConditionError(f"--rows {rows} is no side of a matrix.", hint="--rows actual, or --rows predicted")
        if self.prevalence_alone is not None and costs is None:
            return None
        given = {name: _number(name, text) for name in COSTS if (text := self.one(name)) is not None}
        return condition_from_flags(given, None if costs is None else lambda: CostMatrix(*read_matrix(costs, rows)[:2]))

    # --- as text to copy

    def at_view(self, fragment: Mapping[str, str]) -> PageRequest:
        """The view with the operating point that the report's address holds: threshold, cost ratio, prevalence."""
        changes: dict[str, str] = {}
        if _is_number(fragment.get("at", "")) and not self.every("prediction"):
            changes["at"] = fragment["at"]
        if _is_number(fragment.get("miss", "")) and self.every("cost-fn"):
            changes |= {"cost_fp": "1", "cost_fn": fragment["miss"]}
            if _is_number(fragment.get("share", "")):
                changes["prevalence"] = f"{float(fragment['share']) / 100:.12g}"
        return self.with_values(**changes)

    def command(self, paths: Mapping[str, str] = {}, report: bool = True) -> str:
        """The command that makes this view; `paths` gives the path of each file.

        >>> PageRequest("a.csv", (("truth", "y"), ("score", "p 1"))).command()
        "scorespace evaluate a.csv --truth y --score 'p 1' --report a.html"
        """
        raters, files = self.every("rater"), ("costs", "baseline", "against")
        lines = []
        single = self if self.where is None else self.with_values(where=self.where)
        stated = [(name, value) for name, value in single.stated if not raters or name in ("rater", *_RATER_OPTIONS)]
        if against := self.one("against"):  # the second file is saved first, and is then the baseline
            second = replace(self, file=against).with_values(against=None).command(paths, report=False)
            lines = [f"{second} --save {shlex.quote(f'{stem(against)}.json')} && "]
            stated = [(name, value) for name, value in stated if name != "against"]
            stated.append(("baseline", f"{stem(against)}.json"))
        flags = [
            part
            for name, value in stated
            for part in (f"--{name}", paths.get(value, value) if name in files else value)
        ]
        file = paths.get(self.file, self.file)
        words = ["scorespace", "agree" if raters else "evaluate", f"./{file}" if file.startswith("-") else file, *flags]
        return "".join(lines) + shlex.join([*words, *(["--report", f"{stem(self.file)}.html"] if report else [])])

    def python(self, paths: Mapping[str, str] = {}) -> str:
        """The same in Python.

        >>> print(PageRequest("a.csv", (("truth", "y"), ("score", "p"), ("weight", "w"))).python())
        import scorespace as ss
        <BLANKLINE>
        ev = ss.evaluate("a.csv", truth="y", scores=["p"], columns={"weight": "w"})
        ev.report("a.html")
        """
        file = paths.get(self.file, self.file)
        head = "import scorespace as ss\n\n"
        if (prevalence := self.prevalence_alone) is not None:
            head += f"# A prevalence without costs ({prevalence:g}) is an option of the command line only.\n"
        if self.every("rater"):
            options = "".join(f", {name}={_quoted(value)}" for name, value in self.rater_arguments().items())
            return f"{head}ss.agree({_quoted(file)}{options})"
        arguments = [_quoted(file), *self._python_arguments(paths)]
        call = f"ev = ss.evaluate({', '.join(arguments)})\nev.report({_quoted(f'{stem(self.file)}.html')})"
        if against := self.one("against"):
            saved = _quoted(f"{stem(against)}.json")
            second = replace(self, file=against).with_values(against=None, baseline=None)
            first = (
                f"ss.evaluate({', '.join([_quoted(paths.get(against, against)), *second._python_arguments(paths)])})"
            )
            return f"{head}{first}.save({saved})\n{call}"
        return head + call

    def _python_arguments(self, paths: Mapping[str, str]) -> list[str]:
        single = {name: self.one(name) for name in ("truth", "positive", "measures")}
        found = [f"{name}={_quoted(value)}" for name, value in single.items() if value is not None]
        lists = {role: self.every(name) for name, role in {**_LISTS, "by": "by"}.items()}
        found[1:1] = [f"{role}={_quoted(names)}" for role, names in lists.items() if names]
        condition: Any = self.condition(paths.get(self.one("costs") or ""))
        if hasattr(condition, "matrix"):
            found.append(f"condition=ss.CostMatrix({_quoted(tuple(condition.classes))}, {condition.matrix.tolist()})")
        elif condition is not None:
            found.append(f"condition=ss.{condition!r}")
        baseline = f"{stem(against)}.json" if (against := self.one("against")) else self.one("baseline")
        columns = {name: self.one(name) for name in (*ONCE, "scale")} | {
            "baseline": paths.get(baseline or "", baseline)
        }
        settings: dict[str, Any] = {"profile": self.one("profile"), "where": self.where, "missing": self.one("missing")}
        settings |= {"threshold": float(at) if (at := self.one("at")) else None, "memory": self.one("memory")}
        for group, values in {"columns": columns, "settings": settings}.items():
            if stated := {name: value for name, value in values.items() if value is not None}:
                found.append(f"{group}={_quoted(stated)}")
        return found


def stem(file: str) -> str:
    """The name of a file without folder and extensions.

    >>> stem("uploads/credit.csv.gz")
    'credit'
    """
    name = file.rpartition("/")[2].removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _quoted(value: Any) -> str:
    """A value as Python source, with double quotes."""
    if isinstance(value, str):
        return f'"{value}"' if value.isprintable() and not {'"', "\\"} & set(value) else repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(name)}: {_quoted(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        parts = ", ".join(map(_quoted, value))
        return f"[{parts}]" if isinstance(value, list) else f"({parts}{',' * (len(value) == 1)})"
    return repr(value)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number(name: str, text: str) -> float:
    if not _is_number(text):
        raise ConditionError(f"--{name} {text} is no number.", hint=f"--{name} 1")
    return float(text)
