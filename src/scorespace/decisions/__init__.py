"""So what: thresholds and models to use."""

from scorespace.decisions.threshold import BestThreshold, best_threshold

__all__ = ["BestThreshold", "best_threshold"]
