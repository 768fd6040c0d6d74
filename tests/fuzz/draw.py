"""What the fuzzer draws from: a case, chance in two moods, and labels and names that try to be something else."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LABELS = [
    ["0", "1"],
    ["-1", "1"],
    ["False", "True"],
    ["true", "false"],
    ["good", "bad"],
    ["a", "b", "c"],
    ["#x", "y"],
    ["#1", "#2"],
    ["#", "b"],
    ["=1+1", "@b"],
    ["NA", "b"],
    ["", "b"],
    ["<script>alert(1)</script>", "</script>"],
    ["é", "ß", "日本"],
    ['say "hi"', "a,b"],
    ["two\nlines", "tab\there"],
    ["1.0", "2"],
    ["9007199254740993", "9007199254740992"],
    ["x" * 300, "y"],
    ["only"],
    ["nan", "inf"],
    ["'", "\\"],
    ["\u202e\u0000", "z"],
    [str(k) for k in range(12)],
]
NAMES = [
    "s",
    "score",
    "*",
    "a=b",
    "a.b",
    "#s",
    "=s",
    "-s",
    "s s",
    "é",
    "S",
    'q"q',
    "it's",
    "s,t",
    "s;t",
    "auc",
    "model",
]
NAMES += [
    "rowid",
    "count",
    "select",
    "<b>",
    "$1",
    "?",
    "nb_*",
    "x" * 200,
    "weight",
    "value",
    "[a]",
    "a[b]",
    "%s",
    "{0}",
]
FORMATS = ["table", "json", "json", "json", "csv", "markdown"]


@dataclass
class Case:
    """Files by name, the arguments, and what is known of the data: None where nothing is."""

    seed: int
    arguments: list[str]
    files: dict[str, bytes]
    records: int | None = None
    weightless: int = 0
    stdin: str | None = None
    note: str = field(default="")

    def to_json(self) -> str:
        files = {name: base64.b64encode(data).decode() for name, data in self.files.items()}
        return json.dumps(vars(self) | {"files": files}, indent=1, ensure_ascii=True) + "\n"

    @staticmethod
    def from_json(text: str) -> Case:
        held = json.loads(text)
        return Case(**held | {"files": {name: base64.b64decode(data) for name, data in held["files"].items()}})

    def write(self, folder: Path) -> None:
        for name, data in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)


class Draw(random.Random):
    """Chance in one of two moods: calm cases have fitting options, so that they come to an answer."""

    calm = False
    columns: tuple[str, ...] = ("y",)
    labels: tuple[str, ...] = ("a",)

    def learn(self, rows: list[dict[str, Any]]) -> None:
        """Remember what the columns are called and what they hold, for options that name it."""
        if rows:
            self.columns = tuple(rows[0])
            self.labels = tuple(dict.fromkeys(str(row.get("y", next(iter(row.values())))) for row in rows[:20]))

    def odd(self, fitting: Any, *others: Any) -> Any:
        """What fits, or now and then something else."""
        return fitting if self.calm or self.random() < 0.3 else self.choice([fitting, *others])
