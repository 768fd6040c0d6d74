"""Laws of rarer routes: what is stated reaches choices, rejection, parity, slices, maps and baselines."""

import numpy as np
import pytest

import scorespace as ss
from laws.routes import ROLES, evaluated, sample
from scorespace.comparisons.multiple_testing import ADJUSTMENTS
from scorespace.evaluation.assemble import evaluate_data

COSTLY = ss.Condition(fp=1, fn=3)
IN_USE = ss.Condition(fp=1, fn=3, prevalence=0.1)


def _without_ties(rows):
    return rows | {name: rows[name] * np.linspace(0.9, 1, rows["y"].size) for name in "ab"}


def _numbers(size=60, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=size)
    return {"y": truth, "a": truth + rng.normal(size=size), "b": truth + rng.normal(size=size)}


def _twice(rows, ties):
    """Every row twice, both in one group."""
    twice = {name: np.repeat(column, 2) for name, column in rows.items()}
    return twice | {ties: np.repeat(np.arange(len(next(iter(rows.values())))), 2)}


@pytest.mark.parametrize("method", [name for name in ADJUSTMENTS if name != "shaffer"])
def test_the_adjustment_is_over_all_measures(method):
    """Of several measures, every kind of comparison adjusts all p-values together, by the stated method."""
    ev, other = evaluated(sample(3, 200)), evaluated(sample(4, 200))
    asked = {"measure": "auc,brier,acc@0.3", "adjust": method}
    for found in (ev.compare(**asked), ev.compare_with(other, **asked), ev.compare_against(0.5, **asked)):
        p = np.array([one.p for one in found])
        assert [one.p_adjusted for one in found] == pytest.approx(ADJUSTMENTS[method](p), nan_ok=True)
        assert found.adjustment == method
    single = {"measure": "auc", "adjust": method}
    for found in (ev.compare_with(other, **single), ev.compare_against(0.7, **single)):
        p = np.array([one.p for one in found])
        assert [one.p_adjusted for one in found] == pytest.approx(ADJUSTMENTS[method](p))


@pytest.mark.parametrize("condition", [COSTLY, IN_USE])
def test_a_choice_on_another_sample_is_judged_at_the_level(condition):
    halves = [{name: column[part] for name, column in sample(6, 240).items()} for part in (slice(120), slice(120, 240))]
    widths = {}
    for level in (0.6, 0.95):
        here, there = (evaluated(one, level=level) for one in halves)
        decided = here.decide(condition, fit=there)
        chosen = here.choose("ppv", at_least={"tpr": 0.5}, fit=there)
        found = [decided.best.out_of_sample, decided.out_of_sample, decided.gain, *decided.over.values()]
        found += [chosen.out_of_sample, *chosen.held]
        found += [one for candidate in chosen.candidates for one in (candidate.out_of_sample, *candidate.held)]
        widths[level] = [one.high - one.low for one in found]
    for narrow, wide in zip(widths[0.6], widths[0.95], strict=True):
        assert narrow < wide or not wide > 0


def test_rejection_of_weighted_cases_saves_what_the_weights_say():
    ev = evaluated(sample(5, 200), weight="w")
    found = ev.reject(0.2, COSTLY)
    least = found.alternatives[found.cheapest].cost.value
    assert found.gain.value == pytest.approx(least - found.rules[found.best].cost)


def test_shares_of_related_cases_have_no_interval_that_ignores_it():
    rows = _twice(sample(5, 120), "visit")
    assert not evaluated(rows, group="visit").reject(0.2).spent
    assert evaluated(rows).reject(0.2).spent


def test_groups_widen_the_judged_loss_of_a_shift():
    """Every case twice in one group says no more than the cases once; twice as independent cases, it seems to."""
    cases, other = _numbers(), _numbers(seed=1)
    condition, widths = ss.Asymmetry(under=2, over=1), {}
    for name, rows, group in (
        ("once", cases, None),
        ("group", _twice(cases, "g"), "g"),
        ("copies", _twice(cases, "g"), None),
    ):
        here, there = (
            evaluate_data(one, truth="y", predictions=["a", "b"], group=group if one is rows else None)
            for one in (rows, other)
        )
        loss = here.decide(condition, fit=there).best.out_of_sample
        widths[name] = loss.high - loss.low
    assert widths["group"] == pytest.approx(widths["once"], rel=0.1)
    assert widths["copies"] < 0.8 * widths["once"]


