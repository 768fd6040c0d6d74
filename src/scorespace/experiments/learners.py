"""Learners by name, each a function from the shape of a data set to an estimator, and users' estimators.

Learners get the feature matrix with missing values and nominal levels; imputation and encoding are part of the
estimator, so that they are fitted to training rows only.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pickle import PicklingError
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.dependencies import import_optional
from scorespace.errors import ScoreSpaceError, did_you_mean, listing
from scorespace.experiments.data import Dataset, Task
from scorespace.experiments.estimators import estimator_name
from scorespace.options import format_call
from scorespace.registry import Call, RegisteredFunction, Registry, registering_decorator

Array = NDArray[np.float64]
Estimator = Any

_VERSIONED_LIBRARIES: Final = ("scikit-learn", "numpy", "scipy")
"""Libraries whose versions are part of a learner's digest, since they affect its predictions."""
_UNHASHED_MODULES: Final = ("sklearn", "numpy", "scipy", *sys.stdlib_module_names)


@dataclass(frozen=True)
class DatasetShape:
    """What a learner may know of a data set in advance: its task, and which columns are nominal."""

    task: Task
    nominal: NDArray[np.bool_] = field(repr=False)
    seed: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Learner(RegisteredFunction):
    """A function from DatasetShape to a scikit-learn estimator, and the tasks that it supports.

    `quick`: a fit takes about as long as reading its rows, so that many fits form one job.
    """

    function: Callable[..., Estimator]
    _: KW_ONLY
    title: str
    tasks: Sequence[Task]
    quick: bool = False
    aliases: tuple[str, ...] = ()
    name: str = ""


LEARNERS: Final[Registry[Learner]] = Registry("learner", "benchmark --help")
learner = registering_decorator(LEARNERS, Learner)


class ResolvedLearner(ABC):
    """A learner of a run: its name, its estimator for a data set, and a hash of all that affects predictions.

    `labels`: whether it is fitted to class labels rather than class indices.
    """

    name: str
    labels: ClassVar[bool] = True

    @property
    @abstractmethod
    def tasks(self) -> tuple[Task, ...]:
        """Tasks it supports; empty if unknown."""

    @property
    def quick(self) -> bool:
        """Whether many of its fits form one job."""
        return False

    @abstractmethod
    def estimator(self, data: Dataset, seed: int) -> Estimator:
        """A new, unfitted estimator."""

    def design(self, data: Dataset) -> Any:
        """Features it is fitted to, with rows that can be selected by index."""
        return data.matrix

    @property
    @abstractmethod
    def digest(self) -> str:
        """Hash of all that affects its predictions."""


@dataclass(frozen=True, eq=False)
class NamedLearner(ResolvedLearner):
    """A registered learner with its options."""

    name: str
    call: Call[Learner]
    labels: ClassVar[bool] = False

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(self.call.noun.tasks)

    @property
    def quick(self) -> bool:
        return self.call.noun.quick

    def estimator(self, data: Dataset, seed: int) -> Estimator:
        return self.call.noun.function(DatasetShape(data.task, data.nominal, seed), **self.call.options)

    @property
    def digest(self) -> str:
        """Hash of name, all options, source code of declaration and estimator, and versions."""
        declaration = self.call.noun
        options = {option.name: option.default for option in declaration.options} | self.call.options
        example = declaration.function(DatasetShape(declaration.tasks[0], np.zeros(1, dtype=bool)), **self.call.options)
        code = _source_of_classes(declaration.function) + _source_of_parts(example)
        return _hash_texts(format_call(declaration.name, tuple(options.items())), code, _versions())

    def __reduce__(self) -> Any:
        return _restore_named_learner, (self.name, str(self.call))


