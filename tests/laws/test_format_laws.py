"""A quantity that appears in two of terminal, verdict, Markdown, LaTeX, CSV and JSON has the same digits."""

import csv
import io
import json
import re

import numpy as np
import pytest

import scorespace as ss
from laws import routes
from scorespace.evaluation.panel_measures import estimate_text
from scorespace.report import comparison, decision, screen, serialize, terminal
from scorespace.results import decimals, format_interval


def sample(seed):
    rng = np.random.default_rng(seed)
    truth = np.r_[1, 0, rng.integers(0, 2, int(rng.integers(20, 60)))]
    models = {name: np.clip(rng.normal(0.35 + 0.3 * truth, 0.25), 0, 1).round(3) for name in ("a", "b")}
    return ss.evaluate(truth, models, condition=ss.Condition(fp=1, fn=float(rng.integers(1, 9))))


def texts(document):
    """Every text of a document, without line breaks and escapes."""
    latex = re.sub(r"\\([&%$#_{}])", r"\1", serialize.latex(document)).replace("$-$", "−").replace("$<$", "<")
    found = {"terminal": terminal.text(document, 200), "markdown": serialize.text(document), "latex": latex}
    return {name: " ".join(re.sub(r"\\([\\`*_\[\]<>|#])", r"\1", text).split()) for name, text in found.items()}


@pytest.mark.parametrize("seed", range(4))
def test_evaluate_shows_the_same_digits_everywhere(seed):
    found = sample(seed)
    shown = texts(screen.summary_document(found))
    content = json.loads(serialize.as_json(found.to_dict()))
    for row, estimate in zip(content["rows"], found.summary, strict=True):
        if estimate.spec.name == "cost" or row["low"] is None:
            continue
        text = format_interval(row["value"], row["low"], row["high"])
        assert text == estimate.text
        assert all(text in one for one in shown.values()), text
    for name, text in re.findall(r"(?:recall|specificity|precision|AUC) (\d\.\d+)(?=()[,. ])", found.verdict):
        assert all(f"{name} [" in one for one in shown.values()), text
    for choice in found.decision.choices:
        cost = format_interval(choice.out_of_sample.value, choice.out_of_sample.low, choice.out_of_sample.high)
        assert all(cost in one for one in shown.values())


@pytest.mark.parametrize("seed", range(4))
def test_compare_shows_the_same_digits_everywhere(seed):
    found = sample(seed)
    compared = found.compare()
    (row,) = json.loads(serialize.as_json(compared.to_dict()))["rows"]
    size = format_interval(row["difference"], row["low"], row["high"], sign=True)
    for full in (False, True):
        assert all(size in one for one in texts(comparison.document(found, compared, full=full)).values())
    short = texts(comparison.document(found, compared, full=False))
    values = [decimals(estimate.value) for estimate in found.measures("auc")]
    assert all(value in one for value in values for one in short.values())
    assert size in compared.words


@pytest.mark.parametrize("seed", range(4))
def test_decide_shows_the_same_digits_everywhere(seed):
    found = sample(seed)
    for full in (False, True):
        shown = texts(decision.document(found, found.decision, full=full))
        for choice in found.decision.choices:
            cost = format_interval(choice.out_of_sample.value, choice.out_of_sample.low, choice.out_of_sample.high)
            assert all(cost in one for one in shown.values())


@pytest.mark.parametrize("seed", range(4))
def test_csv_reads_back_exactly(seed):
    rows = sample(seed).to_dict()["rows"]
    back = list(csv.DictReader(io.StringIO(serialize.as_csv(rows))))
    for row, line in zip(rows, back, strict=True):
        for name in ("value", "low", "high"):
            assert row[name] == (float(line[name]) if line[name] else None)


@pytest.mark.parametrize("route", ["plain", "weights", "copies", "costs", "prevalence", "by", "tables"])
def test_the_panel_opens_with_the_numbers_of_the_tables(route, tmp_path):
    for seed in range(2):
        ev = routes.ROUTES[route](routes.sample(seed, 200), tmp_path)
        for points in ev.operating.models:
            place = int((points.table.thresholds[points.kept] >= points.at).sum()) - 1
            own = {
                one.spec.name: one.text for one in ev.everything if one.model == points.name and one.spec.at is not None
            }
            shown = {curve.spec.name: estimate_text(curve, place) for curve in points.measures}
            assert shown
            assert shown == {name: own[name] for name in shown}
