"""Refuses files at the root of the checkout that are not on a short list."""

import subprocess
import sys
from typing import Final

ALLOWED: Final = {
    *(
        ".gitignore",
        ".pre-commit-config.yaml",
        "constraints.txt",
        "Makefile",
        "mkdocs.yml",
        "pyproject.toml",
        "LICENSE",
    ),
    *("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"),
}

if __name__ == "__main__":
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=False
    )
    strays = sorted({name for name in listed.stdout.splitlines() if "/" not in name} - ALLOWED)
    sys.exit(f"not meant for the root: {', '.join(strays)}" if strays else 0)
