"""Lookup of measures and the grammar that names them."""

import math

import pytest

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.measures import find, measures, parse, parse_list
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.measure import MEASURES
from scorespace.measures.request import bind


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("auc", MeasureSpec("auc")),
        ("pauc(fpr_high=0.2, corrected=true)", MeasureSpec("pauc", (("fpr_high", 0.2), ("corrected", True)))),
        ("pauc(tpr_low=0.8)", MeasureSpec("pauc", (("tpr_low", 0.8),))),
        ("ppv@0.5", MeasureSpec("ppv", at=0.5)),
        ("fbeta(beta=2)@0.31", MeasureSpec("fbeta", (("beta", 2.0),), at=0.31)),
        ("f1[macro]", MeasureSpec("f1", of="macro")),
        ("tpr[big]", MeasureSpec("tpr", of="big")),
        ("cost(fp=1, fn=20)@0.5", MeasureSpec("cost", (("fp", 1.0), ("fn", 20.0)), at=0.5)),
        ("Precision @ 0.5", MeasureSpec("ppv", at=0.5)),
        ("ROC-AUC", MeasureSpec("auc")),
        ("ppv@inf", MeasureSpec("ppv", at=math.inf)),
        ("ppv@-1e-3", MeasureSpec("ppv", at=-0.001)),
        ('tpr["a,b]"]@0.5', MeasureSpec("tpr", of="a,b]", at=0.5)),
        ('tpr["a,b"] @ 0.5', MeasureSpec("tpr", of="a,b", at=0.5)),
        ("h(prior=symmetric)", MeasureSpec("h", (("prior", "symmetric"),))),
    ],
)
def test_parse(text, spec):
    assert parse(text) == spec


def test_options_are_written_in_the_order_of_the_declaration():
    assert str(parse("cost(fn=20, fp=1)@0.50")) == "cost(fp=1, fn=20)@0.5"


def test_label_leaves_class_and_threshold_out():
    assert parse("fbeta(beta=2)[bad]@0.5").label == "fbeta(beta=2)"


def test_lists_are_separated_by_commas_outside_of_brackets():
    found = parse_list('auc, cost(fp=1, fn=2)@0.5, tpr["a, b"],')
    assert found == [parse("auc"), parse("cost(fp=1, fn=2)@0.5"), MeasureSpec("tpr", of="a, b")]


def test_an_empty_list():
    assert parse_list("  ") == []


@pytest.mark.parametrize("text", ["auc[acc", "auc(acc", "auc, f1[macro, acc", "fbeta(beta=2, acc"])
def test_an_open_bracket_in_a_list_is_refused(text):
    with pytest.raises(MeasureError):
        parse_list(text)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(MeasureError) as caught:
        find("presicion")
    assert str(caught.value) == "there is no measure 'presicion'.\n  hint: did you mean precision?"


def test_an_unknown_name_near_to_nothing():
    with pytest.raises(MeasureError) as caught:
        find("xyzzy")
    assert str(caught.value) == "there is no measure 'xyzzy'.\n  hint: scorespace measures lists them all"


