"""Rows as files of every format: whole, in odd encodings and types, or bent."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import Any

import pyarrow as pa
from pyarrow import feather, ipc, parquet

from fuzz.draw import Draw


def file_of(rng: Draw, rows: list[dict[str, Any]], stem: str = "data") -> tuple[str, bytes, bool]:
    """A file of the rows, and whether it holds them as they are: most do, some are cut or bent."""
    rng.learn(rows)
    kind = rng.choice(["csv"] * 6 + ["tsv", "json", "ndjson", "parquet", "arrow", "stream"])
    name = f"{stem}.{'arrow' if kind == 'stream' else kind}"
    told = True
    if kind in ("csv", "tsv"):
        data, told = _csv(rng, rows, "\t" if kind == "tsv" else rng.choice([",", ",", ",", ";", "\t", "|"]))
    elif kind in ("json", "ndjson"):
        text = json.dumps(rows, allow_nan=True, indent=rng.choice([None, 1]))
        data = (text if kind == "json" else "\n".join(json.dumps(row) for row in rows)).encode()
    else:
        data = _binary(rng, rows, kind)
    if kind in ("csv", "tsv", "json") and rng.random() < 0.08:
        name, data = f"{name}.gz", gzip.compress(data)
    if data and rng.random() < (0.05 if rng.calm else 0.3):
        data, told = bent(rng, data), False
    return name, data, told


def _csv(rng: Draw, rows: list[dict[str, Any]], separator: str) -> tuple[bytes, bool]:
    out = io.StringIO(newline="")
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator=rng.choice(["\n", "\n", "\r\n"]))
    header = list(rows[0]) if rows else ["y", "s"]
    writer.writerow(header)
    for row in rows:
        writer.writerow([rng.choice(["", "NA"]) if row[name] is None else row[name] for name in header])
    text, told = out.getvalue(), True
    if rng.random() < (0.04 if rng.calm else 0.15):  # what an engine might skip
        lines = text.split("\n")
        odd = rng.choice(["# a comment", "", "y,s", "x", '"open', "a,b,c,d,e,f,g,h,i,j,k", ",,,,,,,,", "\r"])
        lines.insert(rng.randrange(len(lines)), odd)
        text, told = "\n".join(lines), False
    encoding = rng.choice(["utf-8"] * 9 + (["utf-8-sig"] if rng.calm else ["utf-8-sig", "latin-1", "utf-16", "cp1252"]))
    return text.encode(encoding, "replace"), told and encoding.startswith("utf-8")


def _binary(rng: Draw, rows: list[dict[str, Any]], kind: str) -> bytes:
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else {"y": 0, "s": 0})}
    arrays = {name: _array(rng, values) for name, values in columns.items()}
    if rng.random() < 0.2:
        size = len(rows)
        arrays["extra"] = rng.choice(
            [
                pa.array([k * 10**12 for k in range(size)], pa.timestamp("us", tz="UTC")),
                pa.array([[k] for k in range(size)], pa.list_(pa.int64())),
                pa.array([b"\xff"] * size, pa.binary()),
                pa.array([{"a": k} for k in range(size)], pa.struct([("a", pa.int64())])),
                pa.nulls(size),
            ]
        )
    table, out = pa.table(arrays), io.BytesIO()
    if kind == "parquet":
        parquet.write_table(table, out)
    elif kind == "arrow":
        feather.write_feather(table, out, compression=rng.choice(["uncompressed", "lz4"]))
    else:
        with ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    return out.getvalue()


def _array(rng: Draw, values: list[Any]) -> pa.Array:
    try:
        array = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        array = pa.array([None if value is None else str(value) for value in values])
    if pa.types.is_string(array.type) and rng.random() < 0.2:
        return array.dictionary_encode()
    return array


def bent(rng: Draw, data: bytes) -> bytes:
    """The bytes with a few of them cut, changed, added or taken out."""
    how = rng.randrange(4)
    place = rng.randrange(len(data))
    if how == 0:
        return data[:place]
    held = bytearray(data)
    if how == 1:
        for _ in range(rng.randrange(1, 8)):
            held[rng.randrange(len(held))] = rng.randrange(256)
    elif how == 2:
        held[place:place] = bytes(rng.choice(b'\x00\xff"\n\r,#') for _ in range(rng.randrange(1, 4)))
    else:
        del held[place : place + rng.randrange(1, 20)]
    return bytes(held)