@dataclass(frozen=True, eq=False)
class UserEstimator(ResolvedLearner):
    """A user's estimator: a pipeline as it is, anything else after our imputation and encoding."""

    name: str
    given: Estimator = field(repr=False)
    code: str = ""

    def estimator(self, data: Dataset, seed: int) -> Estimator:
        estimator = _with_seed(import_optional("sklearn.base", "experiments").clone(self.given), seed)
        return (
            estimator
            if _is_pipeline(estimator)
            else with_preprocessing(DatasetShape(data.task, data.nominal, seed), estimator, scale=False)
        )

    def design(self, data: Dataset) -> Any:
        if not _is_pipeline(self.given):
            return data.matrix
        try:
            return data.frame()
        except ModuleNotFoundError:
            return data.matrix

    @property
    def tasks(self) -> tuple[Task, ...]:
        base = import_optional("sklearn.base", "experiments")
        return ("classes",) if base.is_classifier(self.given) else ("numbers",) if base.is_regressor(self.given) else ()

    @property
    def digest(self) -> str:
        """Hash of class and parameters, of source code outside libraries, and of versions."""
        joblib = import_optional("joblib", "experiments")
        try:
            parameters_hash = joblib.hash(self.given)
        except (PicklingError, AttributeError, TypeError) as error:
            raise ScoreSpaceError(
                f"{self.name} cannot be identified, since a part of it cannot be pickled.",
                seen=" ".join(str(error).split())[:120],
                hint="use a function of a module instead of a lambda",
            ) from None
        return _hash_texts(parameters_hash, self.code, _source_of_parts(self.given), _versions())


def resolve_learners(requested: Any) -> tuple[ResolvedLearner, ...]:
    """Resolve learners: names, estimators, or either by name; names must differ.

    >>> [one.name for one in resolve_learners(["pet", "knn(k=1)"])]
    ['pet', 'knn(k=1)']
    """
    if isinstance(requested, Mapping):
        resolved = [_resolve_learner(item, str(name)) for name, item in requested.items()]
    elif isinstance(requested, Sequence) and not isinstance(requested, str):
        resolved = [_resolve_learner(item) for item in requested]
    else:
        resolved = [_resolve_learner(requested)]
    names = [item.name for item in resolved]
    if not names or len(set(names)) < len(names):
        problem = "two learners have the same name." if names else "no learner is given."
        raise ScoreSpaceError(problem, seen=listing(names) or None, hint='{"small": model, "large": other}')
    return tuple(resolved)


def _resolve_learner(requested: Any, name: str | None = None) -> ResolvedLearner:
    if isinstance(requested, ResolvedLearner):
        return requested
    if not isinstance(requested, str):
        if not (hasattr(requested, "fit") and hasattr(requested, "get_params")):
            raise ScoreSpaceError(
                f"{type(requested).__name__} is not a learner.",
                hint="a name such as 'forest', or a scikit-learn estimator",
            )
        return UserEstimator(name or estimator_name(requested), requested)
    text, equals, rest = requested.partition("=") if "(" not in requested.partition("=")[0] else (requested, "", "")
    if equals:  # NAME=LEARNER on the command line
        return _resolve_learner(rest, text.strip())
    module, colon, factory = requested.partition(":")
    if colon:
        estimator, code = _import_estimator(module, factory)
        return UserEstimator(name or requested, estimator, code)
    call = LEARNERS.parse(requested)
    return NamedLearner(name or str(call), call)


def _restore_named_learner(name: str, text: str) -> NamedLearner:
    return NamedLearner(name, LEARNERS.parse(text))


