"""Uncertainty of a measure: bootstrap, confidence intervals, estimates, bands."""
