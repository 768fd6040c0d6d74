"""Drift between samples of the same model, and monitoring of batches over time."""
