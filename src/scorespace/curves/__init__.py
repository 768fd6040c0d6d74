"""How it changes: curves over all thresholds, from one table each, every kind declared once."""

from scorespace.curves.curve import CURVES, Curve, CurveKind, curve
from scorespace.curves.hull import Corner, Hull, Mixture, Region, hull  # the order of the catalogue

# isort: split
from scorespace.curves.roc import RocCurve, roc

# isort: split
from scorespace.curves.pr import PrCurve, pr
from scorespace.curves.smooth import SmoothCurve, smooth, softened

# isort: split
from scorespace.curves.cost import IsoLine, cost_curve, iso_line

# isort: split
from scorespace.curves.brier import brier_curve, net_benefit, optimal_curve

# isort: split
from scorespace.curves.calibration import CalibrationCurve, calibration
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.isotonic import isotonic
from scorespace.curves.midpoint import learn_midpoint
from scorespace.curves.rejection import RejectionCurve, RejectRule, chow, rejection
from scorespace.curves.residuals import error_size, predicted, quantiles, residuals
from scorespace.curves.rroc import RrocCurve, RrocHull, rroc, rroc_hull
from scorespace.curves.sweep import sweep

# isort: split
from scorespace.curves.certain import bounded_area, over_bins

__all__ = [
    "CURVES",
    "CalibrationCurve",
    "Corner",
    "Curve",
    "CurveKind",
    "Hull",
    "IsoLine",
    "Mixture",
    "PrCurve",
    "Region",
    "RejectRule",
    "RejectionCurve",
    "RocCurve",
    "RrocCurve",
    "RrocHull",
    "SmoothCurve",
    "bounded_area",
    "brier_curve",
    "calibration",
    "chow",
    "cost_curve",
    "curve",
    "error_size",
    "gain",
    "hull",
    "iso_line",
    "isotonic",
    "learn_midpoint",
    "lift_curve",
    "net_benefit",
    "optimal_curve",
    "over_bins",
    "pr",
    "predicted",
    "quantiles",
    "rejection",
    "residuals",
    "roc",
    "rroc",
    "rroc_hull",
    "smooth",
    "softened",
    "sweep",
]
