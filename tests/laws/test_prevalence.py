"""A stated prevalence: every number is that of the sample weighed so that the classes have the stated shares.

The weights are computed here, p/π of positives and (1 − p)/(1 − π) of negatives, and handed over as weights of cases.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import scorespace as ss
from scorespace.decisions import best_value
from scorespace.decisions.cross_fitting import crossfit
from scorespace.evaluation.curves import kinds
from scorespace.measures import MeasureSpec, measures, parse
from scorespace.measures.request import bind
from scorespace.tables import Counts, ScoreTable, confusion, score_table

RNG = np.random.default_rng(25)
N, SHARE = 640, 0.07
Y = (RNG.random(N) < 0.45).astype(int)
A, B = (np.round(1 / (1 + np.exp(0.5 - RNG.normal(size=N) - lift * Y)), 2) for lift in (1.3, 0.7))
WEIGHT = np.where(Y == 1, SHARE / Y.mean(), (1 - SHARE) / (1 - Y.mean()))
FOLD, WARD = RNG.integers(0, 3, N), np.where(RNG.random(N) < 0.5, "north", "south")
FRAME = {"y": Y, "a": A, "b": B, "fold": FOLD, "ward": WARD}
ROLES = {"truth": "y", "scores": ["a", "b"], "positive": 1}
STATED = ss.Condition(prevalence=SHARE)
CATALOGUE = [one for one in measures() if one.table in (Counts, ScoreTable)]
DEPENDING = [one for one in CATALOGUE if not one.drawn_within()]
NAMES = "ppv@0.5, npv@0.5, f1@0.5, acc@0.5, mcc@0.5, brier, logloss, ap, lift@top10%"


def outcomes(score, weight=WEIGHT, at=0.5, truth=Y):
    flagged = score >= at
    return [
        weight[(truth == label) & (flagged == called)].sum()
        for label, called in ((1, True), (0, True), (1, False), (0, False))
    ]


def written_out(score, weight=WEIGHT, truth=Y):
    """The measures of NAMES but the last, from their definitions."""
    tp, fp, fn, tn = outcomes(score, weight, truth=truth)
    total = weight.sum()
    order = np.argsort(-score, kind="stable")
    hits, every = np.cumsum((weight * truth)[order]), np.cumsum(weight[order])
    last = np.append(np.diff(score[order]) != 0, True)
    gained = np.diff(hits[last], prepend=0.0)
    return {
        "ppv@0.5": tp / (tp + fp),
        "npv@0.5": tn / (tn + fn),
        "f1@0.5": 2 * tp / (2 * tp + fp + fn),
        "acc@0.5": (tp + tn) / total,
        "mcc@0.5": (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        "brier": np.average((score - truth) ** 2, weights=weight),
        "logloss": -np.average(np.log(np.where(truth == 1, score, 1 - score)), weights=weight),
        "ap": (gained * hits[last] / every[last]).sum() / hits[-1],
    }


@pytest.fixture(scope="module")
def found():
    return ss.evaluate(FRAME, **ROLES, condition=STATED, measures=NAMES)


def placed(measure):
    return MeasureSpec(measure.name, at=0.5 if measure.table is Counts else None)


@pytest.mark.parametrize("measure", DEPENDING, ids=lambda one: one.name)
def test_every_measure_is_that_of_the_weighed_sample(measure):
    spec, weighed = placed(measure), score_table(Y, A, weight=WEIGHT * N / WEIGHT.sum())
    stated, plain = spec.for_prevalence(SHARE), score_table(Y, A)
    assert stated.prevalence == SHARE
    request = bind(stated, plain)
    assert_allclose(request.value, bind(spec, weighed).value, rtol=1e-9)
    assert_allclose(request.on(plain), request.value, rtol=1e-9)
    assert request.within


@pytest.mark.parametrize("measure", [one for one in CATALOGUE if one.drawn_within()], ids=lambda one: one.name)
def test_what_does_not_depend_on_it_stays_as_it_is(measure):
    spec = placed(measure)
    assert spec.for_prevalence(SHARE) is spec


@pytest.mark.parametrize("of", ["0", "1", "macro", "weighted"])
@pytest.mark.parametrize("name", ["ppv", "tpr", "f1"])
def test_of_a_class_and_of_averages(name, of):
    flags = (A >= 0.5).astype(int)
    plain, weighed = confusion(Y, flags, positive=1), confusion(Y, flags, positive=1, weight=WEIGHT)
    spec = parse(f"{name}[{of}]")
    assert_allclose(bind(spec.for_prevalence(SHARE), plain).value, bind(spec, weighed).value, rtol=1e-12)


def test_values_differences_and_json(found):
    expected = {"a": written_out(A), "b": written_out(B)}
    rows = [row for row in found.to_dict()["rows"] if not str(row["at"]).startswith("top")]
    for row in rows:
        name = row["measure"] if row["at"] is None else f"{row['measure']}@{row['at']:g}"
        assert row["value"] == pytest.approx(expected[row["model"]][name], rel=1e-12), name
        assert row["prevalence"] == SHARE
        assert row["low"] < row["value"] < row["high"]
    assert len(rows) == 16
    for name, value in expected["a"].items():
        assert found.differences[name].difference == pytest.approx(value - expected["b"][name], abs=1e-12)


def test_the_highest_scores_are_those_in_use(found):
    order = np.argsort(-A, kind="stable")
    score, weight, truth = A[order], WEIGHT[order], Y[order]
    levels = np.unique(score)[::-1]
    left, hits = 0.1 * weight.sum(), 0.0
    for level in levels:  # cases that tie share the places
        tied = score == level
        part = min(1.0, left / weight[tied].sum())
        hits, left = hits + part * (weight * truth)[tied].sum(), left - part * weight[tied].sum()
        if left <= 1e-12:
            break
    top = next(one for one in found.summary if one.model == "a" and one.spec.name == "lift")
    assert top.value == pytest.approx(hits / (0.1 * weight.sum()) / SHARE, rel=1e-9)


def test_by_class_over_folds_and_spread():
    ev = ss.evaluate(FRAME, **ROLES, condition=STATED, measures="ppv@0.5, f1@0.5", fold="fold")
    from scorespace.report.confusion import detailed_rows

    row = next(one for one in detailed_rows(ev) if (one["model"], one["class"]) == ("a", "1"))
    assert row["ppv"] == pytest.approx(written_out(A)["ppv@0.5"], rel=1e-12)
    other = next(one for one in detailed_rows(ev) if (one["model"], one["class"]) == ("a", "0"))
    assert other["ppv"] == pytest.approx(written_out(A)["npv@0.5"], rel=1e-12)

    def within(fold):
        own = fold == FOLD
        share = Y[own].mean()
        weight = np.where(Y[own] == 1, SHARE / share, (1 - SHARE) / (1 - share))
        return written_out(A[own], weight, Y[own])["ppv@0.5"]

    over = next(one for one in ev.over_folds if one.model == "a" and one.spec.name == "ppv")
    assert over.mean == pytest.approx(np.mean([within(fold) for fold in range(3)]), rel=1e-12)
    assert over.pooled == pytest.approx(written_out(A)["ppv@0.5"], rel=1e-12)

    rng, values = np.random.default_rng(1), []
    for _ in range(2000):
        drawn = np.concatenate([rng.choice(np.flatnonzero(k == Y), (k == Y).sum()) for k in (0, 1)])
        values.append(written_out(A[drawn], WEIGHT[drawn], Y[drawn])["ppv@0.5"])
    assert ev.spread("ppv@0.5")["a"]["ppv@0.5"] == pytest.approx(np.std(values), rel=0.1)


def test_comparisons(found):
    a, b = written_out(A), written_out(B)
    for name in ("ppv@0.5", "brier", "f1@0.5"):
        assert found.compare(measure=name)[0].difference == pytest.approx(a[name] - b[name], abs=1e-12)
        alone = found.compare_against(0.2, "a", measure=name)[0]
        assert alone.difference == pytest.approx(a[name] - 0.2, abs=1e-12)
        estimate = found.measures(name, model="a")[0]
        assert (alone.low + 0.2, alone.high + 0.2) == pytest.approx((estimate.low, estimate.high), abs=1e-12)
    decided = found.compare(at=0.5)[0]
    assert decided.difference == pytest.approx(a["acc@0.5"] - b["acc@0.5"], abs=1e-12)
    assert "McNemar" not in decided.test
    with pytest.raises(ss.ScoreSpaceError, match="stated prevalence"):
        found.compare(at=0.5, test="mcnemar")
    crisp = {"y": Y, "a": (A >= 0.5).astype(int), "b": (B >= 0.5).astype(int)}
    both = ss.evaluate(crisp, truth="y", decisions=["a", "b"], positive=1, condition=STATED)
    assert both.compare()[0].difference == pytest.approx(a["acc@0.5"] - b["acc@0.5"], abs=1e-12)


def test_samples_are_compared_at_the_stated_prevalence(found):
    half = {name: column[::2] for name, column in FRAME.items()}
    other = ss.evaluate(half, **ROLES)
    share = half["y"].mean()
    weight = np.where(half["y"] == 1, SHARE / share, (1 - SHARE) / (1 - share))
    expected = written_out(A)["ppv@0.5"] - written_out(half["a"], weight, half["y"])["ppv@0.5"]
    told = found.compare_with(other, "a", measure="ppv@0.5")[0]
    assert told.difference == pytest.approx(expected, abs=1e-12)


def test_a_choice_under_constraints(found):
    def reached(at):
        tp, fp, fn, _ = outcomes(A, at=at)
        return 2 * tp / (2 * tp + fp + fn), tp / (tp + fp)

    able = {at: reached(at)[0] for at in np.unique(A) if reached(at)[1] >= 0.2}
    choice = found.choose("f1", at_least={"ppv": 0.2})
    mine = next(one for one in choice.candidates if one.model == "a")
    assert mine.threshold == max(able, key=lambda at: (able[at], at))
    assert mine.value == pytest.approx(max(able.values()), rel=1e-12)
    assert mine.reached == pytest.approx((reached(mine.threshold)[1],), rel=1e-12)


def test_a_choice_at_the_highest_scores(found):
    """The printed threshold, the cases and the bounds are those at which the values are reached."""
    free = found.choose("ppv@top10%")
    for one in free.candidates:
        score = {"a": A, "b": B}[one.model]
        weight = WEIGHT / WEIGHT.sum()
        assert weight[score > one.threshold].sum() <= 0.1 <= weight[score >= one.threshold].sum()
        called, least, most = one.counts, score > one.threshold, score >= one.threshold
        assert Y[least].sum() <= called.tp <= Y[most].sum()
        assert (1 - Y)[least].sum() <= called.fp <= (1 - Y)[most].sum()
        ppv = called.tp * SHARE / Y.sum() / (called.tp * SHARE / Y.sum() + called.fp * (1 - SHARE) / (N - Y.sum()))
        assert one.value == pytest.approx(float(ppv), rel=1e-9)
    recall = next(one.value for one in found.measures("tpr@top10%") if one.model == "a")
    for bound, kept in ((recall - 0.01, True), (recall + 0.01, False)):
        bounded = found.choose("ppv@top10%", at_least={"tpr@top10%": bound})
        mine = next(one for one in bounded.candidates if one.model == "a")
        assert (mine.kept, mine.reached) == (kept, pytest.approx((recall,)))


def test_parity_between_slices():
    ev = ss.evaluate(FRAME, **ROLES, condition=STATED, measures="ppv@0.5", by="ward", settings={"parity": True})

    def of(ward):
        own = ward == WARD
        share = Y[own].mean()
        weight = np.where(Y[own] == 1, SHARE / share, (1 - SHARE) / (1 - share))
        tp, fp, _, _ = outcomes(A[own], weight, truth=Y[own])
        return tp / (tp + fp), (tp + fp) / weight.sum()

    rates = {"predictive parity": 0, "demographic parity": 1}
    told = {one.criterion: one for one in ev.slices.parity if one.model == "a"}
    for criterion, place in rates.items():
        gap = abs(of("north")[place] - of("south")[place])
        assert told[criterion].difference == pytest.approx(gap, abs=1e-12)
    row = next(one for one in ev.slices.gaps if (one.slice, one.estimate.model) == ("north", "a"))
    assert row.estimate.value == pytest.approx(of("north")[0], rel=1e-12)
    assert row.rest == pytest.approx(of("south")[0], rel=1e-12)


def test_targeting_and_notes(found):
    from scorespace.report.ranked_targeting import blocks

    text, grid = blocks(found)[0], blocks(found)[-1]
    plain = ss.evaluate(FRAME, **ROLES)
    assert text != blocks(plain)[0]
    top = next(one for one in found.summary if one.model == "a" and one.spec.name == "lift")
    assert f"lift {top.value:.2f}" in {row[0]: row[1] for row in grid.rows}["10 %"]
    (told,) = [one.text for one in found.notes if one.code == "SS022" and "of a " in one.text]
    assert f"Brier score of {written_out(A)['brier']:.3f}" in told
    assert found.calibrations["a"].brier == pytest.approx(written_out(A)["brier"], rel=1e-12)


def test_false_alarms_are_told_of_cases_in_use():
    ev = ss.evaluate(FRAME, **ROLES, condition=ss.Condition(prevalence=0.01), measures="ppv@0.8")
    tp, fp, _, _ = outcomes(A, np.where(Y == 1, 10 / (Y == 1).sum(), 990 / (Y == 0).sum()), at=0.8)
    (told,) = [one.text for one in ev.notes if one.code == "SS005" and "of a at 0.8" in one.text]
    assert told.endswith(f" {fp:.0f} false positives for {tp:.1f} true positives in 1 000 cases.")


@pytest.mark.parametrize(
    "kind", [one for one in kinds() if ScoreTable in one.functions and one.name != "grades"], ids=lambda one: one.name
)
def test_curves_are_those_of_the_weighed_sample(found, kind):
    options = {} if kind.placed is None else {kind.placed: found.threshold("a")}
    mine, plain = found.curve(kind.name, "a"), kind(score_table(Y, A), **options)
    weighed = kind(score_table(Y, A, weight=WEIGHT * N / WEIGHT.sum()), **options)
    assert_allclose(mine.x, weighed.x, atol=1e-9)
    assert_allclose(mine.y, weighed.y, atol=1e-9)
    if kind.stratified:
        assert_allclose(mine.y, plain.y, atol=0)


def test_the_band_of_a_precision_recall_curve(found):
    band = found.band("pr", "a", simultaneous=False)
    curve = found.curve("pr", "a")
    own = ss.evaluate(FRAME, **ROLES).band("pr", "a", simultaneous=False)
    odds = SHARE / (1 - SHARE) / (Y.mean() / (1 - Y.mean()))
    assert_allclose(band.y, odds * own.y / (1 - own.y + odds * own.y), rtol=1e-9)
    assert ((band.low <= band.y + 1e-12) & (band.y <= band.high + 1e-12)).mean() > 0.97
    assert band.y[-1] == pytest.approx(np.max(curve.y[curve.x == 1]), rel=1e-9)


def test_bins_and_table_files_of_two_models(tmp_path):
    pl = pytest.importorskip("polars")
    asked = {**ROLES, "condition": STATED, "measures": "ppv@0.5, brier, f1@0.5"}
    exact = ss.evaluate(FRAME, **asked)
    columns = {name: np.tile(FRAME[name], 10) for name in ("y", "a", "b")}
    coarse = ss.evaluate(pl.DataFrame(columns).lazy(), memory=1000, **asked)
    assert coarse.models["a"].coarse
    for mine, theirs in zip(coarse.summary, exact.summary, strict=True):
        low, high = mine.certified
        assert low - 1e-9 <= theirs.value <= high + 1e-9
    assert coarse.compare(measure="brier")[0].difference == pytest.approx(
        exact.compare(measure="brier")[0].difference, abs=1e-6
    )
    assert str(coarse)
    ss.save_tables({name: score_table(Y, FRAME[name]) for name in ("a", "b")}, tmp_path / "tables.parquet")
    stored = ss.evaluate(tmp_path / "tables.parquet", condition=STATED, measures="ppv@0.5, brier, f1@0.5")
    assert [one.value for one in stored.summary] == pytest.approx([one.value for one in exact.summary], rel=1e-12)
    assert str(stored)


def test_what_the_prevalence_says_alone_has_no_interval(found):
    for name, value in (("prevalence@0.5", SHARE), ("unc", SHARE * (1 - SHARE))):
        (one,) = found.measures(name, model="a")
        assert one.value == pytest.approx(value)
        assert np.isnan(one.low)
        assert one.reason == "no interval: the value depends on the stated prevalence alone"


def test_precision_at_a_prevalence_that_too_few_negatives_tell_of_has_no_interval():
    few = ss.evaluate(FRAME, **ROLES, condition=ss.Condition(prevalence=0.02))
    (one,) = few.measures("ap", model="a")
    negatives = int((Y == 0).sum())
    assert negatives * 0.02 / 0.98 < 20 <= negatives * 0.2 / 0.8
    assert np.isnan(one.low)
    assert one.reason == (
        f"no interval: {negatives} negatives are too few to estimate the precision at a prevalence of 0.02"
    )
    (one,) = ss.evaluate(FRAME, **ROLES, condition=ss.Condition(prevalence=0.2)).measures("ap", model="a")
    assert one.low < one.value < one.high


def test_a_lone_class_has_no_share_of_its_own():
    request = bind(parse("acc@0.5").for_prevalence(0.2), score_table([0, 0, 0], [0.1, 0.6, 0.7], positive=1))
    assert np.isnan(request.value)
    assert request.reason(request.value) == "undefined: only one class is present"


@pytest.mark.parametrize("name", ["ppv@0.5", "brier", "ap", "f1@0.5"])
def test_weights_and_groups_keep_the_prevalence(name):
    weight, group = RNG.integers(1, 4, N).astype(float), np.arange(N) // 2
    frame = FRAME | {"w": weight, "g": group}
    share = np.average(Y, weights=weight)
    stated = weight * np.where(Y == 1, SHARE / share, (1 - SHARE) / (1 - share))
    (one,) = ss.evaluate(frame, **ROLES, weight="w", condition=STATED).measures(name, model="a")
    assert one.value == pytest.approx(written_out(A, stated)[name], rel=1e-9)
    assert one.low < one.value < one.high
    (one,) = ss.evaluate(frame, **ROLES, group="g", condition=STATED).measures(name, model="a")
    assert one.value == pytest.approx(written_out(A)[name], rel=1e-9)
    assert one.low < one.value < one.high


@pytest.mark.parametrize("name", ["ppv@0.5", "npv@0.5", "f1@0.5", "acc@0.5", "mcc@0.5", "brier"])
def test_intervals_are_as_wide_as_cases_drawn_within_classes_say(name):
    rng, values = np.random.default_rng(2), []
    for _ in range(1500):
        drawn = np.concatenate([rng.choice(np.flatnonzero(k == Y), (k == Y).sum()) for k in (0, 1)])
        values.append(written_out(A[drawn], WEIGHT[drawn], Y[drawn])[name])
    low, high = np.quantile(values, [0.025, 0.975])
    (one,) = ss.evaluate(FRAME, **ROLES, condition=STATED).measures(name, model="a")
    assert one.high - one.low == pytest.approx(high - low, rel=0.15)


def test_folds_keep_the_classes_and_savings_are_those_of_the_costs():
    """With a stated prevalence, cross-fitted choices use stratified folds, and a saving is a difference of costs."""
    found = ss.evaluate(FRAME, **ROLES, condition=STATED)
    spec = parse("f1").for_prevalence(SHARE)
    tables, pairs = found.models.deciding, found.models.side_by_side
    chosen = found.choose("f1").candidates
    for stratified in (True, False):
        want = crossfit(tables, best_value(spec), pairs=pairs, stratified=stratified, seed=0).models
        same = [(one.out_of_sample_counts.outcomes.tp == want[one.model].outcomes.tp).all() for one in chosen]
        assert all(same) == stratified
    decision = found.decide(ss.Condition(fp=1, fn=12, prevalence=SHARE))
    for one in decision.choices:
        saved = one.out_of_sample.value - decision.out_of_sample.value
        assert decision.over[one.model].value == pytest.approx(saved, abs=1e-12)
    assert any(abs(one.value) > 1e-3 for one in decision.over.values())