@pytest.mark.parametrize("stated", [{"condition": COSTLY}, {"threshold": 0.3}, {"measures": "auc,acc@0.3"}])
def test_parity_is_judged_at_the_threshold_of_the_model(stated):
    rows = sample(7, 300)
    ev = evaluated(rows, by="site", parity=True, **stated)
    for one in ev.slices.parity:
        if one.criterion == "equal opportunity":
            called = rows[one.model] >= ev.threshold(one.model)
            rates = [called[(rows["y"] == 1) & (rows["site"] == site)].mean() for site in ("north", "south")]
            assert one.difference == pytest.approx(abs(rates[0] - rates[1]))
            assert one.ratio == pytest.approx(min(rates) / max(rates))
            assert one.ratio_low <= one.ratio <= one.ratio_high
            assert one.low <= one.difference <= one.high


def test_parity_is_simultaneous_over_columns():
    rows = sample(7, 300)
    rows["shift"] = np.where(np.arange(300) % 2 == 0, "day", "night")
    one, two = (
        evaluated(rows, by=by, parity=True, measures="auc").slices.parity for by in (["site"], ["site", "shift"])
    )
    both = {(each.model, each.criterion): each for each in two if each.highest.startswith("site")}
    wider = 0
    for each in one:
        other = both[each.model, each.criterion]
        assert other.difference == pytest.approx(each.difference)
        wider += other.high - other.low > each.high - each.low + 1e-9
    assert wider > len(one) / 2


def test_all_usual_measures_are_those_at_the_stated_prevalence():
    rows = sample(8, 200)
    ev = evaluate_data(rows, **ROLES, prevalence=0.1)
    weight = np.where(rows["y"] == 1, 0.1 / rows["y"].mean(), 0.9 / (1 - rows["y"].mean()))
    for one in ev.everything:
        called = rows[one.model] >= ev.threshold(one.model)
        if one.spec.name == "ppv":
            assert one.value == pytest.approx((weight * called * rows["y"]).sum() / (weight * called).sum())
        if one.spec.name == "brier":
            assert one.value == pytest.approx((weight * (rows[one.model] - rows["y"]) ** 2).sum() / weight.sum())


@pytest.mark.parametrize(
    "stated", [{"prevalence": 0.1}, {"condition": IN_USE}, {"condition": COSTLY}, {"threshold": 0.4}]
)
def test_changes_have_the_values_of_the_evaluation(stated, tmp_path):
    """Whatever is stated, the value now is that of the table of measures, on the cases and thresholds now."""
    rows, path = sample(9, 200), tmp_path / "before.json"
    evaluate_data(sample(10, 200), **ROLES, **stated).save(path)
    ev = evaluate_data(rows, **ROLES, **stated, baseline=str(path))
    for gap in ev.changed("ppv@0.4", "brier", "ap", "cost(fp=1, fn=3)@0.4").gaps:
        (value,) = [one.value for one in ev.measures(str(gap.estimate.spec), model=gap.estimate.model)]
        assert gap.estimate.value == pytest.approx(value), str(gap.estimate.spec)


@pytest.mark.parametrize("condition", [COSTLY, IN_USE])
def test_the_baseline_is_judged_on_cases_that_did_not_choose(condition, tmp_path):
    """A value at the threshold that the baseline chose is its cross-fitted one, drawn as for its decision."""
    tables = {"a": evaluated(sample(10, 200)).models["a"]}
    before = ss.evaluate(tables, condition=condition)
    before.save(tmp_path / "before.json")
    rows = sample(9, 200)
    ev = evaluate_data(rows, truth="y", scores="a", condition=condition, baseline=str(tmp_path / "before.json"))
    (choice,) = before.decision.choices
    judged = 0
    for gap in ev.changes.gaps:
        if gap.estimate.spec.at is not None and gap.estimate.spec.at == choice.threshold:
            then = choice.out_of_sample_counts.measure(gap.estimate.spec)
            assert gap.rest == pytest.approx(then.value), str(gap.estimate.spec)
            judged += 1
    assert judged > 1


