"""Edge in: a path, URI, frame or dict of arrays becomes checked roles, and the roles become tables."""

from scorespace.frames.check import Sample, check
from scorespace.frames.count import columns, count, pair
from scorespace.frames.matrix import read_matrix
from scorespace.frames.read import read
from scorespace.frames.roles import Roles, roles
from scorespace.frames.source import Source
from scorespace.frames.write import Library, frame_of, library_of

__all__ = [
    "Library",
    "Roles",
    "Sample",
    "Source",
    "check",
    "columns",
    "count",
    "frame_of",
    "library_of",
    "pair",
    "read",
    "read_matrix",
    "roles",
]
