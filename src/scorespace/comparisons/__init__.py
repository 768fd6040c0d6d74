"""Statistical tests between models, samples and data sets."""

from scorespace.comparisons import delong
from scorespace.comparisons import folds
from scorespace.comparisons import mcnemar
from scorespace.comparisons import mcnemar_prices
from scorespace.comparisons import grades
from scorespace.comparisons import regression
from scorespace.comparisons import values
from scorespace.comparisons import paired
from scorespace.comparisons import ranking
from scorespace.comparisons import calibration
from scorespace.comparisons import coverage
from scorespace.comparisons import unpaired
from scorespace.comparisons import case_costs
from scorespace.comparisons import periods
from scorespace.comparisons import judge  # the catalogue's order
