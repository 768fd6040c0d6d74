"""Is the difference real: tests between models, declared once each, and what they answer."""

from scorespace.comparisons import (  # the order of the catalogue
    delong,
    folds,
    mcnemar,
    numbers,
    paired,
    ranking,
    unpaired,
)

__all__ = ["delong", "folds", "mcnemar", "numbers", "paired", "ranking", "unpaired"]
