"""The page of a recalibration: each measure before and after, and one sentence."""

from __future__ import annotations

from scorespace.probabilities.effect import Effect, Recalibration
from scorespace.results import decimals, grouped
from scorespace.views.document import Block, Document, Grid, Notes, Section, Verdict


def document(*found: Recalibration) -> Document:
    """The whole page of a recalibration, or of several models."""
    blocks: list[Block] = [effect_grid(one) for one in found if one.effects]
    blocks.append(Verdict(" ".join(one.words for one in found)))
    notes = tuple(dict.fromkeys(note for one in found for note in one.notes))
    if notes:
        blocks.append(Notes(notes))
    section = Section("recalibration", "Recalibration", tuple(blocks), brief=True)
    return Document(found[0].name, facts(found[0]), (section,))


def facts(found: Recalibration) -> str:
    """The cases, the classes, and where the map comes from."""
    parts = [f"{grouped(found.rows_used)} cases"]
    if found.positive is not None:
        parts.append(f"positive = {found.positive}")
    elif found.classes:
        parts.append(f"{len(found.classes)} classes")
    return "   ".join([*parts, f"{found.method}, {found.fitted}"])


def effect_grid(found: Recalibration) -> Grid:
    """Each measure of the scores before and after."""
    rows = tuple(
        (f"{one.measure} {one.arrow}".rstrip(), decimals(one.before), decimals(one.after), _change(one))
        for one in found.effects
    )
    return Grid((found.model, "before", "after", "change"), rows, "The arrows say which direction is better.")


def _change(one: Effect) -> str:
    text = decimals(one.change)
    return text if text[0] in "−–" or not float(text.replace("∞", "inf")) else f"+{text}"
