"""How it changes: curves over all thresholds, from one score table each."""

from scorespace.curves.brier import brier_curve, net_benefit, optimal_curve
from scorespace.curves.calibration import CalibrationCurve, calibration
from scorespace.curves.cost import IsoLine, cost_curve, iso_line
from scorespace.curves.curve import Curve
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.hull import Corner, Hull, Mixture, Region, hull
from scorespace.curves.midpoint import learn_midpoint
from scorespace.curves.pr import PrCurve, pr
from scorespace.curves.rejection import RejectionCurve, RejectRule, chow, rejection
from scorespace.curves.roc import RocCurve, roc
from scorespace.curves.smooth import SmoothCurve, smooth, softened
from scorespace.curves.sweep import sweep

__all__ = [
    "CalibrationCurve",
    "Corner",
    "Curve",
    "Hull",
    "IsoLine",
    "Mixture",
    "PrCurve",
    "Region",
    "RejectRule",
    "RejectionCurve",
    "RocCurve",
    "SmoothCurve",
    "brier_curve",
    "calibration",
    "chow",
    "cost_curve",
    "gain",
    "hull",
    "iso_line",
    "learn_midpoint",
    "lift_curve",
    "net_benefit",
    "optimal_curve",
    "pr",
    "rejection",
    "roc",
    "smooth",
    "softened",
    "sweep",
]
