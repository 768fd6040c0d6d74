"""Is the difference real: tests between models, declared once each, and what they answer."""

from scorespace.comparisons import delong, folds, mcnemar, numbers, paired, unpaired  # the order of the catalogue

__all__ = ["delong", "folds", "mcnemar", "numbers", "paired", "unpaired"]
