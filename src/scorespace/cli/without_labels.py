"""`scorespace evaluate --assume`: measures of models without labels."""

from __future__ import annotations

from collections.abc import Mapping

from scorespace.cli import options, output
from scorespace.cli.common_options import DataOptions
from scorespace.errors import MeasureError
from scorespace.evaluation.assumed import assume
from scorespace.inference.estimate import check_level
from scorespace.report.assumed import assumed_document
from scorespace.results import count_noun

_NOT_USED = (
    "truth decision prediction matrix weight group fold repeat time baseline dataset model order scale per "
    "value lower_is_better query qrels quantiles ensemble train"
)


def write_assumed(
    data_options: DataOptions,
    assumption: str,
    measures: str,
    level: float,
    form: options.Format,
    stated: Mapping[str, object],
) -> None:
    """Write the values that follow from an assumption; options that need labels are refused."""
    check_level(level)
    stated = {f"--{name.replace('_', '-')}": getattr(data_options, name) for name in _NOT_USED.split()} | dict(stated)
    refused = next((name for name, value in stated.items() if value), None)
    if refused is not None:
        problem = f"values without labels are assumed, so {refused} cannot be used."
        raise MeasureError(problem, hint=f"leave out {refused}, or --assume")
    if data_options.data is None:
        raise MeasureError("--assume needs data.", hint="scorespace evaluate FILE --score COL --assume calibrated")
    found = assume(
        options.filter_rows(data_options.data, data_options.where),
        assumption,
        options.split_columns(data_options.score, data_options.data),
        measures=measures,
        names=options.renames(data_options.name),
        missing=data_options.missing,
        positive=data_options.positive,
        level=level,
    )
    facts = f"{count_noun(found.cases, 'case')}   no labels"
    output.write(assumed_document(found, found.name, facts), found.to_dict(), form)
