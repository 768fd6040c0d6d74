"""Saving and loading an evaluation, and another one as its baseline."""

import json

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import ConditionError, DataError, PositiveError, ScoreSpaceError


def loans(seed, size=300, lift=1.0, labels=("bad", "good")):
    rng = np.random.default_rng(seed)
    bad = rng.random(size) < 0.3
    score = 1 / (1 + np.exp(1 - rng.normal(lift * bad, 1)))
    return {"y": np.where(bad, *labels).tolist(), "nb": score, "tree": np.round(score, 1)}


ROLES = {"truth": "y", "scores": ["nb", "tree"], "positive": "bad"}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    path = tmp_path_factory.mktemp("base") / "base.json"
    asked = {"measures": "recall@0.4, auc, cost", "condition": ss.Condition(fp=1, fn=5), "level": 0.9, "seed": 3}
    ss.evaluate(loans(1), **ROLES, **asked).save(path)
    return path


def test_it_is_loaded_as_it_was(base):
    whole = ss.evaluate(
        loans(1), **ROLES, measures="recall@0.4, auc, cost", condition=ss.Condition(fp=1, fn=5), level=0.9
    )
    found = ss.load(base)
    assert found.models.tables == whole.models.tables
    assert (found.models.rows, found.models.classes, found.models.positive) == (300, whole.models.classes, "bad")
    assert [str(one.spec) for one in found.summary] == [str(one.spec) for one in whole.summary]
    assert [one.value for one in found.summary] == [one.value for one in whole.summary]
    assert (found.level, found.seed, found.condition) == (0.9, 3, ss.Condition(fp=1, fn=5))
    assert found.sample_notes == whole.sample_notes


@pytest.mark.parametrize(
    "condition", [ss.Condition(fp=1, fn=3, prevalence=0.2), ss.CostMatrix(("bad", "good"), [[0, 5], [1, 0]])]
)
def test_conditions_come_along(condition, tmp_path):
    ss.evaluate(loans(1), **ROLES, measures="auc", condition=condition).save(tmp_path / "e.json")
    assert ss.load(tmp_path / "e.json").condition == condition


def test_the_files_of_evaluations_hold_no_case(tmp_path):
    data = loans(1) | {"id": [f"secret-{k}" for k in range(300)]}
    ss.evaluate(data, **ROLES, measures="auc").save(tmp_path / "e.json")
    assert "secret" not in (tmp_path / "e.json").read_text()


def test_every_number_beside_that_of_the_baseline(base):
    now = ss.evaluate(loans(2, lift=0.1), **ROLES, measures="auc", baseline=base)
    then = ss.load(base)
    assert [row["baseline"] for row in now.to_dict()["baseline"]["rows"]] == [
        ss.auc(one) for one in then.models.values()
    ]
    assert now.verdict.endswith(now.changes.words)
    assert "auc of nb fell by" in now.verdict
    assert ss.evaluate(loans(2), **ROLES).changes is None
    with pytest.raises(ScoreSpaceError, match="there is no baseline"):
        ss.evaluate(loans(2), **ROLES).changed("auc")


def test_thresholds_are_those_of_the_baseline_unless_stated(base):
    told = json.loads(base.read_text())["asked"]["thresholds"]
    assert told == {"nb": 0.4, "tree": 0.4}
    now = ss.evaluate(loans(2), **ROLES, baseline=str(base))
    assert {one.estimate.spec.at for one in now.changes.gaps} == {None, 0.4}
    stated = ss.evaluate(loans(2), **ROLES, measures="tpr@0.7", baseline=base)
    assert {one.estimate.spec.at for one in stated.changes.gaps} == {0.7}


def test_what_was_asked_otherwise_is_told(base):
    now = ss.evaluate(
        {**loans(2), "new": loans(2)["nb"]}, truth="y", scores=["nb", "new"], positive="bad", baseline=base
    )
    assert [one.text for one in now.changes.notes[:3]] == [
        "'tree' is not here, and compared with nothing.",
        "'new' is not in the baseline, and compared with nothing.",
        "the costs are others: fp 1, fn 5 in the baseline, none here; "
        "both samples are evaluated at those of this sample.",
    ]
    assert {one.code for one in now.changes.notes[:3]} == {"SS096"}
    assert {one.estimate.model for one in now.changes.gaps} == {"nb"}


