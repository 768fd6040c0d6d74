"""Laws of routes: what is requested reaches the number on every route, and changes nothing else."""

import json
import re

import numpy as np
import pytest
from hypothesis import given

import scorespace as ss
from laws.routes import RARE, ROLES, ROUTES, allowed, evaluated, known, law, sample, seeds
from scorespace.evaluation.assemble import evaluate_data
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
    for name in ("gaps", "changes"):  # each of them, whatever its test
        for (low, high), (inner_low, inner_high) in zip(first[name], narrow[name], strict=True):
            assert inner_high - inner_low < high - low or not high > low, name


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


IN_SINGLE = {
    "measures": lambda rows: [one.value for one in evaluated(rows, measures="tpr@0.7,fpr@0.3,ppv@0.1").summary],
    "bins": lambda rows: [one.value for one in evaluated(rows, measures="tpr@0.7,fpr@0.3", memory="1 B").summary],
    "compare": lambda rows: [evaluated(rows).compare(measure="acc@0.7")[0].difference],
    "at": lambda rows: [evaluated(rows).compare(at=0.7)[0].difference],
    "slices": lambda rows: [gap.rest for gap in evaluated(rows, by="site", measures="tpr@0.7").slices.gaps],
    "decide": lambda rows: [evaluated(rows).decide(fp=7, fn=3).best.calibrated_cost],
    "reject": lambda rows: [one.rejected for one in evaluated(rows).reject(0.3).rules.values()],
    "where": lambda rows: [evaluated(rows, where=text).models.rows for text in WHERE],
    "where in bins": lambda rows: [evaluated(rows, where=text, memory="1 B").models.rows for text in WHERE],
    "cases": lambda rows: ss.cases(rows["y"], rows["a"]).contingency(0.7).ravel(),
    "array": lambda rows: [ss.measure("acc@0.7", truth=rows["y"], score=rows["a"])],
}
WHERE = ("a >= 0.7", "not a < 0.3", "a in (0.1, 0.3, 0.7)", "b between 0.1 and 0.3")


@pytest.mark.parametrize("name", IN_SINGLE)
def test_typed_numbers_mean_the_same_in_single_precision(name):
    """0.7 typed is the 0.7 of a float32 column, whether it is a threshold, a limit or part of a condition."""
    rows = sample(11, 300)
    rows |= {name: np.round(rows[name], 1) for name in "ab"}
    single = rows | {name: rows[name].astype(np.float32) for name in "ab"}
    assert list(IN_SINGLE[name](single)) == pytest.approx(list(IN_SINGLE[name](rows)), abs=1e-6)


def _classes(rows):
    """Scores of three classes, and numbers with two predictions, from the same random cases."""
    rng, size = np.random.default_rng(int(rows["y"].sum())), rows["y"].size
    truth = rng.integers(0, 3, size)
    shares = rng.dirichlet(np.ones(3), size) + 0.4 * np.eye(3)[truth]
    shares /= shares.sum(axis=1, keepdims=True)
    columns = {"y": np.array(list("rst"))[truth], **{f"m_{label}": shares[:, k] for k, label in enumerate("rst")}}
    number = rng.normal(size=size)
    return columns, {"y": number, **{name: number + rng.normal(size=size) for name in "ab"}}


def _limits(one):
    return [one.low, one.high]


def _shift(rows, stated):
    numbers = _classes(rows)[1]
    halves = ({name: column[part] for name, column in numbers.items()} for part in (slice(0, 45), slice(45, None)))
    here, there = (ss.evaluate(one, truth="y", predictions=["a", "b"], **stated) for one in halves)
    return _limits(here.decide(ss.Asymmetry(2, 1), fit=there).best.out_of_sample)


def _calibrations(ev):
    return [[one.cal_chance, one.cal_p] for one in ev.calibrations.values()]


def _by_youden(rows, stated):
    """The note on a threshold of scores that are no probabilities."""
    points = rows | {name: 100 * rows[name] * np.linspace(0.9, 1, rows["y"].size) for name in "ab"}
    ev = evaluated(points, **stated)
    return [[one.out_of_sample.value, *_limits(one.out_of_sample)] for one in ev._by_youden.candidates]


