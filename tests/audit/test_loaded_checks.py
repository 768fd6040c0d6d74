"""Importing the audit loads every module that declares findings."""

import re
import subprocess
import sys
from pathlib import Path

import scorespace

FOLDER = Path(scorespace.__file__).parent / "audit"


def test_the_audit_loads_every_declared_finding():
    declared = {
        code
        for path in FOLDER.glob("*.py")
        for code in re.findall(r"^@finding\(\s*\"(SS\d+)\"", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert "SS111" in declared
    code = "from scorespace.audit.audit import FINDING_KINDS; print(*FINDING_KINDS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert declared <= set(done.stdout.split())
