"""Errors caused by user input: the problem, what was found, and one thing to do."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_CONTROL_CHARACTERS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal would execute instead of print: control characters, line separators, bidi overrides."""


def escape_control_characters(text: object) -> str:
    r"""Escape control characters, so that untrusted text can be printed on one line.

    >>> print(escape_control_characters("\x1b[31mred"))
    \x1b[31mred
    """
    return _CONTROL_CHARACTERS.sub(lambda match: match[0].encode("unicode_escape").decode(), str(text))


class ScoreSpaceError(ValueError):
    """Invalid input; the message states the problem, the value found, and a hint.

    Parameters
    ----------
    problem : str
        What is wrong.
    seen : str, optional
        What was found.
    hint : str, optional
        One thing to do.

    Examples
    --------
    >>> print(ScoreSpaceError("level=2 is not a probability.", hint="level=0.95"))
    level=2 is not a probability.
      hint: level=0.95
    """

    def __init__(self, problem: str, *, seen: str | None = None, hint: str | None = None) -> None:
        self.problem = escape_control_characters(problem)
        self.seen, self.hint = (None if part is None else escape_control_characters(part) for part in (seen, hint))
        parts = {"": self.problem, "  seen: ": self.seen, "  hint: ": self.hint}
        super().__init__("\n".join(f"{head}{part}" for head, part in parts.items() if part or not head))


class DataError(ScoreSpaceError):
    """The file or frame cannot be used: it is missing, empty, of an unknown format, or has missing values."""


class ColumnError(ScoreSpaceError):
    """A named column is absent, named twice, or holds the wrong kind of value."""


class PositiveError(ScoreSpaceError):
    """The positive class is not specified or does not occur."""


class ScoreError(ScoreSpaceError):
    """The scores are invalid."""


class WeightError(ScoreSpaceError):
    """The case weights are invalid."""


class MeasureError(ScoreSpaceError):
    """A measure is unknown, misspelt, or not defined for the given table."""


class CurveError(ScoreSpaceError):
    """A curve is unknown, misspelt, or not defined for the given table."""


class ConditionError(ScoreSpaceError):
    """Costs or prevalence do not define a decision problem."""


class FitError(ScoreSpaceError):
    """A learner fails on its training rows."""


def one_line_message(error: BaseException, most: int) -> str:
    """Return the type and message of an exception on one line of at most `most` characters.

    >>> one_line_message(OSError("no space"), 160)
    'OSError: no space'
    """
    return " ".join(f"{type(error).__name__}: {error}".split())[:most]


_MEMORY_MESSAGES: Final = ("bad_alloc", "failed to map segment", "cannot allocate memory")
"""What C++ and the loader of shared libraries say when memory runs out."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out in Python, in DuckDB, or while a shared library was loaded.

    >>> is_out_of_memory(MemoryError()), is_out_of_memory(ValueError("too long"))
    (True, False)
    """
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"  # DuckDB's, not imported
    return named or any(text in str(error) for text in _MEMORY_MESSAGES)


def normalise_name(name: str) -> str:
    """Normalise a name for lookup: case, hyphens, blanks and British or American spelling are ignored.

    >>> normalise_name("Maximize"), normalise_name("F-Measure"), normalise_name("colour")
    ('maximise', 'f_measure', 'color')
    """
    text = re.sub(r"[\s\-]+", "_", name.strip()).casefold()
    return re.sub(r"iz(?=e|ation|ing)", "is", text).replace("colour", "color").replace("centre", "center")


def listing(names: Iterable[object], most: int = 8) -> str:
    """Return the quoted names separated by commas, shortened when there are many.

    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    items = [repr(str(name)) for name in names]
    quoted = ", ".join(items[:most])
    return quoted if len(items) <= most else f"{quoted} and {len(items) - most} more"


def did_you_mean(
    name: str, candidates: Iterable[str], otherwise: str | None = None, *, quoted: bool = False
) -> str | None:
    """Return a hint with the most similar candidate, or `otherwise`; `quoted` puts user-defined names in quotes.

    >>> did_you_mean("outcom", ["outcome", "score"])
    'did you mean outcome?'
    """
    near = closest_name(name, candidates)
    if near is None:
        return otherwise
    return f"did you mean {near!r}?" if quoted else f"did you mean {near}?"


def closest_name(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to a misspelt name, or None.

    >>> closest_name("outcom", ["outcome", "score"])
    'outcome'
    """
    by_folded = {normalise_name(candidate): candidate for candidate in candidates}
    near = get_close_matches(normalise_name(name), by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None


def warn_renamed(old: str, new: str) -> None:
    """Warn that a name has changed; the old one works for one more release."""
    warnings.warn(f"{old} is now called {new}; the old name works until version 0.3", FutureWarning, stacklevel=3)
