"""The work behind a page: the file and the one to compare with, each in its place."""

import json

import pytest

from scorespace.server.request import PageRequest
from scorespace.server.work import evaluate_view

STATED = {"truth": "y", "score": "s", "at": "0.5", "where": ["s > 0.05", "s < 0.95"], "measures": "auc,acc@0.5"}


def test_the_other_file_is_the_baseline_and_both_are_filtered(tmp_path):
    for name, cases in (("new", 60), ("old", 100)):
        lines = [f"{k % 2},{((k * 37) % 101) / 101}" for k in range(cases)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["y,s", *lines]) + "\n")
    stated = {name: [value] if isinstance(value, str) else value for name, value in STATED.items()}
    request = PageRequest.of("new.csv", {**stated, "against": ["old.csv"]})
    steps = []
    paths = [str(tmp_path / name) for name in request.files]
    evaluate_view(request, paths, tmp_path, lambda step, share: steps.append(step))
    before, now = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("against", "evaluation"))
    inside = [sum(0.05 < ((k * 37) % 101) / 101 < 0.95 for k in range(cases)) for cases in (100, 60)]
    assert [before["data"]["rows"], now["data"]["rows"]] == inside
    assert before["asked"]["data"] == "old.csv"
    assert {row["measure"]: row["baseline"] for row in now["baseline"]["rows"]} == {
        row["measure"]: pytest.approx(row["value"]) for row in before["rows"]
    }
    assert "Evaluating old.csv" in steps
