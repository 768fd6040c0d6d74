"""Rules: those of mlxtend, the redundant ones by brute force, a family-wise error that is kept, and words."""

import json
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from mlxtend import frequent_patterns as mlxtend

import scorespace as ss
from scorespace.errors import ScoreSpaceError

NAMES = ["bread", "butter", "jam", "milk", "tea"]


def baskets(size=500, seed=1):
    rng = np.random.default_rng(seed)
    held = rng.random((size, 5)) < [0.5, 0.35, 0.2, 0.4, 0.2]
    held[:, 2] |= held[:, 0] & held[:, 1] & (rng.random(size) < 0.5)
    return {name: held[:, k] for k, name in enumerate(NAMES)}


DATA = baskets()


def of(rules):
    return {(frozenset(one.antecedent), frozenset(one.consequent)): one for one in rules}


def test_all_rules_are_those_of_mlxtend():
    found = mlxtend.apriori(pd.DataFrame(DATA), min_support=0.02, use_colnames=True, max_len=4)
    theirs = mlxtend.association_rules(found, min_threshold=0)
    ours = ss.rules(
        DATA, min_support=0.02, max_size=4, max_consequent=3, redundant=True, top=0, measures="confidence, rule_lift"
    )
    assert ours.found == len(theirs) > 80
    by_sides = of(ours)
    for row in theirs.itertuples():
        rule = by_sides[row.antecedents, row.consequents]
        assert rule["confidence"].value == pytest.approx(row.confidence)
        assert rule["rule_lift"].value == pytest.approx(row.lift)


def test_redundant_rules_are_those_that_a_part_of_the_antecedent_does_not_fall_short_of():
    asked = {"min_support": 0.02, "max_size": 4, "max_consequent": 2, "top": 0, "measures": "confidence"}
    whole, kept = of(ss.rules(DATA, **asked, redundant=True)), of(ss.rules(DATA, **asked))

    def redundant(antecedent, consequent):
        parts = chain.from_iterable(combinations(antecedent, size) for size in range(1, len(antecedent)))
        own = whole[antecedent, consequent]["confidence"].value
        return any(whole[frozenset(part), consequent]["confidence"].value >= own for part in parts)

    assert set(kept) == {sides for sides in whole if not redundant(*sides)}
    assert 0 < len(kept) < len(whole)


def test_order_by_any_measures_and_bounds():
    asked = {"redundant": True, "top": 0, "min_support": 0.02}
    found = ss.rules(DATA, **asked, order="-support, conviction", at_least={"confidence": 0.3})
    values = [(one["support"].value, -one["conviction"].value) for one in found]
    assert values == sorted(values)
    assert min(one["confidence"].value for one in found) >= 0.3
    by_error = ss.rules(DATA, **asked, order="err", measures="err")  # of errors the smallest first
    assert [one["err"].value for one in by_error] == sorted(one["err"].value for one in by_error)


def test_under_independence_hardly_any_sample_has_a_rule_beyond_chance():
    """Holm keeps 5 %: of 60 samples, 9 or more would have one with a chance of 0.003."""
    false = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        held = rng.random((400, 8)) < 0.12  # support lies near the bound, so that chance decides who is frequent
        found = ss.rules(
            {f"i{k}": held[:, k] for k in range(8)}, min_support=0.015, top=3, order="leverage", measures="support"
        )
        false += any(one.p_adjusted < 0.05 for one in found)
    assert false < 9


def test_given_rules_are_measured_in_their_order():
    found = ss.rules(DATA, given=["tea => milk", (["bread", "butter"], ["jam"])], measures=["support", "mcc"])
    assert [one.text for one in found] == ["tea → milk", "bread, butter → jam"]
    both = DATA["bread"] & DATA["butter"] & DATA["jam"]
    assert found[1]["support"].value == pytest.approx(both.mean())
    before = DATA["bread"] & DATA["butter"]
    assert found[1]["mcc"].value == pytest.approx(np.corrcoef(before, DATA["jam"])[0, 1])
    assert found.tested == 2


def test_an_antecedent_that_never_occurs():
    found = ss.rules({"a": [1, 0, 0], "b": [0, 1, 0], "c": [1, 1, 1]}, given="a, b => c", measures="confidence")
    assert np.isnan(found[0]["confidence"].value)
    assert np.isnan(found[0].p)
    assert [one.code for one in found.notes] == ["SS063"]
    assert found.words == "a and b never occur together in the 3 transactions."


def test_words_and_notes():
    found = ss.rules(DATA, min_support=0.02, top=4)
    bought = DATA["bread"] & DATA["butter"]
    share, usual = 100 * DATA["jam"][bought].mean(), 100 * DATA["jam"].mean()
    assert found.words == (
        f"Of the {bought.sum()} transactions with bread and butter, {share:.1f} % have jam (overall {usual:.1f} %, "
        f"adjusted p < 0.001). Of the first 4 of {found.found} rules, all are significant."
    )
    codes = [one.code for one in found.notes]
    assert codes == ["SS062", "SS061"]
    few = ss.rules({"a": [1, 1, 0, 0], "b": [1, 1, 0, 1]}, top=1)
    assert {"SS060", "SS064"} <= {one.code for one in few.notes}
    none = ss.rules({"a": [1, 0, 0, 0], "b": [0, 1, 0, 0]}, min_support=0.2)
    assert none.words == "No rule with 20.00 % support meets the conditions in 4 transactions."
    assert len(none) == 0


