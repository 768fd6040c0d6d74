"""The clinical profile's sections: who was left out, and what the guidelines ask for."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.report.clinical import AUTHOR, checklist_blocks, flow_blocks
from scorespace.report.document import Grid

RNG = np.random.default_rng(2)
TRUTH = np.where(RNG.random(300) < 0.3, "ill", "well")
RISK = np.clip(np.where(TRUTH == "ill", 0.5, 0.25) + 0.15 * RNG.normal(size=300), 0.01, 0.99)
DATA = {"y": TRUTH, "risk": RISK, "sex": np.where(np.arange(300) % 2, "f", "m")}
MISSING = {**DATA, "risk": np.where(np.arange(300) % 30 == 0, np.nan, RISK)}


def evaluated(data, **options):
    settings = {"missing": "drop", "profile": "clinical", **options.pop("settings", {})}
    return ss.evaluate(data, truth="y", scores="risk", positive="ill", settings=settings, **options)


def grids(blocks):
    return [dict_of(block) for block in blocks if isinstance(block, Grid)]


def dict_of(grid):
    return {row[:-1] if len(row) > 2 else row[0]: row[-1] for row in grid.rows}


def test_the_flow_accounts_for_every_row():
    (flow,) = grids(flow_blocks(evaluated(MISSING)))
    assert flow["eligible rows"] == "300"
    assert flow["no result in 'risk'"] == flow["left out: any of these missing"] == "10"
    assert flow["analysed"] == "290"
    ill, well = (int(flow[f"with reference standard {name}"]) for name in ("ill", "well"))
    assert ill + well == 290
    (complete,) = grids(flow_blocks(evaluated(DATA)))
    assert next(iter(complete)) == "analysed"


def test_items_are_filled_in_or_named_as_the_authors():
    found = evaluated(MISSING, by="sex")
    stard, tripod = grids(checklist_blocks(found))
    counts = found.counts("risk")
    assert f"TP {counts.tp:g}, FP {counts.fp:g}, FN {counts.fn:g}, TN {counts.tn:g}" in next(
        answer for (item, _), answer in stard.items() if item == "23"
    )
    sensitivity = next(one for one in found.summary if one.spec.name == "tpr")
    assert sensitivity.text in next(answer for (item, _), answer in stard.items() if item == "24")
    values = tripod["23a", "performance with intervals"]
    assert all(f"risk {name} " in values for name in ("auc", "oe", "cal_slope", "cal_offset", "ici", "nb@0.5"))
    assert "10 of 300 rows left out" in tripod["", "missing data"]
    assert "by sex" in tripod["23a", "performance in key subgroups"]
    assert AUTHOR in stard.values()


def test_only_the_clinical_profile_shows_them():
    found = evaluated(DATA, settings={"profile": "general"})
    assert not flow_blocks(found)
    assert not checklist_blocks(found)


@pytest.mark.parametrize("truth", [np.where(RNG.random(300) < 0.3, "ill", "well")])
def test_decisions_have_no_threshold_and_no_calibration(truth):
    data = {"y": truth, "test": np.where(RNG.random(300) < 0.5, "ill", "well")}
    found = ss.evaluate(data, truth="y", decisions="test", positive="ill", settings={"profile": "clinical"})
    stard, tripod = grids(checklist_blocks(found))
    assert stard["12a", "positivity threshold of the index test"] == "decisions, no threshold"
    assert "sensitivity" in tripod["23a", "performance with intervals"]
