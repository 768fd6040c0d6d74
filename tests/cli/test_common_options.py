"""Groups of options: every option of a group is one of the verb, and costs are put together."""

from inspect import signature
from typing import Annotated

import numpy as np
import pytest

from scorespace.cli.common_options import CostOptions, DataOptions, expand_option_groups
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.errors import ScoreSpaceError


def told(ask):
    with pytest.raises(ScoreSpaceError) as caught:
        ask()
    return f"{type(caught.value).__name__}: {caught.value}"


def test_a_group_is_spelt_out_and_put_together_again():
    def verb(
        given: Annotated[DataOptions, {"fold"}],
        own: Annotated[int, "its own"],
        stakes: Annotated[CostOptions, {"costs"}],
    ) -> tuple[DataOptions, int, CostOptions]:
        """What it does."""
        return given, own, stakes

    made = expand_option_groups(verb)
    names = list(signature(made).parameters)
    assert names == [
        *(name for name in DataOptions._fields if name != "fold"),
        "own",
        *(name for name in CostOptions._fields if name != "costs"),
    ]
    assert made.__doc__ == "What it does."
    values = dict.fromkeys(names) | {"truth": "y", "own": 3, "slope": 2.0}
    given, own, stakes = made(**values)
    assert (given.truth, given.fold, own, stakes.slope, stakes.costs) == ("y", None, 3, 2.0, None)


def test_costs_as_flags_or_as_a_file(tmp_path):
    assert CostOptions().condition() is None
    assert CostOptions(1, 5, None, -2, 0.3).condition() == Condition(fp=1, fn=5, tn=-2, prevalence=0.3)
    assert CostOptions(cost_under=2, cost_over=1).condition() == Asymmetry(2, 1)
    file = tmp_path / "costs.csv"
    file.write_text(",a,b\na,0,5\nb,1,0\n")
    assert CostOptions(costs=file).condition() == CostMatrix(("a", "b"), np.array([[0, 5], [1, 0]]))
    for given, seen in [
        (CostOptions(1), "--cost-fp 1"),
        (CostOptions(None, 5, 2, None, 0.3), "--cost-fn 5, --cost-tp 2"),
        (CostOptions(prevalence=0.3), "--prevalence 0.3"),
    ]:
        assert told(lambda given=given: given.condition()) == (
            f"ConditionError: the costs of both errors are needed.\n  seen: {seen}\n  hint: --cost-fp 1 --cost-fn 5"
        )
    assert told(lambda: CostOptions(1, 5, costs=file).condition()) == (
        "ConditionError: costs are given twice.\n  hint: either --costs FILE.csv or --cost-fp and --cost-fn"
    )
    assert told(lambda: CostOptions(cost_under=2).condition()) == (
        "ConditionError: --cost-under and --cost-over must be given together.\n  hint: --cost-under 2 --cost-over 1"
    )
    assert told(lambda: CostOptions(1, 5, cost_under=2, cost_over=1).condition()) == (
        "ConditionError: costs of classification and of regression cannot be combined.\n"
        "  hint: --cost-under 2 --cost-over 1"
    )


def test_a_slope_stands_for_all_of_them(tmp_path):
    assert CostOptions(slope=2).condition() is None
    for beside in (CostOptions(1, slope=2), CostOptions(prevalence=0.3, slope=2), CostOptions(costs=tmp_path, slope=2)):
        assert told(lambda beside=beside: beside.condition()) == (
            "ConditionError: --slope replaces the costs and the prevalence.\n"
            "  hint: either --slope 2, or --cost-fp 1 --cost-fn 5"
        )


def test_allow_remote_ends_with_its_command():
    """Commands run in one process (tests, plug-ins) do not leave downloads allowed."""
    from typer.testing import CliRunner

    from scorespace.cli import app
    from scorespace.io import paths

    for words in (["audit", "absent.csv", "--allow-remote"], ["evaluate", "--allow-remote", "absent.csv"]):
        CliRunner().invoke(app, words)
        assert not paths._remote_allowed.get()


@pytest.mark.parametrize(
    "verb",
    [
        ["evaluate"],
        ["compare"],
        ["decide", "--cost-fp", "1", "--cost-fn", "5"],
        ["curve", "--kind", "roc"],
        ["drift", "credit.csv"],
        ["calibrate", "--method", "platt"],
        ["table", "--out", "tables.parquet"],
    ],
    ids=lambda verb: verb[0],
)
def test_scores_separated_by_commas_are_scores_one_by_one(run, credit, verb):
    arguments = [verb[0], credit[0], *verb[1:], *credit[1:]]
    together = run(*arguments, "--score", "naive_bayes,tree")
    apart = run(*arguments, "--score", "naive_bayes", "--score", "tree")
    assert (together.code, together.out) == (0, apart.out)


def test_cases_of_one_model_only(run, credit):
    refused = run("cases", *credit, "--score", "naive_bayes,tree")
    assert (refused.code, "one model" in refused.err) == (2, True)
