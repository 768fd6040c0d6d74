"""`--report` of the verbs beside evaluate: one page with the verdict, a chart where there is one, and the command."""

import pytest

CREDIT = ["--truth", "outcome", "--positive", "bad"]
MODELS = ["--score", "naive_bayes", "--score", "tree"]
VERBS = {
    "compare": [*MODELS],
    "decide": [*MODELS, "--cost-fp", "1", "--cost-fn", "5"],
}
"""`calibrate --report` is an evaluation of the scores before and after: test_calibrate.py."""


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_with_everything_is_written(verb, run, write, tmp_path):
    from importlib.resources import files

    data = str(files("scorespace.data") / "german_credit.csv")
    page = tmp_path / "page.html"
    done = run(verb, data, *CREDIT, *VERBS[verb], "--report", str(page))
    assert done.code == 0
    assert f"report  {page}" in done.out.replace("\n", "")
    text = page.read_text(encoding="utf-8")
    assert "german_credit.csv</h1>" in text
    assert 'class="verdict"' in text
    assert f"<code>scorespace {verb} " in text
    assert 'class="chart"' in text


@pytest.mark.parametrize("verb", VERBS)
def test_another_ending_is_refused_before_any_work(verb, run, tmp_path):
    done = run(verb, "missing.csv", *CREDIT, *VERBS[verb], "--report", str(tmp_path / "page.pdf"))
    assert done.code == 2
    assert ".html" in done.err


def test_every_verb_with_a_chart_has_styles(run, tmp_path, credit):
    for verb, more in (("curve", []), ("decide", ["--cost-fp", "1", "--cost-fn", "5"]), ("cases", [])):
        done = run(verb, *credit, "--score", "naive_bayes", *more, "--style", "slide", "--out", "one.svg")
        assert done.code == 0, done.err
        assert b'pt" height=' in (tmp_path / "one.svg").read_bytes()
        refused = run(verb, *credit, "--score", "naive_bayes", *more, "--style", "slide")
        assert "--style and --size describe a chart." in refused.err
