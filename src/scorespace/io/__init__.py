"""Read files and frames, check which column has which role, and count them into tables.

Rarely used functions are imported from their own module.
"""

from scorespace.io.validation import Sample
from scorespace.io.validation import validate
from scorespace.io.tabulate import fetch_columns
from scorespace.io.tabulate import count_tables
from scorespace.io.tabulate import pair_models
from scorespace.io.append_columns import used_rows
from scorespace.io.append_columns import read_score_columns
from scorespace.io.append_columns import write_with_columns
from scorespace.io.conversion import reading
from scorespace.io.matrix import DEFAULT_CLASSES
from scorespace.io.memory import is_distributed
from scorespace.io.memory import fits_in_memory
from scorespace.io.memory import parse_memory
from scorespace.io.paths import local_copy
from scorespace.io.paths import input_files
from scorespace.io.read import FilteredData
from scorespace.io.read import read
from scorespace.io.paths import allow_remote
from scorespace.io.roles import Roles
from scorespace.io.roles import resolve_roles
from scorespace.io.roles import resolve_scores
from scorespace.io.roles import truth_not_named_error
from scorespace.io.source import Source
from scorespace.io.spark import check_engine
from scorespace.io.spark import refuse_unsupported_on_cluster
from scorespace.io.spark import spark_source
from scorespace.io.table_files import TableCollection
from scorespace.io.table_files import is_table_file
from scorespace.io.table_files import load_tables
from scorespace.io.table_files import save_tables
from scorespace.io.read import Library
from scorespace.io.read import to_frame
from scorespace.io.read import frame_library
