"""Agreement between raters, people or models."""
