"""The panel of predicted numbers: what it says is what shifted predictions give, and its best shift that of decide."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.evaluation.shift_panel import shift_panel
from scorespace.report.asymmetric_loss import shift_grids
from scorespace.report.asymmetric_loss import shift_panel as shift_blocks


def data(size=300, seed=1):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=size)
    y = 10 + 3 * x + chance.normal(size=size)
    return {"y": y, "near": 10.4 + 3 * x, "far": 10 + 1.5 * x + chance.normal(size=size)}


def evaluated(size=300, **given):
    return ss.evaluate(data(size), truth="y", predictions=["near", "far"], **given)


def test_each_place_is_what_shifted_predictions_give():
    held, panel = data(), shift_panel(evaluated())
    for number, one in enumerate(panel.models):
        for place in (0, 50, one.unshifted, one.shift.size - 1):
            error = held[one.name] + one.shift[place] - held["y"]
            assert one.over[place] == pytest.approx(np.maximum(error, 0).mean())
            assert one.under[place] == pytest.approx(np.maximum(-error, 0).mean())
            assert one.high[place] + one.low[place] == pytest.approx(1, abs=1.01 / 300)
            loss = np.where(error < 0, -3 * error, error).mean()
            assert panel.losses(number, ratio=3)[place] == pytest.approx(loss)
        assert one.shift[one.unshifted] == 0


@pytest.mark.parametrize("condition", [ss.Asymmetry(under=2, over=1), ss.Asymmetry(under=1, over=7)])
@pytest.mark.parametrize("size", [300, 5000])
def test_the_best_shift_is_that_of_decide(condition, size):
    ev = evaluated(size, condition=condition)
    panel = shift_panel(ev)
    assert panel.models[panel.start].name == ev.decision.best.model
    for number, choice in enumerate(ev.decision.choices):
        place = panel.best(number)
        assert panel.models[number].shift[place] == pytest.approx(choice.shift)
        assert panel.losses(number)[place] == pytest.approx(choice.loss)
        assert panel.losses(number)[panel.models[number].unshifted] == pytest.approx(choice.as_is)
        assert repr(choice.out_of_sample) in panel.texts(number, place)["cross_fitted"]
    assert panel.texts(0, 0, ratio=50)["cross_fitted"] == ""  # of other costs it is not known


def test_measures_at_no_shift_are_those_of_the_evaluation():
    ev = evaluated()
    panel = shift_panel(ev)
    for number, one in enumerate(panel.models):
        said = panel.texts(number, one.unshifted)
        assert float(said["size"]) == pytest.approx(ev.measures("mae", model=one.name)[0].value, rel=5e-3)
        bias = ev.measures("bias", model=one.name)[0].value
        assert float(said["mean"].replace("−", "-")) == pytest.approx(bias, rel=5e-3)


def test_of_many_shifts_so_many_are_kept_that_no_pixel_changes():
    (one, _) = shift_panel(evaluated(20_000)).models
    assert one.shift.size <= 2001
    assert np.diff(one.high).max() < 1 / 400


def test_weights_count_as_copies():
    held = data(60)
    weight = np.tile([1, 2, 3], 20)
    copies = {name: np.repeat(column, weight) for name, column in held.items()}
    one = shift_panel(ss.evaluate({**held, "w": weight}, truth="y", predictions="near", weight="w")).models[0]
    two = shift_panel(ss.evaluate(copies, truth="y", predictions="near")).models[0]
    for side in ("shift", "over", "under", "high", "low"):
        assert getattr(one, side) == pytest.approx(getattr(two, side))


def test_a_constant_error_and_no_numbers():
    same = ss.evaluate({"y": [1.0, 2, 3], "p": [2.0, 3, 4]}, truth="y", predictions="p")
    assert shift_panel(same).texts(0, 0)["shift"] == "−1"
    two = ss.evaluate({"y": [0, 1, 1], "s": [0.1, 0.2, 0.3]}, truth="y", scores="s")
    assert shift_panel(two) is None


def test_the_tables_say_what_is_asked_and_when_each_model_is_best():
    words, choices, ranges = shift_grids(evaluated(condition=ss.Asymmetry(under=3, over=1)).decision)
    assert "alpha = 0.75" in words.text
    assert [row[0] for row in choices.rows] == ["near", "far"]
    assert ranges.rows[0][0] == "near"


def test_marks_of_the_small_chart_are_explained_below_it():
    (panel,) = shift_blocks(evaluated())
    chart = panel.pictures[0]
    assert "Diamonds: not shifted" in chart.caption
    assert "diamond:" not in str(chart.draw())
    assert "diamond:" in str(evaluated().drawing("rroc"))
