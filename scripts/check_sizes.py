"""Refuses files that are too large for the repository: the names come from pre-commit."""

import sys
from pathlib import Path
from typing import Final

MOST: Final = 1_000_000  # bytes; larger reference data have a generator or a package instead

if __name__ == "__main__":
    large = [name for name in sys.argv[1:] if Path(name).stat().st_size > MOST]
    sys.exit(f"over {MOST // 1000} KB: {', '.join(large)}" if large else 0)
