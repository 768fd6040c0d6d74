"""`scorespace label`: choose the rows to label next, with known probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from scorespace.cli import options, output
from scorespace.cli.common_options import DataOptions, only
from scorespace.cli.options import flag, number
from scorespace.cli.verbs import verb
from scorespace.errors import DataError, listing
from scorespace.inference.label_design import SAFETY
from scorespace.io import FilteredData, local_copy
from scorespace.io.append_columns import OUTPUT_EXTENSIONS


@verb("Data, clusters, learners", 6)
def label(
    data: options.Data,
    score: Annotated[str, flag("COL", "Scores of the model to evaluate.", options.ROLES)],
    measure: Annotated[
        str,
        flag("MEASURE", 'Measure to make precise, such as auc, tpr@0.5 or "cost(fp=1, fn=9)@0.1".'),
    ],
    budget: Annotated[int, flag("N", "Expected number of labels.")],
    data_options: Annotated[DataOptions, only("truth", "positive", "missing", "where", "allow_remote")],
    safety: Annotated[
        float, flag("SHARE", "Share of the probabilities that is alike for all rows.", parser=number)
    ] = SAFETY,
    seed: Annotated[int, flag(None, "Seed of the choice.", min=0)] = 0,
    out: Annotated[
        Path | None,
        flag(
            "FILE",
            "Write the data with the column 'probability', empty for rows not to label: .csv, .tsv or .parquet.",
            options.OUTPUT,
        ),
    ] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Choose which rows to label next, so that a measure becomes precise with few labels.

    Rows whose unknown class matters most for the measure are chosen more often, with known probabilities, which
    evaluate --probability takes into account. The scores are probabilities of the positive class, or are calibrated on
    rows that have a truth already. Expect a gain of up to twice as many labels, often less.

    Example: scorespace label credit.csv --score naive_bayes --measure "cost(fp=1, fn=9)@0.1" --budget 200 --out l.csv
    """
    from scorespace.evaluation.labelling import rows_to_label
    from scorespace.report import partial_truth as view

    options.check_output(out, OUTPUT_EXTENSIONS, data)
    scores = options.split_columns([score], data)
    if len(scores) != 1:
        raise DataError("rows are chosen for one model.", seen=listing(scores), hint="--score COL")
    with local_copy(data) as copy:  # read twice: for the scores, and for the output file
        plan = rows_to_label(
            copy if data_options.where is None else FilteredData(copy, data_options.where),
            score=scores[0],
            measure=measure,
            budget=budget,
            truth=data_options.truth,
            positive=data_options.positive,
            safety=safety,
            missing=data_options.missing,
            seed=seed,
            out=out,
        )
    output.write(view.label_document(plan), plan.to_dict(), format)
    output.list_files(format, rows=out)
