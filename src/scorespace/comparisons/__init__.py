"""Is the difference real: tests between models, declared once each, and what they answer."""

from scorespace.comparisons import delong, folds, mcnemar, numbers, paired, ranking, unpaired  # the catalogue's order
