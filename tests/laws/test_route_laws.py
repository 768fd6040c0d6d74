"""Laws of routes: what is requested reaches the number on every route, and changes nothing else."""

import json
import re

import numpy as np
import pytest
from hypothesis import given

import scorespace as ss
from laws.routes import ROLES, ROUTES, allowed, evaluated, known, law, sample, seeds
from scorespace.report import terminal

MEASURES = "auc,ap,ks,brier,ppv@0.3,tpr@0.3,f1@0.3,mcc@0.3,tpr@top10%"
DRAWN = "brier,ks,mcc@0.3"
on_every_route = pytest.mark.parametrize("route", ROUTES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("routes")


@on_every_route
@law
@given(seed=seeds)
def test_intervals_of_a_lower_level_lie_inside_and_say_their_level(route, folder, seed):
    rows = sample(seed)
    narrow, wide = (ROUTES[route](rows, folder, measures=MEASURES, level=level) for level in (0.8, 0.95))
    pairs = list(zip(narrow.summary, wide.summary, strict=True))
    assert any(one.low > other.low for one, other in pairs)
    for one, other in pairs:
        assert (one.level, other.level) == (0.8, 0.95)
        if np.isfinite([one.low, one.high, other.low, other.high]).all() and other.low < other.high:
            assert other.low <= one.low <= one.high <= other.high, one
            assert one.high - one.low < other.high - other.low, one
    for first, second in zip(narrow.differences.values(), wide.differences.values(), strict=True):
        if np.isfinite([first.low, second.low]).all() and second.low < second.high:
            assert first.high - first.low < second.high - second.low
    told = json.loads(json.dumps(narrow.to_dict()))
    assert {row["level"] for row in told["rows"]} == {0.8}
    assert {row["level"] for row in told.get("comparisons", [])} <= {0.8}
    shown = terminal.text(narrow.brief, width=120)
    assert not re.search(r"95 % (interval|confidence|limit)|\(95 %\)", shown)


@on_every_route
@law
@given(seed=seeds)
def test_the_stated_seed_reaches_what_is_drawn(route, folder, seed):
    rows = sample(seed)
    limits = [
        [
            (one.method, one.low, one.high)
            for one in known(ROUTES[route](rows, folder, measures="brier,ks,mcc@0.3", seed=k).summary)
        ]
        for k in (0, 0, 1)
    ]
    assert limits[0] == limits[1]
    assert limits[0] != limits[2]


@law
@given(seed=seeds)
def test_seed_and_level_reach_comparisons_decisions_and_curves(seed):
    rows = sample(seed)
    rows |= {name: rows[name] * np.linspace(0.99, 1, rows["y"].size) for name in "ab"}  # folds choose other thresholds
    by_seed, by_level = [], []
    for k, level in ((0, 0.95), (0, 0.95), (1, 0.95), (0, 0.8)):
        ev = evaluated(rows, seed=k, level=level, condition=ss.Condition(fp=1, fn=3))
        test = ev.compare("a", "b", measure="brier")[0]
        cost = ev.decision.choices[0].out_of_sample
        youden = ev.choose("youden").candidates[0].out_of_sample
        band = ev.band("pr", "a")
        single = ev.compare_against(0.5, measure="ks")[0]
        found = [(test.low, test.high), (cost.low, cost.high), (youden.low, youden.high), (single.low, single.high)]
        found.append((float(band.low.sum()), float(band.high.sum())))
        (by_seed if level == 0.95 else by_level).append(found)
    first, again, other = by_seed
    assert first == again
    for place, (one, two, narrow) in enumerate(zip(first, other, by_level[0], strict=True)):
        assert one != two, place
        assert narrow[1] - narrow[0] < one[1] - one[0], place


@law
@given(seed=seeds)
def test_every_route_has_the_values_of_its_rows(seed, tmp_path_factory):
    """Of the same cases, each route computes what NumPy does; weights and prevalence weigh them."""
    rows = sample(seed)
    one = np.ones(rows["y"].size)
    share = rows["y"].mean()
    weights = {
        "weights": rows["w"],
        "copies": 2 * one,
        "prevalence": np.where(rows["y"] == 1, 0.1 / share, 0.9 / (1 - share)),
    }
    for route, evaluate in ROUTES.items():
        weight = weights.get(route, one)
        found = evaluate(rows, tmp_path_factory.mktemp("route"), measures="ppv@0.3,acc@0.3,auc,brier").summary
        for model in "ab":
            score, called = rows[model], rows[model] >= 0.3
            pos, neg = rows["y"] == 1, rows["y"] == 0
            wins = (1 + np.sign(np.subtract.outer(score[pos], score[neg]))) / 2
            pairs = np.multiply.outer(weight[pos], weight[neg])
            want = {
                "ppv@0.3": weight[called & pos].sum() / weight[called].sum(),
                "acc@0.3": weight[called == pos].sum() / weight.sum(),
                "auc": (wins * pairs).sum() / pairs.sum(),
                "brier": (weight * (score - rows["y"]) ** 2).sum() / weight.sum(),
            }
            held = {str(each.spec): each.value for each in found if each.model == model}
            assert held == pytest.approx(want), (route, model)


@law
@given(seed=seeds)
def test_a_condition_keeps_the_rows_for_which_it_holds(seed):
    rows = sample(seed)
    conditions = {
        "site == 'north'": rows["site"] == "north",
        "site != 'north' and a >= 0.2": (rows["site"] != "north") & (rows["a"] >= 0.2),
        "fold in (0, 2) or b < 0.3": np.isin(rows["fold"], (0, 2)) | (rows["b"] < 0.3),
        "not (a > b)": ~(rows["a"] > rows["b"]),
    }
    for text, kept in conditions.items():
        for more in ({}, {"memory": "1 B"}):
            found = allowed(evaluated, rows, where=text, measures="tp@0.3,pp@0.3", interval="none", **more)
            if found is not None:
                called = kept & (rows["a"] >= 0.3)
                values = [one.value for one in found.summary if one.model == "a"]
                assert values == [(called & (rows["y"] == 1)).sum(), called.sum()], (text, more)


def test_routes_are_what_they_are_called(folder):
    """Bins are coarse, groups are grouped, and weights are no copies: otherwise a law would hold for nothing."""
    rows = sample(0)
    made = {name: ROUTES[name](rows, folder).models for name in ("plain", "bins", "group", "weights", "copies")}
    assert [name for name, models in made.items() if models["a"].coarse] == ["bins"]
    assert [name for name, models in made.items() if models.grouped] == ["group"]
    assert [name for name, models in made.items() if models["a"].cell_squares is not None] == ["weights"]


@law
@given(seed=seeds)
def test_thresholds_and_ranks_reach_every_route(seed, tmp_path_factory):
    """A stated operating point decides on each route: two thresholds apart give what NumPy counts at each."""
    rows = sample(seed)
    for route in ("plain", "bins", "group", "fold", "by", "tables", "copies"):
        ev = ROUTES[route](rows, tmp_path_factory.mktemp("route"), measures="tpr@0.2,tpr@0.6,fpr@0.6")
        for model in "ab":
            held = {str(one.spec): one.value for one in ev.summary if one.model == model}
            for at in (0.2, 0.6):
                assert held[f"tpr@{at}"] == pytest.approx((rows[model][rows["y"] == 1] >= at).mean()), (route, at)
        compared = allowed(ev.compare, "a", "b", measure="acc@0.6")
        if compared is not None:
            right = [((rows[m] >= 0.6) == (rows["y"] == 1)).mean() for m in "ab"]
            folds = route == "fold"  # a mean over folds of nearly equal size
            assert compared[0].difference == pytest.approx(right[0] - right[1], abs=0.02 if folds else 1e-9), route


@law
@given(seed=seeds)
def test_a_baseline_of_the_same_rows_changes_nothing(seed, tmp_path_factory):
    rows, path = sample(seed), tmp_path_factory.mktemp("baseline") / "before.json"
    first = evaluated(rows, measures="auc,ppv@0.3,brier")
    first.save(path)
    later = evaluated(rows, measures="auc,ppv@0.3,brier", baseline=str(path))
    for gap in later.changes.gaps:
        assert gap.test.difference == pytest.approx(0, abs=1e-12)
    assert [one.value for one in later.summary] == [one.value for one in first.summary]


@law
@given(seed=seeds)
def test_the_report_shows_the_numbers_of_the_result(seed, tmp_path_factory):
    """Every number and interval of the result stands in the tables of the page, of Markdown and of the terminal."""
    from scorespace.report import serialize

    rows = sample(seed)
    ev = ss.evaluate(rows, **ROLES, measures="auc,brier,ppv@0.3")
    page = tmp_path_factory.mktemp("page") / "r.html"
    ev.report(page)
    texts = [terminal.text(ev.brief, width=200), serialize.text(ev.document), page.read_text(encoding="utf-8")]
    texts = [re.sub(r"<[^>]*>|\\", "", text) for text in texts]
    for one in ev.summary:
        for text in texts:
            assert one.text in text, str(one.spec)


def _told(seed: int, level: float, rows, before) -> dict[str, list[tuple[float, float]]]:
    """The limits of slices, parity, changes since a baseline, rejection and samples, by where they are shown."""
    ev = evaluated(rows, seed=seed, level=level, by="site", measures="brier,ks", baseline=str(before), parity=True)
    other = evaluated({name: column[::-1][:80] for name, column in rows.items()}, seed=seed, level=level)
    costly = evaluated(rows, seed=seed, level=level, condition=ss.Condition(fp=1, fn=3))
    unpaired = ev.compare_with(other, measure="brier")
    return {
        "slices": [(one.estimate.low, one.estimate.high) for one in ev.slices.gaps],
        "gaps": [(one.test.low, one.test.high) for one in ev.slices.gaps],
        "parity": [(one.low, one.high) for one in ev.slices.parity],
        "changes": [(one.test.low, one.test.high) for one in ev.changes.gaps],
        "unpaired": [(one.low, one.high) for one in unpaired],
        "reject": [(one.low, one.high) for one in costly.reject(0.2).spent.values()],
    }


@law
@given(seed=seeds)
def test_seed_and_level_reach_slices_baselines_and_samples(seed, tmp_path_factory):
    rows, before = sample(seed), tmp_path_factory.mktemp("before") / "before.json"
    evaluated({name: column[10:] for name, column in rows.items()}, measures="brier,ks").save(before)
    first, again, other, narrow = (
        _told(one, level, rows, before) for one, level in ((0, 0.95), (0, 0.95), (1, 0.95), (0, 0.8))
    )
    assert first == again or str(first) == str(again)  # NaN is not equal to itself
    for name in ("slices", "gaps", "changes", "unpaired"):
        assert str(first[name]) != str(other[name]), name
    for name, limits in first.items():
        wide, small = (np.nansum([high - low for low, high in one]) for one in (limits, narrow[name]))
        assert small < wide or not wide > 0, name


@law
@given(seed=seeds)
def test_the_seed_reaches_folds_and_permutations(seed):
    rows = sample(seed, 120)
    maps = [ss.recalibrate(rows, truth="y", score="a", method="platt", seed=k).scores for k in (0, 0, 1)]
    assert (maps[0] == maps[1]).all()
    assert (maps[0] != maps[2]).any()
    half = {name: column[:60] for name, column in rows.items()}, {name: column[60:] for name, column in rows.items()}
    moved = [ss.drift(*half, truth="y", scores="a", seed=k, replicates=99) for k in (0, 0, 1)]
    p = [[one.p for one in each.models[0].aspects] for each in moved]
    assert str(p[0]) == str(p[1])
    assert str(p[0]) != str(p[2])


@law
@given(seed=seeds)
def test_what_another_sample_chose_is_judged_here(seed):
    """With `fit`, threshold and model are those of the other sample, and cost and bounds those of this one."""
    rows, other = sample(seed), sample(seed + 1)
    condition, found = ss.Condition(fp=1, fn=3), {}
    for level in (0.8, 0.95):
        here, there = (evaluated(one, level=level) for one in (rows, other))
        choice = here.decide(condition, fit=there).best
        own = there.decide(condition).best
        assert (choice.model, float(choice.threshold)) == (own.model, float(own.threshold))
        called, ill = rows[choice.model] >= choice.threshold, rows["y"] == 1
        assert choice.out_of_sample.value == pytest.approx((called & ~ill).mean() + 3 * (~called & ill).mean())
        best = here.choose("ppv", at_least={"tpr": 0.6}, fit=there).best
        if best is not None:
            called = rows[best.model] >= best.threshold
            assert best.out_of_sample.value == pytest.approx(ill[called].mean(), nan_ok=True)
        found[level] = choice.out_of_sample
    assert found[0.8].high - found[0.8].low < found[0.95].high - found[0.95].low
