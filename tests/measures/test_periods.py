"""Limits of alerts in each period: values by hand, intervals over periods, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.tables import TopCases
from scorespace.tables.periods import period_table


def alerts(days=30, cases=60, seed=0):
    rng = np.random.default_rng(seed)
    share = np.clip(rng.gamma(2, 0.05, days), 0, 0.5)
    label = (rng.random((days, cases)) < share[:, None]).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=(2, days, cases)) + 1.5 * label)))
    day = np.repeat([f"2026-01-{k + 1:02d}" for k in range(days)], cases)
    return pd.DataFrame({"y": label.ravel(), "a": score[0].ravel(), "b": score[1].ravel(), "day": day})


def by_hand(data, model, k):
    """Hits, alerts and positives of each day."""
    top = data.sort_values(model, ascending=False, kind="stable").groupby("day").head(k)
    counts = data.groupby("day")["y"].agg(["sum", "size"])
    hits = top.groupby("day")["y"].sum().reindex(counts.index).fillna(0)
    return hits.to_numpy(), np.minimum(k, counts["size"]).to_numpy(), counts["sum"].to_numpy()


def linearised(hits, sizes):
    """The ratio of sums with its 95 % interval over periods (Cochran 1977)."""
    ratio, periods = hits.sum() / sizes.sum(), hits.size
    influence = (hits - ratio * sizes) / sizes.mean()
    half = stats.t.ppf(0.975, periods - 1) * np.sqrt((influence**2).sum() / (periods * (periods - 1)))
    return ratio, ratio - half, ratio + half


@pytest.mark.parametrize("name", ["ppv", "tpr"])
def test_a_limit_per_day_is_a_ratio_of_sums_over_days(name):
    data = alerts()
    hits, sizes, positives = by_hand(data, "a", 5)
    one = ss.evaluate(data, truth="y", scores="a", measures=f"{name}@top5", columns={"per": "day"}).summary[0]
    expected = linearised(hits, sizes if name == "ppv" else positives)
    assert (one.value, one.low, one.high) == pytest.approx(expected, rel=1e-6)
    assert one.method == "periods-t"


def test_ties_share_the_last_places():
    table = period_table([1, 0, 0, 1, 1], [0.5, 0.5, 0.5, 0.9, 0.1], ["a", "a", "a", "b", "b"])
    counts = table.counts(TopCases(2, per="day"))
    assert counts.tp.tolist() == pytest.approx([2 / 3, 2])
    assert counts.fp.tolist() == pytest.approx([4 / 3, 0])


def test_a_period_with_fewer_cases_alerts_all():
    assert period_table([1, 0], [0.5, 0.4], ["a", "b"]).counts(TopCases(9, per="day")).pp.tolist() == [1, 1]


def test_shards_merge_by_the_name_of_the_period():
    data = alerts(4)
    parts = [data.iloc[:100], data.iloc[100:]]
    first, second = (period_table(one["y"], one["a"], one["day"].to_numpy(dtype=object)) for one in parts)
    whole = period_table(data["y"], data["a"], data["day"].to_numpy(dtype=object))
    np.testing.assert_allclose((first + second).counts(TopCases(7)).tp, whole.counts(TopCases(7)).tp)


def test_times_are_days():
    data = alerts().assign(at=lambda d: pd.to_datetime(d["day"]) + pd.to_timedelta(np.arange(len(d)) % 24, "h"))
    options = {"truth": "y", "scores": "a", "measures": "ppv@top5"}
    by_day, by_time = (ss.evaluate(data, **options, columns={"per": name}).summary[0] for name in ("day", "at"))
    assert by_time.value == by_day.value
    assert by_time.low == by_day.low


def test_few_periods_have_no_interval():
    one = ss.evaluate(alerts(6), truth="y", scores="a", measures="ppv@top5", columns={"per": "day"}).summary[0]
    assert np.isnan(one.low)
    assert "6 periods are too few" in one.reason


def test_two_models_differ_by_periods():
    data = alerts()
    found = ss.evaluate(data, truth="y", scores=["a", "b"], measures="ppv@top5", columns={"per": "day"})
    (difference,) = found.differences.values()
    days = [by_hand(data, name, 5)[0] / 5 for name in "ab"]
    expected = stats.ttest_rel(*days)
    assert difference.p == pytest.approx(expected.pvalue, rel=1e-6)
    assert difference.statistic == pytest.approx(expected.statistic, rel=1e-6)


def test_costs_of_each_case_are_limited_per_period():
    data = alerts().assign(amount=lambda d: np.random.default_rng(1).lognormal(3, 1, len(d)))
    options = {"truth": "y", "scores": "a", "measures": "cost@top5", "columns": {"per": "day"}}
    one = ss.evaluate(data, **options, cost_fp=5, cost_fn="amount").summary[0]
    top = data.sort_values("a", ascending=False).groupby("day").head(5).index
    acted = data.index.isin(top)
    assert one.value == pytest.approx(np.where(acted, 5 * (1 - data["y"]), data["amount"] * data["y"]).mean())


def test_the_capacity_curve_holds_the_measure():
    data = alerts()
    ev = ss.evaluate(data, truth="y", scores="a", measures="tpr@top5", columns={"per": "day"})
    curve = ev.curve("capacity")
    point = int(np.flatnonzero(curve.x == 5)[0])
    assert curve.y[point] == pytest.approx(ev.summary[0].value)
    assert curve.low[point] == pytest.approx(ev.summary[0].low, rel=1e-6)


def test_no_limit_to_apply_is_refused():
    with pytest.raises(ScoreSpaceError, match="no measure has a limit"):
        ss.evaluate(alerts(), truth="y", scores="a", measures="auc", columns={"per": "day"})
