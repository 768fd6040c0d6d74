"""Simulate many samples of which the truth is known, and count how often intervals hold it and tests reject it.

`make study` (`python benchmarks/coverage.py`) fills the tables of docs/coverage.md, `--only PART` one of them;
`--samples` and `--replicates` say how long it takes, and each setting that is done is told. Every part has its own
seed, so a part run alone gives the same numbers.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from covered import areas_with_few, other_shapes, three_classes, two_classes, weighted_cases
from rejected import closer_look, forms_of_mcnemar, sizes_of_tests

PAGE = Path(__file__).parent.parent / "docs" / "coverage.md"
SAMPLES, REPLICATES = 300, 300

PARTS: dict[str, Callable[[int, int], str]] = {
    "two": two_classes,
    "shapes": other_shapes,
    "areas": areas_with_few,
    "three": three_classes,
    "tests": sizes_of_tests,
    "closer": closer_look,
    "mcnemar": forms_of_mcnemar,
    "weights": weighted_cases,
}


def filled(page: str, part: str, table: str) -> str:
    """The page with the table between the marks of the part."""
    begin, end = f"<!-- {part} -->", f"<!-- end {part} -->"
    if begin not in page:
        raise ValueError(f"the page has no mark {begin}")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n{table}\n{end}", page, flags=re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How often intervals hold the truth and tests reject it.")
    parser.add_argument("--only", choices=tuple(PARTS), action="append", help="this part alone; repeatable")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--print", action="store_true", help="print the tables instead of writing them to the page")
    asked = parser.parse_args(arguments)
    for part in asked.only or PARTS:
        began = time.perf_counter()
        table = PARTS[part](asked.samples, asked.replicates)
        if asked.print:
            print(table, end="\n\n")
        else:
            PAGE.write_text(filled(PAGE.read_text("utf-8"), part, table), "utf-8")
        print(f"{part}: {asked.samples} samples, {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
