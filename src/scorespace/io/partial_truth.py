"""Read cases of which only some have a truth, with a proxy of the truth, probabilities or strata of the labelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, did_you_mean, listing
from scorespace.io.column_values import as_label, as_number, is_missing_value, is_numeric_type, to_doubles, unmask
from scorespace.io.derived_scores import add_derived_scores
from scorespace.io.read import read
from scorespace.io.roles import Roles, check_columns, resolve_roles, truth_not_named_error
from scorespace.io.source import Source
from scorespace.io.tabulate import pair_models
from scorespace.io.validation import check_missing, note_missing_values, refuse_wrong_kinds, validate
from scorespace.results import Note, count_noun, grouped, note
from scorespace.tables.labels import EQUIVALENT_LABELS, encode, positive_index
from scorespace.tables.partial_truth import PartialTruth, check_partial_truth, partial_truth

_MAX_STRATA: Final = 50
_CLEAR: Final = 4.0  # standard errors beyond which numbers do not agree
_FLAGS: Final = {"proxy": "--proxy", "probability": "--probability", "verified_by": "--verified-by"}


def read_partial_truth(
    data: Any,
    *,
    truth: str | None,
    proxy: str | None = None,
    probability: str | None = None,
    verified_by: str | None = None,
    scores: Any = (),
    decisions: Any = (),
    predictions: Any = (),
    positive: Any = None,
    names: Mapping[str, str] | None = None,
    missing: str = "error",
) -> tuple[PartialTruth, str, tuple[Note, ...]]:
    """Return the sample with its name and notes on its rows; only the truth may have gaps.

    >>> rows = {"y": [1, 0] * 20 + [None] * 40, "judge": [1, 0] * 40, "s": np.arange(80) % 7}
    >>> read_partial_truth(rows, truth="y", proxy="judge", scores="s")[0].truths
    40
    """
    source = read(data)
    if truth is None:
        raise truth_not_named_error(source)
    check_missing(missing)
    source, scores = add_derived_scores(source, scores, positive)
    columns = {"scores": scores, "decisions": decisions, "predictions": predictions}
    roles = resolve_roles(source, truth=truth, positive=positive, names=names, **columns)
    extra = {"proxy": proxy, "probability": probability, "verified_by": verified_by}
    stated = {role: column for role, column in extra.items() if column is not None}
    _check_extra(stated, roles, source)
    refuse_wrong_kinds(source, roles)
    values, gaps = _columns_of_rows(source, roles, stated)
    models = {column for _, column in roles.columns()} - {truth}
    needed = [column for column in values if column in models or column not in (truth, probability)]
    kept = ~np.any([gaps[column] for column in needed], axis=0)
    counts = {column: int(gaps[column].sum()) for column in needed}
    notes = note_missing_values(counts, kept.size, int((~kept).sum()), missing)
    values = {column: array[kept] for column, array in values.items()}
    known = ~gaps[truth][kept]
    chance = None if probability is None else _check_probabilities(values[probability], known, probability)
    if chance is not None:
        notes = (*notes, *_selection_notes(chance, known))
        known &= ~np.isnan(chance)
    if not known.any():
        raise DataError(f"no row has a truth in column {truth!r}.", hint="a truth for some rows")
    sample = _expanded(values, known, roles, proxy, chance, verified_by)
    check_partial_truth(sample)
    return sample, source.name, notes


def _check_extra(stated: Mapping[str, str], roles: Roles, source: Source) -> None:
    """Refuse columns that are missing or that cannot have a second role."""
    if not stated:
        raise DataError("a truth with gaps needs a proxy, probabilities, or what decided the gaps.", hint="--proxy COL")
    check_columns(stated.values(), source)
    for role, column in stated.items():
        if column == roles.truth:
            raise ColumnError(f"column {column!r} cannot be both truth and {role}.", hint=f"{_FLAGS[role]} COL")
    if "probability" in stated and "verified_by" in stated:
        raise DataError(
            "known probabilities and strata are two answers to the same question.",
            seen=listing(stated.values()),
            hint="either --probability or --verified-by",
        )


def _columns_of_rows(
    source: Source, roles: Roles, stated: Mapping[str, str]
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[np.bool_]]]:
    """The columns of all rows, numbers as doubles, and where each has no value."""
    schema = source.frame.collect_schema()
    numeric = {column for role, column in roles.columns() if role in ("score", "number")}
    if "probability" in stated:
        if not is_numeric_type(schema[stated["probability"]]):
            raise ColumnError(f"column {stated['probability']!r} does not hold probabilities.", hint="numbers above 0")
        numeric.add(stated["probability"])
    names = list(dict.fromkeys([*(column for _, column in roles.columns()), *stated.values()]))
    exprs = [
        (as_number(name) if name in numeric else as_label(source.frame, name)).alias(f"v{k}")
        for k, name in enumerate(names)
    ]
    exprs += [is_missing_value(name, schema[name]).alias(f"m{k}") for k, name in enumerate(names)]
    found = source.arrays(source.frame.select(*exprs))
    arrays = {
        name: to_doubles(found[f"v{k}"]) if name in numeric else unmask(found[f"v{k}"]) for k, name in enumerate(names)
    }
    source.accounts_for(found["v0"].size)
    return arrays, {name: np.asarray(found[f"m{k}"]).astype(bool) for k, name in enumerate(names)}


def _check_probabilities(values: NDArray[np.float64], known: NDArray[np.bool_], column: str) -> NDArray[np.float64]:
    """Probabilities of being labelled, which must be above 0 and at most 1 where they are stated."""
    stated = values[~np.isnan(values)]
    wrong = stated[(stated <= 0) | (stated > 1)]
    if wrong.size:
        raise DataError(
            f"column {column!r} holds values that are not probabilities of being chosen.",
            seen=f"{wrong[0]:g} in {count_noun(wrong.size, 'row')}",
            hint="above 0 and at most 1; leave it empty for rows that were not chosen",
        )
    if not (known & ~np.isnan(values)).any():
        raise DataError(f"no row with a truth has a value in column {column!r}.", hint="the file that label wrote")
    return values


def _selection_notes(chance: NDArray[np.float64], known: NDArray[np.bool_]) -> Iterator[Note]:
    """Notes on rows that were chosen but have no truth, or were not chosen but have one."""
    chosen = ~np.isnan(chance)
    lost = int((chosen & ~known).sum())
    if not chosen.all():
        if lost:
            text = f"{grouped(lost)} of {count_noun(int(chosen.sum()), 'row')} chosen for labelling have no truth"
            yield note("SS191", f"{text}: if it is missing for a reason, the estimates are biased.")
        if unused := int((known & ~chosen).sum()):
            text = f"{count_noun(unused, 'row')} with a truth but no probability"
            yield note("SS190", f"{text} {'is' if unused == 1 else 'are'} taken as without a truth.")
        return
    expected, spread = chance.sum(), np.sqrt((chance * (1 - chance)).sum())
    if abs(known.sum() - expected) > _CLEAR * spread + 1:
        counts = f"{grouped(int(known.sum()))} rows have a truth; by the probabilities about {grouped(round(expected))}"
        yield note("SS191", f"{counts} should have one. Are these the probabilities of being chosen?")


def _expanded(
    values: Mapping[str, NDArray[Any]],
    known: NDArray[np.bool_],
    roles: Roles,
    proxy: str | None,
    chance: NDArray[np.float64] | None,
    verified_by: str | None,
) -> PartialTruth:
    """The sample with each labelled row once, and each row once for each class of its proxy."""
    rows, truth = np.flatnonzero(known), values[roles.truth]
    if roles.numbers:
        classes: tuple[str, ...] = ()
        labels = truth[known]
        proxies = None if proxy is None else _numbers(values[proxy], proxy)[:, None]
    else:
        codes, classes = encode(truth[known], roles.truth)
        labels = np.array(classes, dtype=object)[codes]
        proxies = None if proxy is None else _shares(values[proxy], proxy, classes, codes, roles)
    places, shares = [rows], [np.ones(rows.size)]
    all_labels = [labels]
    if proxies is not None:
        used_shares = (proxies > 0) | known[:, None]  # labelled rows have a case for each class
        of_row, of_class = np.nonzero(used_shares) if classes else (np.arange(known.size), np.zeros(known.size, int))
        places.append(of_row)
        shares.append(proxies[of_row, of_class] if classes else np.ones(known.size))
        all_labels.append(np.array(classes, dtype=object)[of_class] if classes else proxies[:, 0])
    row = np.concatenate(places)
    used = {column: array[row] for column, array in values.items() if column in {c for _, c in roles.columns()}}
    used[roles.truth] = np.concatenate(all_labels)
    stratum, strata = (None, ()) if verified_by is None else _strata(values[verified_by], verified_by)
    return partial_truth(
        pair_models(validate(read(used), roles)),
        row,
        rows.size,
        known.size,
        np.concatenate(shares),
        probability=None if chance is None else np.where(known, chance, np.nan),
        stratum=stratum,
        strata=strata,
        numeric=not classes,
        proxy_values=proxies,
        names={"truth": roles.truth, **({"proxy": proxy} if proxy else {})},
    )


def _numbers(array: NDArray[Any], column: str) -> NDArray[np.float64]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise ColumnError(f"the proxy {column!r} holds no numbers.", hint="a prediction of the truth") from None


def _shares(
    array: NDArray[Any], column: str, classes: tuple[str, ...], codes: NDArray[Any], roles: Roles
) -> NDArray[np.float64]:
    """Share of each row that the proxy gives to each class: 1 for its label, or a probability of the positive class."""
    is_number = array.dtype.kind in "fiu" or array.dtype == bool
    fractional = is_number and bool((array.astype(np.float64) % 1 != 0).any())
    if fractional:
        numbers = array.astype(np.float64)
        if len(classes) != 2:
            raise ColumnError(
                f"the proxy {column!r} is a number, and the truth has {len(classes)} classes.",
                seen=listing(classes),
                hint="a column of labels as proxy",
            )
        if numbers.min() < 0 or numbers.max() > 1:
            raise ColumnError(
                f"the proxy {column!r} is neither a label nor a probability.",
                seen=f"{numbers.min():g} to {numbers.max():g}",
                hint="scorespace calibrate maps scores to probabilities",
            )
        positive = positive_index(classes, roles.positive, codes)
        shares = np.empty((array.size, 2))
        shares[:, positive], shares[:, 1 - positive] = numbers, 1 - numbers
        return shares
    found, names = encode(array, column)
    names = tuple(name if name in classes else EQUIVALENT_LABELS.get(name, name) for name in names)
    unknown = [name for name in names if name not in classes]
    if unknown:
        raise ColumnError(
            f"the proxy {column!r} holds the label {unknown[0]!r}, which no truth has.",
            seen=listing(classes),
            hint=did_you_mean(unknown[0], classes, "the labels of the truth, or probabilities", quoted=True),
        )
    index = np.array([classes.index(name) for name in names])[found]
    return (index[:, None] == np.arange(len(classes))).astype(np.float64)


def _strata(array: NDArray[Any], column: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    codes, names = encode(array, column)
    if len(names) > _MAX_STRATA:
        raise ColumnError(
            f"column {column!r} has too many values to be strata.",
            seen=f"{grouped(len(names))} values",
            hint=f"at most {_MAX_STRATA}, such as the test result",
        )
    return codes.astype(np.intp), names
