"""Association rules: given ones measured, or all that are frequent enough found, tested and ordered."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.comparisons.adjust import holm
from scorespace.comparisons.independence import independence
from scorespace.errors import DataError, MeasureError, ScoreSpaceError, listing
from scorespace.frames.itemsets import Frequent, count_sets, frequent
from scorespace.frames.transactions import Transactions, transactions
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.request import bind
from scorespace.resampling.estimate import Estimate, check_level, estimate
from scorespace.results import Note, Progress, Result, Row, decimals, grouped, note, p_text, plain, so_many
from scorespace.tables import Array
from scorespace.tables.rule import RuleTable

MEASURES: Final = ("support", "confidence", "rule_lift", "leverage", "conviction", "jaccard", "kulczynski")
ORDER: Final = ("leverage", "confidence")
LIKELY: Final = 0.05
FEW: Final = 10
"""Transactions with both sides below which a rule rests on few."""

_COUNTS: Final = ("transactions", "both", "with_antecedent", "with_consequent")
_UNQUOTED: Final = r'(?=(?:[^"]*"[^"]*")*[^"]*$)'
_ARROW: Final = re.compile(r"\s*(?:=>|->|→)\s*" + _UNQUOTED)
_COMMA: Final = re.compile("," + _UNQUOTED)
_AMBIGUOUS: Final = re.compile(r',|=>|->|→|^["\s]|\s$|^$|^[^"]*"(?:[^"]*"[^"]*")*[^"]*$')


@dataclass(frozen=True)
class Rule:
    """A rule with its counts, its measures with intervals, and the test of its sides being independent."""

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
        """The estimate of a measure, by its name as it was asked for."""
        wanted = str(parse(measure))
        return next(one for one in self.estimates if str(one.spec) == wanted)

    def row(self) -> Row:
        """The rule in one row: its counts, then every measure with its limits."""
        table = self.table
        counts = map(int, (table.total, table.both, table.antecedent, table.consequent))
        sides = {"antecedent": side_text(self.antecedent), "consequent": side_text(self.consequent)}
        found: Row = {"rule": self.text, **sides, **dict(zip(_COUNTS, counts, strict=True))}
        for one in self.estimates:
            found |= {str(one.spec): one.value, f"{one.spec}_low": one.low, f"{one.spec}_high": one.high}
        return plain(found | {"p": self.p, "p_adjusted": self.p_adjusted})

    def rows(self) -> list[Row]:
        """A row for each measure, as every verb writes them."""
        sides = {"rule": self.text, "antecedent": list(self.antecedent), "consequent": list(self.consequent)}
        return [
            plain(sides | {key: value for key, value in one.row().items() if key != "model"}) for one in self.estimates
        ]

    def __repr__(self) -> str:
        return f"{self.text}  " + "  ".join(f"{one.spec} {one.text}" for one in self.estimates)


@dataclass(frozen=True)
class Rules(Result):
    """Rules of one set of transactions, the first in order first.

    `found` is how many there were before `top` cut them, `tested` how many could have come up by chance.
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
        """How many of the rules shown chance alone may explain; one that was never tried is not asked."""
        return sum(one.p_adjusted >= LIKELY for one in self.rules)

    @property
    def words(self) -> str:
        """The first rule that holds beyond chance in a sentence, and how many do."""
        if not self.rules:
            least = f"{decimals(100 * (self.min_support or 0), 2)} % support"
            among = so_many(self.transactions, "transaction")
            return f"No rule was found in {among} with {least} and what else was asked."
        first = next((one for one in self.rules if one.p_adjusted < LIKELY), self.rules[0])
        held, shown = sum(one.p_adjusted < LIKELY for one in self.rules), len(self.rules)
        these = f"the first {grouped(shown)} of {grouped(self.found)}" if shown < self.found else f"the {shown}"
        many = "all" if held == shown else grouped(held) if held else "none"
        rest = f" Of {these} rules, {many} {'holds' if held == 1 else 'hold'} beyond chance."
        if shown == 1:
            rest = " Chance alone may explain it." if self.likely else ""
        return f"{_sentence(first)}{rest}"

    @property
    def notes(self) -> tuple[Note, ...]:
        found = list(self.data_notes)
        never = [one.text for one in self.rules if not float(one.table.antecedent)]
        if never:
            found.append(note("SS063", f"the antecedent of {listing(never, 3)} never occurs: no confidence, no lift."))
        few = sum(0 < float(one.table.both) < FEW for one in self.rules)
        if few:
            found.append(note("SS060", f"{_of(few, self.rules)} on fewer than {FEW} transactions with both sides."))
        if self.likely and self.rules:
            text = f"{_of(self.likely, self.rules, 'could be', 'could be')} chance: adjusted p not below {LIKELY}."
            found.append(note("SS064", text))
        if self.redundant:
            many = "1 rule was" if self.redundant == 1 else f"{grouped(self.redundant)} rules were"
            found.append(note("SS062", f"{many} left out: with fewer antecedents another is as confident."))
        if self.tested > 1:
            text = f"p-values are adjusted by Holm for the {grouped(self.tested)} rules that were looked at."
            found.append(note("SS061", text))
        return tuple(sorted(found, key=lambda one: ("warning", "info").index(one.level)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its rows, also where there are none."""
        values = (f"{name}{end}" for name in self.measures for end in ("", "_low", "_high"))
        return ("rule", "antecedent", "consequent", *_COUNTS, *values, "p", "p_adjusted")

    def rows(self) -> list[Row]:
        """A row for each rule, with its counts and measures."""
        return [one.row() for one in self.rules]

    def facts(self) -> Row:
        counts = {name: getattr(self, name) for name in ("min_support", "order", "found", "tested", "redundant")}
        return {
            "data": {"name": self.name, "transactions": self.transactions, "items": self.items},
            **counts,
            "rules": [one.row() | {"antecedent": one.antecedent, "consequent": one.consequent} for one in self.rules],
        }

    def to_dict(self) -> Row:
        return super().to_dict() | {"rows": [row for one in self.rules for row in one.rows()]}

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
    order: str | Sequence[str] = ORDER,
    measures: str | Sequence[str] = MEASURES,
    redundant: bool = False,
    top: int = 50,
    missing: str = "error",
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Rules:
    """Rules between items that go together, or the measures of the rules `given` as "bread, butter => jam".

    Transactions are long, with a column that names the `transaction` and one of `items`; else each row is one, and
    columns of 0 and 1, booleans or labels say what is in it. `weight` names the column that says how many transactions
    alike a row stands for. Rules come from all sets of up to `max_size` items that
    occur in at least a share `min_support` of the transactions. `at_least` sets lower bounds of measures, `order` names
    the measures to sort by (−NAME turns one around). `redundant` keeps rules that another one with fewer antecedents
    does not fall short of. All rules are tested, `top` of them are measured with intervals (0: all).

    >>> rules({"bread": [1, 1, 1, 0] * 9, "jam": [1, 1, 0, 0] * 9}, measures="confidence", order="confidence")[0]
    jam → bread  confidence 1.000 [0.824, 1.000]
    """
    check_level(level)
    _check(min_support, max_size, max_consequent, top)
    named = (items,) if isinstance(items, str) else tuple(items)
    specs = _specs(measures)
    keys = _order(order)
    bounds = {str(spec): (spec, bound) for name, bound in (at_least or {}).items() for spec in [_spec(name)]}
    held = transactions(data, transaction=transaction, items=named, weight=weight, missing=missing)
    if given is not None:
        found = _given(held, given)
    else:
        found = _mined(frequent(held, min_support, max_size, progress), held.size, max_consequent)
    p = independence(found.table)
    adjusted = _adjusted(p, found.tried)
    kept = np.ones(len(found.table), dtype=bool)
    for spec, bound in bounds.values():
        kept &= _values(spec, found.table) >= bound
    dominated = found.dominated & kept if given is None and not redundant else np.zeros_like(kept)
    places = np.flatnonzero(kept & ~dominated)
    if given is None:
        places = places[_sorted(keys, found, places)]
    shown = places[:top] if top else places
    measured = tuple(_rule(found, int(k), specs, float(p[k]), float(adjusted[k]), level, seed) for k in shown)
    return Rules(
        held.source.name,
        held.size,
        len(held.items),
        measured,
        tuple(text for text, *_ in keys) if given is None else (),
        int(places.size),
        found.tried,
        int(dominated.sum()),
        level,
        min_support if given is None else None,
        tuple(map(str, specs)),
        held.notes,
    )


def rule_text(antecedent: Sequence[str], consequent: Sequence[str]) -> str:
    """A rule as people read it, and as it can be given."""
    return f"{side_text(antecedent)} → {side_text(consequent)}"


def side_text(items: Sequence[str]) -> str:
    """The items of a side with commas between; one that could be taken for several is in quotes.

    >>> print(side_text(["bread", "oil, 1 l"]))
    bread, "oil, 1 l"
    """
    return ", ".join('"' + one.replace('"', '""') + '"' if _AMBIGUOUS.search(one) else one for one in items)


def _items(side: str) -> tuple[str, ...]:
    """The items of a side that is written as a text."""
    quoted = side.count('"') % 2 == 0
    pieces = [one.strip() for one in (_COMMA.split(side) if quoted else side.split(","))]
    return tuple(
        one[1:-1].replace('""', '"') if quoted and len(one) > 1 and one[0] == one[-1] == '"' else one for one in pieces
    )


# --- what is asked


def _check(min_support: float, max_size: int, max_consequent: int, top: int) -> None:
    if not 0 < min_support <= 1:
        raise ScoreSpaceError(
            f"min_support={min_support:g} is no share of the transactions.", hint="above 0 and at most 1, such as 0.01"
        )
    limits = ("max_size", max_size, 2, 3), ("max_consequent", max_consequent, 1, 1), ("top", top, 0, 0)
    for name, value, least, usual in limits:
        if value < least:
            raise ScoreSpaceError(f"{name}={value} is too small.", hint=f"{name}={usual}")
    if max_size > 10:
        raise ScoreSpaceError(f"max_size={max_size} is too large.", hint="at most 10 items in a rule")


def _spec(text: str) -> MeasureSpec:
    """A measure that rules have; any other is refused with the reason."""
    spec = parse(text)
    bind(spec, RuleTable(both=1, antecedent=2, consequent=2, total=4))
    return spec


def _specs(measures: str | Sequence[str]) -> list[MeasureSpec]:
    texts = [str(one) for one in parse_list(measures)] if isinstance(measures, str) else list(measures)
    if not texts:
        raise MeasureError("no measure is named.", hint=f'measures="{", ".join(MEASURES[:3])}"')
    return [_spec(text) for text in texts]


def _order(order: str | Sequence[str]) -> list[tuple[str, MeasureSpec, int]]:
    """The measures to sort by, each with 1 where large values come first and −1 where small ones do."""
    texts = [piece.strip() for piece in order.split(",")] if isinstance(order, str) else list(order)
    keys = []
    for text in texts:
        turned = text.startswith(("-", "−"))
        spec = _spec(text[1:].strip() if turned else text)
        sign = -1 if spec.measure.best == "low" else 1
        keys.append((text, spec, -sign if turned else sign))
    if not keys:
        raise MeasureError("no measure is named to sort by.", hint=f'order="{", ".join(ORDER)}"')
    return keys


def _sides(rule: Any) -> Sides:
    """Antecedent and consequent of a rule that is given as text, or as two lists of items."""
    hint = 'given=["bread, butter => jam"], or given=[(["bread", "butter"], ["jam"])]'
    parts = _ARROW.split(rule) if isinstance(rule, str) else rule
    if isinstance(parts, str) or not isinstance(parts, Sequence) or len(parts) != 2:
        raise DataError(f"the rule {rule!r} cannot be read.", hint=hint)
    both = [_items(side) if isinstance(side, str) else tuple(map(str, side)) for side in parts]
    if not all(side and all(side) for side in both):
        raise DataError(f"the rule {rule!r} has a side without items.", hint=hint)
    twice = [one for k, one in enumerate([*both[0], *both[1]]) if one in [*both[0], *both[1]][:k]]
    if twice:
        raise DataError(f"the rule {rule!r} names the item {twice[0]!r} twice.", hint="each item on one side, once")
    return both[0], both[1]


# --- all rules at once


Sides = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class _Found:
    """Rules as arrays: their counts, the `sides` of each, and whether one with fewer antecedents is as confident."""

    table: RuleTable
    sides: Callable[[int], Sides]
    dominated: NDArray[np.bool_]
    tried: int


def _mined(found: Frequent, total: int, max_consequent: int) -> _Found:
    """All rules within the frequent sets, with the best confidence of a part of the antecedent for each."""
    parts: dict[str, list[Array]] = {"both": [], "a": [], "b": [], "size": [], "place": [], "mask": [], "worse": []}
    confident: dict[tuple[int, int], Array] = {}
    tried = 0
    for level in found.levels[1:]:
        many, width = level.sets.shape
        masks = [mask for mask in range(1, 2**width - 1) if width - mask.bit_count() <= max_consequent]
        tried += level.tried * len(masks)
        if not many:
            continue
        without = [found.find(np.delete(level.sets, bit, axis=1)) for bit in range(width)]
        for mask in masks:
            inside = [bit for bit in range(width) if mask >> bit & 1]
            outside = [bit for bit in range(width) if not mask >> bit & 1]
            a = found.levels[len(inside) - 1].counts[found.find(level.sets[:, inside])]
            b = found.levels[len(outside) - 1].counts[found.find(level.sets[:, outside])]
            own = level.counts / a
            best = np.full(many, -np.inf)
            for bit in inside if len(inside) > 1 else ():
                smaller = mask & ((1 << bit) - 1) | mask >> (bit + 1) << bit  # the same mask without that place
                best = np.maximum(best, confident[width - 1, smaller][without[bit]])
            confident[width, mask] = np.maximum(own, best)
            columns = (level.counts, a, b, np.full(many, width), np.arange(many), np.full(many, mask), best >= own)
            for name, column in zip(parts, columns, strict=True):
                parts[name].append(column)
    every = {name: np.concatenate(some) if some else np.zeros(0) for name, some in parts.items()}
    size, place, masks_of = (every[name].astype(np.int64) for name in ("size", "place", "mask"))

    def sides(k: int) -> Sides:
        chosen, mask = found.levels[size[k] - 1].sets[place[k]], int(masks_of[k])
        before = tuple(found.names[i] for bit, i in enumerate(chosen) if mask >> bit & 1)
        return before, tuple(found.names[i] for bit, i in enumerate(chosen) if not mask >> bit & 1)

    table = RuleTable(every["both"], every["a"], every["b"], float(total))
    return _Found(table, sides, every["worse"].astype(bool), tried)


def _given(held: Transactions, asked: str | Sequence[Any]) -> _Found:
    """The rules that were stated, counted."""
    sides = [_sides(one) for one in ([asked] if isinstance(asked, str) else asked)]
    if not sides:
        raise DataError("no rule is given.", hint='given=["bread, butter => jam"]')
    used = sorted({held.place(name) for pair in sides for side in pair for name in side})
    words, row = held.words(used), {place: k for k, place in enumerate(used)}

    def count(chosen: Sequence[str]) -> int:
        return int(count_sets(words, np.array([[row[held.place(name)] for name in chosen]]))[0])

    counts = [(count([*a, *b]), count(a), count(b)) for a, b in sides]
    together, before, after = np.array(counts, dtype=np.float64).T
    table = RuleTable(together, before, after, float(held.size))
    return _Found(table, sides.__getitem__, np.zeros(len(sides), dtype=bool), len(sides))


def _adjusted(p: Array, tried: int) -> Array:
    """Holm's adjustment for all rules that were looked at; those not frequent enough count as well, at p = 1."""
    unseen = max(0, tried - p.size)
    return holm(np.append(p, np.ones(unseen)))[: p.size]


def _values(spec: MeasureSpec, table: RuleTable) -> Array:
    if not table.both.size:
        return np.zeros(0)
    return np.asarray(bind(spec, table[0]).on(table), dtype=np.float64)


def _sorted(keys: Sequence[tuple[str, MeasureSpec, int]], found: _Found, places: Array) -> Array:
    """The order of rules by measures, undefined values last; equal ones stay as they were found."""
    table = found.table[places]
    columns = [np.nan_to_num(-sign * _values(spec, table), nan=np.inf) for _, spec, sign in keys]
    return np.lexsort(columns[::-1])


def _rule(
    found: _Found, k: int, specs: Sequence[MeasureSpec], p: float, adjusted: float, level: float, seed: int
) -> Rule:
    antecedent, consequent = found.sides(k)
    table, text = found.table[k], rule_text(antecedent, consequent)
    measured = tuple(estimate(spec, table, model=text, level=level, seed=seed) for spec in specs)
    return Rule(antecedent, consequent, table, measured, p, adjusted)


# --- words


def _sentence(rule: Rule) -> str:
    """A rule with its numbers, for people."""
    table = rule.table
    if not float(table.antecedent):
        never = "never occurs" if len(rule.antecedent) == 1 else "never occur together"
        return f"{' and '.join(rule.antecedent)} {never} in the {grouped(float(table.total))} transactions."
    confidence, base = float(table.both / table.antecedent), float(table.consequent / table.total)
    share, usual = (f"{decimals(100 * value, 1)} %" for value in (confidence, base))
    who = f"Of the {grouped(float(table.antecedent))} transactions with {' and '.join(rule.antecedent)}"
    chance = "" if math.isnan(rule.p_adjusted) else f", adjusted {p_text(rule.p_adjusted)}"
    return f"{who}, {share} have {' and '.join(rule.consequent)} (of all, {usual}{chance})."


def _of(some: int, rules: Sequence[Rule], one: str = "rests", several: str = "rest") -> str:
    return f"{grouped(some)} of {grouped(len(rules))} rules {one if some == 1 else several}"
