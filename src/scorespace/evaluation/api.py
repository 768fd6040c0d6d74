"""Public functions that evaluate data, tables, runs and estimators, and compute one measure by name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scorespace import io
from scorespace.case_costs import CaseCosts, Rule, case_costs_from_flags
from scorespace.comparisons import mcnemar
from scorespace.comparisons.margin import MarginKind
from scorespace.comparisons.result import Comparisons
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.decisions import CaseCostDecision, Decision
from scorespace.errors import DataError, ScoreSpaceError, listing
from scorespace.evaluation import baseline as saving
from scorespace.evaluation.assemble import evaluate_data, specs_of
from scorespace.evaluation.evaluation import Evaluation
from scorespace.evaluation.options import Columns, Settings, as_options, former_options
from scorespace.experiments import estimators, store
from scorespace.inference.estimate import check_level, check_method
from scorespace.io.saved_evaluations import read_saved_evaluation
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.profiles import find_profile
from scorespace.results import Alternative, note
from scorespace.tables import Table, confusion, residual_table, score_table
from scorespace.tables.array_tables import table_of_arrays
from scorespace.tables.labels import to_array
from scorespace.tables.models import models_from_tables


def evaluate(
    data: Any = None,
    *arrays: Any,
    truth: str | None = None,
    scores: Any = (),
    decisions: Any = (),
    predictions: Any = (),
    values: Any = (),
    positive: Any = None,
    measures: str | Sequence[str] = (),
    condition: Condition | CostMatrix | Asymmetry | CaseCosts | None = None,
    by: str | Sequence[str] = (),
    cost_fp: Any = None,
    cost_fn: Any = None,
    cost_tp: Any = None,
    cost_tn: Any = None,
    columns: Columns | Mapping[str, Any] | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    **former: Any,
) -> Evaluation:
    """Evaluate models from their scores, decisions or predicted values.

    Parameters
    ----------
    data : path, data frame, mapping of arrays, or array_like
        A file (CSV, Parquet, JSON, Arrow), a frame of pandas, polars, pyarrow or Spark, or arrays by name. With
        `arrays`, the ground truth itself.
    *arrays : array_like or mapping
        The predictions, when `data` is the ground truth: ``evaluate(y, {"lr": p})``. Of the result of scikit-learn's
        `cross_validate`, X and y.
    truth : str, optional
        Column of the ground truth.
    scores, decisions, predictions : str, sequence of str, or mapping of name to column
        Columns of scores, of class decisions, and of predicted values in regression, one per model.
    values : str, sequence of str, or mapping of name to column or array
        Instead of truth and predictions: columns of one number per case that was computed elsewhere, one per model.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    measures : str or sequence of str, optional
        Which measures, such as ``"auc, ppv@0.5"``; without them, the default ones of each kind of model.
    condition : Condition, CostMatrix, Asymmetry or CaseCosts, optional
        Costs and prevalence where the models are used.
    by : str or sequence of str, optional
        Columns that make slices: ``"sex"``, ``"age(bins=4)"``; ``"sex*age"`` crosses two.
    cost_fp, cost_fn, cost_tp, cost_tn : float, str or array_like, optional
        Costs of the four outcomes instead of `condition`: a number, or the column, or the array, of a cost for each
        case. Gains are negative.
    columns : Columns or mapping, optional
        Roles of further columns, such as ``{"group": "patient", "weight": "w"}``.
    settings : Settings or mapping, optional
        How to compute, such as ``{"level": 0.9, "seed": 1, "where": "age >= 65"}``.
    **former
        Keywords of version 0.1, which work until 0.3 with a warning.

    Returns
    -------
    Evaluation
        Measures with confidence intervals, curves, comparisons, decisions, notes and a verdict.

    See Also
    --------
    evaluate_tables, evaluate_run, evaluate_estimator

    Examples
    --------
    >>> evaluate({"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}, truth="y", scores="s").measures("auc")
    s auc 0.750 [0.133, 0.983]
    """
    if len(arrays) == 1:
        _refuse_swapped(data, arrays[0])
    grouped = {**as_options(columns, Columns), **as_options(settings, Settings), **former_options(former)}
    sides = {"fp": cost_fp, "fn": cost_fn, "tp": cost_tp, "tn": cost_tn}
    condition, cost_arrays = _with_costs(condition, sides)
    reading = {name: grouped.pop(name) for name in ("sheet", "header") if name in grouped}
    with io.reading(**reading):
        return evaluate_data(
            data,
            *arrays,
            truth=truth,
            scores=scores,
            decisions=decisions,
            predictions=predictions,
            values=values,
            positive=positive,
            measures=measures,
            condition=condition,
            by=by,
            cost_arrays=cost_arrays,
            **grouped,
        )


def _with_costs(condition: Any, sides: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The operating condition, with costs that are stated one by one, and the arrays of costs by column."""
    stated = {name: value for name, value in sides.items() if value is not None}
    if not stated:
        return condition, {}
    if condition is not None:
        raise ScoreSpaceError("costs are stated twice.", seen=f"condition and {listing(stated)}", hint="one of them")
    arrays = {f"cost_{name}": value for name, value in stated.items() if not isinstance(value, str | float | int)}
    costs: dict[str, Any] = {
        name: f"cost_{name}" if f"cost_{name}" in arrays else value for name, value in stated.items()
    }
    found: Any = CaseCosts if any(isinstance(value, str) for value in costs.values()) else Condition
    if found is Condition and not {"fp", "fn"} <= costs.keys():
        raise ScoreSpaceError("the costs of both errors are needed.", seen=listing(costs), hint="cost_fp=1, cost_fn=5")
    return found(**costs), arrays


def _refuse_swapped(truth: Any, predictions: Any) -> None:
    """Refuse a truth that looks like scores beside scores that look like labels."""
    if isinstance(predictions, Mapping):
        return
    labels, scores = to_array(predictions), to_array(truth)
    if scores.dtype.kind != "f" or scores.ndim != 1 or labels.ndim != 1 or labels.size != scores.size:
        return
    if len(set(labels.tolist())) == 2 and ((scores >= 0) & (scores <= 1)).all() and (scores % 1 != 0).any():
        raise ScoreSpaceError(
            "the first argument looks like scores, and the second like the truth.",
            seen=f"{scores[0]:g}, … and {labels.tolist()[0]!r}, …",
            hint="evaluate(truth, scores)",
        )


def compare(
    truth: Any,
    scores: Any,
    *,
    measure: str | Sequence[str] | None = None,
    test: str | None = None,
    at: float | None = None,
    positive: Any = None,
    alternative: Alternative = "two-sided",
    adjust: str = "holm",
    margin: float | None = None,
    margin_kind: MarginKind | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Comparisons:
    """Test whether models differ on the same cases.

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        Actual classes or numbers.
    scores : mapping of str to array_like
        Scores, labels or predicted values of each model.
    measure : str or sequence of str, optional
        What is compared, such as ``"ppv@0.3"`` or ``"auc, f1@0.5"``; the AUC of scores, the accuracy of decisions by
        default.
    test : str, optional
        Name of the test, such as "delong"; the default depends on the measure.
    at : float, optional
        Compare decisions at this threshold.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    alternative : {"two-sided", "greater", "less"}
        Whether the first model of a pair differs, has the greater, or has the lesser value.
    adjust : {"holm", "hochberg", "bonferroni", "finner", "shaffer"}
        Adjustment of the p-values for multiple comparisons.
    margin : float, optional
        Margin in the units of the measure: test that the first model of a pair is not worse by more, instead of whether
        both are equal.
    margin_kind : {"noninferior", "equivalent"}, optional
        Test non-inferiority (default), or that both differ by less than the margin.
    level : float
        Confidence level of the intervals.
    seed : int
        Seed of the bootstrap and of permutations.

    Returns
    -------
    Comparisons
        Differences with confidence intervals and p-values.

    References
    ----------
    DeLong, E. R., DeLong, D. M., & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated
    receiver operating characteristic curves: a nonparametric approach. Biometrics, 44(3), 837-845.

    Examples
    --------
    >>> truth, a, b = [1, 0, 1, 0, 1, 0], [0.9, 0.2, 0.8, 0.4, 0.7, 0.1], [0.6, 0.5, 0.4, 0.7, 0.8, 0.3]
    >>> found = compare(truth, {"a": a, "b": b})
    >>> round(found[0].difference, 3)
    0.333
    """
    evaluation = evaluate(truth, scores, positive=positive, settings={"level": level, "seed": seed, "paired": True})
    asked: dict[str, Any] = {"alternative": alternative, "adjust": adjust, "margin": margin, "margin_kind": margin_kind}
    return evaluation.compare(test=test, measure=measure, at=at, **asked)


def decide(
    truth: Any,
    scores: Any,
    *,
    fp: Any,
    fn: Any,
    tp: Any = 0.0,
    tn: Any = 0.0,
    prevalence: float | None = None,
    positive: Any = None,
    rule: Rule | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Decision | CaseCostDecision:
    """Choose the model and threshold of minimum expected cost.

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        Actual classes.
    scores : array_like or mapping of str to array_like
        Scores of one model, or of each model by name.
    fp, fn, tp, tn : float or array_like
        Costs of a false positive, false negative, true positive and true negative, the same for all cases or one for
        each; gains are negative.
    prevalence : float, optional
        Share of positives where the model will be used; that of the sample by default.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    rule : {"score", "casewise", "expected_gain"}, optional
        For costs per case: act by a threshold of the score (default), or by the expected gain.
    level : float
        Confidence level of the intervals.
    seed : int
        Seed of the bootstrap and of the folds.

    Returns
    -------
    Decision or CaseCostDecision
        The choice with its cross-fitted cost, and the alternatives; the second for costs per case.

    References
    ----------
    Provost, F., & Fawcett, T. (2001). Robust classification for imprecise environments. Machine Learning, 42,
    203-231.

    Examples
    --------
    >>> decide([1, 0, 1, 0] * 20, [0.9, 0.4, 0.6, 0.7] * 20, fp=1, fn=5).best.threshold
    0.6
    """
    sides = {"fp": fp, "fn": fn, "tp": tp, "tn": tn}
    settings: dict[str, Any] = {"level": level, "seed": seed, "paired": True}
    condition, arrays = _with_costs(None, sides)
    if isinstance(condition, CaseCosts):
        flags = {f"cost-{name}": getattr(condition, name) for name in sides} | {"prevalence": prevalence}
        by_case = case_costs_from_flags(flags, rule)
        evaluated = evaluate_data(
            truth, scores, positive=positive, condition=by_case, cost_arrays=arrays, **settings
        ).decide()
    else:
        case_costs_from_flags({}, rule)
        condition = Condition(**sides, prevalence=prevalence)
        evaluated = evaluate(truth, scores, positive=positive, settings=settings).decide(condition)
    assert isinstance(evaluated, Decision | CaseCostDecision)
    return evaluated


def evaluate_tables(
    tables: Mapping[str, Table] | str | os.PathLike[str],
    *,
    measures: str | Sequence[str] = (),
    condition: Condition | CostMatrix | Asymmetry | CaseCosts | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
) -> Evaluation:
    """Evaluate models of which the tables are known, such as confusion matrices or merged counts.

    Parameters
    ----------
    tables : mapping of str to Table, or path
        The table of each model, or the file that `save_tables` wrote.
    measures : str or sequence of str, optional
        Which measures; without them, the default ones.
    condition : Condition, CostMatrix, Asymmetry or CaseCosts, optional
        Costs and prevalence where the models are used.
    settings : Settings or mapping, optional
        How to compute.

    Returns
    -------
    Evaluation
        The evaluation of these tables; without cases, models are not compared case by case.

    Examples
    --------
    >>> from scorespace.tables import confusion
    >>> table = confusion([1, 1, 0, 0], [1, 0, 0, 0], positive=1)
    >>> evaluate_tables({"rule": table}).measures("acc")[0].value
    0.75
    """
    return evaluate_data(tables, measures=measures, condition=condition, **as_options(settings, Settings))


def evaluate_run(
    run: Any,
    dataset: str | None = None,
    *,
    learners: str | Sequence[str] = (),
    positive: Any = None,
    measures: str | Sequence[str] = (),
    condition: Condition | CostMatrix | Asymmetry | CaseCosts | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
) -> Evaluation:
    """Evaluate the learners of a benchmark run on one of its data sets.

    Parameters
    ----------
    run : Run or path
        A run or its directory, made by `benchmark`.
    dataset : str, optional
        One of its data sets; needed where there are several.
    learners : str or sequence of str, optional
        Which learners; all without it.
    positive : object, optional
        The positive class.
    measures : str or sequence of str, optional
        Which measures; without them, the default ones.
    condition : Condition, CostMatrix, Asymmetry or CaseCosts, optional
        Costs and prevalence where the models are used.
    settings : Settings or mapping, optional
        How to compute.

    Returns
    -------
    Evaluation
        The evaluation of out-of-fold predictions.

    Examples
    --------
    >>> evaluate_run("runs/none")
    Traceback (most recent call last):
    scorespace.errors.DataError: ...
    """
    stated: dict[str, Any] = {"dataset": dataset, "scores": learners, "positive": positive}
    opened = store.open_run(run) if isinstance(run, str | os.PathLike) else run
    return evaluate_data(opened, **stated, measures=measures, condition=condition, **as_options(settings, Settings))


def evaluate_estimator(model: Any, features: Any, truth: Any, /, *, positive: Any = None, **options: Any) -> Evaluation:
    """Evaluate fitted scikit-learn estimators on data that they were not fitted to.

    Uses `predict_proba`, else `decision_function`, else `predict`; of regressors `predict`.

    Parameters
    ----------
    model : estimator or mapping of str to estimator
        One fitted estimator, or several by name.
    features : array_like of shape (n_cases, n_features)
        Features of the test cases.
    truth : array_like of shape (n_cases,)
        Actual classes or numbers.
    positive : object, optional
        The positive class.
    **options
        Further options, as in `evaluate`: ``measures="auc, brier"``.

    Returns
    -------
    Evaluation
        The evaluation of the predictions.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> evaluate_estimator(model, [[0], [1], [2], [3]], [0, 1, 0, 1]).measures("auc")[0].value
    0.75
    """
    given = estimators.columns_of_estimators(model, features, truth, positive)
    return evaluate_data(given.columns, positive=positive, **given.roles, **options)


def compare_counts(
    n00: int,
    n01: int,
    n10: int,
    n11: int,
    *,
    names: tuple[str, str] = ("a", "b"),
    test: str | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
) -> Comparisons:
    """Compare two models by counts of correct and wrong decisions (McNemar's test).

    Parameters
    ----------
    n00, n01, n10, n11 : int
        Cases that both get wrong, only the first gets right, only the second gets right, and both get right.
    names : (str, str)
        Names of the models.
    test : str, optional
        Form of the test, such as "mcnemar(method=exact)".
    alternative : {"two-sided", "greater", "less"}
        Whether the first model differs, is better, or is worse.
    level : float
        Confidence level of the difference of accuracies.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Comparisons
        The difference of accuracies with its confidence interval and p-value.

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika, 12(2), 153-157.

    Examples
    --------
    >>> found = compare_counts(20, 40, 20, 120)[0]
    >>> round(found.difference, 3), round(found.statistic, 3)
    (0.1, 6.017)
    """
    table = mcnemar.decisions_from_counts((n00, n01, n10, n11), names)
    found = evaluate_data(table, truth="truth", decisions=list(names), paired=True, level=level, seed=seed)
    return found.compare(test=test, alternative=alternative)


def load(path: str | os.PathLike[str]) -> Evaluation:
    """Load a saved evaluation, with the models whose tables the file holds.

    The file holds no cases, so models cannot be compared on the same cases. Of grouped cases, regression and
    multiclass scores it holds results only, which serve as a baseline.

    Parameters
    ----------
    path : path
        The file that `Evaluation.save` or `--save` wrote.

    Returns
    -------
    Evaluation
        The evaluation.

    Examples
    --------
    >>> load("none.json")
    Traceback (most recent call last):
    scorespace.errors.DataError: ...
    """
    saved = read_saved_evaluation(path)
    if not saved.tables:
        name, why = next(iter(saved.without.items()), ("any model", "no models"))
        raise DataError(
            f"{saved.name!r} holds the numbers of {name}, and no table.", seen=why, hint=f'baseline="{saved.name}"'
        )
    asked = saved.asked
    try:
        specs = specs_of([str(one) for one in asked["measures"]])
        level, seed, interval = float(asked["level"]), int(asked["seed"]), check_method(asked["interval"])
        prevalence, threshold = (
            None if asked.get(name) is None else float(asked[name]) for name in ("prevalence", "threshold")
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{saved.name!r} is damaged.", seen=f"wrong: {error}", hint="save it again") from None
    check_level(level)
    held = replace(models_from_tables(saved.tables, str(asked.get("data", saved.name))), rows=saved.rows)
    notes = [*saved.notes]
    notes += [note("SS096", f"{name} was not saved with its table: {why}.") for name, why in saved.without.items()]
    return Evaluation(
        held,
        level,
        seed,
        interval,
        specs,
        saving.condition_of(saved),
        sample_notes=tuple(notes),
        profile=find_profile(asked.get("profile")),
        full=bool(asked.get("full")),
        stated_threshold=threshold,
        stated_prevalence=prevalence,
    )


def measure(
    name: str,
    *,
    truth: Any,
    score: Any = None,
    decision: Any = None,
    prediction: Any = None,
    positive: Any = None,
    weight: Any = None,
) -> float:
    """Compute one measure from arrays.

    Parameters
    ----------
    name : str
        The measure, such as "auc" or "ppv@0.5".
    truth : array_like of shape (n_cases,)
        Actual classes or numbers.
    score : array_like or mapping of class to array_like, optional
        Scores of shape (n_cases,), or multiclass scores of shape (n_cases, n_classes).
    decision : array_like, optional
        Predicted classes.
    prediction : array_like, optional
        Predicted numbers.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    weight : array_like, optional
        Case weights.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> measure("auc", truth=[1, 0, 1, 0], score=[0.9, 0.4, 0.6, 0.7])
    0.75
    """
    if sum(given is not None for given in (score, decision, prediction)) != 1:
        raise ScoreSpaceError("state one of score, decision and prediction.", hint='measure("auc", truth=y, score=s)')
    if prediction is not None:
        return bind(parse(name), residual_table(truth, prediction, weight=weight)).value
    if score is not None and (isinstance(score, Mapping) or to_array(score).ndim == 2):
        table = table_of_arrays(truth, score, positive=positive, weight=weight)
    elif score is not None:
        table = score_table(truth, score, positive=positive, weight=weight)
    else:
        table = confusion(truth, decision, positive=positive, weight=weight)
    return bind(parse(name), table).value
