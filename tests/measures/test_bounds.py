"""The true value lies inside the certificate, whatever the order of the cases inside the bins."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.strategies import Sample, samples
from scorespace.measures import measures, parse
from scorespace.measures.bounds import certified
from scorespace.tables import Counts, ScoreTable, score_table

BITS = (52, 51, 50, 49, 48, 45)
OPTIONS = {
    "pauc": ("pauc(fpr_high=0.3)", "pauc(tpr_low=0.4, corrected=true)"),
    "h": ("h", "h(prior=symmetric)"),
    "logloss": ("logloss(base=2)", "logloss(eps=0.05)"),
    "ece": ("ece", "ece(bins=3)", "ece(bins=3, by=count)"),
    "mce": ("mce", "mce(bins=4)", "mce(bins=4, by=count)"),
    "smauc": (
        "smauc",
        "smauc(midpoint=median, recentre=true)",
        "smauc(midpoint=cross_weighted)",
        "smauc(midpoint=0.3)",
    ),
    "ease_err": ("ease_err", "ease_err(midpoint=class_medians)", "ease_err(midpoint=0.5)"),
    "tpr_at": ("tpr_at(fpr=0.25)",),
    "fpr_at": ("fpr_at(tpr=0.5)",),
}
OF_SCORES = [
    text
    for one in measures()
    if one.table is ScoreTable and one.bounds is not None
    for text in OPTIONS.get(one.name, (one.name,))
]
OF_COUNTS = [one.name for one in measures() if one.table is Counts]


def inside(value: float, bounds: tuple[float, float] | None) -> bool:
    if bounds is None:  # nothing is claimed
        return True
    if math.isnan(value):
        return math.isnan(bounds[0]) or math.isnan(bounds[1])
    return bounds[0] - 1e-12 <= value <= bounds[1] + 1e-12 or value == bounds[1]


def true_value(text: str, table: ScoreTable) -> float:
    spec = parse(text)
    found = spec.measure.fit(table, None, spec.at)
    return float(np.asarray(found.function(found.table, **spec.arguments)))


@pytest.mark.parametrize("text", OF_SCORES)
@given(sample=samples(both=True), bits=st.sampled_from(BITS), edges=st.lists(st.floats(0, 1), max_size=2))
@settings(max_examples=60)
def test_the_true_value_lies_inside(text, sample, bits, edges):
    table = sample.table()
    assert inside(true_value(text, table), certified(parse(text), table.rounded(bits, edges)))


@st.composite
def adversarial(draw):
    """A few wide bins, whose cases are put anywhere inside them, the ends included."""
    ends = sorted(draw(st.lists(st.integers(0, 64), min_size=4, max_size=8, unique=True)))
    ends = ends[: len(ends) // 2 * 2]
    rows = []
    for low, high in zip(ends[::2], ends[1::2], strict=True):
        inner = st.integers(low, high) | st.sampled_from([low, high])
        for truth in (0, 1):
            places = draw(st.lists(inner, max_size=3))
            rows += [(truth, place / 64, draw(st.integers(1, 3))) for place in places]
    rows += [(0, ends[0] / 64, 1), (1, ends[-1] / 64, 1)]
    return Sample(*zip(*rows, strict=True)), [(a / 64, b / 64) for a, b in zip(ends[::2], ends[1::2], strict=True)]


@pytest.mark.parametrize("text", OF_SCORES)
@given(drawn=adversarial())
@settings(max_examples=60)
def test_whatever_the_order_inside_wide_bins(text, drawn):
    from scorespace.tables.bins import BinSums
    from scorespace.tables.scores import ScoreTable

    sample, ranges = drawn
    table = sample.table()
    held = table.binned
    low, high = held.low.copy(), held.high.copy()
    for a, b in ranges:  # each case is only known to lie between the ends of its range, as far as cases reach
        among = (table.score >= a) & (table.score <= b)
        if among.any():
            low[among], high[among] = table.score[among].min(), table.score[among].max()
    bins = BinSums(low, high, held.first, held.second, 0)
    coarse = ScoreTable.from_bins([bins], table.counts, table.squares, table.classes, table.positive)
    assert inside(true_value(text, table), certified(parse(text), coarse))


@pytest.mark.parametrize("text", ["auc", "ks", "ap", "auprc", "pauc(fpr_high=0.3)", "auch", "h", "ref"])
def test_some_order_comes_near_both_bounds(text):
    """The bounds are no wider than the worst and the best of all orders of the labels inside the bins."""
    ranks = np.array([0.945, 0.94, 0.935, 0.39, 0.385, 0.38, 0.01])
    values = []
    for inner in itertools.product(*[set(itertools.permutations(one)) for one in ((1, 1, 0), (1, 0, 0))]):
        truth = [*inner[0], *inner[1], 0]
        values.append(true_value(text, score_table(truth, ranks, positive=1)))
    coarse = score_table([1, 1, 0, 1, 0, 0, 0], ranks, positive=1).rounded(51)
    assert coarse.score.size == 3
    low, high = certified(parse(text), coarse)
    slack = 0.25 if text == "ap" else 0.08 if text in ("ks", "auch", "h", "ref", "auprc") else 1e-12
    assert low <= min(values) + 1e-12
    assert high >= max(values) - 1e-12
    assert min(values) - low <= slack
    assert high - max(values) <= slack


@pytest.mark.parametrize("name", OF_COUNTS)
@given(sample=samples(both=True), bits=st.sampled_from(BITS), at=st.floats(0, 1))
@settings(max_examples=40)
def test_outcomes_at_any_threshold(name, sample, bits, at):
    table = sample.table()
    text = f"{name}@{at!r}"
    value, bounds = true_value(text, table), certified(parse(text), table.rounded(bits))
    if bounds is not None and not math.isnan(bounds[0]) and not math.isnan(bounds[1]):
        assert inside(value, bounds) or math.isnan(value)


@given(sample=samples(both=True), bits=st.sampled_from(BITS), share=st.sampled_from([1, 20, 50, 99]))
@settings(max_examples=40)
def test_outcomes_by_rank(sample, bits, share):
    table = sample.table()
    for text in (f"ppv@top{share}%", f"tpr@top{share}%"):
        value, bounds = true_value(text, table), certified(parse(text), table.rounded(bits))
        assert math.isnan(bounds[0]) or inside(value, bounds)


@pytest.mark.parametrize("name", OF_COUNTS)
@given(p=st.integers(1, 12), n=st.integers(1, 12), data=st.data())
@settings(max_examples=60)
def test_a_monotone_measure_is_bounded_by_the_corners(name, p, n, data):
    """What `monotone` says of every measure of outcomes: over a rectangle of TP and FP the extremes are corners."""
    measure = next(one for one in measures() if one.name == name)
    ends = [sorted(data.draw(st.tuples(st.integers(0, most), st.integers(0, most)))) for most in (p, n)]
    tp, fp = (one.ravel() for one in np.meshgrid(*(np.arange(a, b + 1) for a, b in ends)))
    values = np.asarray(measure.function(Counts(tp, fp, p - tp, n - fp)), dtype=float)
    corner = np.isin(tp, ends[0]) & np.isin(fp, ends[1])
    if not measure.monotone or np.isnan(values[corner]).any():
        return
    defined = values[~np.isnan(values)]
    assert defined.min() >= values[corner].min() - 1e-12
    assert defined.max() <= values[corner].max() + 1e-12


@given(sample=samples(both=True), bits=st.sampled_from(BITS), edge=st.floats(0, 1))
@settings(max_examples=60)
def test_outcomes_at_an_edge_are_exact(sample, bits, edge):
    table = sample.table()
    low, high = certified(parse(f"tp@{edge!r}"), table.rounded(bits, [edge]))
    assert low == high == float(table.at(edge).tp)


@given(sample=samples(both=True), bits=st.sampled_from(BITS))
@settings(max_examples=60)
def test_every_threshold_of_a_coarse_table_is_exact(sample, bits):
    table = sample.table()
    coarse = table.rounded(bits)
    assert coarse.at(coarse.score).tp.tolist() == table.at(coarse.score).tp.tolist()


def test_sums_make_brier_exact():
    rng = np.random.default_rng(3)
    truth, score = rng.integers(0, 2, 500), rng.random(500)
    exact = score_table(truth, score)
    for text in ("brier", "brier_skill", "cal_large", "prob_auc", "unc"):
        low, high = certified(parse(text), exact.rounded(49))
        assert low == high == pytest.approx(true_value(text, exact), abs=1e-12)


def test_a_measure_without_bounds_has_none():
    table = score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(48)
    assert certified(parse("cal_slope"), table) is None


@pytest.mark.parametrize("text", ["smauc", "smauc(midpoint=median)", "ease_err", "ece(by=count)", "mce(by=count)"])
def test_the_certificate_of_sizes_is_narrow_too(text):
    rng = np.random.default_rng(5)
    truth = rng.random(100_000) < 0.3
    exact = score_table(truth, 1 / (1 + np.exp(-(rng.normal(size=truth.size) + truth))))
    low, high = certified(parse(text), exact.rounded(38))
    assert low <= true_value(text, exact) <= high
    assert high - low < 2e-3 if text.startswith(("ece", "mce")) else high - low < 1e-4


def test_the_certificate_of_many_cases_is_narrow():
    rng = np.random.default_rng(0)
    truth = rng.random(200_000) < 0.3
    score = 1 / (1 + np.exp(-(rng.normal(size=truth.size) + truth)))
    exact = score_table(truth, score)
    low, high = certified(parse("auc"), exact.rounded(38))
    assert low <= true_value("auc", exact) <= high
    assert high - low < 1.2e-5
