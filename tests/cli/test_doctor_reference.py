"""`scorespace doctor --reference`: correct digits of the reference sets."""

from scorespace.evaluation import reference


def test_the_doctor_counts_digits(run):
    done = run("doctor", "--reference", "--format", "json")
    rows = done.json()["rows"]
    assert (done.code, len(rows)) == (0, 40)
    assert all(row["as_promised"] for row in rows)
    assert next(row for row in rows if row["id"] == "R02-numacc")["digits"] >= 14
    assert next(row for row in rows if row["id"] == "B14-infinite")["digits"] is None
    assert "0 are wrong" in " ".join(run("doctor", "--reference").out.split())


def test_the_doctor_exits_with_1_if_digits_are_missing(run, monkeypatch):
    monkeypatch.setattr(reference, "_value", lambda *_: 0.123)
    done = run("doctor", "--reference")
    assert done.code == 1
    assert "fewer digits than promised" in " ".join(done.out.split())


def test_the_doctor_takes_no_file_beside_reference(run):
    done = run("doctor", "credit.csv", "--reference")
    assert (done.code, done.out) == (2, "")
    assert "--reference checks the installation." in done.err
