"""List the versions of the site for its menu, and lead its front page to the newest: `make site` runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(folder: Path, version: str) -> None:
    """Write the list of versions beside the folder of each, and a front page."""
    built = {path.parent.name for path in folder.glob("*/index.html")}
    newest_first = sorted(
        built, key=lambda name: [int(part) for part in name.split(".") if part.isdigit()], reverse=True
    )
    versions = [{"version": name, "title": name, "aliases": ["latest"] * (name == version)} for name in newest_first]
    (folder / "versions.json").write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")
    page = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={version}/index.html">'
    link = f'<title>scorespace</title><a href="{version}/index.html">scorespace {version}</a>'
    (folder / "index.html").write_text(f"{page}{link}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
