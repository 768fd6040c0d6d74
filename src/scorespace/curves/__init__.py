"""How it changes: curves over all thresholds, from one score table each."""

from scorespace.curves.curve import Curve
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.hull import Hull, hull
from scorespace.curves.pr import PrCurve, pr
from scorespace.curves.roc import RocCurve, roc
from scorespace.curves.sweep import sweep

__all__ = ["Curve", "Hull", "PrCurve", "RocCurve", "gain", "hull", "lift_curve", "pr", "roc", "sweep"]
