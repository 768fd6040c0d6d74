"""The page of batches over time: the evidence after each of them, the alarm, and how the numbers went."""

from __future__ import annotations

import math
from functools import partial

from scorespace.results import decimals, grouped, limits, so_many
from scorespace.samples.monitor import ALARM, NUMBERS, Monitoring, evidence_text
from scorespace.views.charts.monitor import course_chart, monitor_chart
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Text, Verdict

_MOST = 20


def document(found: Monitoring) -> Document:
    """The whole page; the terminal shows the batches and the verdict."""
    line = f"{found.before}: {so_many(found.cases, 'case')}   {_batches(len(found.batches))}"
    title, facts = "Drift over time", f"{line}   positive = {found.positive}"
    shown = grid(found)
    sections = [
        Section("verdict", "Verdict", (Verdict(found.words),), brief=True),
        Section("evidence", "Evidence", (picture(found), shown), True, (shown,), "Did anything move?"),
        Section("questions", "Questions", _questions(found), question="What moved?"),
    ]
    if any(one.seen for one in found.batches):
        sections.append(Section("numbers", "Numbers", _numbers(found), question="How did the numbers go?"))
    if found.notes:
        sections.append(Section("notes", "Notes", (Notes(found.notes),), brief=True))
    return Document(title, facts, tuple(sections))


def grid(found: Monitoring) -> Grid:
    """A row for each batch, of many the last ones and the one of the alarm."""
    rows = []
    for place, (one, evidence) in enumerate(zip(found.batches, found.evidence.tolist(), strict=True)):
        share = "–" if one.positives is None or not one.cases else decimals(one.positives / one.cases)
        alarm = "" if found.alarm is None or place < found.alarm else "alarm" if place == found.alarm else "·"
        if place >= len(found.batches) - _MOST or place in (found.alarm, found.began):
            rows.append((one.name, grouped(one.cases), share, evidence_text(evidence), alarm))
    left = len(found.batches) - len(rows)
    besides = f" {_batches(left, 'earlier ')} {'is' if left == 1 else 'are'} not shown." if left else ""
    about = f"How strongly the batches so far speak for a change; there is an alarm from {ALARM:g} on.{besides}"
    return Grid(("batch", "cases", "positives", "evidence", ""), tuple(rows), about).without_blanks()


def picture(found: Monitoring) -> Picture:
    """The evidence after each batch."""
    about = "The evidence that something moved after each batch, with the bound of the alarm."
    return Picture(lambda: monitor_chart(found), about)


def _questions(found: Monitoring) -> tuple[Block, ...]:
    """What each question bet and won, the strongest first: at the alarm, or so far."""
    place = len(found.batches) - 1 if found.alarm is None else found.alarm
    when = "so far" if found.alarm is None else f"at the alarm, {found.batches[place].name}"
    moved = found.moved
    told = (
        f"What speaks most for a change: {moved[0]}." if moved else "Nothing speaks for a change more than chance does."
    )
    ordered = sorted(found.alone(place).items(), key=lambda pair: -pair[1])
    rows = [
        (
            found.title(key),
            evidence_text(grown),
            decimals(found.batches[place].p.get(key, math.nan)),
            "moved" if grown >= ALARM else "",
        )
        for key, grown in ordered
    ]
    about = (
        f"The evidence of each question by itself {when}, and p of that batch beside all cases before it. The alarm "
        "asks them all together, so each has a share of the bets."
    )
    columns = ("question", "evidence", "p of the batch", "")
    return Text(told[0].upper() + told[1:]), Grid(columns, tuple(rows), about).without_blanks()


def _numbers(found: Monitoring) -> tuple[Block, ...]:
    """The numbers of each batch beside those of the sample before, drawn and told."""
    shown = [name for name in NUMBERS if any(key[1] == name for one in found.batches for key in one.seen)]
    keys = [key for name in shown for key in found.seen if key[1] == name]
    last = found.batches[-1]
    told = [
        f"{_named(found, key)} {decimals(found.seen[key].value)} and {decimals(last.seen[key].value)}"
        for key in keys
        if key in last.seen
    ]
    about = "of each batch with its interval; the dashed line is that of"
    pictures = [
        Picture(
            partial(course_chart, found, name), f"{NUMBERS[name][0].upper()}{NUMBERS[name][1:]} {about} {found.before}."
        )
        for name in shown
    ]
    samples = [(found.before, found.seen), *((one.name, one.seen) for one in found.batches[-_MOST:])]
    rows = tuple((name, *(limits(*seen[key]) if key in seen else "–" for key in keys)) for name, seen in samples)
    caption = "Intervals at 95 % of each batch by itself; what moved is told above, by tests of all batches together."
    columns = ("batch", *(_named(found, key) for key in keys))
    table = Grid(columns, rows, caption, folded="The numbers of each batch")
    return Text(f"In {found.before} and in {last.name}: {'; '.join(told)}."), *pictures, table


def _named(found: Monitoring, key: tuple[str, str]) -> str:
    """A number by its name, with the model where there are several."""
    model, name = key
    return f"{NUMBERS[name]} of {model}" if model and len(found.models) > 1 else NUMBERS[name]


def _batches(number: int, which: str = "") -> str:
    return f"{grouped(number)} {which}batch{'es' * (number != 1)}"
