"""What rejecting all cases, or none, costs, and what a rule that rejects some spares against that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Final

import numpy as np

from scorespace.curves.rejection import DECIDE_ALL, REJECT_ALL, Prices, RejectRule
from scorespace.decisions.honest import FOLDS, NOT_WHOLE, REPEATS, least, split_cases
from scorespace.decisions.judged import Value, added, shaken, sum_of_shares
from scorespace.frozen import dataclass
from scorespace.resampling.share import rare_share
from scorespace.tables import Array, ratio
from scorespace.tables.pair import PairTable

_SAME: Final = 12  # decimals up to which two prices are one


@dataclass(frozen=True)
class Alternative:
    """A rule that rejects everything or nothing: the share that it rejects, its accuracy, and its cost per case."""

    rejected: float
    accuracy: float
    cost: Value


def of_prices(outcomes: Mapping[float, float], share: float, level: float, spread: float = 1.0) -> Value:
    """What the cases of one sample cost on average, times a share: the most common price, and what others add to it.

    Put together from zero instead, what costs nothing would seem to be certainly absent where it is rare and was not
    seen: then the true cost lay below 12 % of the intervals of 60 cases, and below 23 % at a lead that hands over most.
    """
    common = max(outcomes, key=lambda price: outcomes[price])
    cells, total = tuple(outcomes.values()), sum(outcomes.values())
    losses = tuple(share * (price - common) for price in outcomes)
    found = sum_of_shares(cells, losses, total, spread, level, rare_share)
    base = share * common
    return Value(base + found.value, base + found.low, base + found.high)


@dataclass(frozen=True)
class Accounts:
    """The prices of the cases under the rules of several models, at the prevalence in use where one is stated.

    `whole` says whether weights count cases, so that there are intervals.
    """

    rules: Mapping[str, RejectRule]
    prevalence: float | None
    level: float
    whole: bool

    @property
    def alternatives(self) -> dict[str, Alternative]:
        """The rules that reject all cases, or none: those that a model decides, or that are all called alike."""
        first = self._prices(next(iter(self.rules)))
        cost = float(first.beside[REJECT_ALL][0])
        found = {REJECT_ALL: Alternative(1.0, math.nan, Value(cost))}
        for name in self.rules:
            found[f"{name}, {DECIDE_ALL}"] = self._alternative(self._prices(name), DECIDE_ALL)
        return found | {name: self._alternative(first, name) for name in first.right if name != DECIDE_ALL}

    def gain(self, best: str, pairs: PairTable | None, seed: int) -> Value:
        """What the best rule spares against the cheapest alternative; to be sure, its interval holds against all.

        Where cases are known pair by pair, the model is chosen without the fold that judges it.
        """
        if pairs is not None and (len(self.rules) > 1 or pairs.group is not None):
            every = self._crossfitted(pairs, seed)
        else:
            # Without pairs the best of several models is judged on the cases that chose it, and must hold for all.
            level = 1 - (1 - self.level) / len(self.rules)
            own = self._prices(best)
            every = [self._value(price - own.paid, own, level) for price in self._beside(own)]
            every += [self._apart(best, name, level) for name in self.rules if name != best]
        cheapest = min(every, key=lambda one: one.value)
        return replace(cheapest, low=min(one.low for one in every))

    def _beside(self, prices: Prices) -> list[Array]:
        return list(prices.beside.values())

    def _prices(self, model: str) -> Prices:
        prices = self.rules[model].prices
        assert prices is not None
        return prices

    def _alternative(self, prices: Prices, name: str) -> Alternative:
        weight = prices.weight * self._factor(prices.positive, prices.weight)
        accuracy = float(ratio(weight @ prices.right[name], weight.sum()))
        return Alternative(0.0, accuracy, self._value(prices.beside[name], prices, self.level))

    def _apart(self, best: str, other: str, level: float) -> Value:
        """What the best rule spares against deciding all cases by another model, the two taken for independent."""
        mine, its = self._prices(best), self._prices(other)
        return added(self._value(its.beside[DECIDE_ALL], its, level), -self._value(mine.paid, mine, level))

    def _factor(self, positive: Array, weight: Array) -> Array:
        """How many times as common the cases of each class are where the rule will be used."""
        share = float(ratio(weight @ positive, weight.sum()))
        if self.prevalence is None or not 0 < share < 1:
            return np.ones(positive.size)
        return np.where(positive, self.prevalence / share, (1 - self.prevalence) / (1 - share))

    def _value(self, price: Array, prices: Prices, level: float) -> Value:
        """The mean of a price over the cells of a table, with its interval."""
        weight = prices.weight * self._factor(prices.positive, prices.weight)
        mean = float(weight @ price / weight.sum())
        if not self.whole:
            return Value(mean, reason=NOT_WHOLE)
        return self._counted(price, prices.weight, prices.positive, level)

    def _counted(self, price: Array, weight: Array, positive: Array, level: float, spread: float = 1.0) -> Value:
        """The mean of a price over cases, by how many have each, of both classes apart where their share is stated."""
        price = np.round(price, _SAME)
        if self.prevalence is None:
            return of_prices(_by_price(price, weight), 1.0, level, spread)
        sides = ((positive, self.prevalence), (~positive, 1 - self.prevalence))
        if not all((weight[where] > 0).any() for where, _ in sides):
            return Value(float(weight @ price / weight.sum()), reason="a class has no cases")
        return reduce(
            added, (of_prices(_by_price(price[where], weight[where]), share, level, spread) for where, share in sides)
        )

    def _crossfitted(self, pairs: PairTable, seed: int) -> list[Value]:
        """What is spared against each alternative by the model that is cheapest without the fold of a case."""
        names = list(self.rules)
        cells = {name: pairs.cell[pairs.index(name)] for name in names}
        paid = np.stack([self._prices(name).paid[cells[name]] for name in names])
        positive = self._prices(names[0]).positive[cells[names[0]]]
        weight = self._factor(positive, np.ones(pairs.cases))
        split = split_cases(pairs, self.prevalence is not None, REPEATS, FOLDS, np.random.default_rng(seed))
        here = np.stack([[np.bincount(one, each * weight, minlength=FOLDS) for each in paid] for one in split])
        rest = np.moveaxis(here.sum(axis=-1, keepdims=True) - here, 1, -1)  # (repeats, folds, models)
        winner = np.take_along_axis(least(np.zeros_like(rest), rest), split.astype(np.intp), axis=1)
        taken = np.take_along_axis(paid, winner, axis=0)  # (repeats, cases)
        beside = {name: price[cells[names[0]]] for name, price in self._prices(names[0]).beside.items()}
        beside |= {f"{name}, {DECIDE_ALL}": self._prices(name).beside[DECIDE_ALL][cells[name]] for name in names}
        chosen = FOLDS / (FOLDS - 1) if len(names) > 1 else 1.0
        return [self._spared(price - taken, positive, weight, pairs, chosen) for price in beside.values()]

    def _spared(self, spared: Array, positive: Array, weight: Array, pairs: PairTable, chosen: float) -> Value:
        """The mean over cases (repeats, cases) of what is spared; groups and the differences of repeats widen it."""
        repeats = spared.shape[0]
        one = np.broadcast_to(np.full(pairs.cases, 1 / repeats), spared.shape).ravel()
        spread = chosen * _design_effect(spared.mean(axis=0), pairs)
        spare = self._every[0].spare
        possible = np.unique([(price - one.paid)[-spare:] for one in self._every for price in self._beside(one)])
        price = np.concatenate([spared.ravel(), possible, possible])
        side = np.concatenate(
            [np.broadcast_to(positive, spared.shape).ravel(), np.repeat([True, False], possible.size)]
        )
        held = np.concatenate([one, np.zeros(2 * possible.size)])
        found = self._counted(price, held, side, self.level, spread)
        return shaken(found, spared @ weight / weight.sum(), self.level)

    @property
    def _every(self) -> list[Prices]:
        return [self._prices(name) for name in self.rules]


def _by_price(price: Array, weight: Array) -> dict[float, float]:
    values, place = np.unique(price, return_inverse=True)
    counts = np.bincount(place, weight, minlength=values.size)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _design_effect(values: Array, pairs: PairTable) -> float:
    """By how much groups of related cases widen the variance of a mean."""
    if pairs.group is None:
        return 1.0
    apart = values - values.mean()
    alone = float(apart @ apart)
    return max(1.0, float((np.bincount(pairs.group, apart) ** 2).sum()) / alone) if alone else 1.0
