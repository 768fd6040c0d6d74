"""`scorespace doctor`: what is installed, and what to do about what is not."""

from scorespace import parts


def test_it_lists_what_is_needed_and_what_extras_add(run):
    rows = {row["name"]: row for row in run("doctor", "--format", "json").json()["rows"]}
    assert rows["scorespace"]["version"] == "0.1.0"
    assert rows["numpy"]["needed"]
    assert not rows["scikit-learn"]["needed"]
    assert "pytest" not in rows  # an extra of those who work on it
    assert rows["Python"]["version"].startswith("3.")


def test_a_missing_extra_is_told_with_what_installs_it(run, monkeypatch):
    known = parts._version
    monkeypatch.setattr(parts, "_version", lambda name: None if name == "scikit-learn" else known(name))
    done = run("doctor", columns=120)
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("scikit-learn")]
    assert " ".join(line.split()) == (
        "scikit-learn missing learners, and estimators to evaluate: pip install 'scorespace[experiments]'"
    )


def test_a_missing_need_ends_with_1(run, monkeypatch):
    known = parts._version
    monkeypatch.setattr(parts, "_version", lambda name: None if name == "duckdb" else known(name))
    done = run("doctor")
    assert (done.code, done.out) == (1, "duckdb is missing, for reading files: pip install scorespace\n")