def test_groups_and_numbers_are_saved_without_tables(tmp_path):
    rng = np.random.default_rng(0)
    data = {"y": rng.normal(size=60), "m": rng.normal(size=60)}
    ss.evaluate(data, truth="y", predictions="m", measures="mae").save(tmp_path / "n.json")
    now = ss.evaluate(data, truth="y", predictions="m", measures="mae", baseline=["mean", tmp_path / "n.json"])
    change = now.changes.gaps[0].test
    assert (change.difference, change.reason) == (0.0, "interval only: the baseline has no table")
    assert change.low < 0 < change.high
    with pytest.raises(DataError, match=r"'n.json' holds"):
        ss.load(tmp_path / "n.json")
    grouped = {**loans(1), "who": np.arange(300) // 3}
    ss.evaluate(grouped, **ROLES, group="who", measures="auc").save(tmp_path / "g.json")
    kept = json.loads((tmp_path / "g.json").read_text())
    assert kept["tables"] == {}
    assert set(kept["without_table"].values()) == {"cases are grouped, and tables do not keep groups"}
    now = ss.evaluate(grouped, **ROLES, group="who", measures="auc", baseline=tmp_path / "g.json")
    assert "no table (cases are grouped" in now.changes.notes[0].text
    assert not np.isnan(now.changes.gaps[0].test.low)


def test_some_models_may_have_tables(tmp_path):
    data = {**loans(1), "d": ["bad", "good"] * 150}
    ss.evaluate(data, **ROLES, decisions="d", measures="acc@0.5").save(tmp_path / "e.json")
    assert list(ss.load(tmp_path / "e.json").models) == ["nb", "tree", "d"]


def test_a_file_of_tables_is_a_baseline_too(tmp_path):
    ss.save_tables(ss.count_tables(loans(1), **ROLES), tmp_path / "t.parquet")
    now = ss.evaluate(loans(2), **ROLES, measures="auc", baseline=tmp_path / "t.parquet")
    assert now.changes.words.startswith(
        "Since the baseline t.parquet (p after Holm over 2 tests, intervals single): auc of nb"
    )


@pytest.mark.parametrize(
    ("given", "roles", "error", "words"),
    [
        (loans(2), {"positive": "good"}, PositiveError, "the positive class is 'good' here and 'bad' in the baseline"),
        (loans(2, labels=("bad", "fine")), {}, DataError, "the class 'fine' is not in the baseline base.json."),
        (loans(2), {"scores": {"x": "nb"}}, ScoreSpaceError, "no model here has the name of one of the baseline"),
        (loans(2), {"baseline": "absent.json"}, DataError, "'absent.json' cannot be read."),
        (loans(2), {"baseline": ["a.json", "b.json"]}, ScoreSpaceError, "two baselines are stated."),
    ],
)
def test_what_is_refused(given, roles, error, words, base):
    with pytest.raises(error) as refused:
        ss.evaluate(given, **{**ROLES, "baseline": base, **roles})
    assert words in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize(("labels", "positive"), [(("bad", "good"), "bad"), ((1, 0), None)])
def test_a_class_that_the_baseline_knows_may_be_absent(labels, positive, tmp_path):
    roles = ROLES | {"positive": positive}
    ss.evaluate(loans(1, labels=labels), **roles, measures="auc, brier").save(tmp_path / "base.json")
    now = loans(2, labels=labels)
    kept = [k for k, label in enumerate(now["y"]) if label == labels[1]]
    quiet = {name: [column[k] for k in kept] for name, column in now.items()}
    found = ss.evaluate(quiet, **roles, measures="auc, brier, fpr@0.5", baseline=tmp_path / "base.json")
    assert found.models.classes[str(labels[0])] == 0
    told = {(one.estimate.model, one.estimate.spec.name): one for one in found.changes.gaps}
    assert np.isnan(told["nb", "auc"].estimate.value)
    assert told["nb", "auc"].estimate.reason == "undefined: only one class is present"
    brier = np.mean(np.square(quiet["nb"]))
    assert told["nb", "brier"].estimate.value == pytest.approx(brier)
    before = ss.brier(ss.load(tmp_path / "base.json").models["nb"])
    assert told["nb", "brier"].test.difference == pytest.approx(brier - before)
    assert "class" in " ".join(one.text for one in found.notes if one.code == "SS001")


def test_without_a_class_nothing_is_chosen_and_costs_are_told_where_the_baseline_chose(base):
    quiet = {name: column[:40] for name, column in loans(2).items()} | {"y": ["good"] * 40}
    costs = ss.Condition(fp=1, fn=5)
    found = ss.evaluate(quiet, **ROLES, measures="cost@0.4", condition=costs, baseline=base)
    assert found.decision is None
    now = {one.estimate.model: one.estimate.value for one in found.changes.gaps}
    assert now["nb"] == np.mean(np.asarray(quiet["nb"]) >= 0.4)
    assert "cost(fp=1, fn=5)@0.4" in found.verdict
    without = ss.evaluate(quiet, **ROLES, measures="cost", condition=costs, baseline=base)
    assert {one.estimate.spec.canonical for one in without.changes.gaps} == {"cost(fp=1, fn=5)@0.4"}
    with pytest.raises(ConditionError, match="both classes"):
        _ = ss.evaluate(quiet | {"y": [0] * 40}, truth="y", scores="nb", condition=costs).verdict


def test_a_class_that_no_baseline_knows_is_still_asked_for(tmp_path):
    good = {"y": ["good"] * 30, "nb": np.linspace(0, 1, 30), "tree": np.linspace(0, 1, 30)}
    with pytest.raises(PositiveError, match="positive='bad' never occurs"):
        ss.evaluate(good, **ROLES, measures="brier")


def test_what_was_asked_is_checked_when_loaded(base, tmp_path):
    for key, value in (("measures", ["nonsense"]), ("level", "x"), ("interval", 3), ("condition", {"fp": -1, "fn": 0})):
        told = json.loads(base.read_text())
        told["asked"][key] = value
        (tmp_path / "e.json").write_text(json.dumps(told))
        with pytest.raises(DataError, match=r"'e.json' is damaged"):
            ss.load(tmp_path / "e.json")


def marks(seed, size=100):
    rng = np.random.default_rng(seed)
    ill = rng.random(size) < 0.3
    return {"y": ill.astype(int).tolist(), "m": rng.normal(ill, 1.2).tolist()}


def test_a_threshold_that_the_baseline_chose_does_not_flatter_it(tmp_path):
    roles = {"truth": "y", "scores": "m", "positive": 1, "measures": "youden, auc"}
    rows, told = [], []
    for seed in range(10):
        then = ss.evaluate(marks(seed), **roles)
        then.save(tmp_path / f"{seed}.json")
        now = ss.evaluate(marks(1000 + seed), **roles, baseline=tmp_path / f"{seed}.json")
        rows.append(now.changes.rows()[0])
        told.append(then.measures("youden")[0].value)
        assert rows[-1]["at"] == then.threshold("m")
        assert now.changes.rows()[1]["baseline"] == then.measures("auc")[0].value
    assert np.mean([row["value"] for row in rows]) - np.mean(told) < -0.1  # it seems to fall, and nothing moved
    assert abs(np.mean([row["difference"] for row in rows])) < 0.05
    assert (
        "the threshold of m was chosen on the cases of the baseline, so apparent values are too optimistic: "
        "out-of-sample values are shown instead."
    ) in [one.text for one in now.notes]


@pytest.mark.parametrize("condition", [None, ss.Condition(fp=1, fn=5)])
def test_of_a_file_of_tables_the_threshold_is_what_its_cases_would_have_chosen(tmp_path, condition):
    roles = {"truth": "y", "scores": "m", "positive": 1}
    asked = {**roles, "measures": "tpr", "condition": condition}
    ss.evaluate(marks(1), **asked).save(tmp_path / "then.json")
    ss.save_tables(ss.count_tables(marks(1), **roles), tmp_path / "then.parquet")
    as_saved, as_tables = (
        ss.evaluate(marks(2), **asked, baseline=tmp_path / f"then.{kind}").changes for kind in ("json", "parquet")
    )
    assert as_tables.rows() == as_saved.rows()
    assert [one.text for one in as_tables.notes] == [one.text for one in as_saved.notes]


def test_a_stated_threshold_was_not_chosen(tmp_path):
    roles = {"truth": "y", "scores": "m", "positive": 1, "measures": "youden@0.4"}
    then = ss.evaluate(marks(1), **roles)
    then.save(tmp_path / "then.json")
    now = ss.evaluate(marks(2), **roles, baseline=tmp_path / "then.json")
    assert now.changes.rows()[0]["baseline"] == then.measures("youden@0.4")[0].value
    assert not any("chose" in one.text for one in now.notes)


def test_at_another_prevalence_a_chosen_threshold_is_judged_on_other_cases(tmp_path):
    roles = {"truth": "y", "scores": "m", "positive": 1, "measures": "ppv, tpr, fpr"}
    ss.evaluate(marks(1), **roles).save(tmp_path / "then.json")
    asked = {"condition": ss.Condition(prevalence=0.1), "baseline": tmp_path / "then.json"}
    found = {row["measure"]: row for row in ss.evaluate(marks(2), **roles, **asked).changes.rows()}
    assert found["tpr"]["p"] is not None
    assert found["ppv"]["p"] is not None
    for side in ("baseline", "value"):
        hits, alarms = 0.1 * found["tpr"][side], 0.9 * found["fpr"][side]
        assert found["ppv"][side] == pytest.approx(hits / (hits + alarms), rel=1e-12)


def test_numbers_beside_a_baseline_of_classes(base):
    with pytest.raises(PositiveError, match="here and 'bad'"):
        ss.evaluate({"y": [1.0, 2, 3], "nb": [1.5, 2, 2]}, truth="y", predictions="nb", baseline=base)
