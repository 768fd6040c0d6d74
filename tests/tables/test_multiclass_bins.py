"""Scores of several classes in bins: the tables inside, merged and stored."""

import numpy as np
import pytest

import scorespace as ss
from helpers.binned import class_bins
from scorespace.errors import DataError
from scorespace.tables import ConfusionTable, NoTableError, ScoreTable, class_table
from scorespace.tables.serialization import from_stored_table, to_stored_table
from scorespace.tables.table import StoredTable


@pytest.fixture
def cases():
    rng = np.random.default_rng(1)
    return class_table(np.array(list("abc"))[rng.integers(0, 3, 300)], rng.dirichlet([1, 1, 1], 300))


def test_the_tables_inside_are_those_of_the_cases(cases):
    found = class_bins(cases)
    for k in range(3):
        one, other = found.one_vs_rest(k), cases.one_vs_rest(k)
        assert one.score.tolist() == other.score.tolist()
        assert one.counts.tolist() == other.counts.tolist()
    one, other = found.one_vs_one(0, 2), cases.one_vs_one(0, 2)
    assert (one.score.tolist(), one.counts.tolist()) == (other.score.tolist(), other.counts.tolist())
    one, other = found.pooled(ScoreTable), cases.pooled(ScoreTable)
    assert (one.score.tolist(), one.pos.tolist()) == (other.score.tolist(), other.pos.tolist())
    assert found.inside(ConfusionTable) == cases.decisions
    assert found.pair_areas() == pytest.approx(cases.pair_areas(), nan_ok=True)
    assert found.inside(ScoreTable, "top").score.tolist() == cases.top.score.tolist()


def test_shards_give_the_table_of_all(cases):
    half = np.arange(150)
    parts = [class_bins(cases.taken(chosen), 46) for chosen in (half, half + 150)]
    both, whole = parts[0] + parts[1], class_bins(cases, 46)
    for one, other in zip(both.tables, whole.tables, strict=True):
        assert one.score.tolist() == other.score.tolist()
        assert one.counts.tolist() == other.counts.tolist()
    assert both.decisions == whole.decisions
    assert both.leads == whole.leads
    turned = class_bins(class_table(["c", "b"], np.eye(3)[1:], classes=["b", "a", "c"]), 46)  # other order of classes
    assert (parts[0] + turned).leads.matrix.sum(axis=0).tolist() == (parts[0] + turned).decisions.matrix.tolist()
    with pytest.raises(DataError, match="score different classes"):
        parts[0] + class_bins(class_table(list("xyz"), np.eye(3)))


def test_stored_and_restored(cases, tmp_path):
    table = class_bins(cases, 46)
    again = from_stored_table(to_stored_table(table))
    assert again.tables == table.tables
    assert again.decisions == table.decisions
    assert again.top.score.tolist() == table.top.score.tolist()
    assert again.leads == table.leads
    ss.save_tables({"nb": table}, tmp_path / "t.parquet")
    found = ss.evaluate(tmp_path / "t.parquet").measures("auc[hand_till]", "acc")
    assert found[0].certified[0] <= found[0].value <= found[0].certified[1]
    assert found[0].method == "delong, at most"


def test_tables_of_older_files_have_no_leads(cases):
    kept = to_stored_table(class_bins(cases, 46))
    old = sum(kept.about["sizes"])
    assert (
        from_stored_table(StoredTable(kept.about, {name: column[:old] for name, column in kept.columns.items()})).leads
        is None
    )


def test_what_is_not_inside_is_refused(cases):
    found = class_bins(cases)
    with pytest.raises(NoTableError, match="does not occur"):
        found.inside(ScoreTable, "z")
    with pytest.raises(NoTableError, match="3 classes in bins"):
        found.inside(ScoreTable)
    assert found.reason_not_resampled(found.tables[0]).startswith("no interval")
    assert found.reason_not_resampled(found.decisions) is None


def test_the_interval_of_an_average_is_wide_enough(cases):
    exact = ss.evaluate({"nb": cases}).measures("auc[hand_till]", "auc[macro]")
    coarse = ss.evaluate({"nb": class_bins(cases, 38)}).measures("auc[hand_till]", "auc[macro]")
    for one, other in zip(exact, coarse, strict=True):
        assert other.high - other.low >= (one.high - one.low) * 0.95
        assert other.value == pytest.approx(one.value, abs=1e-5)
