"""Edge in: a path, URI, frame or dict of arrays becomes checked roles, and the roles become tables."""

from scorespace.frames.check import Sample, check
from scorespace.frames.count import columns, count, pair
from scorespace.frames.extend import rows_in_use, score_columns, write_extended
from scorespace.frames.files import copied, files_read
from scorespace.frames.matrix import UNNAMED, read_inline, read_matrix
from scorespace.frames.outcomes import Outcomes, read_outcomes
from scorespace.frames.read import read
from scorespace.frames.remote import allow_remote, set_remote
from scorespace.frames.roles import Roles, roles, score_models, truth_unnamed
from scorespace.frames.source import Source
from scorespace.frames.write import Library, frame_of, library_of

__all__ = [
    "UNNAMED",
    "Library",
    "Outcomes",
    "Roles",
    "Sample",
    "Source",
    "allow_remote",
    "check",
    "columns",
    "copied",
    "count",
    "files_read",
    "frame_of",
    "library_of",
    "pair",
    "read",
    "read_inline",
    "read_matrix",
    "read_outcomes",
    "roles",
    "rows_in_use",
    "score_columns",
    "score_models",
    "set_remote",
    "truth_unnamed",
    "write_extended",
]