REACHED = {
    "decide": lambda rows, s: _limits(ss.decide(rows["y"], rows["a"] * rows["b"], fp=1, fn=3, **s).out_of_sample),
    "compare": lambda rows, s: _limits(ss.compare(rows["y"], {k: rows[k] for k in "ab"}, measure="brier", **s)[0]),
    "reject": lambda rows, s: [
        _limits(one)
        for one in ss.evaluate(_classes(rows)[0], truth="y", scores=["m_*"], **s).reject(0.3).spent.values()
    ],
    "shift": _shift,
    "spread": lambda rows, s: evaluated(rows, **s).spread("auc", "brier"),
    "mean curve": lambda rows, s: evaluated(rows, fold="fold", **s).average_curve("roc", "a").band.low.sum(),
    "calibrations": lambda rows, s: _calibrations(evaluated(rows, **s)),
    "youden": _by_youden,
    "verdict": lambda rows, s: [
        _limits(one)
        for one in ss.evaluate(rows | {"c": rows["a"] ** 2 * rows["b"]}, truth="y", scores=list("abc"), **s)
        .conclusion[1]
        .tests.values()
    ],
    "threshold": lambda rows, s: (
        evaluated(rows, **s)
        .decide(ss.Condition(fp=1, fn=3), fit=evaluated({k: v[::-1][:80] for k, v in rows.items()}, **s))
        .choices[0]
        .threshold_interval
    ),
}
OF_SEED = ("decide", "compare", "reject", "spread", "calibrations", "youden")
OF_LEVEL = ("decide", "compare", "reject", "shift", "mean curve", "youden", "verdict", "threshold")


@pytest.mark.parametrize("name", REACHED)
def test_seed_and_level_reach_what_is_requested_rarely(name):
    rows = sample(11)
    rows |= {each: rows[each] * np.linspace(0.9, 1, rows["y"].size) for each in "ab"}  # no ties
    first, again, other, narrow = (
        str(REACHED[name](rows, {"seed": seed, "level": level}))
        for seed, level in ((0, 0.95), (0, 0.95), (3, 0.95), (0, 0.6))
    )
    assert first == again
    assert first != other or name not in OF_SEED
    assert first != narrow or name not in OF_LEVEL


def test_the_method_of_intervals_reaches_slices_and_costs():
    rows = sample(4)
    rows["d"] = np.where(rows["a"] >= 0.4, 1, 0)

    def methods(**more):
        ev = evaluated(rows, by="site", measures="auc,acc@0.3", **more)
        return {(one.estimate.model, str(one.estimate.spec)): one.estimate.method for one in ev.slices.gaps}

    assert set(methods(interval="bootstrap").values()) == {"bootstrap"}
    assert "bootstrap" not in methods().values()
    plain, drawn = (
        ss.evaluate(rows, truth="y", decisions="d", **more).decide(ss.Condition(fp=1, fn=3)).best.out_of_sample
        for more in ({}, {"interval": "bca"})
    )
    assert (plain.low, plain.high) != (drawn.low, drawn.high)


def test_two_samples_are_drawn_independently():
    """The same rows on both sides: with one stream for both, limits would have no width or be symmetric."""
    rows = sample(2, 60)
    twice = {name: np.concatenate([column, column]) for name, column in rows.items()}
    twice["half"] = np.repeat(["first", "second"], 60)
    asked = {"measures": "brier,mcc@0.3", "interval": "bootstrap"}
    gaps = evaluated(twice, by="half", **asked).slices.gaps
    other = evaluated(rows, **asked)
    for one in (*(gap.test for gap in gaps), *other.compare_with(other, measure="brier,mcc@0.3")):
        assert one.difference == pytest.approx(0, abs=1e-12)
        assert one.high - one.low > 0.01
        assert abs(one.high + one.low) > 1e-9


def test_the_adjustment_reaches_models_that_are_matched_in_bins():
    rows = sample(3, 200)
    rows["c"] = rows["a"] * rows["b"]
    ev = ss.evaluate(rows, truth="y", scores=list("abc"), memory="1 B")
    found = [one for one in ev.compare(measure="auc", adjust="bonferroni") if not one.several]
    assert [one.p_adjusted for one in found] == pytest.approx([min(1, 3 * one.p) for one in found])
    assert sorted(one.p for one in found)[1] < 1 / 3  # which Holm's method would double


