"""`scorespace calibrate`: fit or apply a calibration map from scores to probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from scorespace.calibration.fit import METHODS
from scorespace.calibration.recalibration_effect import Recalibration
from scorespace.cli import options, output
from scorespace.cli.common_options import DataOptions, only
from scorespace.cli.options import flag
from scorespace.cli.verbs import verb
from scorespace.errors import ColumnError, ScoreSpaceError
from scorespace.evaluation.assemble import evaluate_data
from scorespace.evaluation.recalibration import agreed_positive, apply_map, read_map, recalibrate, write_recalibrated
from scorespace.files import write_file
from scorespace.io import FilteredData, local_copy
from scorespace.io.append_columns import OUTPUT_EXTENSIONS
from scorespace.report import calibration as view
from scorespace.report import serialize
from scorespace.results import SCHEMA, Row, to_json_types

_FIT, _FILES = "Calibration map", "Files"
_REPORT_SECTIONS = "models", "calibration", "comparison", "notes", "method"
_REPORT_MEASURES = "brier,logloss,log_cal,ece,auc"
_COMMON_NAMES = ("truth", "positive", "weight", "missing")  # the same here and in the library


def _methods(incomplete: str) -> list[str]:
    """Calibration methods that begin with the text, for shell completion."""
    return [method for method in METHODS if method.startswith(incomplete)]


class CalibrateOptions(NamedTuple):
    """Options of `recalibrate`; None leaves its default."""

    method: Annotated[
        str | None, flag("METHOD", f"{', '.join(METHODS)}; isotonic by default.", _FIT, autocompletion=_methods)
    ] = None
    on: Annotated[str | None, flag("WHAT", "Scale of Platt's map: score, or logit for probabilities.", _FIT)] = None
    fit: Annotated[str | None, flag("OTHER", "Fit on these data (same columns).", _FIT)] = None
    folds: Annotated[
        int | None,
        flag("K", "Cross-fit over K folds (default 10); with 1, fit and evaluate on the same cases.", _FIT),
    ] = None
    fold: Annotated[str | None, flag("COL", "Cross-fit over the folds in this column.", _FIT)] = None
    group: Annotated[str | None, flag("COL", "Groups of related cases, kept in the same fold.", _FIT)] = None


@verb("Evaluate models", 5)
def calibrate(
    data: options.Data,
    score: Annotated[
        list[str],
        flag("COL", "Scores of a model; several separated by commas. 'nb_*': one column per class.", options.ROLES),
    ],
    data_options: Annotated[DataOptions, only("name", "where", "allow_remote", *_COMMON_NAMES)],
    fit_options: CalibrateOptions,
    seed: Annotated[int, flag(None, "Seed of the folds.", _FIT, min=0)] = 0,
    apply: Annotated[
        Path | None, flag("MAP.json", "Apply a saved map instead of fitting one; --truth is then optional.", _FIT)
    ] = None,
    out: Annotated[
        Path | None, flag("FILE", "Write the data with added calibrated scores: .csv, .tsv or .parquet.", _FILES)
    ] = None,
    map: Annotated[Path | None, flag("MAP.json", "Save the map fitted on all cases.", _FILES)] = None,
    report: Annotated[
        Path | None, flag("FILE.html", "Write a report of the scores before and after, with their curves.", _FILES)
    ] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Calibrate scores into probabilities, and show the change in calibration, Brier score and log loss.

    Example: scorespace calibrate credit.csv --truth outcome --positive bad --score naive_bayes --out scores.csv
    """
    options.check_output(out, OUTPUT_EXTENSIONS, data, fit_options.fit, apply)
    options.check_output(map, (".json",), data, fit_options.fit, apply)
    options.check_output(report, (".html",), data, fit_options.fit, apply)
    if report is not None and data_options.truth is None:
        raise ColumnError("a report compares with the truth.", hint="--truth COL, or leave out --report")
    score = options.split_columns(score, data)
    if map is not None and len(score) > 1:
        raise ScoreSpaceError("a map file holds one model.", hint="--map with one --score")
    with local_copy(data) as copy:  # read repeatedly: for each model, and for the output file
        path = copy if data_options.where is None else FilteredData(copy, data_options.where)
        names, settings = (
            options.renames(data_options.name),
            {name: getattr(data_options, name) for name in _COMMON_NAMES},
        )
        names_of = {
            score_column: {column: name for column, name in names.items() if column == score_column}
            for score_column in score
        }
        if apply is not None:
            if any(option is not None for option in (*fit_options, map)):
                raise ScoreSpaceError("a saved map is not fitted again.", hint="leave out the options of fitting")
            if data_options.weight is not None and data_options.truth is None:
                raise ScoreSpaceError("--weight with --apply is used for evaluation only.", hint="add --truth COL")
            settings["positive"], saved = agreed_positive(apply, data_options.positive), read_map(apply)
            results = [apply_map(path, saved, score=column, names=names_of[column], **settings) for column in score]
        else:
            if data_options.truth is None:
                raise ColumnError("the column of the actual class is missing.", hint="--truth COL, or --apply MAP")
            if fit_options.fold is not None and fit_options.folds is not None:
                raise ScoreSpaceError("--fold and --folds are alternatives.", hint="pass one of them")
            if fit_options.fit is not None and fit_options.folds is not None:
                raise ScoreSpaceError(
                    "the map is fitted either on other data or across folds.", hint="--fit or --folds"
                )
            settings |= {name: value for name, value in fit_options._asdict().items() if value is not None}
            if fit_options.fit is not None and data_options.where is not None:
                settings["fit"] = FilteredData(fit_options.fit, data_options.where)
            results = [
                recalibrate(path, score=column, names=names_of[column], seed=seed, **settings) for column in score
            ]
        if report is not None:  # first: it evaluates, and nothing is written before an error
            _write_report(path, score, results, settings, report)
        if out is not None:
            write_recalibrated(path, results, out)
    if map is not None:
        write_file(map, serialize.as_json(results[0].saved_map()).encode())
    output.write(view.document(*results), _content(results), format)
    output.list_files(None, **{"scores": out, "map   ": map, "report": report})


