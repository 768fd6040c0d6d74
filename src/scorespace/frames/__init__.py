"""Edge in: a path, URI, frame or dict of arrays becomes checked roles, and the roles become tables."""

from scorespace.frames.check import Sample, check
from scorespace.frames.count import columns, count, pair
from scorespace.frames.extend import check_target, refuse_overwriting, rows_in_use, score_columns, write_extended
from scorespace.frames.matrix import read_matrix
from scorespace.frames.outcomes import Outcomes, read_outcomes
from scorespace.frames.read import read
from scorespace.frames.roles import Roles, roles, score_models
from scorespace.frames.source import Source
from scorespace.frames.write import Library, frame_of, library_of

__all__ = [
    "Library",
    "Outcomes",
    "Roles",
    "Sample",
    "Source",
    "check",
    "check_target",
    "columns",
    "count",
    "frame_of",
    "library_of",
    "pair",
    "read",
    "read_matrix",
    "read_outcomes",
    "refuse_overwriting",
    "roles",
    "rows_in_use",
    "score_columns",
    "score_models",
    "write_extended",
]