def test_the_seed_reaches_calibration_of_each_class():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 200)
    shares = rng.dirichlet(np.ones(3), 200) + 0.5 * np.eye(3)[truth]
    shares /= shares.sum(axis=1, keepdims=True)
    rows = {"y": np.array(list("rst"))[truth], **{f"m_{label}": shares[:, k] for k, label in enumerate("rst")}}
    found = [
        str([vars(one) for each in ss.evaluate(rows, truth="y", scores=["m_*"], settings={"seed": seed})
             .class_calibrations.values() for one in each.values()])
        for seed in (0, 0, 1)
    ]  # fmt: skip
    assert found[0] == found[1] != found[2]


def test_the_runner_up_is_the_second_best():
    rows = sample(12, 200)
    rows["c"] = 1 - rows["a"]  # the worst
    ev = ss.evaluate(rows, truth="y", scores=list("cab"))
    order = sorted(ev.measures("auc"), key=lambda one: -one.value)
    assert [one.model for one in ev.conclusion[1].ordered] == [one.model for one in order]
    first, second, third = (one.model for one in order)
    for text in (ev.headline[0], ev.conclusion[1].text):
        assert first in text
        assert second in text.partition(";")[0]
        assert f"{third} " not in text.partition(";")[0]
    costly = ss.evaluate(rows, truth="y", scores=list("cab")).choose("youden")
    order = sorted(costly.candidates, key=lambda one: -one.value)
    assert f"; {order[1].model} reaches" in costly.words


def test_a_score_that_may_rank_by_chance_is_not_called_reversed():
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1], 40)
    told = set()
    for _ in range(12):
        ev = ss.evaluate(truth, rng.random(80) - 0.1 * truth)
        (area,) = ev.measures("auc")
        assert ("reversed" in ev.verdict) == (area.high < 0.5)
        told.add((area.value < 0.5, "reversed" in ev.verdict))
    assert {(True, False), (True, True)} <= told


def test_the_verdict_is_on_the_cases_in_use():
    """At a stated prevalence below 5 %, the verdict says what a random ranking reaches there."""
    ev = evaluate_data(sample(8, 200), **ROLES, prevalence=0.02)
    assert "A random ranking has average precision 0.020" in ev.verdict.replace("AP", "average precision")


def test_the_seed_reaches_changes_since_a_baseline(tmp_path):
    """The replicates of the baseline follow the seed, too: those of the sample are held fixed here."""
    evaluated(sample(10, 120), measures="brier,ks").save(tmp_path / "before.json")
    asked = {"measures": "brier,ks", "interval": "bootstrap", "baseline": str(tmp_path / "before.json")}
    found, held = [], evaluated(sample(9, 120), **asked).draws
    for seed in (0, 0, 1):
        ev = evaluated(sample(9, 120), **asked, seed=seed)
        ev.__dict__["draws"] = held
        found.append([(gap.test.low, gap.test.high) for gap in ev.changes.gaps])
    assert found[0] == found[1] != found[2]


def test_weights_reach_a_map_that_is_fitted_elsewhere():
    """A map fitted on weighted cases is that of their copies, whichever method."""
    rows, other = sample(13, 150), sample(14, 150)
    times = np.where(other["y"] == 1, 3, 1)
    fitted_to = other | {"n": times}
    copies = {name: np.repeat(column, times) for name, column in other.items()} | {"n": np.ones(times.sum())}
    rows["n"] = np.ones(150)
    for method in ("platt", "isotonic"):
        asked = {"truth": "y", "score": "a", "method": method, "weight": "n"}
        found, want = (ss.recalibrate(rows, fit=one, **asked).scores for one in (fitted_to, copies))
        plain = ss.recalibrate(rows, fit=other, truth="y", score="a", method=method).scores
        assert found == pytest.approx(want, abs=1e-6), method
        assert np.abs(found - plain).max() > 0.01, method


