"""One way to say what a page is about: in the address, on the command line, and to `evaluate`."""

import shlex
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.errors import ConditionError
from scorespace.evaluation.assemble import evaluate_data
from scorespace.server.request import NAMES, PageRequest

texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)


@settings(max_examples=30)
@given(texts, st.dictionaries(st.sampled_from(NAMES), st.lists(texts, min_size=1, max_size=3)))
def test_an_address_says_the_same_again(file, said):
    asked = PageRequest.of(file, said)
    again = parse_qs(asked.query)
    assert PageRequest.of(again["file"][0], again) == asked


def test_the_order_of_the_address_does_not_matter():
    one = PageRequest.of("a.csv", {"truth": ["y"], "score": ["b", "a"]})
    assert one == PageRequest.of("a.csv", {"score": ["b", "a", "b"], "weight": [" "], "truth": ["y"]})
    assert one.complete
    assert not PageRequest.of("a.csv", {"truth": ["y"]}).complete


def test_the_command_is_one_that_a_shell_reads_back():
    asked = PageRequest.of("my data.csv.gz", {"truth": ["y"], "score": ["nb_*", "$(rm)"], "cost-fp": ["1"]})
    words = ["scorespace", "evaluate", "my data.csv.gz", "--truth", "y", "--score", "nb_*", "--score", "$(rm)"]
    assert shlex.split(asked.command()) == [*words, "--cost-fp", "1", "--report", "my data.html"]


def test_what_evaluate_is_told():
    said = {"truth": ["y"], "decision": ["d"], "missing": ["drop"], "cost-fp": ["1"], "cost-fn": ["5"]}
    found = PageRequest.of("a.csv", {**said, "prevalence": ["0.1"]}).arguments()
    assert found["truth"] == "y"
    assert (found["scores"], found["decisions"], found["predictions"]) == ([], ["d"], [])
    assert (found["missing"], found["measures"]) == ("drop", "")
    assert found["condition"] == Condition(fp=1, fn=5, prevalence=0.1)
    assert PageRequest.of("a.csv", {"cost-under": ["2"], "cost-over": ["1"]}).condition() == Asymmetry(2, 1)
    assert PageRequest.of("a.csv", {}).condition() is None


PARAMETERS = {
    **dict.fromkeys(("positive", "score", "decision", "prediction", "weight", "group", "fold", "where", "by"), "v"),
    **{"scale": "0..10", "missing": "drop", "profile": "credit", "measures": "auc", "at": "0.3"},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_reaches_evaluate_the_command_and_python(name):
    plain = PageRequest.of("a.csv", {"truth": ["y"]})
    stated = PageRequest.of("a.csv", {"truth": ["y"], name: [PARAMETERS[name]]})
    changed = {key for key, value in stated.arguments().items() if value != plain.arguments()[key]}
    assert len(changed) == 1
    assert f"--{name} {PARAMETERS[name]}" in stated.command()
    assert f'"{PARAMETERS[name]}"' in stated.python().replace("0.3", '"0.3"')


def test_several_conditions_are_one():
    stated = PageRequest.of("a.csv", {"truth": ["y"], "where": ["age > 5", "sex = 'f'"]})
    assert stated.roles()["where"] == stated.arguments()["where"] == "(age > 5) and (sex = 'f')"


def test_a_prevalence_without_costs():
    asked = PageRequest.of("a.csv", {"truth": ["y"], "score": ["s"], "prevalence": ["0.1"]})
    found = asked.arguments()
    assert (found["prevalence"], found["condition"]) == (0.1, None)
    assert "--prevalence 0.1" in asked.command()
    compile(asked.python(), "view", "exec")
    assert asked.with_values(cost_fp="1", cost_fn="5").arguments()["prevalence"] is None
    with pytest.raises(ConditionError, match="prevalence"):
        asked.with_values(prevalence="1.5").arguments()


def test_rows_slices_and_a_file_of_costs(tmp_path):
    said = {"truth": ["y"], "score": ["s"], "where": ["age > 5"], "by": ["ward", "age(bins=4)"], "costs": ["c.csv"]}
    asked = PageRequest.of("a.csv", said)
    assert asked.files == ("a.csv", "c.csv")
    assert PageRequest.of("a.csv", {}).files == ("a.csv",)
    file = tmp_path / "c.csv"
    file.write_text(",a,b\na,0,5\nb,1,0\n")
    found = asked.arguments(str(file))
    assert (found["where"], found["by"]) == ("age > 5", ["ward", "age(bins=4)"])
    assert found["condition"] == CostMatrix(("a", "b"), [[0, 5], [1, 0]])
    with pytest.raises(ConditionError, match="given twice"):
        PageRequest.of("a.csv", {"cost-fp": ["1"], "cost-fn": ["5"]}).condition(str(file))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"cost-fp": "x"}, "--cost-fp x is no number.\n  hint: --cost-fp 1"),
        ({"cost-fp": "nan"}, "--cost-fp nan is no number.\n  hint: --cost-fp 1"),
        (
            {"prevalence": "0.2", "cost-fp": "1"},
            "the costs of both errors are needed.\n  seen: --cost-fp 1\n  hint: --cost-fp 1 --cost-fn 5",
        ),
        (
            {"cost-under": "1"},
            "--cost-under and --cost-over must be given together.\n  hint: --cost-under 2 --cost-over 1",
        ),
    ],
)
def test_costs_that_cannot_be_read(said, message):
    with pytest.raises(ConditionError) as told:
        PageRequest.of("a.csv", {name: [value] for name, value in said.items()}).condition()
    assert str(told.value) == message


def test_the_code_of_a_view_has_its_operating_point():
    stated = {"truth": ["y"], "score": ["s"], "positive": ["bad"], "where": ["a > 1", "b = 2"], "cost-fp": ["1"]}
    view = PageRequest.of("a.csv", {**stated, "cost-fn": ["5"]}).at_view({"at": "0.25", "miss": "3", "share": "10"})
    assert view.one("at") == "0.25"
    assert view.condition() == Condition(fp=1, fn=3, prevalence=0.1)
    assert "--where '(a > 1) and (b = 2)'" in view.command()
    python = view.python()
    compile(python, "view", "exec")
    assert 'settings={"where": "(a > 1) and (b = 2)", "threshold": 0.25}' in python


def test_a_second_file_is_saved_first_and_is_then_the_baseline():
    view = PageRequest.of("new.csv", {"truth": ["y"], "score": ["s"], "against": ["old.csv"]})
    first, second = view.command().split(" && ")
    assert first == "scorespace evaluate old.csv --truth y --score s --save old.json"
    assert second == "scorespace evaluate new.csv --truth y --score s --baseline old.json --report new.html"


def test_values_and_rankings_need_no_scores_of_classes(tmp_path):
    (tmp_path / "dice.csv").write_text("unet,vnet,patient\n0.9,0.8,a\n0.7,0.6,b\n0.8,0.9,c\n0.6,0.5,a\n")
    request = PageRequest.of("dice.csv", {"role": ["value:unet", "value:vnet", "group:patient"]})
    assert request.complete
    assert "--value unet --value vnet --group patient" in request.command()
    assert 'values=["unet", "vnet"], columns={"group": "patient"}' in request.python()
    ev = evaluate_data(str(tmp_path / "dice.csv"), **request.arguments())
    assert [one.value for one in ev.measures("mean")] == pytest.approx([0.75, 0.7])
    ranked = PageRequest.of("a.csv", {"truth": ["rel"], "score": ["bm25"], "query": ["q"]})
    assert "--query q" in ranked.command()
