"""The page of batches over time."""

from dataclasses import replace

from scorespace.drift.monitor import BatchEstimate, MonitoredBatch, Monitoring
from scorespace.report.document import Grid, Picture, Text
from scorespace.report.drift import grid, monitor_document


def found(p, positives=3):
    batches = tuple(MonitoredBatch(f"day {k}", 10, positives, {("nb", "scores"): one}) for k, one in enumerate(p))
    return Monitoring("spring.csv", 1200, "bad", ("nb",), batches)


def test_a_row_for_each_batch_and_the_alarm_in_its_place():
    rows = grid(found([0.5, 0.001, 0.001, 0.001])).rows
    assert [row[0] for row in rows] == ["day 0", "day 1", "day 2", "day 3"]
    assert [row[-1] for row in rows] == ["", "", "alarm", "·"]
    assert rows[0][1:3] == ("10", "0.300")
    assert grid(found([0.5], positives=None)).rows[0][2] == "–"


def test_of_many_batches_the_last_ones_and_where_it_began():
    shown = grid(found([0.5, 0.001, 0.001, *[0.5] * 40]))
    assert [row[0] for row in shown.rows][:3] == ["day 1", "day 2", "day 23"]
    assert shown.caption.endswith("21 earlier batches are not shown.")


def test_the_page():
    page = monitor_document(found([0.5]))
    assert page.facts == "spring.csv: 1 200 cases   1 batch   positive = bad"
    assert monitor_document(replace(found([0.5]), cases=1)).facts.startswith("spring.csv: 1 case   ")
    assert [section.name for section in page.sections] == ["verdict", "evidence", "questions"]
    assert page.sections[2].blocks[0] == Text("No test shows evidence of a change.")


def test_what_moved_comes_first():
    blocks = monitor_document(found([0.5, 0.001, 0.001])).sections[2].blocks
    assert blocks[0] == Text("Strongest evidence of a change: scores.")
    assert isinstance(blocks[1], Grid)
    assert blocks[1].rows[0][0] == "scores"
    assert blocks[1].rows[0][2:] == ("0.0010", "changed")


def test_the_numbers_of_every_batch_beside_those_before():
    seen = {
        ("", "prevalence"): BatchEstimate(0.3, 0.2, 0.4),
        ("nb", "auc"): BatchEstimate(0.8, 0.7, 0.9),
        ("nb", "mean"): BatchEstimate(0.5),
    }
    late = {("nb", "mean"): BatchEstimate(0.6, 0.5, 0.7)}  # its truths are not known yet
    batches = tuple(
        MonitoredBatch(name, 10, None, {("nb", "scores"): 0.5}, one) for name, one in (("a", seen), ("b", late))
    )
    page = monitor_document(Monitoring("spring.csv", 100, "bad", ("nb",), batches, seen))
    (section,) = (one for one in page.sections if one.name == "numbers")
    assert section.blocks[0] == Text("In spring.csv and in b: mean score 0.500 and 0.600.")
    assert sum(isinstance(one, Picture) for one in section.blocks) == 3
    table = section.blocks[-1]
    assert isinstance(table, Grid)
    assert table.columns == ("batch", "share of positives", "AUC", "mean score")
    assert table.rows[-1] == ("b", "–", "–", "0.600 [0.500, 0.700]")


def test_much_evidence_is_told_in_thousands_and_not_in_powers():
    assert [row[3] for row in grid(found([0.00001] * 4)).rows][-1] == "157 000 000"
