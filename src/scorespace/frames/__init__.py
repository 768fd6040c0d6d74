"""Edge in: a path, URI, frame or dict of arrays becomes checked roles, and the roles become tables.

What few commands use is not listed here, but imported from its file where it is asked for.
"""

from scorespace.frames.check import Sample, check
from scorespace.frames.count import columns, count, pair
from scorespace.frames.extend import rows_in_use, score_columns, write_extended
from scorespace.frames.matrix import UNNAMED
from scorespace.frames.memory import distributed, fits, memory_of
from scorespace.frames.paths import copied, files_read
from scorespace.frames.read import Chosen, read
from scorespace.frames.remote import set_remote
from scorespace.frames.roles import Roles, roles, score_models, truth_unnamed
from scorespace.frames.source import Source
from scorespace.frames.spark import check_engine, refuse_on_cluster, spark_source
from scorespace.frames.stored import Tables, holds_tables, load_tables, save_tables
from scorespace.frames.write import Library, frame_of, library_of