@pytest.mark.parametrize("text", ["", "auc(", "auc)", "ppv@", "ppv@0.5@0.6", "f1[macro", "f1[a][b]", "a b"])
def test_text_that_is_no_measure(text):
    with pytest.raises(MeasureError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "auc)",
            "the measure 'auc)' cannot be parsed.\n"
            "  hint: NAME(option=value)[class]@threshold, such as fbeta(beta=2)@0.5",
        ),
        ("f1[ ]", "'f1[ ]' has empty brackets.\n  hint: f1[macro], for example"),
        ("fbeta(beta)", "the option 'beta' of 'fbeta(beta)' has no value.\n  hint: beta=VALUE"),
        (
            "fbeta(beta=two)",
            "beta=two in 'fbeta(beta=two)' is not a number.\n  hint: beta=1: weight of recall relative to precision",
        ),
        (
            "pauc(corrected=yes)",
            "corrected=yes in 'pauc(corrected=yes)' is not true or false.\n"
            "  hint: corrected=false: standardised (McClish 1989): 0.5 for chance and 1 for perfect",
        ),
        (
            "ppv@half",
            "the threshold 'half' in 'ppv@half' is not a number.\n  hint: such as @0.5, @inf, @top200 or @top10%",
        ),
        (
            "ppv@nan",
            "the threshold 'nan' in 'ppv@nan' is not a number.\n  hint: such as @0.5, @inf, @top200 or @top10%",
        ),
        ("fbeta(b=2)", "fbeta has no option 'b'.\n  seen: its options: 'beta'\n  hint: one of these"),
    ],
)
def test_message(text, message):
    with pytest.raises(MeasureError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_an_option_stated_twice_is_refused():
    with pytest.raises(MeasureError):
        parse("fbeta(beta=1, beta=2)")


SYNONYMS = {
    "tp": "hit, hits, true positives",
    "fp": "false alarm, type I error, type 1 error, overestimation",
    "fn": "miss, type II error, underestimation",
    "tn": "correct rejection",
    "tpr": "recall, sensitivity, SEN, hit rate, probability of detection, TP rate",
    "fpr": "fall-out, probability of false alarm, false alarm rate, type I error rate",
    "tnr": "specificity, SPC",
    "fnr": "miss rate, type II error rate",
    "fomr": "FOR, false omission rate",
    "ppv": "precision",
    "acc": "accuracy",
    "auc": "roc_auc, AUROC",
    "p": "P, positives",
    "n": "N, negatives",
    "pp": "PP, predicted positives",
    "pn": "PN, predicted negatives",
    "mean_score": "average probability, mean score",
    "rank_sum": "rank sum, Wilcoxon rank sum",
}


@pytest.mark.parametrize(("name", "synonyms"), SYNONYMS.items())
def test_every_synonym_of_the_field(name, synonyms):
    for synonym in synonyms.split(", "):
        assert find(synonym).name == name
        assert parse(synonym) == MeasureSpec(name)


def test_a_measure_keeps_the_name_that_was_asked_for():
    asked = parse("Recall[bad]@0.50")
    assert (str(asked), asked.canonical, repr(asked)) == (
        "Recall[bad]@0.5",
        "tpr[bad]@0.5",
        "MeasureSpec(name='tpr', options=(), of='bad', at=0.5)",
    )
    assert asked == parse("tpr[bad]@0.5")
    assert hash(asked) == hash(parse("tpr[bad]@0.5"))
    assert parse(str(asked)) == asked == parse(asked.canonical)


# --- operating points by rank


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ppv@top10%", "ppv@top10%"),
        ("tpr@top200", "tpr@top200"),
        ("lift@top1%", "lift@top1%"),
        ("fbeta(beta=2)[bad] @ TOP 2.5 %", "fbeta(beta=2)[bad]@top2.5%"),
    ],
)
def test_operating_points_by_rank_are_read_and_written(text, written):
    assert str(parse(text)) == written
    assert parse(written) == parse(text)
    assert hash(parse(written)) == hash(parse(text))


@pytest.mark.parametrize("point", ["top", "top0", "top-3", "top101%", "topx", "top1e400", "top%"])
def test_a_rank_that_names_no_cases(point):
    with pytest.raises(MeasureError) as found:
        parse(f"ppv@{point}")
    assert str(found.value) == (
        f"{point!r} in 'ppv@{point}' selects no cases.\n  hint: @top200 for a number of cases, @top10% for a share"
    )


def test_a_threshold_that_is_none():
    with pytest.raises(MeasureError) as found:
        parse("ppv@high")
    assert str(found.value) == (
        "the threshold 'high' in 'ppv@high' is not a number.\n  hint: such as @0.5, @inf, @top200 or @top10%"
    )


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("f2", "fbeta(beta=2)"),
        ("Hand-Till", "auc[hand_till]"),
        ("quadratic weighted kappa", "kappa(weights=quadratic)"),
        ("precision_at_10", "precision@top10"),
        ("Recall at 200", "recall@top200"),
        ("f1_macro", "f1[macro]"),
        ("Macro-F1", "f1[macro]"),
        ("weighted precision", "precision[weighted]"),
        ("roc_auc_macro", "roc_auc[macro]"),
    ],
)
def test_a_name_that_needs_more_says_how_it_is_written(name, written):
    with pytest.raises(MeasureError) as caught:
        parse(name)
    assert str(caught.value) == f"there is no measure {name!r}.\n  hint: write {written}"


