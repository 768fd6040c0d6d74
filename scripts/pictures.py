"""Pictures of every kind of page: three widths, light, dark and print, to look at one by one.

Run `make pictures`; they are written to `pictures/`, one PNG each (print: PDF).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

SIZES = {1440: 900, 1024: 768, 390: 844}
CREDIT = ("credit.csv", "--truth", "outcome", "--positive", "bad")
COSTS = ("--cost-fp", "1", "--cost-fn", "5")


def commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """The command that writes each kind of page; it ends with the name of the page."""
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 800)
    many = {f"model_{k:02}": 1 / (1 + np.exp(-(truth - 0.5) * k / 4 - random.normal(size=800))) for k in range(1, 11)}
    x = random.normal(size=500)
    y = 10 + 3 * x + random.normal(size=500)
    rare = random.random(20_000) < 0.004
    tables = {
        "many": {"y": truth, **many},
        "crisp": {"y": truth, "rule": (many["model_08"] > 0.5) * 1, "other": (many["model_04"] > 0.6) * 1},
        "numbers": {"y": y, "near": 10.4 + 3 * x, "far": 10 + 1.5 * x + random.normal(size=500)},
        "rare": {"y": rare * 1, "s": 1 / (1 + np.exp(-(3 * rare - 6 + random.normal(size=rare.size))))},
    }
    for name, columns in tables.items():
        rows = zip(*columns.values(), strict=True)
        text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
        (folder / f"{name}.csv").write_text(text + "\n")
    scores = ("--score", "naive_bayes,tree,logistic")
    return {
        "binary": ("evaluate", *CREDIT, *scores, *COSTS),
        "one": ("evaluate", *CREDIT, "--score", "naive_bayes"),
        "credit": ("evaluate", *CREDIT, *scores, *COSTS, "--profile", "credit", "--by", "fold"),
        "many": ("evaluate", "many.csv", "--truth", "y", "--score", ",".join(many)),
        "rare": ("evaluate", "rare.csv", "--truth", "y", "--score", "s", "--profile", "fraud"),
        "crisp": ("evaluate", "crisp.csv", "--truth", "y", "--decision", "rule,other"),
        "classes": ("evaluate", "iris.csv", "--truth", "species", "--score", "nb_*", "--score", "forest_*"),
        "numbers": ("evaluate", "numbers.csv", "--truth", "y", "--prediction", "near,far"),
    }


def main() -> None:
    """Write the pages, and a picture of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("pictures"))
    parser.add_argument("--kind", action="append", help="only these kinds of pages")
    parser.add_argument("--width", type=int, action="append", help="only these widths")
    parser.add_argument("--plain", action="store_true", help="only the first screen, in light")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as player:
        folder = Path(place)
        program = Path(sys.executable).with_name("scorespace")
        subprocess.run([program, "demo", "--copy"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        window = player.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for kind, command in commands(folder).items():
            if chosen.kind and kind not in chosen.kind:
                continue
            page = folder / f"{kind}.html"
            subprocess.run([program, *command, "--report", page], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            for width in chosen.width or SIZES:
                look(window, page, chosen.out, kind, width, plain=chosen.plain)
            print(f"{kind}: {page.stat().st_size / 1e6:.2f} MB")
        window.close()


def look(window: object, page: Path, out: Path, kind: str, width: int, *, plain: bool) -> None:
    """The first screen, the whole page, the dark one and the printed one."""
    for scheme in ("light",) if plain else ("light", "dark"):
        context = window.new_context(  # type: ignore[attr-defined]
            viewport={"width": width, "height": SIZES.get(width, 900)}, color_scheme=scheme
        )
        tab = context.new_page()
        errors: list[str] = []
        tab.on("console", lambda message, errors=errors: errors.append(message.text))
        tab.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        tab.goto(page.as_uri())
        tab.wait_for_timeout(1500)
        tab.screenshot(path=out / f"{kind}-{width}-{scheme}.png")
        if not plain:
            tab.screenshot(path=out / f"{kind}-{width}-{scheme}-whole.png", full_page=True)
            if scheme == "light" and width == max(SIZES):
                tab.pdf(path=out / f"{kind}-print.pdf", format="A4")
        wide = tab.evaluate("document.documentElement.scrollWidth")
        if errors or wide > width:
            print(f"{kind} at {width}: {errors}, {wide} pixels wide")
        context.close()


if __name__ == "__main__":
    main()
