"""`make fuzz N=10000 SEED=1`: cases by seed, two processes side by side; what breaks a rule is kept in tests/fuzz/kept.

A process that dies takes its case along, and the next one goes on after it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))


def work(first: int, last: int, step: int) -> None:
    """Cases one after the other, each named before it is run."""
    from fuzz.cases import drawn
    from fuzz.oracles import violations

    if hasattr(os, "nice"):
        os.nice(10)  # whoever else works here goes first
    for seed in range(first, last, step):
        sys.stdout.write(f"at {seed}\n")
        sys.stdout.flush()
        case = drawn(seed)
        for broken in violations(case):
            sys.stdout.write(f"broken {seed} {' '.join(broken.split())}\n")
    sys.stdout.write("done\n")


def watch(first: int, last: int, step: int) -> list[tuple[int, str]]:
    """The seeds that broke a rule, also by ending the process."""
    found = []
    while first < last:
        command = [sys.executable, __file__, "--work", str(first), str(last), str(step)]
        environment = {**os.environ, "PYTHONWARNINGS": "error::RuntimeWarning", "PYTHONFAULTHANDLER": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            at, done = first, False
            for line in process.stdout or ():
                word, _, rest = line.strip().partition(" ")
                if word == "at":
                    at = int(rest)
                elif word == "broken":
                    seed, _, what = rest.partition(" ")
                    found.append((int(seed), what))
                    print(f"seed {seed}: {what}", flush=True)
                done = done or word == "done"
        if done:
            break
        found.append((at, f"the process ended with {process.returncode}"))
        print(f"seed {at}: the process ended with {process.returncode}", flush=True)
        first = at + step
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", nargs=3, type=int)
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="write what breaks a rule to tests/fuzz/kept")
    given = parser.parse_args()
    if given.work:
        work(*given.work)
        return 0
    from concurrent.futures import ThreadPoolExecutor

    from fuzz.cases import drawn

    print(f"{given.n} cases from seed {given.seed}", flush=True)
    base = given.seed * 1_000_000
    with ThreadPoolExecutor(2) as pool:
        halves = pool.map(lambda part: watch(base + part, base + given.n, 2), range(2))
        found = [each for half in halves for each in half]
    if given.keep:
        for seed, what in dict(found).items():
            case = drawn(seed)
            case.note = what
            (HERE / "kept" / f"{seed}.json").write_text(case.to_json(), encoding="utf-8")
    print(f"{len({seed for seed, _ in found})} of {given.n} cases broke a rule")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
