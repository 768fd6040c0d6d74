"""Columns find their roles, or say why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scorespace.errors import ColumnError
from scorespace.io import Roles, Source, read, resolve_roles


@pytest.fixture
def credit(tmp_path: Path) -> Source:
    (tmp_path / "credit.csv").write_text("outcome,nb,tree,label,w,region,run\ngood,0.2,0.3,good,1,a,1\n")
    return read(tmp_path / "credit.csv")


SEEN = "'outcome', 'nb', 'tree', 'label', 'w', 'region', 'run'"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("nb", {"nb": "nb"}),
        (["nb", "tree"], {"nb": "nb", "tree": "tree"}),
        (("tree", "nb"), {"tree": "tree", "nb": "nb"}),
        ({"bayes": "nb", "cart": "tree"}, {"bayes": "nb", "cart": "tree"}),
        ({"a": "nb", "b": "nb"}, {"a": "nb", "b": "nb"}),
    ],
)
def test_models(credit: Source, given: Any, expected: dict[str, str]) -> None:
    found = resolve_roles(credit, truth="outcome", scores=given)
    assert found.scores == expected
    assert list(found.scores) == list(expected)
    assert resolve_roles(credit, truth="outcome", decisions=given).decisions == expected


def test_all_roles(credit: Source) -> None:
    found = resolve_roles(
        credit,
        truth="outcome",
        scores=["nb", "tree"],
        decisions="label",
        positive="bad",
        weight="w",
        group="region",
        fold="run",
        names={"nb": "bayes", "label": "rule"},
    )
    assert found == Roles("outcome", {"bayes": "nb", "tree": "tree"}, {"rule": "label"}, "w", "region", "run", "bad")
    assert list(found.columns()) == [
        ("truth", "outcome"),
        ("score", "nb"),
        ("score", "tree"),
        ("decision", "label"),
        ("weight", "w"),
        ("group", "region"),
        ("fold", "run"),
    ]


def test_a_star_in_the_name_of_a_column() -> None:
    assert resolve_roles(read({"y": [1], "nb_*": [1]}), truth="y", scores="nb_*").scores == {"nb_*": "nb_*"}


@pytest.mark.parametrize("scores", ["nb_*", {"nb": {"a": "nb_a", "b": "nb_b"}}])
def test_scores_of_several_classes(scores: object) -> None:
    found = resolve_roles(read({"y": ["a", "b"], "nb_a": [0.9, 0.2], "nb_b": [0.1, 0.8]}), truth="y", scores=scores)
    assert found.class_scores == {"nb": {"a": "nb_a", "b": "nb_b"}}
    assert found.scores == {}


def test_a_pattern_can_be_renamed() -> None:
    source = read({"y": ["a", "b"], "nb_a": [0.9, 0.2], "nb_b": [0.1, 0.8]})
    assert list(resolve_roles(source, truth="y", scores="nb_*", names={"nb_*": "bayes"}).class_scores) == ["bayes"]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"truth": "outcom", "scores": "nb"},
            f"column 'outcom' is not in credit.csv.\n  seen: {SEEN}\n  hint: did you mean 'outcome'?",
        ),
        (
            {"truth": "outcome", "scores": ["nb", "forest"]},
            f"column 'forest' is not in credit.csv.\n  seen: {SEEN}\n  hint: one of these columns",
        ),
        (
            {"truth": "outcome", "decisions": {"rule": "lable"}},
            f"column 'lable' is not in credit.csv.\n  seen: {SEEN}\n  hint: did you mean 'label'?",
        ),
        (
            {"truth": "outcome", "scores": "nb", "weight": "W"},
            f"column 'W' is not in credit.csv.\n  seen: {SEEN}\n  hint: did you mean 'w'?",
        ),
        (
            {"truth": "outcome"},
            "there is nothing to evaluate: no scores, decisions or predictions are given.\n"
            f"  seen: {SEEN}\n"
            "  hint: scores=… for numbers, decisions=… for labels, predictions=… if the truth is a number",
        ),
        (
            {"truth": "outcome", "scores": (), "decisions": ()},
            "there is nothing to evaluate: no scores, decisions or predictions are given.\n"
            f"  seen: {SEEN}\n"
            "  hint: scores=… for numbers, decisions=… for labels, predictions=… if the truth is a number",
        ),
        (
            {"truth": "outcome", "scores": "forest_*"},
            f"no column matches 'forest_*'.\n  seen: {SEEN}\n  hint: * matches the class label",
        ),
        (
            {"truth": "nb", "scores": ["nb", "tree"]},
            f"column 'nb' cannot be both truth and score.\n  seen: {SEEN}\n  hint: choose another column as score",
        ),
        (
            {"truth": "outcome", "scores": "nb", "decisions": {"rule": "nb"}},
            f"column 'nb' cannot be both score and decision.\n  seen: {SEEN}\n"
            "  hint: choose another column as decision",
        ),
        (
            {"truth": "outcome", "scores": "nb", "weight": "nb"},
            f"column 'nb' cannot be both score and weight.\n  seen: {SEEN}\n  hint: choose another column as weight",
        ),
        (
            {"truth": "outcome", "scores": ["nb", "nb"]},
            "model 'nb' is named twice.\n  seen: 'nb', 'nb'\n  hint: use a different name for each model",
        ),
        (
            {"truth": "outcome", "scores": "nb", "decisions": {"nb": "label"}},
            "model 'nb' is named twice.\n  seen: 'nb', 'nb'\n  hint: use a different name for each model",
        ),
        (
            {"truth": "outcome", "scores": ["nb", "tree"], "names": {"nb": "tree"}},
            "model 'tree' is named twice.\n  seen: 'tree', 'tree'\n  hint: use a different name for each model",
        ),
        (
            {"truth": "outcome", "scores": "nb", "names": {"tree": "cart"}},
            "names='tree' renames a column that is not a score, decision or prediction.\n"
            "  seen: 'nb'\n"
            "  hint: names={column: model}",
        ),
    ],
)
def test_what_cannot_be(credit: Source, named: dict[str, Any], message: str) -> None:
    with pytest.raises(ColumnError) as caught:
        resolve_roles(credit, **named)
    assert str(caught.value) == message


def test_predicted_numbers_have_no_positive_class():
    with pytest.raises(ColumnError) as caught:
        resolve_roles(read({"y": [1.5], "m": [2.0]}), truth="y", predictions="m", positive=1)
    assert str(caught.value) == (
        "positive=1 is a class, but predictions=… is for numeric truths.\n"
        "  hint: omit it, or use scores=… or decisions=… for classes"
    )