def test_missing_rows_of_both_samples_are_noted():
    rows = {name: column.astype(object) for name, column in sample(3).items()}
    gapped = rows | {"a": np.array([None, *rows["a"][1:]], dtype=object)}
    whole, part = (evaluated(one, missing="drop") for one in (rows, gapped))
    for first, second in ((whole, part), (part, whole)):
        assert "SS009" in [note.code for note in first.compare_with(second).notes]


def test_bins_are_split_where_groups_and_costs_need_it():
    """Joint bins of groups are exact at stated thresholds, and bins are at the threshold of calibrated scores."""
    rng = np.random.default_rng(1)
    rows = sample(1, 400)
    rows |= {name: np.where(rng.random(400) < 0.5, rng.uniform(0.2999, 0.3001, 400), rows[name]) for name in "ab"}
    found = evaluated(rows, group="patient", memory="1 B", measures="tpr@0.3").models.pairs
    called = (rows["a"] >= 0.3) & (rows["y"] == 1)
    assert float(found.tables[found.index("a")].at(0.3).tp) == called.sum()
    exact, coarse = (evaluated(rows, condition=ss.Condition(fp=3, fn=7), **more) for more in ({}, {"memory": "1 B"}))
    costs = [[one.calibrated_cost for one in ev.decision.choices] for ev in (exact, coarse)]
    assert coarse.models["a"].coarse
    assert costs[1] == pytest.approx(costs[0], abs=1e-12)


def test_the_two_slices_of_a_column_mirror_each_other():
    rows = sample(6, 200)
    first, second = (
        [one for one in evaluated(rows, by="site", memory="1 B", measures="auc").slices.gaps if one.slice == name]
        for name in ("north", "south")
    )
    for one, other in zip(first, second, strict=True):
        low, high = one.test.certified
        assert (other.test.difference, *other.test.certified) == (-one.test.difference, -high, -low)
    rows["y"] = np.where(rows["site"] == "south", 1, rows["y"])
    reasons = {one.slice: one.test.reason for one in evaluated(rows, by="site", measures="brier").slices.gaps}
    assert reasons == {"north": "all cases in the rest are 1", "south": "all cases in south are 1"}


def test_a_saved_evaluation_keeps_its_seed_threshold_and_notes(tmp_path):
    rows = sample(8, 150)
    rows |= {name: rows[name] * np.linspace(0.8, 1, 150) for name in "ab"}
    condition, then = ss.Condition(fp=1, fn=3), []
    for place, seed in enumerate((0, 0, 3)):
        path = tmp_path / f"{place}.json"
        evaluated(rows, seed=seed, condition=condition).save(path)
        later = evaluated(sample(9, 150), baseline=str(path), condition=condition)
        then.append([gap.rest for gap in later.changed("tpr", "ppv").gaps])
    assert then[0] == then[1] != then[2]
    gapped = {name: column.astype(object) for name, column in rows.items()}
    gapped["a"][0] = None
    evaluated(gapped, missing="drop").save(tmp_path / "plain.json")
    assert "SS009" in [note.code for note in ss.load(tmp_path / "plain.json").sample_notes]
    stated = evaluated(rows, measures="acc@0.3,tpr", baseline=str(tmp_path / "plain.json"))
    assert {float(gap.estimate.spec.at) for gap in stated.changes.gaps} == {0.3}


COSTLY = ss.Condition(fp=1, fn=3)
STATED = (
    {"threshold": 0.3},
    {"prevalence": 0.1},
    {"prevalence": 0.1, "threshold": 0.3, "measures": "ppv,tpr"},
    {"condition": COSTLY, "threshold": 0.3},
    {"condition": RARE},
    {"condition": ss.Condition(fp=1, fn=0.01, prevalence=0.01)},  # the threshold is infinite
    {"profile": "clinical"},
    {"full": True},
    {"interval": "bootstrap"},
    {"level": 0.8, "seed": 3},
    {"measures": "acc@0.3,tpr"},
    {"weight": "w"},
    {"scale": "0..2", "threshold": 0.8},
    {"memory": "1 B"},
)


