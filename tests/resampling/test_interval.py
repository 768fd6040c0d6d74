"""Intervals on request: each against SciPy, a closed form or the plain loop, and defined where data are degenerate."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from scorespace.errors import MeasureError
from scorespace.measures import parse
from scorespace.measures.confusion import f1, ppv
from scorespace.measures.ranking import ap, auc, ks
from scorespace.measures.request import bind
from scorespace.resampling import limits
from scorespace.resampling.area import delong_variance
from scorespace.resampling.draw import Alone, Draws
from scorespace.resampling.estimate import UNCOUNTED, estimate, estimates
from scorespace.resampling.interval import INTERVALS, Plan, _borne, acceleration, bca_interval, jackknife_error, suiting
from scorespace.resampling.share import clopper_pearson
from scorespace.tables import Counts, confusion, score_table

RNG = np.random.default_rng(7)
TRUTH = np.repeat([1, 0], [18, 25])
SCORE = np.round(TRUTH * 0.9 + RNG.normal(size=43), 1)  # with ties
TABLE = score_table(TRUTH, SCORE)
MEMBER = {1: TRUTH == 1, 0: TRUTH == 0}
THREE = confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]], classes=["a", "b", "c"])
PERFECT = score_table([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
REVERSED = score_table([1, 1, 1, 0, 0, 0], [1, 2, 3, 4, 5, 6])
PROBABLE = score_table(TRUTH, expit(SCORE))
CONSTANT = score_table([0, 0, 1, 1, 1], [2] * 5)
ONE_POSITIVE = score_table([1, 0, 0, 0, 0], [3, 1, 2, 4, 5])
ONE_CLASS = score_table([1, 1, 1], [1, 2, 3])
AREAS = ("delong", "delong-logit", "newcombe")
WORLDS = ("corrected", "inverted")
RESAMPLED = ("bootstrap", "bca", "studentised", "shifted")
METHODS = tuple(one.name for one in INTERVALS)


def again(table, rng, count):
    """Replicates of a table, drawn within classes."""
    return Alone({"": table}, False).drawer(True, False)(rng, count)[""]


def of(text, table=TABLE, **options):
    return estimate(parse(text), table, **{"replicates": 400, **options})


# --- which methods suit


@pytest.mark.parametrize(
    ("text", "table", "suitable"),
    [
        ("tpr@0.5", TABLE, ("wilson", "clopper-pearson", "jeffreys", "logit-t", *RESAMPLED)),
        ("acc", THREE, ("wilson", "clopper-pearson", "jeffreys", "logit-t", *RESAMPLED)),
        ("auc", TABLE, ("area", *AREAS, "logit-t", *WORLDS, *RESAMPLED)),
        ("gini", TABLE, ("area", *AREAS, *WORLDS, *RESAMPLED)),
        ("f1@0.5", TABLE, ("wilson", "clopper-pearson", "jeffreys", "logit-t", *RESAMPLED)),
        ("mcc@0.5", TABLE, ("jeffreys", *RESAMPLED)),
        ("tpr[macro]", THREE, ("jeffreys", *RESAMPLED)),
        ("ap", TABLE, ("precision-t", "logit-t", *WORLDS, *RESAMPLED)),
        ("ks", TABLE, ("corrected", "logit-t", "inverted", *RESAMPLED)),
        ("brier", PROBABLE, ("log-t", "logit-t", *WORLDS, *RESAMPLED)),
    ],
)
def test_every_suiting_method_gives_an_interval_and_its_name(text, table, suitable):
    assert set(suiting(bind(parse(text), table))) == set(suitable)
    assert suiting(bind(parse(text), table))[0] == suitable[0]
    for method in suitable:
        found = of(text, table, method=method)
        assert found.method.split(",")[0] == method or method == "area"
        # One that corrects a bias may well leave out the value itself.
        assert found.low <= found.value <= found.high
    for method in set(METHODS) - {*suitable, "none"}:  # which may be wanted of all
        with pytest.raises(MeasureError, match="does not suit"):
            of(text, table, method=method)


def test_message_of_a_method_that_does_not_suit():
    with pytest.raises(MeasureError) as caught:
        of("ap", method="wilson")
    assert str(caught.value) == (
        "method='wilson' does not suit ap.\n"
        "  hint: precision-t, bootstrap, logit-t, shifted, corrected, inverted, bca or studentised"
    )


def test_message_of_an_unknown_method():
    with pytest.raises(MeasureError, match="there is no method of intervals 'clopper'") as caught:
        of("tpr@0.5", method="clopper")
    assert caught.value.hint == "did you mean clopper_pearson?"


def test_a_method_is_refused_also_when_the_value_is_undefined():
    with pytest.raises(MeasureError, match="does not suit"):
        of("auc", ONE_CLASS, method="wilson")


@pytest.mark.parametrize(
    ("text", "method"),
    [("auc", "studentised, delong"), ("tpr@0.5", "studentised, binomial"), ("ap", "studentised, jackknife")],
)
def test_the_method_names_the_standard_error(text, method):
    assert of(text, method="studentised").method == method


def test_a_jackknife_in_every_replicate_of_a_large_table_is_refused():
    large = score_table(np.arange(2000) % 2, np.arange(2000.0))
    assert "studentised" in suiting(bind(parse("auc"), large))
    with pytest.raises(MeasureError) as caught:
        of("ap", large, method="studentised", replicates=2000)
    assert str(caught.value) == (
        "method='studentised' takes too long for ap of so many cases.\n  hint: bootstrap or bca"
    )


@pytest.mark.parametrize("method", ["bootstrap", "bca", "studentised"])
def test_many_rows_are_condensed_and_centred(method):
    truth = np.repeat([1, 0], [6000, 6000])
    table = score_table(truth, truth + np.random.default_rng(1).normal(size=12_000))
    found = of("auc", table, method=method, replicates=300)
    usual = of("auc", table)
    assert found.method.endswith(", condensed")
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high), abs=0.003)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", ["tpr@0.5", "auc", "f1@0.5", "ap"])
def test_a_higher_level_is_wider(text, method):
    if method not in WORLDS and method in suiting(bind(parse(text), TABLE)):
        wide, narrow = (of(text, method=method, level=level) for level in (0.95, 0.7))
        assert wide.low <= narrow.low <= narrow.high <= wide.high
        assert wide.high - wide.low > narrow.high - narrow.low


@pytest.mark.parametrize("method", ["bca", "studentised"])
@pytest.mark.parametrize("text", ["auc", "ap", "acc@0.5"])
def test_whole_weights_are_cases(text, method):
    weight = RNG.integers(1, 4, 43)
    weighted = score_table(TRUTH, SCORE, weight=weight, copies=True)
    repeated = score_table(np.repeat(TRUTH, weight), np.repeat(SCORE, weight))
    assert of(text, weighted, method=method) == of(text, repeated, method=method)


# --- proportions


def test_clopper_pearson_of_an_estimate():
    counts = TABLE.at(0.5)
    expected = clopper_pearson(float(counts.tp), float(counts.p), 0.9)
    found = of("tpr@0.5", method="clopper-pearson", level=0.9)
    assert (found.low, found.high) == expected


# --- DeLong


@pytest.mark.parametrize("method", ["delong", "delong-logit"])
def test_gini_is_twice_the_area_less_one(method):
    area, gini = of("auc", method=method), of("gini", method=method)
    assert (gini.low, gini.high) == pytest.approx((2 * area.low - 1, 2 * area.high - 1))


# --- the jackknife


def left_out(measure):
    """The value without each case in turn, by building each table anew."""
    return np.array([measure(score_table(np.delete(TRUTH, i), np.delete(SCORE, i))) for i in range(TRUTH.size)])


@pytest.mark.parametrize("measure", [auc, ap, ks])
def test_the_jackknife_is_that_of_cases(measure):
    values = left_out(measure)
    variance = sum(
        (n - 1) / n * ((values[MEMBER[label]] - values[MEMBER[label]].mean()) ** 2).sum()
        for label, n in ((1, 18), (0, 25))
    )
    assert float(jackknife_error(measure.function, TABLE)(TABLE)) == pytest.approx(math.sqrt(variance))


@pytest.mark.parametrize("measure", [auc, ap, ks])
def test_the_acceleration_is_that_of_cases(measure):
    values = left_out(measure)
    parts = [(n - 1) / n * (values[MEMBER[label]].mean() - values[MEMBER[label]]) for label, n in ((1, 18), (0, 25))]
    influence = np.concatenate(parts)
    expected = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    assert acceleration(measure.function, TABLE) == pytest.approx(expected)


def test_jackknife_errors_of_replicates_are_those_of_each():
    drawn = again(TABLE, np.random.default_rng(0), 10)
    tables = [replace(TABLE, counts=counts) for counts in drawn.counts]
    error = jackknife_error(ap.function, TABLE)
    assert error(drawn) == pytest.approx(np.array([float(jackknife_error(ap.function, t)(t)) for t in tables]))


def test_the_jackknife_of_a_mean_is_its_standard_error():
    table = Counts(tp=30, fp=2, fn=10, tn=8)
    assert float(jackknife_error(lambda c: c.tp / c.p, table)(table)) == pytest.approx(math.sqrt(0.75 * 0.25 / 39))


def test_the_acceleration_is_zero_without_influence_and_nan_when_a_case_is_needed():
    assert acceleration(lambda c: c.p * 0, Counts(tp=3, fp=1, fn=1, tn=3)) == 0
    assert math.isnan(acceleration(ppv.function, Counts(tp=1, fp=0, fn=1, tn=3)))


def test_the_jackknife_goes_through_a_table_in_pieces(monkeypatch):
    whole = acceleration(ap.function, TABLE)
    monkeypatch.setattr("scorespace.resampling.interval._CELLS_AT_ONCE", 200)
    assert acceleration(ap.function, TABLE) == whole


# --- BCa


def scipy_bca(statistic, samples, level=0.95, n=4000):
    rng = np.random.default_rng(5)
    found = stats.bootstrap(
        samples, statistic, n_resamples=n, method="BCa", confidence_level=level, rng=rng, vectorized=False
    )
    return found.confidence_interval


def mann_whitney(pos, neg):
    gaps = pos[:, None] - neg
    return ((gaps > 0).mean() + (gaps == 0).mean() / 2).item()


def test_bca_of_the_area_as_in_scipy():
    theirs = scipy_bca(mann_whitney, (SCORE[TRUTH == 1], SCORE[TRUTH == 0]))
    found = of("auc", method="bca", replicates=8000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.012)


def test_bca_of_the_accuracy_as_in_scipy():
    right = (SCORE >= 0.5) == TRUTH
    theirs = scipy_bca(np.mean, (right,))
    found = of("acc@0.5", method="bca", replicates=8000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1.01 / 43)


def test_bca_of_f1_as_in_scipy():
    outcome = 2 * (SCORE >= 0.5) + TRUTH  # 3 hit, 2 false alarm, 1 miss

    def statistic(cases):
        return 2 * (cases == 3).sum() / (2 * (cases == 3).sum() + (cases == 2).sum() + (cases == 1).sum())

    theirs = scipy_bca(statistic, (outcome,))
    assert f1(TABLE.at(0.5)) == pytest.approx(statistic(outcome))
    found = of("f1@0.5", method="bca", replicates=8000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


# --- studentised


def test_studentised_is_the_plain_loop():
    stream = np.random.SeedSequence([3, 1]).spawn(1)[0]
    drawn = again(TABLE, np.random.Generator(np.random.SFC64(stream)), 400)
    ratios = []
    for counts in drawn.counts:
        table = replace(TABLE, counts=counts)
        ratios.append((auc(table) - auc(TABLE)) / math.sqrt(delong_variance(table)))
    few, many = np.quantile(ratios, [0.025, 0.975])
    error = math.sqrt(delong_variance(TABLE))
    found = of("auc", method="studentised", seed=3)
    assert (found.low, found.high) == pytest.approx((auc(TABLE) - many * error, auc(TABLE) - few * error))


def test_studentised_stays_within_the_range():
    nearly = score_table([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    for method in RESAMPLED:
        found = of("auc", nearly, method=method)
        assert 0 <= found.low <= found.high <= 1


def test_replicates_without_an_error_are_counted():
    nearly = score_table([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    reason = of("auc", nearly, method="studentised").reason
    assert reason.startswith("interval leaves out ")
    assert reason.endswith(" of 400 replicates without a standard error")


def test_a_proportion_of_all_hits_has_an_error():
    found = of("tpr@0.5", score_table([1, 1, 1, 1, 0, 0], [6, 5, 4, 3, 2, 0.1]), method="studentised")
    assert (found.low, found.high, found.reason) == (1, 1, "the measure is the same in every replicate")


# --- degenerate data: a defined answer each

ZERO = "no interval: the standard error (delong) is zero, so nothing can be studentised"
NONE = "no interval: the standard error (delong) is undefined, so nothing can be studentised"
SAME = "the measure is the same in every replicate"
INFINITE = "no DeLong-logit interval: the logit of an area of 0 or 1 is infinite"
UNDEFINED = "undefined: only one class is present"


@pytest.mark.parametrize(
    ("table", "method", "bounds", "reason"),
    [
        (PERFECT, "delong", (1, 1), None),
        (PERFECT, "delong-logit", None, INFINITE),
        (PERFECT, "bootstrap", (1, 1), None),
        (PERFECT, "bca", (1, 1), SAME),
        (PERFECT, "studentised", None, ZERO),
        (
            REVERSED,
            "delong-logit",
            None,
            INFINITE,
        ),
        (CONSTANT, "delong", (0.5, 0.5), None),
        (CONSTANT, "delong-logit", (0.5, 0.5), None),
        (CONSTANT, "bootstrap", (0.5, 0.5), None),
        (CONSTANT, "bca", (0.5, 0.5), SAME),
        (CONSTANT, "studentised", None, ZERO),
        (ONE_POSITIVE, "delong", None, "no DeLong interval: a class has fewer than two cases"),
        (ONE_POSITIVE, "delong-logit", None, "no DeLong-logit interval: a class has fewer than two cases"),
        (ONE_POSITIVE, "studentised", None, NONE),
        *((ONE_CLASS, method, None, UNDEFINED) for method in ("delong", "delong-logit", *RESAMPLED)),
        *(
            (score_table(TRUTH, SCORE, weight=TRUTH + 0.5, copies=True), method, None, UNCOUNTED)
            for method in ("delong", "delong-logit", *RESAMPLED)
        ),
    ],
)
def test_degenerate(table, method, bounds, reason):
    found = of("auc", table, method=method)
    assert found.reason == reason
    if bounds is None:
        assert found.method is None
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    else:
        assert (found.low, found.high) == bounds
        assert found.method == method


def test_one_case_in_a_class_leaves_the_other_to_resample():
    found = of("auc", ONE_POSITIVE, method="bca")
    assert found.method == "bca"
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_bca_says_when_a_case_is_needed():
    # Without the one false positive the likelihood ratio is infinite.
    found = of("lr_pos@0.5", score_table([1, 1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.2, 0.6, 0.1, 0.3]), method="bca")
    assert found.method is None
    assert found.reason == "no interval: leaving out one case makes the measure undefined, so BCa has no acceleration"


def test_bca_says_when_the_value_is_beyond_all_replicates():
    draws = Draws({"": TABLE}, replicates=50)
    found = bca_interval.function(Plan(bind(parse("auc"), TABLE), "", TABLE, 1.5, 0.95, draws))
    assert math.isnan(found.low)
    assert found.reason == "no interval: all replicates lie on one side of the value, so BCa cannot correct their bias"


# --- coverage


@pytest.mark.slow
@pytest.mark.parametrize("method", ["delong-logit", "bca", "studentised"])
def test_the_interval_covers_the_area(method):
    rng = np.random.default_rng(11)
    area = stats.norm.cdf(1.5 / math.sqrt(2))
    truth, covered = np.repeat([1, 0], [25, 40]), 0
    for seed in range(300):
        found = of("auc", score_table(truth, 1.5 * truth + rng.normal(size=65)), method=method, seed=seed)
        covered += found.low <= area <= found.high
    assert covered / 300 == pytest.approx(0.95, abs=0.035)


# --- operating points by rank


def ranked(rng, cases, share, gap):
    truth = rng.random(cases) < share
    return score_table(truth, rng.normal(size=cases) + gap * truth, positive=True)


@pytest.mark.parametrize("name", ["ppv", "tpr", "f1", "lift"])
def test_a_cut_by_rank_is_covered(name):
    # A slice of a simulation: 92 to 99 % of 300 samples of 100 to 2 000 cases, where Wilson's interval of ppv has 90 %.
    rng = np.random.default_rng(4)
    spec = parse(f"{name}@top10%")
    truth = bind(spec, ranked(rng, 400_000, 0.2, 2.0)).value
    found = [estimate(spec, ranked(rng, 200, 0.2, 2.0), replicates=400) for _ in range(120)]
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.9
    assert {one.method for one in found} == {"jeffreys"}


def test_a_cut_by_rank_moves_with_the_cases():
    # The share of positives in the top p varies as p · E[(Y − η)²] − p² (ppv − η)² over p², η the rate at the cut.
    rng = np.random.default_rng(5)
    table = ranked(rng, 20_000, 0.3, 1.5)
    cut = table.cut(parse("ppv@top20%").at)
    value = bind(parse("ppv@top20%"), table).value
    near = (table.score > cut - 0.1) & (table.score < cut + 0.1)
    rate = table.pos[near].sum() / table.counts[:, near].sum()
    error = math.sqrt((value * (1 - value) + 0.8 * (value - rate) ** 2) / 0.2 / 20_000)
    found = estimate(parse("ppv@top20%"), table)
    assert (found.high - found.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.08)


def test_a_share_by_rank_has_no_wilson_interval():
    table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
    assert "wilson" not in suiting(bind(parse("ppv@top50%"), table))
    with pytest.raises(MeasureError, match="method='wilson' does not suit ppv@top50%"):
        estimate(parse("ppv@top50%"), table, method="wilson")


def test_so_many_by_rank_are_a_share_of_what_is_drawn():
    table = score_table([1, 0, 1, 0] * 10, list(range(40)))
    request = bind(parse("tpr@top10"), table)
    assert request.on(table.with_cells(table.cells * 3)) == request.value
    whole = estimate(parse("pp_rate@top10"), table, method="bootstrap")
    assert whole.low == pytest.approx(0.25)
    assert whole.high == pytest.approx(0.25)


@pytest.mark.parametrize("of", ["0", "1"])
def test_a_cut_by_rank_is_the_same_seen_from_either_class(of):
    rng = np.random.default_rng(6)
    truth = (rng.random(300) < 0.3).astype(int)
    table = score_table(truth, rng.normal(size=300) + truth)
    one, other = (estimate(parse(text), table) for text in (f"mcc[{of}]@top20%", "mcc@top20%"))
    assert [one.value, one.low, one.high] == pytest.approx([other.value, other.low, other.high], abs=0.02)


# --- chance


@pytest.mark.parametrize("name", ["ece", "cal"])
def test_calibrated_scores_show_their_chance_value_and_an_excess_that_may_be_nothing(name):
    rng = np.random.default_rng(12)
    score = rng.random(300)
    found = estimate(parse(name), score_table(rng.random(300) < score, score))
    brute = []
    for _ in range(300):  # what labels drawn from the scores show
        brute.append(bind(parse(name), score_table(rng.random(300) < score, score)).value)
    assert found.chance == pytest.approx(np.mean(brute), rel=0.06)
    assert found.low == 0
    assert found.row()["chance"] == found.chance
    assert "chance" not in estimate(parse("auc"), score_table([1, 0, 1], [0.9, 0.4, 0.3])).row()


def test_scores_of_0_and_1_that_are_right_leave_the_parts_of_the_log_loss_finite():
    rng = np.random.default_rng(3)
    score = np.concatenate([np.zeros(20), np.ones(10), rng.uniform(0.1, 0.9, 70)])
    label = np.concatenate([np.zeros(20), np.ones(10), rng.random(70) < score[30:]]).astype(int)
    found = estimate(parse("log_cal"), score_table(label, score))
    assert found.method == "inverted"
    assert 0 <= found.low <= found.value <= found.high < 1


@pytest.mark.parametrize("name", ["h", "ks", "auch", "ref"])
def test_equal_scores_say_nothing_of_how_others_would_be_ranked(name):
    found = estimate(parse(name), score_table([1, 0, 1, 0], [0.5] * 4))
    assert found.value == pytest.approx({"auch": 0.5, "ref": 0.25}.get(name, 0.0), abs=1e-8)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.reason == "no interval: every case has the same score: nothing says how others would be ranked"


@pytest.mark.parametrize("name", ["ref", "log_ref"])
def test_one_class_says_nothing_of_how_the_other_would_be_scored(name):
    found = estimate(parse(name), score_table(["a"] * 3, [0.3, 0.2, 0.5], positive="a"))
    assert found.value == 0
    assert found.reason == "no interval: only one class is present: nothing says how the other would be scored"


def left_out_influence(table, case):
    """How far a case moves the average precision: the difference quotient when it weighs a little more."""
    cells = np.asarray(table.cells, dtype=float)
    more = cells.copy()
    more[case] += 1e-6
    both = [float(ap(table.with_cells(each))) for each in (more, cells)]
    return (both[0] - both[1]) / 1e-6


@pytest.mark.parametrize("gap", [1.5, 2.5])
def test_a_precision_is_as_sure_as_the_cases_that_bear_it(gap):
    rng = np.random.default_rng(4)
    truth = rng.random(80) < 0.5
    table = score_table(truth, np.round(rng.normal(size=80) + gap * truth, 1), positive=True)
    draws = Draws({"": table}, replicates=200)
    found = estimates({"": [parse("ap")]}, draws)[0]
    influence = np.repeat([left_out_influence(table, k) for k in range(table.cells.size)], table.cells.astype(int))
    squares = influence**2
    spread = 2 * squares.sum() ** 2 / (squares**2).sum()
    rarer = min(truth.sum(), 80 - truth.sum())
    borne = min(rarer, 1 + spread / (1 - spread / 160))
    values = draws.of("", bind(parse("ap"), table))
    expected = limits.on_logit(found.value, values, rarer, borne=borne)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-4)
    assert found.method == "precision-t"
    assert borne < rarer
    plain = of("ap", table, method="logit-t", replicates=200)
    assert found.low < plain.low < plain.high < found.high


def test_weights_that_are_all_alike_change_nothing_of_it():
    truth = RNG.random(60) < 0.3
    score = np.round(RNG.normal(size=60) + truth, 1)
    alike = score_table(truth, score, positive=True, weight=np.full(60, 2.5))
    assert _borne(alike) == pytest.approx(_borne(score_table(truth, score, positive=True)))


def test_the_hull_of_humps_is_corrected_for_more_than_smooth_rates_show():
    rng = np.random.default_rng(2)
    label = rng.random(200) < 0.5
    high = rng.random(200) < np.where(label, 0.7, 0.3)
    table = score_table(label, rng.normal(np.where(high, 2, -2), 0.7), positive=True)
    found, smooth = of("auch", table), of("auch", table, method="corrected")
    assert (found.method, smooth.method) == ("corrected-hull", "corrected")
    assert found.low < smooth.low
    assert found.high == smooth.high


def test_no_interval_can_be_asked_for():
    found = estimate(parse("auc"), TABLE, method="none")
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert (found.method, found.reason) == (None, None)
    assert found.value == estimate(parse("auc"), TABLE).value
