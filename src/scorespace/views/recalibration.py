"""The page of a recalibration: each measure before and after, and one sentence."""

from __future__ import annotations

from scorespace.probabilities.effect import Effect, Recalibration
from scorespace.results import decimals, grouped
from scorespace.views.document import Document, Grid, one_section


def document(*found: Recalibration) -> Document:
    """The whole page of a recalibration, or of several models."""
    grids = (effect_grid(one) for one in found if one.effects)
    words, notes = " ".join(one.words for one in found), dict.fromkeys(note for one in found for note in one.notes)
    return one_section(found[0].name, facts(found[0]), "Recalibration", grids, words, notes)


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
