"""Every source file has the test file of its name: src/scorespace/x/y.py is tested in tests/x/test_y.py."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "scorespace", ROOT / "tests"

TO_COME: set[str] = set()
"""Rooms whose files have no mirrors yet; this shall be empty."""

EXCEPTIONS: dict[str, str] = {}
"""Files that need no mirror, each with the reason."""


def mirror(file: Path) -> Path:
    """The test file that belongs to a source file."""
    inside = file.relative_to(SOURCE)
    return TESTS / inside.parent / f"test_{inside.name}"


def sources() -> list[Path]:
    """The files of the package; what makes a folder a package says nothing itself."""
    return [file for file in sorted(SOURCE.rglob("*.py")) if file.name != "__init__.py"]


def test_every_source_file_has_its_mirror():
    missing = [
        f"{inside} has no {mirror(file).relative_to(ROOT)}"
        for file in sources()
        if (inside := file.relative_to(SOURCE)).parts[0] not in TO_COME
        and str(inside) not in EXCEPTIONS
        and not mirror(file).exists()
    ]
    assert not missing, "\n".join(missing)


def test_every_mirror_holds_tests():
    empty = [
        str(mirror(file).relative_to(ROOT))
        for file in sources()
        if mirror(file).exists() and "\ndef test_" not in mirror(file).read_text(encoding="utf-8")
    ]
    assert not empty


def test_exceptions_and_rooms_to_come_are_still_needed():
    """What has got its mirrors goes from the lists."""
    assert all((SOURCE / name).exists() and not mirror(SOURCE / name).exists() for name in EXCEPTIONS)
    for room in TO_COME:
        inside = [file for file in sources() if file.relative_to(SOURCE).parts[0] == room]
        assert any(not mirror(file).exists() for file in inside), f"{room} has all its mirrors: take it from TO_COME"