def _write_report(
    data: object, scores: Sequence[str], results: Sequence[Recalibration], settings: Mapping[str, Any], target: Path
) -> None:
    """Report on the scores before and after as two models of the same cases."""
    with TemporaryDirectory() as folder:
        both = write_recalibrated(data, results, Path(folder) / "scores.parquet")
        columns = [
            name
            for score, result in zip(scores, results, strict=True)
            for name in (score, result.columns[0] if len(result.columns) == 1 else f"calibrated_{score}")
        ]
        roles = {name: settings[name] for name in ("truth", "positive", "missing") if settings.get(name) is not None}
        if settings.get("weight") is not None:
            roles["weight"] = settings["weight"]
        is_binary = all(len(result.columns) == 1 for result in results)
        evaluation = evaluate_data(str(both), scores=columns, measures=_REPORT_MEASURES if is_binary else "", **roles)
        title = f"Calibration of {', '.join(result.model for result in results)}: {results[0].method}"
        evaluation.report(target, title=title, sections=_REPORT_SECTIONS, command=output.command())


def _content(results: list[Recalibration]) -> Row:
    """Result of one model, or the combined rows of several models with each single result."""
    if len(results) == 1:
        return results[0].to_dict()
    rows = [row for result in results for row in result.rows()]
    verdict = " ".join(result.words for result in results)
    notes = [note.to_dict() for note in dict.fromkeys(note for result in results for note in result.notes)]
    return to_json_types(
        {
            "schema": SCHEMA,
            "rows": rows,
            "models": [result.to_dict() for result in results],
            "verdict": verdict,
            "notes": notes,
        }
    )
