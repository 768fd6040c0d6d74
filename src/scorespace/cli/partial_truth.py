"""`evaluate` with a truth for some rows only: a proxy for all, known probabilities, or strata of verification."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from scorespace.cli import options, output
from scorespace.cli.common_options import CostOptions, DataOptions
from scorespace.cli.options import flag
from scorespace.errors import ScoreSpaceError

_PANEL = "Truth for some rows"
_NOT_USED = (
    "weight group fold repeat time baseline dataset matrix model order scale per memory precision engine master "
    "value lower_is_better query qrels quantiles ensemble train"
)


class PartialTruthOptions(NamedTuple):
    """Columns that make up for a truth with gaps."""

    proxy: Annotated[
        str | None,
        flag("COL", "Proxy of the truth for all rows, a label or a probability; the truth may then have gaps.", _PANEL),
    ] = None
    probability: Annotated[
        str | None,
        flag(
            "COL", "Probability with which each row was chosen to have its truth found; by default all alike.", _PANEL
        ),
    ] = None
    verified_by: Annotated[
        str | None,
        flag("COL", "What decided whether a row has a truth, such as the test result (verification bias).", _PANEL),
    ] = None

    def __bool__(self) -> bool:
        return any(column is not None for column in self)


def evaluate(
    partial: PartialTruthOptions,
    data_options: DataOptions,
    cost_options: CostOptions,
    others: Mapping[str, Any],
    *,
    report: Path | None,
    format: options.Format,
    **settings: Any,
) -> None:
    """Write the estimates for all rows; options that need the truth of every row are refused."""
    from scorespace.evaluation.partial_truth import evaluate_partial_truth
    from scorespace.report import partial_truth as view

    flags = {f"--{name.replace('_', '-')}": getattr(data_options, name) for name in _NOT_USED.split()}
    flags |= {"--prevalence": cost_options.prevalence if cost_options.has_only_prevalence else None}
    for name, value in {**flags, **others}.items():
        if value not in (None, "", [], False):
            raise ScoreSpaceError(f"{name} needs the truth of every row.", hint=f"leave out {name}")
    data = data_options.data
    if data is None:
        raise ScoreSpaceError("there are no data.", hint="scorespace evaluate DATA --truth COL --score COL --proxy COL")
    condition: Any = cost_options.condition(data_options.rows)
    with output.progress("bootstrap") as progress:
        columns = {"scores": data_options.score, "decisions": data_options.decision}
        columns |= {"predictions": data_options.prediction}
        roles: dict[str, Any] = {role: options.split_columns(names, data) for role, names in columns.items()}
        found = evaluate_partial_truth(
            data,
            truth=data_options.truth,
            positive=data_options.positive,
            names=options.renames(data_options.name),
            where=data_options.where,
            missing=data_options.missing,
            profile=data_options.profile,
            condition=condition,
            progress=progress,
            **partial._asdict(),
            **roles,
            **settings,
        )
    output.write_result(view.document(found), found.to_dict(), format, report=report)
