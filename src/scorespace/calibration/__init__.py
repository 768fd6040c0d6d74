"""Calibration: tests, summaries, and recalibration maps."""
