"""What tests of several classes share: names that are no code, tables with gaps, and random scores."""

import numpy as np

from scorespace.tables import class_table, confusion

HOSTILE = ("</script><img src=x>", 'a.b["c"][0]', "it's {{7*7}} \\", "two\nlines")
NEVER = confusion([[4, 0, 1], [1, 0, 4], [0, 0, 5]], classes=["a", "b", "c"])  # b is never decided
ABSENT = confusion([[4, 1, 0], [1, 3, 1], [0, 0, 0]], classes=["a", "b", "c"])  # c never occurs


def scored(size=3, rows=200, names=None, seed=0):
    """Random scores of so many classes, the later the better told apart."""
    source = np.random.default_rng(seed)
    names = names or [f"class {k}" for k in range(size)]
    truth = np.arange(rows) % size
    score = source.normal(size=(rows, size))
    score[np.arange(rows), truth] += 1 + truth / size
    share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    return class_table([names[k] for k in truth], {name: share[:, k] for k, name in enumerate(names)})