def _import_estimator(module: str, factory: str) -> tuple[Estimator, str]:
    """Estimator returned by module:factory, and the source of that module."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        imported = import_module(module)
    except Exception as error:  # importing runs arbitrary code
        raise ScoreSpaceError(
            f"the learner {module}:{factory} cannot be imported.",
            seen=str(error),
            hint="use a module in this folder, or an installed one",
        ) from None
    make = getattr(imported, factory, None)
    if make is None:
        raise ScoreSpaceError(
            f"{module} has no {factory!r}.", hint=did_you_mean(factory, vars(imported), "another name")
        )
    try:
        estimator = make() if callable(make) else make
    except Exception as error:
        raise ScoreSpaceError(
            f"{module}:{factory} returned no estimator.",
            seen=f"{type(error).__name__}: {error}",
            hint="a function without arguments that returns an estimator",
        ) from error
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ScoreSpaceError(
            f"{module}:{factory} returned {type(estimator).__name__}, not an estimator.",
            hint="a function that returns a scikit-learn estimator",
        )
    path = getattr(imported, "__file__", None)
    is_user_code = path is not None and imported.__name__.partition(".")[0] != "sklearn"
    return estimator, Path(path).read_text(encoding="utf-8", errors="replace") if is_user_code and path else ""


def _is_pipeline(estimator: Estimator) -> bool:
    return hasattr(estimator, "steps")


def _with_seed(estimator: Estimator, seed: int) -> Estimator:
    """Set every random state that is not set, so that runs can be repeated."""
    unset = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    return estimator.set_params(**dict.fromkeys(unset, seed)) if unset else estimator


def _hash_texts(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _source_of_parts(estimator: Estimator) -> str:
    """Source code of an estimator and all its parts, each once."""
    return "".join(dict.fromkeys(map(_source_of_classes, [estimator, *estimator.get_params(deep=True).values()])))


def _source_of_classes(target: Any) -> str:
    """Source code of a function, class, or the classes of an object, except those of libraries."""
    classes = (
        [target] if inspect.isroutine(target) else inspect.getmro(target if inspect.isclass(target) else type(target))
    )
    return "".join(map(_get_source, classes))


def _get_source(target: Any) -> str:
    if (getattr(target, "__module__", None) or "").partition(".")[0] in _UNHASHED_MODULES:
        return ""
    try:
        return inspect.getsource(target)
    except (OSError, TypeError):  # defined interactively, or compiled
        return ""


@cache
def _versions() -> str:
    return " ".join(f"{name} {version(name)}" for name in _VERSIONED_LIBRARIES)


# --- preprocessing inside each fold


def with_preprocessing(
    shape: DatasetShape, estimator: Estimator, *, impute: bool = True, scale: bool = True
) -> Estimator:
    """Pipeline of imputation, one-hot encoding of nominal levels, scaling of numbers, and the estimator."""
    compose, imputation, preprocessing, pipeline = (
        import_optional(f"sklearn.{name}", "experiments") for name in ("compose", "impute", "preprocessing", "pipeline")
    )
    numbers, levels = np.flatnonzero(~shape.nominal), np.flatnonzero(shape.nominal)
    steps = []
    if numbers.size:
        median = [imputation.SimpleImputer(strategy="median", keep_empty_features=True)] if impute else []
        scaler = [preprocessing.StandardScaler()] if scale else []
        steps.append(("numbers", _make_chain(pipeline, [*median, *scaler]), numbers.tolist()))
    if levels.size:
        imputer = [imputation.SimpleImputer(strategy="most_frequent", keep_empty_features=True)] if impute else []
        encoder = preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        steps.append(("levels", _make_chain(pipeline, [*imputer, encoder]), levels.tolist()))
    if not levels.size and not impute and not scale:
        return estimator
    return pipeline.make_pipeline(compose.ColumnTransformer(steps), estimator)


def _make_chain(pipeline: Any, steps: list[Any]) -> Any:
    return pipeline.make_pipeline(*steps) if steps else "passthrough"


# --- the learners


@learner(title="Majority class", tasks=["classes"], quick=True, aliases=("prior",))
def majority(shape: DatasetShape) -> Estimator:
    """Baseline: predicts the class shares of the training rows."""
    return import_optional("sklearn.dummy", "experiments").DummyClassifier(strategy="prior")


@learner(title="Mean", tasks=["numbers"], quick=True)
def mean(shape: DatasetShape) -> Estimator:
    """Baseline: predicts the mean of the training rows."""
    return import_optional("sklearn.dummy", "experiments").DummyRegressor(strategy="mean")


@learner(title="Naive Bayes", tasks=["classes"], quick=True, aliases=("nb",))
def naive_bayes(
    shape: DatasetShape, *, laplace: Annotated[float, "pseudo-count of every level of a nominal feature"] = 1.0
) -> Estimator:
    """Naive Bayes with normal numbers and Laplace-smoothed nominal levels; missing values are ignored."""
    from scorespace.experiments.builtin_estimators import MixedNaiveBayes

    return MixedNaiveBayes(nominal=shape.nominal, laplace=laplace)


@learner(title="Probability estimation tree", tasks=["classes"], quick=True)
def pet(
    shape: DatasetShape,
    *,
    leaf: Annotated[int, "minimum number of training rows in a leaf"] = 2,
    laplace: Annotated[float, "pseudo-count of every class in each leaf"] = 1.0,
) -> Estimator:
    """Unpruned tree with Laplace-smoothed leaves: (n + 1) / (N + K) (Provost and Domingos 2003)."""
    from scorespace.experiments.builtin_estimators import ProbabilityTree

    grown = ProbabilityTree(leaf=leaf, laplace=laplace, random_state=shape.seed)
    return with_preprocessing(shape, grown, impute=False, scale=False)


@learner(title="Pruned tree", tasks=["classes", "numbers"])
def tree(
    shape: DatasetShape,
    *,
    leaf: Annotated[int, "minimum number of training rows in a leaf"] = 2,
    folds: Annotated[int, "inner folds that select the pruning strength"] = 5,
) -> Estimator:
    """Tree with cost-complexity pruning; the strength is selected by inner cross-validation."""
    from scorespace.experiments.builtin_estimators import PrunedClassifier, PrunedRegressor

    kind = PrunedClassifier if shape.task == "classes" else PrunedRegressor
    return with_preprocessing(shape, kind(leaf=leaf, folds=folds, random_state=shape.seed), impute=False, scale=False)


@learner(title="Logistic regression", tasks=["classes"], quick=True, aliases=("lr",))
def logistic(shape: DatasetShape, *, c: Annotated[float, "inverse strength of the ridge penalty"] = 1.0) -> Estimator:
    """Logistic regression with a ridge penalty on scaled numbers and one-hot levels."""
    linear_model = import_optional("sklearn.linear_model", "experiments")
    return with_preprocessing(shape, linear_model.LogisticRegression(C=c, max_iter=1000))


@learner(title="Linear regression", tasks=["numbers"], quick=True)
def linear(shape: DatasetShape) -> Estimator:
    """Least squares on scaled numbers and one-hot levels."""
    return with_preprocessing(shape, import_optional("sklearn.linear_model", "experiments").LinearRegression())


@learner(title="k nearest neighbours", tasks=["classes", "numbers"], quick=True)
def knn(
    shape: DatasetShape,
    *,
    k: Annotated[int, "number of neighbours"] = 5,
    weights: Annotated[Literal["uniform", "distance"], "whether nearer neighbours have larger weights"] = "uniform",
    scale: Annotated[bool, "whether numbers are scaled"] = True,
) -> Estimator:
    """Mean of the k nearest training rows by Euclidean distance."""
    neighbors = import_optional("sklearn.neighbors", "experiments")
    kind = neighbors.KNeighborsClassifier if shape.task == "classes" else neighbors.KNeighborsRegressor
    return with_preprocessing(shape, kind(n_neighbors=k, weights=weights), scale=scale)


@learner(title="Random forest", tasks=["classes", "numbers"])
def forest(shape: DatasetShape, *, trees: Annotated[int, "number of trees"] = 100) -> Estimator:
    """Mean of trees grown on bootstrap samples with random feature subsets at every split (Breiman 2001)."""
    ensemble = import_optional("sklearn.ensemble", "experiments")
    kind = ensemble.RandomForestClassifier if shape.task == "classes" else ensemble.RandomForestRegressor
    return with_preprocessing(shape, kind(n_estimators=trees, random_state=shape.seed), impute=False, scale=False)


@learner(title="Gradient boosting", tasks=["classes", "numbers"])
def boosting(
    shape: DatasetShape,
    *,
    trees: Annotated[int, "number of trees"] = 100,
    rate: Annotated[float, "learning rate"] = 0.1,
) -> Estimator:
    """Gradient boosting of small trees on binned features."""
    ensemble = import_optional("sklearn.ensemble", "experiments")
    name = "HistGradientBoostingClassifier" if shape.task == "classes" else "HistGradientBoostingRegressor"
    made = getattr(ensemble, name)(max_iter=trees, learning_rate=rate, early_stopping=False, random_state=shape.seed)
    return with_preprocessing(shape, made, impute=False, scale=False)
