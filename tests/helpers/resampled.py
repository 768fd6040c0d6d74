"""Tables whose intervals are tested, and how they are drawn."""

import numpy as np

from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.tables import score_table

RNG = np.random.default_rng(7)
TRUTH = np.repeat([1, 0], [18, 25])
SCORE = np.round(TRUTH * 0.9 + RNG.normal(size=43), 1)  # with ties
TABLE = score_table(TRUTH, SCORE)
ONE_POSITIVE = score_table([1, 0, 0, 0, 0], [3, 1, 2, 4, 5])
RESAMPLED = ("bootstrap", "bca", "studentised", "bias-shifted")


def of(text, table=TABLE, **options):
    return estimate(parse(text), table, **{"replicates": 400, **options})
