"""Defaults from a `scorespace.toml`: roles, costs, profile and requirements of a repository."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from scorespace.errors import DataError, did_you_mean

FILE: Final = "scorespace.toml"
REFUSED: Final = ("allow_remote", "engine", "master", "out", "report", "save")
"""Options that a file must not set: what is fetched and what is written is stated on the command line."""

EXAMPLE: Final = """\
data = "credit.csv"
truth = "outcome"
positive = "bad"
score = ["naive_bayes", "tree"]
profile = "credit"
cost_fp = 1
cost_fn = 5

[evaluate]
require = ["auc>=0.75"]
"""


def find_config(start: Path) -> Path | None:
    """The `scorespace.toml` of a directory, or of the repository that it is in; nothing above its root is read."""
    root = next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)
    folders = [folder for folder in (start, *start.parents) if folder.is_relative_to(root)]
    return next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)


def read_config(path: Path, verbs: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The defaults of each verb: top-level keys for all verbs, and tables for one.

    Keys are option names with either hyphens or underscores. A relative `data` path starts at the file's directory.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{FILE} cannot be read.", seen=str(error).splitlines()[0], hint="valid TOML") from None
    names = list(verbs)
    shared = _options({key: value for key, value in content.items() if not isinstance(value, dict)}, path)
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    for name in tables:
        if name not in names:
            hint = did_you_mean(name, names, "the name of a verb, such as [evaluate]")
            raise DataError(f"{FILE} has a table [{name}], which is no verb.", hint=hint)
    return {name: shared | _options(tables.get(name, {}), path) for name in names}


def _options(stated: dict[str, Any], path: Path) -> dict[str, Any]:
    found = {key.replace("-", "_"): value for key, value in stated.items()}
    refused = [key for key in REFUSED if key in found]
    if refused:
        raise DataError(
            f"{FILE} sets {refused[0]!r}, which is stated on the command line only.",
            hint=f"--{refused[0].replace('_', '-')}",
        )
    if isinstance(found.get("data"), str) and "://" not in found["data"] and found["data"] != "-":
        found["data"] = str(path.parent / found["data"])
    return found


SHARED: Final = frozenset(
    (
        *("data", "truth", "score", "decision", "prediction", "positive", "name", "weight", "weights", "group", "fold"),
        *("repeat", "time", "order", "scale", "missing", "where", "by", "profile", "measures", "require", "level"),
        *("seed", "format", "cost_fp", "cost_fn", "cost_tp", "cost_tn", "prevalence", "costs", "at", "notes", "all"),
    )
)
"""Options that may stand at the top of the file though not every verb has them."""


def fit_value(value: Any, *, multiple: bool) -> Any:
    """A value in the form of its option: a list where the option is repeatable, and a list joined where it is not.

    >>> fit_value("tree", multiple=True), fit_value(["auc", "acc"], multiple=False)
    (['tree'], 'auc,acc')
    """
    if multiple:
        return value if isinstance(value, list) else [value]
    return ",".join(map(str, value)) if isinstance(value, list) else value


def check_keys(stated: Iterable[str], known: Iterable[str], verb: str) -> None:
    """Refuse a key that is neither an option of the verb nor one that other verbs share."""
    options = list(known)
    for key in stated:
        if key not in options and key not in SHARED:
            hint = did_you_mean(key, options, f"scorespace {verb} --help lists them")
            raise DataError(f"{FILE} sets {key!r}, which is no option of {verb}.", hint=hint)