def test_costs_of_classes_reach_slices():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 240)
    shares = rng.dirichlet(np.ones(3), 240) + 0.5 * np.eye(3)[truth]
    shares /= shares.sum(axis=1, keepdims=True)
    labels = np.array(list("rst"))
    rows = {"y": labels[truth], **{f"m_{label}": shares[:, k] for k, label in enumerate("rst")}}
    rows["site"] = np.where(rng.random(240) < 0.4, "north", "south")
    costs = np.array([[0, 1, 9], [4, 0, 1], [1, 6, 0.0]])
    asked = {"truth": "y", "scores": ["m_*"], "condition": ss.CostMatrix(tuple("rst"), costs)}
    ev = evaluate_data(rows, by="site", **asked)
    for model, decided in (("m", shares.argmax(axis=1)), ("m (least cost)", (shares @ costs).argmin(axis=1))):
        paid = costs[truth, decided]
        (whole,) = [one.value for one in ev.summary if one.model == model and one.spec.name == "cost"]
        assert whole == pytest.approx(paid.mean())
        for gap in ev.slices.gaps:
            if gap.estimate.model == model and gap.estimate.spec.name == "cost":
                own = rows["site"] == gap.slice
                assert (gap.estimate.value, gap.rest) == pytest.approx((paid[own].mean(), paid[~own].mean()))


def test_groups_in_several_slices_are_noted_whatever_else_is_sliced():
    rows = sample(7, 200)
    rows["half"] = np.where(np.arange(200) % 2 == 0, "first", "second")  # patients have two rows
    rows["ward"] = np.where(np.arange(200) // 2 % 2 == 0, "a", "b")
    for by, noted in ((["half"], True), (["ward"], False), (["ward", "half"], True), (["half", "ward"], True)):
        ev = evaluated(rows, by=by, group="patient", measures="auc")
        assert ("SS094" in [note.code for note in ev.slices.notes]) == noted, by


def test_calibration_is_that_at_the_stated_prevalence():
    rows = sample(8, 300)
    ev = evaluate_data(rows, **ROLES, prevalence=0.1)
    for name, found in ev.calibrations.items():
        (slope,) = [one.value for one in ev.measures("cal_slope", model=name)]
        (brier,) = [one.value for one in ev.measures("brier", model=name)]
        held = vars(found)
        assert any(isinstance(one, float) and one == pytest.approx(slope) for one in held.values()), sorted(held)
        plain = vars(evaluated(rows).calibrations[name])
        assert any(one != plain[key] for key, one in held.items() if isinstance(one, float))
        assert np.isfinite(brier)


def test_costs_of_either_class_are_those_of_the_decisions():
    """Called positive or not, a class is decided at the same costs: false positives of one are misses of the other."""
    rows = sample(15, 200)
    rows["d"] = (rows["a"] >= 0.4).astype(int)
    paid = np.where(rows["d"] > rows["y"], 1.0, np.where(rows["d"] < rows["y"], 3.0, 0.0)).mean()
    ev = ss.evaluate(rows, truth="y", decisions="d", positive=1, condition=COSTLY)
    assert [ev.measures(name)[0].value for name in ("cost", "cost[1]", "cost[0]")] == pytest.approx([paid] * 3)


@pytest.mark.parametrize("memory", [None, "1 B"])
def test_a_requested_threshold_decides_among_three_models(memory):
    rows = sample(16, 300)
    rows["c"] = np.round(0.5 * rows["a"] + 0.5 * rows["b"], 3)
    ev = ss.evaluate(rows, truth="y", scores=list("abc"), measures="acc@0.3", settings={"memory": memory})
    right = {name: ((rows[name] >= 0.3) == (rows["y"] == 1)).mean() for name in "abc"}
    found = [one for one in ev.compare(test="mcnemar") if not one.several]
    assert len(found) == 3
    for one in found:
        assert one.difference == pytest.approx(right[one.a] - right[one.b])