@pytest.mark.parametrize("stated", STATED, ids=lambda stated: " ".join(stated))
def test_a_saved_evaluation_is_the_evaluation(stated, tmp_path):
    """Loaded, it has the same rows; as a baseline of the same cases, it differs nowhere."""
    rows, path = sample(4, 150), tmp_path / "saved.json"
    ev = evaluate_data(rows, **ROLES, **stated)
    ev.save(path)
    assert ss.load(path).to_dict()["rows"] == ev.to_dict()["rows"]
    later = evaluate_data(rows, **ROLES, **stated, baseline=str(path))
    assert "SS096" not in [note.code for note in later.changes.notes if "other" in note.text]
    chosen = "condition" in stated and "threshold" not in stated  # else the value then is a cross-fitted one
    for gap in later.changes.gaps:
        if not (chosen and gap.estimate.spec.at is not None) and np.isfinite(gap.estimate.value):
            assert gap.rest == pytest.approx(gap.estimate.value), str(gap.estimate.spec)


def test_another_prevalence_than_in_the_baseline_is_noted(tmp_path):
    rows, path = sample(5, 150), tmp_path / "saved.json"
    for saved, now in ((0.1, None), (None, 0.1), (0.1, 0.2), (0.1, 0.1)):
        evaluate_data(rows, **ROLES, measures="ppv@0.3", prevalence=saved).save(path)
        later = evaluate_data(rows, **ROLES, measures="ppv@0.3", prevalence=now, baseline=str(path))
        assert any("the prevalence is" in note.text for note in later.changes.notes) == (saved != now)
        assert all(gap.rest == pytest.approx(gap.estimate.value) for gap in later.changes.gaps)


def test_a_stated_threshold_precedes_that_of_the_baseline(tmp_path):
    rows, path = sample(5, 150), tmp_path / "saved.json"
    evaluated(rows, measures="acc", threshold=0.3).save(path)
    for stated, at in (({}, 0.3), ({"threshold": 0.6}, 0.6)):
        for gap in evaluated(rows, measures="acc", baseline=str(path), **stated).changes.gaps:
            right = ((rows[gap.estimate.model] >= at) == (rows["y"] == 1)).mean()
            assert (gap.estimate.value, gap.rest) == pytest.approx((right, right))


def test_the_seed_reaches_the_classes_of_binned_scores():
    columns = _classes(sample(2, 300))[0]
    limits = [
        _limits(ss.evaluate(columns, truth="y", scores=["m_*"], memory="1 B", seed=k, measures="ks[r]").summary[0])
        for k in (0, 0, 1)
    ]
    assert limits[0] == limits[1] != limits[2]


def test_tables_show_adjusted_p_and_the_level(tmp_path):
    """In the tables of slices, changes and pairs, p is the adjusted one where there are several tests."""
    from scorespace.report import comparison, measures, slices
    from scorespace.results import format_p_cell

    rows = sample(12, 150)
    rows["c"] = np.random.default_rng(0).random(150)
    evaluated(sample(13, 150), measures="auc,acc@0.3").save(tmp_path / "before.json")
    ev = evaluated(rows, level=0.8, by="site", measures="auc,acc@0.3", baseline=str(tmp_path / "before.json"))
    pairs = ss.evaluate(rows, truth="y", scores=list("abc")).compare(measure="brier")
    tests = [gap.test for gap in (*ev.slices.gaps, *ev.changes.gaps)] + [one for one in pairs if not one.several]
    assert any(format_p_cell(one.p) != format_p_cell(one.p_adjusted) for one in tests)
    shown = [row[-1] for row in comparison.grid(ev.changes).rows]
    assert shown == [format_p_cell(gap.test.p_adjusted) for gap in ev.changes.gaps]
    for gap in ev.slices.gaps:
        assert slices._cells(gap)[-1] == format_p_cell(gap.test.p_adjusted)
    grid = comparison.short_grid(pairs)
    place = grid.columns.index("p adjusted")
    assert [row[place] for row in grid.rows] == [format_p_cell(one.p_adjusted, "") for one in pairs if not one.several]
    assert "80 % confidence interval" in measures.measure_blocks(ev)[0].caption
