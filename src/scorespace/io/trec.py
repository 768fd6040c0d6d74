"""Read TREC run and qrels files: scores of the documents of each query, and their relevance."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.files import record_read
from scorespace.io.paths import resolve_paths
from scorespace.results import grouped

_RUN: Final = ("query", "Q0", "document", "rank", "score", "tag")
_QRELS: Final = ("query", "iteration", "document", "relevance")


def read_trec(runs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], qrels: str | os.PathLike[str]) -> Any:
    """Read TREC runs and relevance judgements as columns: query, document, relevance, and a score for each run.

    Documents without judgement have the relevance 0, as in trec_eval, and negative grades count as 0. A document that
    a run did not return has no score in it. All judged queries count; a run that returned nothing for one has 0 there.

    Parameters
    ----------
    runs : path or sequence of path
        Run files (query, Q0, document, rank, score, tag); patterns such as ``"runs/*.run"`` name several.
    qrels : path
        Relevance judgements (query, iteration, document, relevance).

    Returns
    -------
    dict of str to ndarray
        Columns to evaluate with ``truth="relevance"`` and ``columns={"query": "query"}``; the runs are named by their
        tags, or by their files where tags are the same.

    Examples
    --------
    >>> read_trec("none.run", "qrels.txt")
    Traceback (most recent call last):
    scorespace.errors.DataError: ...
    """
    judged = _table(os.fspath(qrels), _QRELS)
    stated = [runs] if isinstance(runs, str | os.PathLike) else list(runs)
    files = [path for one in stated for part in os.fspath(one).split(",") for path in resolve_paths(part.strip())]
    tables = {path: _table(path, _RUN) for path in files}
    grades = np.maximum(_numbers(judged[:, 3], "relevance", os.fspath(qrels)), 0.0)
    scored: dict[str, tuple[NDArray[Any], NDArray[np.float64]]] = {}
    shared = len({tag for table in tables.values() for tag in set(table[:, 5].tolist())}) < len(files)
    for path, table in tables.items():
        scores = _numbers(table[:, 4], "score", path)
        for tag in dict.fromkeys(table[:, 5].tolist()):
            name, rows = (Path(path).name.partition(".")[0] if shared else tag), table[:, 5] == tag
            if name in scored:
                raise DataError(f"two runs are named {name!r}.", seen=listing(files), hint="other tags or file names")
            scored[name] = _keys(table[rows]), scores[rows]
    judged_keys, queries = _keys(judged), np.unique(judged[:, 0])
    keys = np.unique(np.concatenate([judged_keys, *(found for found, _ in scored.values())]))
    parts = np.char.partition(keys, "\t")
    kept = np.isin(parts[:, 0], queries)
    keys, parts = keys[kept], parts[kept]
    if not keys.size or not any(np.isin(found, keys).any() for found, _ in scored.values()):
        raise DataError(
            "no query of the runs has relevance judgements.",
            seen=f"queries such as {listing(queries[:3].tolist())} in {os.path.basename(os.fspath(qrels))}",
            hint="the same query names in both files",
        )
    columns: dict[str, Any] = {"query": parts[:, 0], "document": parts[:, 2]}
    columns["relevance"] = _placed(keys, judged_keys, grades, os.fspath(qrels), 0.0)
    for name, (found, scores) in scored.items():
        if name in columns:
            raise DataError(f"a run is named {name!r}, as a column is.", hint="another tag in the run file")
        known = np.isin(found, keys)
        columns[name] = _placed(keys, found[known], scores[known], name, np.nan)
    return columns


def _table(path: str, names: Sequence[str]) -> NDArray[Any]:
    """The fields of a file, a row per line; lines are separated into fields by white space."""
    (local,) = resolve_paths(path)
    record_read(local)
    try:
        with (
            gzip.open(local, "rt", encoding="utf-8-sig")
            if local.endswith(".gz")
            else open(local, encoding="utf-8-sig") as file
        ):
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path!r} cannot be read.", seen=str(error), hint="a text file in UTF-8") from None
    fields, lines = text.split(), sum(map(bool, map(str.strip, text.splitlines())))
    if not lines or len(fields) != lines * len(names):
        what = "run" if names is _RUN else "qrels"
        seen = f"{grouped(len(fields))} fields in {grouped(lines)} lines"
        raise DataError(f"{path!r} is not a TREC {what} file.", seen=seen, hint=f"lines of {' '.join(names)}")
    return np.array(fields, dtype=str).reshape(-1, len(names))


def _numbers(column: NDArray[Any], name: str, path: str) -> NDArray[np.float64]:
    try:
        values = column.astype(np.float64)
    except ValueError as error:
        raise DataError(f"{path!r} has a {name} that is not a number.", seen=str(error), hint="numbers") from None
    if not np.isfinite(values).all():
        raise DataError(f"{path!r} has an infinite or missing {name}.", hint="finite numbers")
    return values


def _keys(table: NDArray[Any]) -> NDArray[Any]:
    """Query and document of each line as one text."""
    return np.char.add(np.char.add(table[:, 0], "\t"), table[:, 2])


def _placed(
    keys: NDArray[Any], found: NDArray[Any], values: NDArray[np.float64], name: str, other: float
) -> NDArray[np.float64]:
    """The value of each key, `other` for those that were not found."""
    if np.unique(found).size < found.size:
        seen, counts = np.unique(found, return_counts=True)
        query, _, document = str(seen[counts > 1][0]).partition("\t")
        raise DataError(f"{name!r} has document {document!r} of query {query!r} twice.", hint="one line for each")
    column = np.full(keys.size, other)
    column[np.searchsorted(keys, found)] = values
    return column
