"""`scorespace calibrate`: scores that can be trusted as probabilities, and the map that makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from scorespace.cli import options, output
from scorespace.cli.given import Given, only
from scorespace.cli.options import flag
from scorespace.errors import ColumnError, ScoreSpaceError
from scorespace.evaluation.recalibration import agreed_positive, apply_map, read_map, recalibrate, write_recalibrated
from scorespace.files import write_file
from scorespace.frames import Chosen, copied
from scorespace.frames.extend import ENDINGS
from scorespace.probabilities.effect import Recalibration
from scorespace.probabilities.fit import METHODS
from scorespace.results import SCHEMA, Row, plain
from scorespace.views import recalibration as view
from scorespace.views import tidy

_FIT, _FILES = "How the map is fitted", "Files"
_ALIKE = ("truth", "positive", "weight", "missing")


def _methods(incomplete: str) -> list[str]:
    """The methods whose names begin so, for completion."""
    return [one for one in METHODS if one.startswith(incomplete)]


class How(NamedTuple):
    """How a map is fitted, by the names that `recalibrate` has for it; what is not stated is as it has it."""

    method: Annotated[
        str | None, flag("METHOD", f"{', '.join(METHODS)}; isotonic if not stated.", _FIT, autocompletion=_methods)
    ] = None
    on: Annotated[str | None, flag("WHAT", "What Platt's map works on: score, or logit for probabilities.", _FIT)] = (
        None
    )
    fit: Annotated[str | None, flag("OTHER", "Fit on these data, with the same columns.", _FIT)] = None
    folds: Annotated[
        int | None,
        flag("K", "Else: cross-fit over K folds, 10 if not stated; 1 fits on the same cases and says so.", _FIT),
    ] = None
    fold: Annotated[str | None, flag("COL", "Else: cross-fit over the folds in this column.", _FIT)] = None
    group: Annotated[str | None, flag("COL", "Groups of related cases, kept in one fold.", _FIT)] = None


def calibrate(
    data: options.Data,
    score: Annotated[
        list[str],
        flag("COL", "A model's scores; repeat for more. 'nb_*': its scores of all classes.", options.ROLES),
    ],
    given: Annotated[Given, only("name", "where", "allow_remote", *_ALIKE)],
    how: How,
    seed: Annotated[int, flag(None, "Seed of the folds.", _FIT, min=0)] = 0,
    apply: Annotated[
        Path | None, flag("MAP.json", "Instead: apply a saved map; the truth is optional then.", _FIT)
    ] = None,
    out: Annotated[
        Path | None, flag("FILE", "The data with the new scores beside: .csv, .tsv or .parquet.", _FILES)
    ] = None,
    map: Annotated[Path | None, flag("MAP.json", "Save the map, fitted on all cases, to be applied.", _FILES)] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Turn scores into probabilities, and show what that changes.

    Example: scorespace calibrate credit.csv --truth outcome --positive bad --score naive_bayes --out scores.csv
    """
    options.check_output(out, ENDINGS, data, how.fit, apply)
    options.check_output(map, (".json",), data, how.fit, apply)
    if map is not None and len(score) > 1:
        raise ScoreSpaceError("a file holds the map of one model.", hint="--map with one --score")
    with copied(data) as held:  # read more than once: for each model, and for the rows to be written beside
        path = held if given.where is None else Chosen(held, given.where)
        names, stated = options.renames(given.name), {name: getattr(given, name) for name in _ALIKE}
        own = {one: {column: name for column, name in names.items() if column == one} for one in score}
        if apply is not None:
            if any(one is not None for one in (*how, map)):
                raise ScoreSpaceError("a saved map is applied as it is.", hint="leave out the options that fit a map")
            if given.weight is not None and given.truth is None:
                raise ScoreSpaceError("--weight beside --apply is for judging the map.", hint="--truth COL, too")
            stated["positive"], saved = agreed_positive(apply, given.positive), read_map(apply)
            found = [apply_map(path, saved, score=one, names=own[one], **stated) for one in score]
        else:
            if given.truth is None:
                raise ColumnError("the column with the actual class is not named.", hint="--truth COL, or --apply MAP")
            if how.fold is not None and how.folds is not None:
                raise ScoreSpaceError("--fold names the folds, and --folds makes others.", hint="one of them")
            if how.fit is not None and how.folds is not None:
                raise ScoreSpaceError(
                    "the map is fitted either on other data or across folds.", hint="--fit or --folds"
                )
            stated |= {name: value for name, value in how._asdict().items() if value is not None}
            found = [recalibrate(path, score=one, names=own[one], seed=seed, **stated) for one in score]
        if out is not None:
            write_recalibrated(path, found, out)
    if map is not None:
        write_file(map, tidy.as_json(found[0].saved_map()).encode())
    output.write(view.document(*found), _content(found), format)
    output.wrote(None, **{"scores": out, "map   ": map})


def _content(found: list[Recalibration]) -> Row:
    """One model as ever; of several the rows together, and each as it would be alone."""
    if len(found) == 1:
        return found[0].to_dict()
    rows = [row for one in found for row in one.rows()]
    verdict = " ".join(one.words for one in found)
    notes = [note.to_dict() for note in dict.fromkeys(note for one in found for note in one.notes)]
    return plain(
        {"schema": SCHEMA, "rows": rows, "models": [one.to_dict() for one in found], "verdict": verdict, "notes": notes}
    )
