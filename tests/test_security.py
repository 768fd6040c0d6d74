"""SECURITY.md names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_promise_names_a_test_that_is_there():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests/)?[\w/]*(?:\.py)?(?:::\w+)?)`", text)
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    last = ""
    checked = 0
    for name in named:
        file, _, test = name.partition("::")
        if not (file.endswith(".py") or file.startswith("tests/") or (not file and test)):
            continue
        last = file or last
        found = [path for path in sources if str(path).endswith(f"/{last}")]
        assert found or (ROOT / last).exists(), name
        assert not test or any(f"def {test}(" in sources.get(path, "") for path in found), name
        checked += 1
    assert checked >= 20


def test_every_line_of_a_table_names_a_test():
    lines = (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    guarantees = [line for line in lines if line.startswith("|") and not line.startswith(("| guarantee", "|:"))]
    assert guarantees
    assert all(re.search(r"\| `.*\.py|\| `tests/", line) for line in guarantees)