def test_json_has_rules_and_tidy_rows():
    found = ss.rules(DATA, top=2, measures="support, conviction")
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["schema"] == 1
    assert len(content["rules"]) == 2
    assert len(content["rows"]) == 4
    assert set(content["rows"][0]) == {
        *(
            "rule",
            "antecedent",
            "consequent",
            "measure",
            "at",
            "class",
            "value",
            "low",
            "high",
            "level",
            "method",
            "reason",
        )
    }
    assert content["rules"][0]["support_low"] < content["rules"][0]["support"] < content["rules"][0]["support_high"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"min_support": 0.0}, "min_support=0 is not a share of the transactions"),
        ({"max_size": 1}, "max_size=1 is too small"),
        ({"max_size": 11}, "max_size=11 is too large"),
        ({"top": -1}, "top=-1 is too small"),
        ({"given": ["bread"]}, "the rule 'bread' is not of the form A => B"),
        ({"given": ["bread => "]}, "has a side without items"),
        ({"given": ["bread => bread"]}, "names the item 'bread' twice"),
        ({"given": ["bred => jam"]}, "the item 'bred' occurs in no transaction"),
        ({"given": []}, "the list of rules is empty"),
        ({"measures": "auc"}, "auc cannot be computed from counts of a rule"),
        ({"measures": ""}, "no measure is given"),
        ({"order": "liftt"}, "there is no measure 'liftt'"),
        ({"at_least": {"silhouette": 1.0}}, "silhouette cannot be computed"),
        ({"level": 1.5}, "is not a confidence level"),
    ],
)
def test_what_is_refused(asked, message):
    with pytest.raises(ScoreSpaceError, match=message):
        ss.rules(DATA, **asked)


def test_an_unknown_item_is_told_with_the_nearest():
    with pytest.raises(ScoreSpaceError) as refused:
        ss.rules(DATA, given=["bred => jam"])
    assert str(refused.value) == (
        "the item 'bred' occurs in no transaction of the dict of arrays.\n"
        "  seen: 'bread', 'butter', 'jam', 'milk', 'tea'\n  hint: did you mean bread?"
    )


def test_a_weight_is_so_many_transactions_also_in_intervals_and_tests():
    times = np.random.default_rng(3).integers(0, 5, 500)
    copies = {name: np.repeat(column, times) for name, column in DATA.items()}
    ours, theirs = (ss.rules(data, **given) for data, given in (({**DATA, "n": times}, {"weight": "n"}), (copies, {})))
    assert ours.transactions == times.sum()
    assert ours.rows() == theirs.rows()


@pytest.mark.parametrize("odd", ["oil, 1 l", 'a "b', "a => b", " c", 'x"'])
def test_items_that_could_be_taken_for_several_are_quoted_and_can_be_given(odd):
    data = {odd: [1, 1, 1, 0] * 9, "jam": [1, 1, 0, 0] * 9}
    found = ss.rules(data, top=0)
    assert {one.antecedent for one in found} == {(odd,), ("jam",)}
    for one in found:
        again = ss.rules(data, given=[one.text])[0]
        assert (again.antecedent, again.consequent) == (one.antecedent, one.consequent)
    assert [odd] in [row["antecedent"] for row in found.to_dict()["rules"]]


def test_an_item_with_one_quote_can_still_be_given_as_it_is():
    data = {'5" nail': [1, 1, 1, 0] * 9, "hammer": [1, 1, 0, 0] * 9}
    assert ss.rules(data, given=['5" nail -> hammer'])[0].text == '"5"" nail" → hammer'


def test_the_sentence_is_of_a_rule_that_holds_beyond_chance():
    rng = np.random.default_rng(2)
    often, held = rng.random(400) < 0.95, rng.random(400) < 0.4
    data = {"a": rng.random(400) < 0.5, "often": often, "c": held, "d": held ^ (rng.random(400) < 0.2)}
    found = ss.rules(data, given=["a -> often", "c -> d"], order="confidence")
    assert [one.text for one in found.rules] == ["a → often", "c → d"]
    assert found.rules[0].p_adjusted > 0.05 > found.rules[1].p_adjusted
    assert "often" not in found.words
    assert "Of the 2 rules, 1 is significant." in found.words


def test_the_level_reaches_the_intervals_of_rules():
    wide, narrow = (ss.rules(DATA, given=["bread -> jam"], level=level)[0].estimates for level in (0.95, 0.5))
    for one, other in zip(wide, narrow, strict=True):
        assert (one.level, other.level) == (0.95, 0.5)
        assert one.high - one.low > other.high - other.low
