"""What a user can get wrong, told in three parts: the problem, what was seen, one thing to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_COMMANDS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it: control characters, ends of lines, and turns of direction."""


def shown(text: object) -> str:
    r"""A text from anywhere as a terminal can show it in one line: what would command it is written out.

    >>> print(shown("\x1b[31mred"))
    \x1b[31mred
    """
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


class ScoreSpaceError(ValueError):
    """A mistake in the input; the message states the problem, what was seen, and a hint.

    >>> print(ScoreSpaceError("level=2 is not a probability.", hint="level=0.95"))
    level=2 is not a probability.
      hint: level=0.95
    """

    def __init__(self, problem: str, *, seen: str | None = None, hint: str | None = None) -> None:
        self.problem = shown(problem)
        self.seen, self.hint = (None if part is None else shown(part) for part in (seen, hint))
        parts = {"": self.problem, "  seen: ": self.seen, "  hint: ": self.hint}
        super().__init__("\n".join(f"{head}{part}" for head, part in parts.items() if part or not head))


class DataError(ScoreSpaceError):
    """The file or frame cannot be used: absent, empty, of an unknown kind, or with missing values."""


class ColumnError(ScoreSpaceError):
    """A named column is absent, named twice, or holds the wrong kind of value."""


class PositiveError(ScoreSpaceError):
    """The positive class is not stated or never occurs."""


class ScoreError(ScoreSpaceError):
    """The scores cannot be used as they are."""


class WeightError(ScoreSpaceError):
    """The case weights cannot be used as they are."""


class MeasureError(ScoreSpaceError):
    """A measure is unknown, misspelt, or asked of a table it is not defined for."""


class CurveError(ScoreSpaceError):
    """A curve is unknown, misspelt, or asked of a table it is not defined for."""


class ConditionError(ScoreSpaceError):
    """Costs or prevalence that describe no decision problem."""


class FitError(ScoreSpaceError):
    """A learner fails on the rows that it is given."""


def in_one_line(error: BaseException, most: int) -> str:
    """An error that others raise, by its kind and its words, in one line of so many characters at most.

    >>> in_one_line(OSError("no space"), 160)
    'OSError: no space'
    """
    return " ".join(f"{type(error).__name__}: {error}".split())[:most]


def folded(name: str) -> str:
    """A name as it is looked up: hyphens, blanks, capitals, and British or American spelling do not matter.

    >>> folded("Maximize"), folded("F-Measure"), folded("colour")
    ('maximise', 'f_measure', 'color')
    """
    text = re.sub(r"[\s\-]+", "_", name.strip()).casefold()
    return re.sub(r"iz(?=e|ation|ing)", "is", text).replace("colour", "color").replace("centre", "center")


def listing(names: Iterable[object], most: int = 8) -> str:
    """The names in quotes, shortened when there are many.

    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    items = [repr(str(name)) for name in names]
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def did_you_mean(
    name: str, candidates: Iterable[str], otherwise: str | None = None, *, quoted: bool = False
) -> str | None:
    """The hint for an unknown name: the candidate that is spelt nearly so (`quoted` if it is the user's own word).

    >>> did_you_mean("outcom", ["outcome", "score"])
    'did you mean outcome?'
    """
    near = nearest(name, candidates)
    if near is None:
        return otherwise
    return f"did you mean {near!r}?" if quoted else f"did you mean {near}?"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to a misspelt name, or None when nothing is near.

    >>> nearest("outcom", ["outcome", "score"])
    'outcome'
    """
    by_folded = {folded(candidate): candidate for candidate in candidates}
    near = get_close_matches(folded(name), by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None
