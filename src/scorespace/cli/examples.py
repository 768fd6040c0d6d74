"""Small files for the examples in the docs, computed from the bundled predictions."""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from typing import Any, Final

Loan = dict[str, str]

EXAMPLES: Final[dict[str, Callable[[list[Loan]], Iterable[dict[str, Any]]]]] = {}
"""What each file holds, by name: its rows, from those of the loans."""


def _example(name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        EXAMPLES[name] = function
        return function

    return register


def example(name: str) -> bytes:
    """The content of an example as CSV.

    >>> example("early.csv").decode().count("\\n")
    501
    """
    loans = list(csv.DictReader(io.StringIO((files("scorespace.data") / "german_credit.csv").read_text("utf-8"))))
    rows = list(EXAMPLES[name](loans))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _kept(keep: Callable[[int, int, bool], bool]) -> Callable[[list[Loan]], Iterator[Loan]]:
    """The loans that a condition on number, fold and bad outcome keeps."""
    return lambda loans: (loan for loan in loans if keep(int(loan["id"]), int(loan["fold"]), loan["outcome"] == "bad"))


EXAMPLES.update(
    {
        "earlier.csv": lambda loans: loans[:500],
        "later.csv": lambda loans: loans[500:],
        "early.csv": _kept(lambda number, fold, bad: fold <= 5),
        "late.csv": _kept(lambda number, fold, bad: fold > 5),
        "before.csv": _kept(lambda number, fold, bad: fold <= 5),
        "after.csv": _kept(lambda number, fold, bad: fold > 5 and (bad or number % 2 == 1)),
        "log.csv": _kept(lambda number, fold, bad: fold > 5 and (fold < 8 or bad or number % 3 == 0)),
        "then.csv": _kept(lambda number, fold, bad: number % 2 == 1),
        "now.csv": _kept(lambda number, fold, bad: number % 2 == 0 and (bad or number % 3 > 0)),
        "payments.csv": _kept(lambda number, fold, bad: not bad or number % 12 == 0),
    }
)


@_example("scorecard.csv")
def _scorecard(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Points: 600 less 50 for each unit of the log odds."""
    for loan in loans:
        risk = float(loan["logistic"])
        yield {"outcome": loan["outcome"], "points": int(600 - 50 * math.log(risk / (1 - risk)))}


@_example("grades.csv")
def _grades(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Five grades, with the probability of default that each states."""
    for loan in loans:
        grade = int(5 * float(loan["logistic"]))
        stated = (0.12, 0.26, 0.45, 0.62, 0.8)[grade]
        yield {"id": loan["id"], "outcome": loan["outcome"], "grade": "ABCDE"[grade], "pd": stated}


@_example("paid.csv")
def _paid(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Payments with an amount and a day."""
    for loan in EXAMPLES["payments.csv"](loans):
        number = int(loan["id"])
        yield loan | {"amount": f"{20 * math.exp(number * 7919 % 997 / 500):.2f}", "day": number % 25 + 1}


@_example("judged.csv")
def _judged(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """A fifth of the loans checked by hand, and a judge of all that is wrong once in twelve."""
    for loan in loans:
        number, outcome = int(loan["id"]), loan["outcome"]
        other = "good" if outcome == "bad" else "bad"
        checked = outcome if number * 37 % 101 < 20 else ""
        yield loan | {"checked": checked, "judge": other if number % 12 == 5 else outcome}


@_example("verified.csv")
def _verified(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Patients with a test result, of whom 234 of 260 positive and 174 of 1 740 negative ones were verified."""
    for test, patients, verified, ill in (("yes", 260, 234, 144), ("no", 1740, 174, 4)):
        for k in range(patients):
            yield {"test": test, "ill": "" if k >= verified else "yes" if k < ill else "no"}


@_example("answers.csv")
def _answers(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Answers of an assistant: a router's score, three people's labels of a quarter, and an LLM's labels of all."""
    rng = random.Random(7)
    for k in range(1, 601):
        quality = rng.random()
        people = ["yes" if quality + rng.gauss(0, 0.15) > 0.4 else "no" for _ in range(3)]
        llm = "yes" if quality + rng.gauss(0, 0.2) > 0.38 else "no"
        router = 1 / (1 + math.exp(-5 * (quality - 0.4) - rng.gauss(0, 1.2)))
        majority = max(people, key=people.count)
        rated = k % 4 == 0
        row = dict(zip(("ann", "bob", "cy", "people"), (*people, majority), strict=True))
        yield {"answer": k, "router": f"{router:.3f}", **(row if rated else dict.fromkeys(row, "")), "llm": llm}


@_example("today.csv")
def _today(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Scores without labels, of the good loans and of a quarter of the bad ones."""
    for loan in loans:
        if loan["outcome"] == "good" or int(loan["id"]) % 4 == 0:
            yield {"id": loan["id"], "logistic": loan["logistic"]}


@_example("says.csv")
def _says(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Transactions, one item per row: which models call a loan bad, and what it was."""
    for loan in loans:
        for column, name in (("naive_bayes", "bayes"), ("tree", "tree"), ("logistic", "logistic")):
            if float(loan[column]) > 0.5:
                yield {"loan": loan["id"], "says": name}
        yield {"loan": loan["id"], "says": loan["outcome"]}


@_example("wide.csv")
def _wide(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Transactions, one per row: the outcome, and what two models say."""
    for loan in loans:
        bayes, tree = (int(float(loan[column]) > 0.5) for column in ("naive_bayes", "tree"))
        yield {"outcome": loan["outcome"], "bayes": bayes, "tree": tree}


@_example("homes.csv")
def _homes(loans: list[Loan]) -> Iterator[dict[str, Any]]:
    """Homes with the faults that an audit finds: sorted identifiers, an area given twice, a truncated rating."""
    for k in range(1, 401):
        area, rating, place = 40 + k * 61 % 97, 1 + k * 37 % 10, k / 401
        rating = 0 if rating == 10 or k % 12 == 0 else rating
        price = math.exp(12 + 0.6 * math.log(place / (1 - place)))
        yield {"id": k, "area": area, "sqft": f"{10.764 * area:.3f}", "rating": rating, "price": f"{price:.0f}"}
