"""Edge in: a path, URI, frame or dict of arrays becomes checked roles, and the roles become tables."""

from scorespace.frames.check import Sample, check
from scorespace.frames.count import columns, count, couples, grouped_bins, pair, tally, tally_slices
from scorespace.frames.extend import rows_in_use, score_columns, write_extended
from scorespace.frames.files import copied, files_read
from scorespace.frames.matrix import UNNAMED, read_inline, read_matrix
from scorespace.frames.memory import distributed, fits, memory_of
from scorespace.frames.outcomes import Outcomes, read_outcomes
from scorespace.frames.read import Chosen, read
from scorespace.frames.remote import allow_remote, set_remote
from scorespace.frames.roles import Roles, roles, score_models, truth_unnamed
from scorespace.frames.slices import Sliced, Slicing, each_slice, sliced, slicing
from scorespace.frames.source import Source
from scorespace.frames.spark import check_engine, refuse_on_cluster, spark_source
from scorespace.frames.stored import Tables, holds_tables, load_tables, save_tables
from scorespace.frames.sums import Needs
from scorespace.frames.where import where
from scorespace.frames.write import Library, frame_of, library_of

__all__ = [
    "UNNAMED",
    "Chosen",
    "Library",
    "Needs",
    "Outcomes",
    "Roles",
    "Sample",
    "Sliced",
    "Slicing",
    "Source",
    "Tables",
    "allow_remote",
    "check",
    "check_engine",
    "columns",
    "copied",
    "count",
    "couples",
    "distributed",
    "each_slice",
    "files_read",
    "fits",
    "frame_of",
    "grouped_bins",
    "holds_tables",
    "library_of",
    "load_tables",
    "memory_of",
    "pair",
    "read",
    "read_inline",
    "read_matrix",
    "read_outcomes",
    "refuse_on_cluster",
    "roles",
    "rows_in_use",
    "save_tables",
    "score_columns",
    "score_models",
    "set_remote",
    "sliced",
    "slicing",
    "spark_source",
    "tally",
    "tally_slices",
    "truth_unnamed",
    "where",
    "write_extended",
]
