"""What the tests of evaluations share: the aSAH data with pROC's numbers, and six cases."""

import json
from pathlib import Path

ASAH = Path(__file__).parents[1] / "oracles" / "asah.csv"
PROC = json.loads((ASAH.parent / "proc_asah.json").read_text())["per_predictor"]
ROLES = {"truth": "outcome", "scores": ["s100b", "ndka"], "positive": "Poor"}
SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 0, 1, 0, 0, 1]}
