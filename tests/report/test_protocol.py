"""What a page asks of an evaluation, and the sample in a line."""

import scorespace as ss
from scorespace.report.document import Text
from scorespace.report.protocol import EvaluationView, ResultsView, facts, leading_model, model_sentences


def test_an_evaluation_answers_all_that_pages_ask():
    asked = [name for name in (*vars(ResultsView), *vars(EvaluationView)) if not name.startswith("_")]
    assert {"models", "summary", "verdict", "operating"} <= set(asked)
    assert [name for name in asked if not hasattr(ss.Evaluation, name) and name not in _fields()] == []


def _fields():
    return set(ss.Evaluation.__dataclass_fields__)


def test_the_sample_in_a_line():
    data = {"y": ["a", "b", "b", "b"], "s": [0.9, 0.2, 0.3, 0.4], "w": [2, 1, 1, 1]}
    two = ss.evaluate(data, truth="y", scores="s", positive="a").models
    assert facts(two) == "4 cases   positive = a (1, 25.0 %)   negative = b (3)"
    weighted = ss.evaluate(data, truth="y", scores="s", positive="a", weight="w").models
    assert facts(weighted) == "4 rows   total weight 5   positive = a (2, 40.0 %)   negative = b (3)"
    numbers = ss.evaluate({"y": [1.0, 2, 4], "p": [1.5, 2, 3]}, truth="y", predictions="p").models
    assert facts(numbers) == "3 cases"


def test_one_class_alone_has_no_negative_to_name():
    one = ss.evaluate({"y": ["a", "a"], "d": ["a", "a"]}, truth="y", decisions="d", positive="a")
    assert facts(one.models) == "2 cases   positive = a (2, 100.0 %)"


class Opened:
    """As much of an evaluation as says which model a page opens with."""

    class operating:  # noqa: N801
        start = 1
        models = (type("One", (), {"name": "a"}), type("One", (), {"name": "c"}))


def test_few_models_have_a_sentence_each_and_of_many_one_the_others_folded():
    words = {name: f"{name} is good." for name in "abcd"}
    few = {name: words[name] for name in "abc"}
    assert model_sentences(Opened, few) == (Text("a is good. b is good. c is good."), [])
    rest = [Text(f"{name} is good.", folded="The other 3 models") for name in "abd"]
    assert model_sentences(Opened, words) == (Text("c is good."), rest)
    assert leading_model(Opened, ["x", "y"]) == "x"
