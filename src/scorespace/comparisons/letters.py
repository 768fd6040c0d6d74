"""Compact letter display: models that share a letter are not shown to differ."""

from __future__ import annotations

from string import ascii_letters

import numpy as np
from numpy.typing import ArrayLike


def compact_letters(differs: ArrayLike) -> tuple[str, ...]:
    """Letters of models in the order given, best first, from the symmetric matrix of significant differences.

    >>> compact_letters([[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]])
    ('a', 'ab', 'bc', 'c')
    """
    groups = letter_groups(differs)
    return tuple(
        "".join(_letter(position) for position, group in enumerate(groups) if model in group)
        for model in range(len(np.asarray(differs)))
    )


def letter_groups(differs: ArrayLike) -> list[frozenset[int]]:
    """Models that share each letter: the largest sets without a significant difference that the display needs.

    Insert and absorb, then sweep: Piepho, H.-P. (2004). An algorithm for a letter-based representation of
    all-pairwise comparisons. Journal of Computational and Graphical Statistics 13, 456–466.
    """
    significant = np.asarray(differs, dtype=bool)
    groups = [frozenset(range(len(significant)))] if len(significant) else []
    for pair in map(frozenset, np.argwhere(np.triu(significant, 1)).tolist()):
        halves = [group - {model} for group in groups if pair <= group for model in pair]
        groups = _without_subsets([group for group in groups if not pair <= group] + halves)
    return sorted(_swept(groups), key=sorted)


def _without_subsets(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    """Groups that no other group contains, each once."""
    distinct = list(dict.fromkeys(groups))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _swept(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    """Groups without the models whose pairs in the group are all held by other groups."""
    swept = list(groups)
    for position in range(len(swept)):
        for model in sorted(swept[position]):
            partners = swept[position] - {model}
            others = frozenset().union(*(group for k, group in enumerate(swept) if k != position and model in group))
            if partners and partners <= others:
                swept[position] = partners
    return _without_subsets(swept)


def _letter(position: int) -> str:
    """A letter per group: a to z, A to Z, then with a dot in front, as in R's multcompView."""
    repeat, index = divmod(position, len(ascii_letters))
    return "." * repeat + ascii_letters[index]