@pytest.mark.parametrize("name", ["auc_at_10", "precision_at_0", "macro_nonsense", "rmse_macro"])
def test_a_form_that_does_not_exist_is_not_proposed(name):
    with pytest.raises(MeasureError) as caught:
        parse(name)
    assert "write" not in caught.value.hint


def test_a_whole_request_leads_to_its_measure():
    assert [one.name for one in MEASURES.search("precision@top10")] == ["ppv"]
    assert [one.name for one in MEASURES.search("f1[macro]")] == ["f1"]


def test_every_form_is_read():
    for measure in measures():
        for name, text in measure.shorthands.items():
            assert parse(text.partition(", where")[0]).measure.name in (measure.name, "best", "tnr_at")
            with pytest.raises(MeasureError):
                find(name)  # else it would be an alias


def test_the_best_threshold_is_no_operating_point():
    with pytest.raises(MeasureError) as caught:
        parse("f1@best")
    assert caught.value.hint == "best(measure=f1), or the threshold itself: scorespace decide --maximise f1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tpr@0.019256127188389035", "tpr@0.019256127188389035"),  # nothing says which digits count
        ("recall[bad]@0.12345", "recall[bad]@0.12345"),
        ("ppv@top10%", "ppv@top10%"),
        ("auc", "auc"),
    ],
)
def test_a_threshold_that_nobody_typed_is_shown_with_the_digits_that_count(text, shown):
    assert parse(text).shown == shown


def test_nested_requests_parse_and_print_back():
    for text in ("best(measure=fbeta(beta=2))", "best(measure=cost(fp=1, fn=5))"):
        (spec,) = parse_list(text)
        assert str(spec) == text
        assert parse(str(spec)) == spec
    rows = {"truth": [1, 0, 1, 0, 0], "score": [0.9, 0.6, 0.5, 0.4, 0.1]}
    every = [ss.measure(f"fbeta(beta=2)@{at}", **rows) for at in rows["score"]]
    assert ss.measure("best(measure=fbeta(beta=2))", **rows) == pytest.approx(max(every))


@pytest.mark.parametrize(
    ("text", "canonical", "shown"),
    [
        ("sens@spec=0.9", "tpr_at(fpr=0.1)", "sens@spec=0.9"),
        ("tpr@fpr=1/10", "tpr_at(fpr=0.1)", "tpr@fpr=0.1"),
        ("recall[bad] @ FPR = 0.1", "tpr_at(fpr=0.1)[bad]", "recall[bad]@FPR=0.1"),
        ("spec@sens=0.9", "tnr_at(tpr=0.9)", "spec@sens=0.9"),
        ("fpr@fnr=0.2", "fpr_at(tpr=0.8)", "fpr@fnr=0.2"),
        ("precision@recall=0.8", "best(measure=ppv, at_least=tpr=0.8)", "precision@recall=0.8"),
        ("tpr@fdr=0.2", "best(measure=tpr, at_most=fdr=0.2)", "tpr@fdr=0.2"),
        ("fbeta(beta=2)@tnr=0.5", "best(measure=fbeta(beta=2), at_least=tnr=0.5)", "fbeta(beta=2)@tnr=0.5"),
    ],
)
def test_an_operating_point_by_another_measure(text, canonical, shown):
    spec = parse(text)
    assert (spec.canonical, str(spec)) == (canonical, shown)
    assert parse(str(spec)) == parse(spec.canonical) == spec


@pytest.mark.parametrize(
    "text", ["sens@auc=0.9", "auc@spec=0.9", "sens@spec=9", "sens@spec=x", "sens@spek=0.9", "tpr@pp_rate=0.3"]
)
def test_operating_points_that_are_refused(text):
    with pytest.raises(MeasureError):
        parse(text)


def test_values_where_another_measure_has_a_value():
    table = ss.score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])  # ROC: (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1)
    values = {"sens@spec=0.5": 1, "sens@spec=0.9": 0.5, "spec@sens=1": 0.5, "fpr@tpr=1": 0.5, "ppv@tpr=0.6": 2 / 3}
    assert {text: bind(parse(text), table).value for text in values} == pytest.approx(values)
