"""Simulate many samples of which the truth is known, and count how often intervals hold it and tests reject it.

`make study` (`python benchmarks/study.py`) fills the tables of docs/coverage.md and docs/decide.md in rounds of some
samples more for every cell. What is done is kept in benchmarks/study.json, so a study that was stopped goes on; tables
for which the code gives other numbers than it did begin anew. `--rounds 0` only writes the tables that still hold.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from case_values import designs_of_values, values
from clinic import clinic, clinic_tests, rates
from covered import areas_with_few, other_shapes, three_classes, two_classes, weighted_cases
from credit import budgets, costs_per_case, stability
from forecasts import distributions, interval_tests
from further import by_design, in_groups, other_measures, predicted_numbers, rare_positives
from honest import honest_costs, in_full
from insurance import deviances
from judges import judges
from looks import adding_up, any_look, best_models, regret, without_labels
from nulls import other_nulls
from proxies import labels, proxies, verified
from rejected import closer_look, forms_of_mcnemar, sizes_of_tests
from rounds import ROOT, Kept, Part, known_within

KEPT = ROOT / "benchmarks" / "study.json"
PAGE, DECIDE = ROOT / "docs" / "coverage.md", ROOT / "docs" / "decide.md"
ROUNDS, REPLICATES = 3, 200

PARTS: dict[str, Part] = {
    "two": two_classes,
    "shapes": other_shapes,
    "areas": areas_with_few,
    "three": three_classes,
    "weights": weighted_cases,
    "designs": by_design,
    "others": other_measures,
    "rare": rare_positives,
    "patients": in_groups,
    "numbers": predicted_numbers,
    "honest": honest_costs,
    "closer": closer_look,
    "mcnemar": forms_of_mcnemar,
    "tests": sizes_of_tests,
    "nulls": other_nulls,
    "clinic": clinic,
    "rates": rates,
    "clinic_tests": clinic_tests,
    "costs": costs_per_case,
    "budgets": budgets,
    "stability": stability,
    "values": values,
    "designs_of_values": designs_of_values,
    "proxies": proxies,
    "verified": verified,
    "labels": labels,
    "regret": regret,
    "adding_up": adding_up,
    "any_look": any_look,
    "best_models": best_models,
    "without_labels": without_labels,
    "judges": judges,
    "deviances": deviances,
    "distributions": distributions,
    "interval_tests": interval_tests,
}
SIZES_OF_TESTS = ("tests", "closer", "mcnemar", "nulls", "clinic_tests", "interval_tests")


def filled(page: str, part: str, table: str) -> str:
    """The page with the table between the marks of the part."""
    begin, end = f"<!-- {part} -->", f"<!-- end {part} -->"
    if begin not in page:
        raise ValueError(f"the page has no mark {begin}")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n{table}\n{end}", page, flags=re.DOTALL)


def captioned(name: str, kept: Kept) -> str:
    """The table of a part, and on how many samples each cell rests."""
    part, rounds = PARTS[name], kept.rounds[name]
    share = 0.05 if name in SIZES_OF_TESTS else 0.95
    samples = f"{part.samples(rounds):_}".replace("_", " ")
    told = f"{samples} samples in each cell: {share:g} is known within {known_within(share, part.samples(rounds))}."
    return f"{told}\n\n{part.table(kept.found(name))}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How often intervals hold the truth and tests reject it.")
    parser.add_argument("--only", choices=tuple(PARTS), action="append", help="this part alone; repeatable")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--kept", type=Path, default=KEPT, help="where to keep what is done")
    parser.add_argument("--print", action="store_true", help="print the tables instead of writing them to the pages")
    asked = parser.parse_args(arguments)
    kept = Kept.read(asked.kept, asked.replicates)
    parts = {name: PARTS[name] for name in asked.only or PARTS}
    kept.renew(parts)
    kept.go_on(parts, asked.rounds)
    for name in parts:
        if kept.rounds.get(name) and asked.print:
            print(captioned(name, kept), end="\n\n")
        elif kept.rounds.get(name):
            PAGE.write_text(filled(PAGE.read_text("utf-8"), name, captioned(name, kept)), "utf-8")
            if name == "honest":
                samples = f"Each row is the mean of {PARTS[name].samples(kept.rounds[name])} samples."
                told = f"{samples}\n\n{in_full(kept.found(name))}"
                DECIDE.write_text(filled(DECIDE.read_text("utf-8"), name, told), "utf-8")


if __name__ == "__main__":
    main()
