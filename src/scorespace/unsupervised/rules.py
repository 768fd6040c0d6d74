"""Association rules: measure given rules, or find, test and rank all frequent ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.comparisons.fisher import independence
from scorespace.comparisons.multiple_testing import holm
from scorespace.errors import DataError, MeasureError, ScoreSpaceError, listing
from scorespace.inference.estimate import Estimate, check_level, estimate
from scorespace.io.transactions import (
    FrequentItemsets,
    Transactions,
    count_itemsets,
    frequent_itemsets,
    read_transactions,
)
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.request import bind
from scorespace.results import Note, Progress, Result, Row, count_noun, decimals, grouped, note, p_text, to_json_types
from scorespace.tables import Array
from scorespace.tables.rules import RuleTable

MEASURES: Final = ("support", "confidence", "rule_lift", "leverage", "conviction", "jaccard", "kulczynski")
DEFAULT_ORDER: Final = ("leverage", "confidence")
LIKELY: Final = 0.05
FEW_TRANSACTIONS: Final = 10
"""Rules with fewer supporting transactions get a note."""

_COUNT_COLUMNS: Final = ("transactions", "both", "with_antecedent", "with_consequent")
_OUTSIDE_QUOTES: Final = r'(?=(?:[^"]*"[^"]*")*[^"]*$)'
_ARROW: Final = re.compile(r"\s*(?:=>|->|→)\s*" + _OUTSIDE_QUOTES)
_COMMA: Final = re.compile("," + _OUTSIDE_QUOTES)
_NEEDS_QUOTES: Final = re.compile(r',|=>|->|→|^["\s]|\s$|^$|^[^"]*"(?:[^"]*"[^"]*")*[^"]*$')


@dataclass(frozen=True)
class Rule:
    """A rule with its counts, measures with intervals, and the test of independence of its sides."""

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]
    table: RuleTable
    estimates: tuple[Estimate, ...]
    p: float
    p_adjusted: float

    @property
    def text(self) -> str:
        return rule_text(self.antecedent, self.consequent)

    def __getitem__(self, measure: str) -> Estimate:
        """Estimate of a requested measure, by name."""
        name = str(parse(measure))
        return next(estimate for estimate in self.estimates if str(estimate.spec) == name)

    def row(self) -> Row:
        """The rule in one row: its counts, then every measure with its interval."""
        table = self.table
        counts = map(int, (table.total, table.both, table.antecedent, table.consequent))
        sides = {"antecedent": side_text(self.antecedent), "consequent": side_text(self.consequent)}
        row: Row = {"rule": self.text, **sides, **dict(zip(_COUNT_COLUMNS, counts, strict=True))}
        for item in self.estimates:
            row |= {str(item.spec): item.value, f"{item.spec}_low": item.low, f"{item.spec}_high": item.high}
        return to_json_types(row | {"p": self.p, "p_adjusted": self.p_adjusted})

    def rows(self) -> list[Row]:
        """One row per measure."""
        sides = {"rule": self.text, "antecedent": list(self.antecedent), "consequent": list(self.consequent)}
        return [
            to_json_types(sides | {key: value for key, value in item.row().items() if key != "model"})
            for item in self.estimates
        ]

    def __repr__(self) -> str:
        return f"{self.text}  " + "  ".join(f"{item.spec} {item.text}" for item in self.estimates)


@dataclass(frozen=True)
class Rules(Result):
    """Association rules of one set of transactions in the requested order.

    Parameters
    ----------
    name : str
        Name of the data.
    transactions : int
        Number of transactions.
    items : int
        Number of different items.
    rules : tuple of Rule
        The rules with their counts, measures and tests.
    order : tuple of str
        Measures by which the rules are sorted.
    found : int
        Number of rules before `top` was applied.
    tested : int
        Number of candidates.
    redundant : int
        Number of redundant rules that were left out.
    level : float
        Confidence level of the intervals.
    min_support : float, optional
        Lowest support; None for given rules.
    measures : tuple of str
        The measures of each rule.
    data_notes : tuple of Note
        Notes on the data.
    """

    name: str
    transactions: int
    items: int
    rules: tuple[Rule, ...]
    order: tuple[str, ...]
    found: int
    tested: int
    redundant: int
    level: float
    min_support: float | None
    measures: tuple[str, ...] = field(default=(), repr=False)
    data_notes: tuple[Note, ...] = field(default=(), repr=False)

    def __iter__(self) -> Any:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, index: int) -> Rule:
        return self.rules[index]

    @property
    def likely(self) -> int:
        """Number of rules that are not significant."""
        return sum(rule.p_adjusted >= LIKELY for rule in self.rules)

    @property
    def words(self) -> str:
        """The first significant rule in a sentence, and the number of significant rules."""
        if not self.rules:
            support = f"{decimals(100 * (self.min_support or 0), 2)} % support"
            transactions_text = count_noun(self.transactions, "transaction")
            return f"No rule with {support} meets the conditions in {transactions_text}."
        first = next((rule for rule in self.rules if rule.p_adjusted < LIKELY), self.rules[0])
        n_significant, n_shown = sum(rule.p_adjusted < LIKELY for rule in self.rules), len(self.rules)
        which = f"the first {grouped(n_shown)} of {grouped(self.found)}" if n_shown < self.found else f"the {n_shown}"
        n_text = "all" if n_significant == n_shown else grouped(n_significant) if n_significant else "none"
        rest = f" Of {which} rules, {n_text} {'is' if n_significant == 1 else 'are'} significant."
        if n_shown == 1:
            rest = " It is not significant." if self.likely else ""
        return f"{_describe_rule(first)}{rest}"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the data and on the rules."""
        notes = list(self.data_notes)
        without_antecedent = [rule.text for rule in self.rules if not float(rule.table.antecedent)]
        if without_antecedent:
            notes.append(
                note(
                    "SS063",
                    f"the antecedent of {listing(without_antecedent, 3)} never occurs: confidence and lift undefined.",
                )
            )
        n_few = sum(0 < float(rule.table.both) < FEW_TRANSACTIONS for rule in self.rules)
        if n_few:
            notes.append(
                note(
                    "SS060",
                    f"{_share_text(n_few, self.rules)} on fewer than {FEW_TRANSACTIONS} supporting transactions.",
                )
            )
        if self.likely and self.rules:
            text = f"{_share_text(self.likely, self.rules, 'is', 'are')} not significant (adjusted p ≥ {LIKELY})."
            notes.append(note("SS064", text))
        if self.redundant:
            subject = "1 rule was" if self.redundant == 1 else f"{grouped(self.redundant)} rules were"
            notes.append(
                note(
                    "SS062",
                    f"{subject} dropped as redundant: a rule with fewer antecedents has at least the same confidence.",
                )
            )
        if self.tested > 1:
            text = f"p-values are adjusted by Holm's method for {grouped(self.tested)} candidate rules."
            notes.append(note("SS061", text))
        return tuple(sorted(notes, key=lambda item: ("warning", "info").index(item.level)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names of the rows, also if there are none."""
        values = (f"{name}{end}" for name in self.measures for end in ("", "_low", "_high"))
        return ("rule", "antecedent", "consequent", *_COUNT_COLUMNS, *values, "p", "p_adjusted")

    def rows(self) -> list[Row]:
        """One row per rule, with its counts and measures."""
        return [rule.row() for rule in self.rules]

    def facts(self) -> Row:
        """The data, the limits and every rule, for JSON."""
        counts = {name: getattr(self, name) for name in ("min_support", "order", "found", "tested", "redundant")}
        return {
            "data": {"name": self.name, "transactions": self.transactions, "items": self.items},
            **counts,
            "rules": [
                rule.row() | {"antecedent": rule.antecedent, "consequent": rule.consequent} for rule in self.rules
            ],
        }

    def to_dict(self) -> Row:
        """The rules as a dict for JSON, with a row for each rule and measure."""
        return super().to_dict() | {"rows": [row for rule in self.rules for row in rule.rows()]}

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self.rules[:10]), self.words])


def rules(
    data: Any,
    *,
    transaction: str | None = None,
    items: str | Sequence[str] = (),
    weight: str | None = None,
    given: str | Sequence[Any] | None = None,
    min_support: float = 0.01,
    max_size: int = 3,
    max_consequent: int = 1,
    at_least: Mapping[str, float] | None = None,
    order: str | Sequence[str] = DEFAULT_ORDER,
    measures: str | Sequence[str] = MEASURES,
    redundant: bool = False,
    top: int = 50,
    missing: str = "error",
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Rules:
    """Find association rules, or measure the rules `given` as "bread, butter => jam".

    Rules come from all frequent item sets. All rules are tested for independence of their sides; the first `top` are
    measured with intervals.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        A file (CSV, Parquet, JSON, Arrow), a frame of pandas, polars or pyarrow, or arrays by name.
    transaction : str, optional
        Column of the transaction, if there is a row for each of its items; without it, each row is a transaction.
    items : str or sequence of str
        Column of the items; or, with a row for each transaction, columns of 0 and 1, booleans or labels,
        by default all.
    weight : str, optional
        Column with the number of identical transactions of a row.
    given : str or sequence, optional
        Rules to measure, such as ``"bread, butter => jam"``, instead of finding some.
    min_support : float
        Lowest share of transactions that hold all items of a rule.
    max_size : int
        Largest number of items of a rule.
    max_consequent : int
        Largest number of items on the right side.
    at_least : mapping of str to float, optional
        Lower bounds of measures.
    order : str or sequence of str
        Measures to sort by; −NAME reverses one.
    measures : str or sequence of str
        Which measures are computed.
    redundant : bool
        Whether to keep rules that are no better than one with fewer antecedents.
    top : int
        Number of rules that are measured; 0 for all.
    missing : {"error", "drop"}
        Whether rows with missing values are refused or dropped.
    level : float
        Confidence level of the intervals.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    Rules
        The rules with measures, confidence intervals and adjusted p-values.

    References
    ----------
    Agrawal, R., Imieliński, T., & Swami, A. (1993). Mining association rules between sets of items in large databases.
    In Proceedings of the 1993 ACM SIGMOD International Conference, 207-216.

    Examples
    --------
    >>> rules({"bread": [1, 1, 1, 0] * 9, "jam": [1, 1, 0, 0] * 9}, measures="confidence", order="confidence")[0]
    jam → bread  confidence 1.000 [0.824, 1.000]
    """
    check_level(level)
    _check_limits(min_support, max_size, max_consequent, top)
    item_columns = (items,) if isinstance(items, str) else tuple(items)
    specs = _rule_measures(measures)
    sort_keys = _parse_order(order)
    bounds = {str(spec): (spec, bound) for name, bound in (at_least or {}).items() for spec in [_rule_measure(name)]}
    baskets = read_transactions(data, transaction=transaction, items=item_columns, weight=weight, missing=missing)
    if given is not None:
        candidates = _count_given_rules(baskets, given)
    else:
        candidates = _mine_rules(
            frequent_itemsets(baskets, min_support, max_size, progress), baskets.size, max_consequent
        )
    p = independence(candidates.table)
    p_adjusted = _adjust_p_values(p, candidates.tried)
    is_kept = np.ones(len(candidates.table), dtype=bool)
    for spec, bound in bounds.values():
        is_kept &= _measure_values(spec, candidates.table) >= bound
    dominated = candidates.dominated & is_kept if given is None and not redundant else np.zeros_like(is_kept)
    indices = np.flatnonzero(is_kept & ~dominated)
    if given is None:
        indices = indices[_sort_rules(sort_keys, candidates, indices)]
    selected = indices[:top] if top else indices
    measured_rules = tuple(
        _make_rule(candidates, int(k), specs, float(p[k]), float(p_adjusted[k]), level, seed) for k in selected
    )
    return Rules(
        baskets.source.name,
        baskets.size,
        len(baskets.items),
        measured_rules,
        tuple(text for text, *_ in sort_keys) if given is None else (),
        int(indices.size),
        candidates.tried,
        int(dominated.sum()),
        level,
        min_support if given is None else None,
        tuple(map(str, specs)),
        baskets.notes,
    )


def rule_text(antecedent: Sequence[str], consequent: Sequence[str]) -> str:
    """Rule as text, which can be parsed again."""
    return f"{side_text(antecedent)} → {side_text(consequent)}"


def side_text(items: Sequence[str]) -> str:
    """Items of a side, separated by commas; ambiguous ones are quoted.

    >>> print(side_text(["bread", "oil, 1 l"]))
    bread, "oil, 1 l"
    """
    return ", ".join('"' + item.replace('"', '""') + '"' if _NEEDS_QUOTES.search(item) else item for item in items)


def _parse_items(side: str) -> tuple[str, ...]:
    """Parse the items of a side."""
    has_balanced_quotes = side.count('"') % 2 == 0
    pieces = [piece.strip() for piece in (_COMMA.split(side) if has_balanced_quotes else side.split(","))]
    return tuple(
        one[1:-1].replace('""', '"') if has_balanced_quotes and len(one) > 1 and one[0] == one[-1] == '"' else one
        for one in pieces
    )


# --- arguments


def _check_limits(min_support: float, max_size: int, max_consequent: int, top: int) -> None:
    if not 0 < min_support <= 1:
        raise ScoreSpaceError(
            f"min_support={min_support:g} is not a share of the transactions.",
            hint="above 0 and at most 1, such as 0.01",
        )
    limits = ("max_size", max_size, 2, 3), ("max_consequent", max_consequent, 1, 1), ("top", top, 0, 0)
    for name, value, least, usual in limits:
        if value < least:
            raise ScoreSpaceError(f"{name}={value} is too small.", hint=f"{name}={usual}")
    if max_size > 10:
        raise ScoreSpaceError(f"max_size={max_size} is too large.", hint="at most 10 items in a rule")


def _rule_measure(text: str) -> MeasureSpec:
    """Parse a measure of rules; others are refused."""
    spec = parse(text)
    bind(spec, RuleTable(both=1, antecedent=2, consequent=2, total=4))
    return spec


def _rule_measures(measures: str | Sequence[str]) -> list[MeasureSpec]:
    texts = [str(spec) for spec in parse_list(measures)] if isinstance(measures, str) else list(measures)
    if not texts:
        raise MeasureError("no measure is given.", hint=f'measures="{", ".join(MEASURES[:3])}"')
    return [_rule_measure(text) for text in texts]


def _parse_order(order: str | Sequence[str]) -> list[tuple[str, MeasureSpec, int]]:
    """Measures to sort by, with 1 if large values come first and −1 if small ones do."""
    texts = [piece.strip() for piece in order.split(",")] if isinstance(order, str) else list(order)
    keys = []
    for text in texts:
        is_reversed = text.startswith(("-", "−"))
        spec = _rule_measure(text[1:].strip() if is_reversed else text)
        sign = -1 if spec.best == "low" else 1
        keys.append((text, spec, -sign if is_reversed else sign))
    if not keys:
        raise MeasureError("no measure to sort by is given.", hint=f'order="{", ".join(DEFAULT_ORDER)}"')
    return keys


def _parse_rule(rule: Any) -> RuleSides:
    """Antecedent and consequent of a rule, given as text or as two lists of items."""
    hint = 'given=["bread, butter => jam"], or given=[(["bread", "butter"], ["jam"])]'
    parts = _ARROW.split(rule) if isinstance(rule, str) else rule
    if isinstance(parts, str) or not isinstance(parts, Sequence) or len(parts) != 2:
        raise DataError(f"the rule {rule!r} is not of the form A => B.", hint=hint)
    sides = [_parse_items(side) if isinstance(side, str) else tuple(map(str, side)) for side in parts]
    if not all(side and all(side) for side in sides):
        raise DataError(f"the rule {rule!r} has a side without items.", hint=hint)
    twice = [item for k, item in enumerate([*sides[0], *sides[1]]) if item in [*sides[0], *sides[1]][:k]]
    if twice:
        raise DataError(f"the rule {rule!r} names the item {twice[0]!r} twice.", hint="use each item once")
    return sides[0], sides[1]


# --- counting rules


RuleSides = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class _RuleArrays:
    """Rules as arrays: counts, `sides` of each, and whether a rule with fewer antecedents is as confident."""

    table: RuleTable
    sides: Callable[[int], RuleSides]
    dominated: NDArray[np.bool_]
    tried: int


def _mine_rules(itemsets: FrequentItemsets, total: int, max_consequent: int) -> _RuleArrays:
    """All rules within the frequent item sets, with the best confidence of any smaller antecedent."""
    parts: dict[str, list[Array]] = {"both": [], "a": [], "b": [], "size": [], "place": [], "mask": [], "worse": []}
    best_confidence: dict[tuple[int, int], Array] = {}
    n_candidates = 0
    for level in itemsets.levels[1:]:
        n_sets, width = level.sets.shape
        masks = [mask for mask in range(1, 2**width - 1) if width - mask.bit_count() <= max_consequent]
        n_candidates += level.tried * len(masks)
        if not n_sets:
            continue
        subset_indices = [itemsets.find(np.delete(level.sets, bit, axis=1)) for bit in range(width)]
        for mask in masks:
            antecedent_bits = [bit for bit in range(width) if mask >> bit & 1]
            consequent_bits = [bit for bit in range(width) if not mask >> bit & 1]
            a = itemsets.levels[len(antecedent_bits) - 1].counts[itemsets.find(level.sets[:, antecedent_bits])]
            b = itemsets.levels[len(consequent_bits) - 1].counts[itemsets.find(level.sets[:, consequent_bits])]
            confidence = level.counts / a
            best = np.full(n_sets, -np.inf)
            for bit in antecedent_bits if len(antecedent_bits) > 1 else ():
                smaller = mask & ((1 << bit) - 1) | mask >> (bit + 1) << bit  # the mask with that bit removed
                best = np.maximum(best, best_confidence[width - 1, smaller][subset_indices[bit]])
            best_confidence[width, mask] = np.maximum(confidence, best)
            columns = (
                level.counts,
                a,
                b,
                np.full(n_sets, width),
                np.arange(n_sets),
                np.full(n_sets, mask),
                best >= confidence,
            )
            for name, column in zip(parts, columns, strict=True):
                parts[name].append(column)
    arrays = {name: np.concatenate(chunks) if chunks else np.zeros(0) for name, chunks in parts.items()}
    size, place, masks_of = (arrays[name].astype(np.int64) for name in ("size", "place", "mask"))

    def sides(k: int) -> RuleSides:
        chosen, mask = itemsets.levels[size[k] - 1].sets[place[k]], int(masks_of[k])
        before = tuple(itemsets.names[i] for bit, i in enumerate(chosen) if mask >> bit & 1)
        return before, tuple(itemsets.names[i] for bit, i in enumerate(chosen) if not mask >> bit & 1)

    table = RuleTable(arrays["both"], arrays["a"], arrays["b"], float(total))
    return _RuleArrays(table, sides, arrays["worse"].astype(bool), n_candidates)


def _count_given_rules(baskets: Transactions, requested: str | Sequence[Any]) -> _RuleArrays:
    """Count given rules."""
    sides = [_parse_rule(rule) for rule in ([requested] if isinstance(requested, str) else requested)]
    if not sides:
        raise DataError("the list of rules is empty.", hint='given=["bread, butter => jam"]')
    used = sorted({baskets.place(name) for pair in sides for side in pair for name in side})
    words, row = baskets.words(used), {place: k for k, place in enumerate(used)}

    def count(chosen: Sequence[str]) -> int:
        return int(count_itemsets(words, np.array([[row[baskets.place(name)] for name in chosen]]))[0])

    counts = [(count([*a, *b]), count(a), count(b)) for a, b in sides]
    both, antecedents, consequents = np.array(counts, dtype=np.float64).T
    table = RuleTable(both, antecedents, consequents, float(baskets.size))
    return _RuleArrays(table, sides.__getitem__, np.zeros(len(sides), dtype=bool), len(sides))


def _adjust_p_values(p: Array, n_candidates: int) -> Array:
    """Holm's adjustment for all candidate rules; infrequent ones count with p = 1."""
    n_infrequent = max(0, n_candidates - p.size)
    return holm(np.append(p, np.ones(n_infrequent)))[: p.size]


def _measure_values(spec: MeasureSpec, table: RuleTable) -> Array:
    if not table.both.size:
        return np.zeros(0)
    return np.asarray(bind(spec, table[0]).on(table), dtype=np.float64)


def _sort_rules(keys: Sequence[tuple[str, MeasureSpec, int]], candidates: _RuleArrays, indices: Array) -> Array:
    """Order of rules by measures, undefined values last; ties keep their order."""
    table = candidates.table[indices]
    columns = [np.nan_to_num(-sign * _measure_values(spec, table), nan=np.inf) for _, spec, sign in keys]
    return np.lexsort(columns[::-1])


def _make_rule(
    candidates: _RuleArrays, k: int, specs: Sequence[MeasureSpec], p: float, p_adjusted: float, level: float, seed: int
) -> Rule:
    antecedent, consequent = candidates.sides(k)
    table, text = candidates.table[k], rule_text(antecedent, consequent)
    measured = tuple(estimate(spec, table, model=text, level=level, seed=seed) for spec in specs)
    return Rule(antecedent, consequent, table, measured, p, p_adjusted)


# --- text


def _describe_rule(rule: Rule) -> str:
    """A rule with its numbers in a sentence."""
    table = rule.table
    if not float(table.antecedent):
        never = "never occurs" if len(rule.antecedent) == 1 else "never occur together"
        return f"{' and '.join(rule.antecedent)} {never} in the {grouped(float(table.total))} transactions."
    confidence, base = float(table.both / table.antecedent), float(table.consequent / table.total)
    share, base_share = (f"{decimals(100 * value, 1)} %" for value in (confidence, base))
    bought = count_noun(float(table.antecedent), "transaction")
    subject = f"Of the {bought} with {' and '.join(rule.antecedent)}"
    p_value_text = "" if math.isnan(rule.p_adjusted) else f", adjusted {p_text(rule.p_adjusted)}"
    return f"{subject}, {share} have {' and '.join(rule.consequent)} (overall {base_share}{p_value_text})."


def _share_text(count: int, rules: Sequence[Rule], singular: str = "rests", plural: str = "rest") -> str:
    return f"{grouped(count)} of {grouped(len(rules))} rules {singular if count == 1 else plural}"
