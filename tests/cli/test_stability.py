"""`scorespace drift --measures`: indices, measures and migrations of two samples; the credit report."""

import json

import numpy as np
import pandas as pd
import pytest

import scorespace as ss
from scorespace.errors import ScoreSpaceError


@pytest.fixture
def samples(tmp_path):
    rng = np.random.default_rng(4)
    paths = []
    for k, shift in enumerate((0.0, 0.5)):
        z = rng.normal(shift, 1, 600)
        bad = np.where(rng.random(600) < 1 / (1 + np.exp(2 - z)), "bad", "good")
        data = {"id": np.arange(600), "outcome": bad, "points": np.round(600 - 40 * z), "x1": z.round(1), "x2": z > 0}
        paths.append(tmp_path / f"{k}.csv")
        pd.DataFrame(data | {"grade": np.array(list("ABC"))[np.digitize(z, [-0.5, 0.5])]}).to_csv(
            paths[-1], index=False
        )
    return [str(path) for path in paths]


def test_command_prints_indices_and_gini_now_and_then(run, samples):
    flags = ["--score", "card=minus(points)", "--feature", "x*", "--truth", "outcome", "--positive", "bad"]
    found = json.loads(run("drift", *samples, *flags, "--measures", "psi,csi,gini", "--format", "json").out)
    assert [(row["measure"], row["name"]) for row in found["rows"]] == [
        ("psi", "card"),
        ("csi", "x1"),
        ("csi", "x2"),
        ("gini", "card"),
    ]
    assert found["rows"][0]["p"] < 0.001
    assert "Changed beyond chance" in found["verdict"]


def test_command_prints_a_migration(run, samples):
    flags = ["--score", "grade", "--id", "id", "--measures", "migration"]
    (row,) = json.loads(run("drift", *samples, *flags, "--format", "json").out)["rows"]
    assert np.sum(row["matrix"]) == 600


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scores": "grade", "measures": "migration"}, "needs the cases of both samples"),
        ({"scores": "points", "measures": "gini"}, "needs the actual classes"),
        ({"scores": "points", "measures": "csi"}, "csi needs a column"),
        ({"scores": "absent", "measures": "psi"}, "absent"),
    ],
)
def test_incomplete_requests_are_refused(samples, options, said):
    with pytest.raises(ScoreSpaceError, match=said):
        ss.stability(*samples, **options)


def test_credit_report_has_the_order_of_validators(run, samples, tmp_path):
    flags = ["--truth", "outcome", "--positive", "bad", "--score", "card=minus(points)", "--profile", "credit"]
    baseline, page = str(tmp_path / "before.json"), tmp_path / "r.html"
    assert run("evaluate", samples[0], *flags, "--save", baseline).code == 0
    assert run("evaluate", samples[1], *flags, "--baseline", baseline, "--report", str(page)).code == 0
    text = page.read_text("utf-8")
    order = ("panel", "discrimination", "stability", "concentration")  # the panel is in the summary
    places = [text.index(f'id="{name}"') for name in order]
    assert places == sorted(places)
    assert "psi card" in text
