"""Whatever is passed to a public function ends in a result or in a ScoreSpaceError."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import scorespace as ss
from scorespace.argument_checks import _hints, check_arguments, check_type
from scorespace.errors import ScoreSpaceError

rng = np.random.default_rng(0)
Y = np.array([0, 1] * 6)
S, T = rng.random(12), rng.random(12)
DATA = {"y": Y, "s": S, "t": T, "d": (S > 0.5).astype(int), "e": (T > 0.5).astype(int)}
TABLE = ss.score_table(Y, S)
MATRIX = ss.confusion([[6, 2], [1, 3]], classes=["a", "b"])
COSTS = ss.CostMatrix(("x", "y"), [[0, 5], [1, 0]])
X = np.column_stack([S, T])
MODEL = LogisticRegression().fit(X, Y)
EVALUATION = ss.evaluate(DATA, truth="y", scores=["s", "t"], measures="auc")

# What each function is called with, before one of its arguments is made wrong; a table alone where it is not here.
CALLS = {
    "evaluate": {"data": DATA, "truth": "y", "scores": ["s", "t"]},
    "evaluate_partial_truth": {"data": DATA, "truth": "y", "scores": "s", "proxy": "d", "measures": "auc"},
    "rows_to_label": {"data": DATA, "score": "s", "measure": "auc", "budget": 20},
    "consistent_tables": {"n": 100, "numbers": {"acc": ".85", "tpr": ".80"}, "positives": 40},
    "rank_table": {"relevance": [1, 0, 2, 0], "score": [0.9, 0.4, 0.6, 0.7], "query": ["a", "a", "b", "b"]},
    "read_trec": {"runs": "absent.run", "qrels": "absent.qrels"},
    "measure": {"name": "auc", "truth": Y, "score": S},
    "compare": {"truth": [1, 0, 1, 0], "scores": {"a": [0.9, 0.4, 0.6, 0.7], "b": [0.1, 0.4, 0.6, 0.7]}},
    "decide": {"truth": [1, 0, 1, 0], "scores": [0.9, 0.4, 0.6, 0.7], "fp": 1, "fn": 5},
    "compare_counts": {"n00": 2, "n01": 4, "n10": 2, "n11": 12},
    "save_tables": {"collection": {"s": TABLE}, "path": "tables.txt"},
    "agree": {"data": DATA, "raters": {"A": ("d", "s"), "B": ("e", "t")}},
    "drift": {"before": DATA, "after": DATA, "truth": "y", "scores": "s", "replicates": 300},
    "stability": {"before": DATA, "after": DATA, "truth": "y", "scores": "s", "measures": ["psi", "auc"]},
    "monitor": {"before": DATA, "batches": {"later": DATA}, "truth": "y", "scores": "s", "replicates": 300},
    "match": {"before": DATA, "after": {"later": DATA}, "truth": "y", "scores": "s", "replicates": 300},
    "recalibrate": {"data": DATA, "truth": "y", "score": "s", "folds": 2},
    "apply_map": {"data": DATA, "map": ss.fit_map(TABLE), "score": "s"},
    "read_map": {"path": "absent.json"},
    "score_table": {"truth": Y, "score": S},
    "residual_table": {"truth": S, "predicted": T},
    "rroc_hull": {"curves": {"a": ss.rroc(ss.residual_table(S, T))}},
    "confusion": {"truth": Y, "decision": DATA["d"]},
    "class_table": {"truth": ["x", "y"], "scores": [[0.2, 0.8], [0.3, 0.7]]},
    "cases": {"truth": Y, "score": S},
    "least_cost_decisions": {"truth": ["x", "y"], "probability": [[0.2, 0.8], [0.3, 0.7]], "costs": COSTS},
    "best_threshold": {"table": TABLE, "measure": ss.f1},
    "sweep": {"table": TABLE, "measure": ss.f1},
    "chow": {"table": TABLE, "cost": 0.2},
    "iso_line": {"slope": 1.0, "fpr": 0.1, "tpr": 0.5},
    "clusters": {"data": DATA, "labels": "d", "features": ["s", "t"], "resamples": 5, "replicates": 50},
    "rules": {"data": DATA, "items": ["y", "d", "e"], "top": 2},
    "cluster_table": {"points": np.column_stack([S, T]), "labels": DATA["d"]},
    "rank_models": {"values": rng.random((6, 3)), "models": ["a", "b", "c"], "best": "high"},
    "compare_samples": {"a": TABLE, "b": TABLE},
    "paired_t": {"a": S[:10], "b": T[:10]},
    "corrected_t": {"a": S[:10], "b": T[:10]},
    "five_by_two_t": {"a": S[:10], "b": T[:10]},
    "five_by_two_f": {"a": S[:10], "b": T[:10]},
    "bayes_correlated_t": {"a": S[:10], "b": T[:10], "rope": 0.01},
    "benchmark": {"learners": "majority", "datasets": {"d": (X, Y)}, "resampling": "2", "workers": 1},
    "dataset": {"data": DATA, "target": "y"},
    "bias_of_run": {"run": "absent", "dataset": "d", "learner": "majority"},
    "bias_variance": {"truth": Y, "predictions": np.stack([Y, 1 - Y])},
    "bootstrap_632": {"training": 0.1, "left_out": 0.3},
    "bootstrap_632_plus": {"training": 0.1, "left_out": 0.3, "chance": 0.5},
    "evaluate_estimator": {"model": MODEL, "features": X, "truth": Y},
    "keep_model": {"learner": "majority", "data": (X, Y), "path": "model.skops"},
    "learning_curve": {"learner": "majority", "data": (X, Y), "resampling": "2", "sizes": [0.5, 1.0]},
    "nested_scores": {"learner": MODEL, "data": (X, Y), "resampling": "2"},
    "permute_labels": {"learner": "majority", "data": (X, Y), "resampling": "2", "permutations": 2},
}
METHODS = {
    "measures": {"model": "s"},
    "decide": {"condition": ss.Condition(1, 5)},
    "choose": {"objective": "ppv", "at_least": {"tpr": 0.5}},
    "reject": {"cost": 0.2},
    "mix": {"fpr": 0.1},
    "compare": {},
    "compare_with": {"other": EVALUATION},
    "compare_against": {"value": 0.5},
    "check": {"specs": ()},
    "threshold": {"model": "s"},
    "counts": {"model": "s"},
    "curve": {"kind": "roc", "model": "s"},
    "band": {"kind": "roc", "model": "s"},
    "calibration": {"model": "s"},
    "curves": {"kind": "roc"},
    "plot": {"kind": "roc"},
    "report": {"path": "page.txt"},
}
WRONG = {
    "a number": 3,
    "a negative": -1,
    "text": "0.9",
    "no text": "",
    "None": None,
    "True": True,
    "bytes": b"x",
    "a list": ["a"],
    "an empty list": [],
    "lists of different lengths": [[1, 2], [3]],
    "a dict": {"a": 1},
    "an object": object(),
    "a matrix": np.zeros((2, 2)),
    "a cube": np.zeros((2, 2, 2)),
    "a scalar array": np.array(3.0),
    "an empty array": np.array([]),
    "mixed": np.array(["a", None] * 6, dtype=object),
    "complex": np.array([1 + 2j] * 12),
    "NaN": np.full(12, np.nan),
    "infinite": np.full(12, np.inf),
    "nan": float("nan"),
    "inf": float("inf"),
    "beyond floats": 10**400,
    "large": np.full(12, 1e308),
    "long": [10**30] * 12,
    "a function": len,
    "a table": TABLE,
    "another table": MATRIX,
    "surrogates": np.array(["\ud800"] * 12),
    "dates": np.arange(12).astype("M8[D]"),
    "records": np.zeros(12, dtype=[("a", int)]),
    "masked": np.ma.masked_all(12),
    "a set": {1, 2},
    "a type": int,
}


def parameters(function):
    named = [each for each in inspect.signature(function).parameters.values() if each.name not in ("self", "progress")]
    return [each.name for each in named if not each.kind.name.startswith("VAR")]


def functions():
    for name in ss.__all__:
        found = getattr(ss, name)
        if inspect.isfunction(found) and name != "allow_remote":
            yield name, found


ARGUMENTS = [(name, each) for name, found in functions() for each in parameters(found)]
OF_METHODS = [(name, each) for name in METHODS for each in parameters(getattr(ss.Evaluation, name))]


def attempt(function, given):
    """The result or our own error; anything else is a failure of the test."""
    given = dict(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            places = [one.name for one in inspect.signature(function).parameters.values() if one.kind.value == 0]
            function(*(given.pop(name) for name in places if name in given), **given)
        except ScoreSpaceError as error:
            assert error.problem  # noqa: PT017
            return error
    return None


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_wrong_arguments_of_functions(name, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write where they are told
    function = getattr(ss, name)
    base = CALLS.get(name, {parameters(function)[0]: TABLE})
    for value in WRONG.values():
        attempt(function, {**base, argument: value})


@pytest.mark.parametrize(("name", "argument"), OF_METHODS)
def test_wrong_arguments_of_methods(name, argument):
    for value in WRONG.values():
        attempt(getattr(EVALUATION, name), {**METHODS[name], argument: value})


@pytest.mark.parametrize("argument", ["fp", "fn", "tp", "tn", "prevalence"])
def test_wrong_conditions(argument):
    for value in WRONG.values():
        attempt(ss.Condition, {argument: value})


@pytest.mark.parametrize("argument", ["classes", "matrix"])
def test_wrong_cost_matrices(argument):
    for value in WRONG.values():
        attempt(ss.CostMatrix, {"classes": ("a", "b"), "matrix": [[0, 1], [1, 0]], argument: value})


@pytest.mark.parametrize("name", ["auc", "f1", "brier", "kappa"])
def test_measures_of_no_table(name):
    for value in WRONG.values():
        attempt(getattr(ss, name), {"table": value})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"truth": 3}, 'truth=3 is not text.\n  seen: int\n  hint: truth="…"'),
        ({"level": "0.9"}, "level='0.9' is not a number.\n  seen: str\n  hint: level=0.9"),
        ({"seed": -1}, "seed=-1 is negative.\n  hint: a whole number ≥ 0"),
        ({"seed": True}, "seed=True is not a whole number.\n  seen: bool\n  hint: seed=1"),
        ({"measures": None}, 'measures=None is not text or a list of texts.\n  seen: NoneType\n  hint: measures="…"'),
        ({"names": ["a"]}, "names=… is not a dict of texts by texts.\n  seen: list\n  hint: names={…}"),
        ({"weight": 1.5}, 'weight=1.5 is not text.\n  seen: float\n  hint: weight="…"'),
        (
            {"condition": {"fp": 1}},
            "condition=… is not a Condition or a CostMatrix or an Asymmetry or a CaseCosts.\n  seen: dict",
        ),
        (
            {"scores": 3},
            'scores or decisions=3 is not text or a list or a dict.\n  seen: int\n  hint: scores or decisions="…"',
        ),
    ],
)
def test_what_is_said(given, message):
    error = attempt(ss.evaluate, {**CALLS["evaluate"], **given})
    assert str(error) == message


def test_what_is_said_of_the_others():
    assert str(attempt(ss.Condition, {"fp": "1"})) == "fp='1' is not a number.\n  seen: str\n  hint: fp=1"
    assert (
        str(attempt(EVALUATION.report, {"path": None}))
        == 'path=None is not text or a path.\n  seen: NoneType\n  hint: path="…"'
    )


@pytest.mark.parametrize("function", [ss.load_tables, ss.open_run])
def test_paths_that_are_none(function):
    for value in (3, b"x", [], None):
        assert " is not text or a path.\n" in str(attempt(function, {"path": value}))


def test_unknown_arguments_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        ss.audit(DATA, thruth="y")
    with pytest.raises(ScoreSpaceError, match="did you mean"):
        ss.evaluate(DATA, thruth="y")
    with pytest.raises(ScoreSpaceError, match="did you mean"):
        ss.evaluate(DATA, truth="y", scores="s", settings={"lvel": 0.9})


def test_arguments_of_version_0_1_work_with_a_warning():
    with pytest.warns(FutureWarning, match="settings"):
        before = ss.evaluate(DATA, truth="y", scores="s", level=0.9)
    now = ss.evaluate(DATA, truth="y", scores="s", settings=ss.Settings(level=0.9))
    assert before.to_dict() == now.to_dict()


def test_what_nobody_foresaw_is_still_told():
    @check_arguments
    def broken(x: float) -> float:
        return {}[x]

    with pytest.raises(ScoreSpaceError) as caught:
        broken(1.0)
    assert (
        str(caught.value) == "broken failed with these arguments.\n  seen: KeyError: 1.0\n"
        "  hint: see help(broken) for valid values"
    )
    assert isinstance(caught.value.__cause__, KeyError)


def test_numbers_of_numpy_are_numbers():
    for kind in (np.float32, np.float64, np.int64, np.uint8):
        check_type("level", kind(1), float)
    check_type("seed", np.int64(3), int)
    with pytest.raises(ScoreSpaceError):
        check_type("seed", 2.5, int)


NUMBERS = ss.residual_table(S, T)
RROC = ss.rroc(NUMBERS)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ss.roc(TABLE, fpr_high="x"),
        lambda: ss.rejection(TABLE, at="x"),
        lambda: ss.calibration(TABLE, bins="x", by="width"),
        lambda: ss.calibration(TABLE, bins=5, by="nothing"),
        lambda: ss.smooth(TABLE, midpoint=[1]),
        lambda: ss.roc(),
        lambda: ss.roc(ss.ScoreTable),
        lambda: ss.auc(ss.ScoreTable),
        lambda: ss.auc(t=TABLE),
        lambda: ss.auc(),
        lambda: ss.auc(Y, object()),
        lambda: ss.pauc(TABLE, fpr_high="x"),
        lambda: ss.Counts(-1, 2, 3, 4),
        lambda: ss.Counts(float("nan"), 2, 3, 4),
        lambda: ss.Counts("x", 2, 3, 4),
        lambda: ss.RuleTable([-1], [2], [3], [4]),
        lambda: ss.RuleTable("x", 2, 3, 4),
        lambda: ss.RuleTable([1, 2], [1, 2, 3], 3, 4),
        lambda: TABLE.at("x"),
        lambda: TABLE + 5,
        lambda: TABLE + MATRIX,
        lambda: ss.hull(TABLE).best("x"),
        lambda: ss.roc(TABLE).places("x"),
        lambda: RROC.loss([True]),
        lambda: COSTS.decide("NaN"),
    ],
)
def test_options_constructors_and_methods_refuse_what_they_cannot_use(call):
    with pytest.raises(ScoreSpaceError):
        call()


def test_every_annotation_of_what_users_call_can_be_read():
    """One that is imported for type checkers alone would leave all arguments of its function unchecked."""
    public = [getattr(ss, name) for name in ss.__all__]
    methods = [member for name, member in vars(ss.Evaluation).items() if not name.startswith("_")]
    for function in filter(inspect.isfunction, (*public, *methods)):
        own = inspect.unwrap(function)
        assert {*_hints(own)} == {*own.__annotations__} - {"return"}, own.__qualname__
