"""Learners by name, each a function from the shape of a data set to an estimator; and estimators of one's own.

Named learners get the matrix of a data set with its missing values and levels as they are; what imputes and encodes
is part of the estimator, so that it learns from training rows alone.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, field
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pickle import PicklingError
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.declaration import Call, Declaration, Registry, call_text, declaring
from scorespace.errors import ScoreSpaceError, did_you_mean, listing
from scorespace.experiments.data import Dataset, Task
from scorespace.experiments.estimators import name_of
from scorespace.frozen import dataclass
from scorespace.parts import required

Array = NDArray[np.float64]
Estimator = Any

_DECIDES_BY: Final = ("scikit-learn", "numpy", "scipy")
"""Whose versions belong to a learner: another version may give other numbers."""
_LIBRARIES: Final = ("sklearn", "numpy", "scipy", *sys.stdlib_module_names)


@dataclass(frozen=True)
class Shape:
    """What a learner is told of a data set before it sees a row: its task, and which columns hold levels."""

    task: Task
    nominal: NDArray[np.bool_] = field(repr=False)
    seed: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Learner(Declaration):
    """A function from a Shape to an estimator of scikit-learn's kind, and the tasks that it is for.

    `quick`: a fit takes about as long as reading its rows, so that many fits make one job.
    """

    function: Callable[..., Estimator]
    _: KW_ONLY
    title: str
    tasks: Sequence[Task]
    quick: bool = False
    aliases: tuple[str, ...] = ()
    name: str = ""


LEARNERS: Final[Registry[Learner]] = Registry("learner", "benchmark --help")
learner = declaring(LEARNERS, Learner)


class Fitting(ABC):
    """A learner of a run: its name, how its estimator is made for a data set, and a hash of all that decides it.

    `labels`: it is given the classes as the data set names them, and not by their place.
    """

    name: str
    labels: ClassVar[bool] = True

    @property
    @abstractmethod
    def tasks(self) -> tuple[Task, ...]:
        """What it can predict; nothing where that is not known."""

    @property
    def quick(self) -> bool:
        """Whether many of its fits make one job."""
        return False

    @abstractmethod
    def estimator(self, data: Dataset, seed: int) -> Estimator:
        """A new estimator, not fitted yet."""

    def design(self, data: Dataset) -> Any:
        """What it learns from: rows and columns that can be chosen by their place."""
        return data.matrix

    @property
    @abstractmethod
    def digest(self) -> str:
        """The hash of all that decides its predictions."""


@dataclass(frozen=True, eq=False)
class Named(Fitting):
    """A declared learner with its options."""

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
        return self.call.noun.function(Shape(data.task, data.nominal, seed), **self.call.options)

    @property
    def digest(self) -> str:
        """Name, all options with their defaults, the code of declaration and estimator, and versions."""
        noun = self.call.noun
        given = {option.name: option.default for option in noun.options} | self.call.options
        made = noun.function(Shape(noun.tasks[0], np.zeros(1, dtype=bool)), **self.call.options)
        code = _code(noun.function) + _codes(made)
        return _hashed(call_text(noun.name, tuple(given.items())), code, _versions())

    def __reduce__(self) -> Any:
        return _named, (self.name, str(self.call))


@dataclass(frozen=True, eq=False)
class Own(Fitting):
    """An estimator of the caller: a pipeline as it is, anything else behind our imputation and encoding."""

    name: str
    given: Estimator = field(repr=False)
    code: str = ""

    def estimator(self, data: Dataset, seed: int) -> Estimator:
        made = _seeded(required("sklearn.base", "experiments").clone(self.given), seed)
        return made if _is_pipeline(made) else prepared(Shape(data.task, data.nominal, seed), made, scale=False)

    def design(self, data: Dataset) -> Any:
        if not _is_pipeline(self.given):
            return data.matrix
        try:
            return data.frame()
        except ModuleNotFoundError:
            return data.matrix

    @property
    def tasks(self) -> tuple[Task, ...]:
        base = required("sklearn.base", "experiments")
        return ("classes",) if base.is_classifier(self.given) else ("numbers",) if base.is_regressor(self.given) else ()

    @property
    def digest(self) -> str:
        """The class and all parameters of the estimator, the code of its parts that come from no library, versions."""
        joblib = required("joblib", "experiments")
        try:
            whole = joblib.hash(self.given)
        except (PicklingError, AttributeError, TypeError) as error:
            raise ScoreSpaceError(
                f"{self.name} cannot be told from another learner, since a part of it has no name.",
                seen=" ".join(str(error).split())[:120],
                hint="a function of a module instead of a lambda",
            ) from None
        return _hashed(whole, self.code, _codes(self.given), _versions())


def learners_of(given: Any) -> tuple[Fitting, ...]:
    """The learners that a caller names: texts, estimators, or either by name; names must differ.

    >>> [one.name for one in learners_of(["pet", "knn(k=1)"])]
    ['pet', 'knn(k=1)']
    """
    if isinstance(given, Mapping):
        found = [_learner(one, str(name)) for name, one in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        found = [_learner(one) for one in given]
    else:
        found = [_learner(given)]
    names = [one.name for one in found]
    if not names or len(set(names)) < len(names):
        problem = "two learners have the same name." if names else "no learner is named."
        raise ScoreSpaceError(problem, seen=listing(names) or None, hint='{"small": model, "large": other}')
    return tuple(found)


def _learner(given: Any, name: str | None = None) -> Fitting:
    if isinstance(given, Fitting):
        return given
    if not isinstance(given, str):
        if not (hasattr(given, "fit") and hasattr(given, "get_params")):
            raise ScoreSpaceError(
                f"{type(given).__name__} is no learner.", hint="a name such as 'forest', or a scikit-learn estimator"
            )
        return Own(name or name_of(given), given)
    text, equals, rest = given.partition("=") if "(" not in given.partition("=")[0] else (given, "", "")
    if equals:  # NAME=LEARNER, as the command line names one
        return _learner(rest, text.strip())
    module, colon, factory = given.partition(":")
    if colon:
        made, code = _imported(module, factory)
        return Own(name or given, made, code)
    call = LEARNERS.parse(given)
    return Named(name or str(call), call)


def _named(name: str, text: str) -> Named:
    return Named(name, LEARNERS.parse(text))


def _imported(module: str, factory: str) -> tuple[Estimator, str]:
    """What module:factory makes, and the code of that module."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        home = import_module(module)
    except Exception as error:  # whatever it does when it is loaded
        raise ScoreSpaceError(
            f"the learner {module}:{factory} cannot be imported.",
            seen=str(error),
            hint="a module in this folder, or one that is installed",
        ) from None
    make = getattr(home, factory, None)
    if make is None:
        raise ScoreSpaceError(f"{module} has no {factory!r}.", hint=did_you_mean(factory, vars(home), "another name"))
    try:
        made = make() if callable(make) else make
    except Exception as error:
        raise ScoreSpaceError(
            f"{module}:{factory} made no estimator.",
            seen=f"{type(error).__name__}: {error}",
            hint="a function without arguments that returns an estimator",
        ) from error
    if not (hasattr(made, "fit") and hasattr(made, "get_params")):
        raise ScoreSpaceError(
            f"{module}:{factory} made {type(made).__name__}, which is no estimator.",
            hint="a function that returns an estimator of scikit-learn's kind",
        )
    path = getattr(home, "__file__", None)
    own = path is not None and home.__name__.partition(".")[0] != "sklearn"
    return made, Path(path).read_text(encoding="utf-8", errors="replace") if own and path else ""


def _is_pipeline(estimator: Estimator) -> bool:
    return hasattr(estimator, "steps")


def _seeded(estimator: Estimator, seed: int) -> Estimator:
    """The estimator with every random state that is not set, set: else no run could be repeated."""
    open_ = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    return estimator.set_params(**dict.fromkeys(open_, seed)) if open_ else estimator


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _codes(estimator: Estimator) -> str:
    """The source of an estimator and of all its parts, each once."""
    return "".join(dict.fromkeys(map(_code, [estimator, *estimator.get_params(deep=True).values()])))


def _code(of: Any) -> str:
    """The source of a function, a class, or the classes of an object, of ours or of the caller.

    That of libraries is known by their versions.
    """
    kinds = [of] if inspect.isroutine(of) else inspect.getmro(of if inspect.isclass(of) else type(of))
    return "".join(map(_source, kinds))


def _source(of: Any) -> str:
    if (getattr(of, "__module__", None) or "").partition(".")[0] in _LIBRARIES:
        return ""
    try:
        return inspect.getsource(of)
    except (OSError, TypeError):  # typed into a session, or compiled
        return ""


@cache
def _versions() -> str:
    return " ".join(f"{name} {version(name)}" for name in _DECIDES_BY)


# --- preparing columns, inside the fold


def prepared(shape: Shape, estimator: Estimator, *, impute: bool = True, scale: bool = True) -> Estimator:
    """The estimator behind what it needs: missing values imputed, levels as columns of 0 and 1, numbers scaled."""
    compose, impute_, preprocessing, pipeline = (
        required(f"sklearn.{name}", "experiments") for name in ("compose", "impute", "preprocessing", "pipeline")
    )
    numbers, levels = np.flatnonzero(~shape.nominal), np.flatnonzero(shape.nominal)
    steps = []
    if numbers.size:
        median = [impute_.SimpleImputer(strategy="median", keep_empty_features=True)] if impute else []
        scaler = [preprocessing.StandardScaler()] if scale else []
        steps.append(("numbers", _chain(pipeline, [*median, *scaler]), numbers.tolist()))
    if levels.size:
        common = [impute_.SimpleImputer(strategy="most_frequent", keep_empty_features=True)] if impute else []
        coded = preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        steps.append(("levels", _chain(pipeline, [*common, coded]), levels.tolist()))
    if not levels.size and not impute and not scale:
        return estimator
    return pipeline.make_pipeline(compose.ColumnTransformer(steps), estimator)


def _chain(pipeline: Any, steps: list[Any]) -> Any:
    return pipeline.make_pipeline(*steps) if steps else "passthrough"


# --- the learners


@learner(title="Majority class", tasks=["classes"], quick=True, aliases=("prior",))
def majority(shape: Shape) -> Estimator:
    """The baseline: every case gets the shares of the classes among the training rows."""
    return required("sklearn.dummy", "experiments").DummyClassifier(strategy="prior")


@learner(title="Mean", tasks=["numbers"], quick=True)
def mean(shape: Shape) -> Estimator:
    """The baseline: every case gets the mean of the training rows."""
    return required("sklearn.dummy", "experiments").DummyRegressor(strategy="mean")


@learner(title="Naive Bayes", tasks=["classes"], quick=True, aliases=("nb",))
def naive_bayes(
    shape: Shape, *, laplace: Annotated[float, "cases added to every level of a nominal feature"] = 1.0
) -> Estimator:
    """Features independent within a class: numbers normal, levels by their shares; missing values say nothing."""
    from scorespace.experiments.bayes import MixedNaiveBayes

    return MixedNaiveBayes(nominal=shape.nominal, laplace=laplace)


@learner(title="Probability estimation tree", tasks=["classes"], quick=True)
def pet(
    shape: Shape,
    *,
    leaf: Annotated[int, "fewest training rows in a leaf"] = 2,
    laplace: Annotated[float, "cases of every class added to each leaf"] = 1.0,
) -> Estimator:
    """A tree grown to its end and not pruned; a leaf with n of N rows of a class says (n + 1) / (N + K)."""
    from scorespace.experiments.trees import ProbabilityTree

    grown = ProbabilityTree(leaf=leaf, laplace=laplace, random_state=shape.seed)
    return prepared(shape, grown, impute=False, scale=False)


@learner(title="Pruned tree", tasks=["classes", "numbers"])
def tree(
    shape: Shape,
    *,
    leaf: Annotated[int, "fewest training rows in a leaf"] = 2,
    folds: Annotated[int, "inner folds that choose how much is pruned"] = 5,
) -> Estimator:
    """A tree pruned by cost and complexity, with the strength that inner folds of the training rows prefer."""
    from scorespace.experiments.trees import PrunedClassifier, PrunedRegressor

    kind = PrunedClassifier if shape.task == "classes" else PrunedRegressor
    return prepared(shape, kind(leaf=leaf, folds=folds, random_state=shape.seed), impute=False, scale=False)


@learner(title="Logistic regression", tasks=["classes"], quick=True, aliases=("lr",))
def logistic(shape: Shape, *, c: Annotated[float, "inverse of the penalty on squared weights"] = 1.0) -> Estimator:
    """Logistic regression with a ridge penalty on scaled numbers and 0/1 columns of levels."""
    linear_model = required("sklearn.linear_model", "experiments")
    return prepared(shape, linear_model.LogisticRegression(C=c, max_iter=1000))


@learner(title="Linear regression", tasks=["numbers"], quick=True)
def linear(shape: Shape) -> Estimator:
    """Least squares on scaled numbers and 0/1 columns of levels."""
    return prepared(shape, required("sklearn.linear_model", "experiments").LinearRegression())


@learner(title="k nearest neighbours", tasks=["classes", "numbers"], quick=True)
def knn(
    shape: Shape,
    *,
    k: Annotated[int, "how many neighbours"] = 5,
    weights: Annotated[Literal["uniform", "distance"], "whether nearer neighbours count more"] = "uniform",
    scale: Annotated[bool, "whether numbers are scaled"] = True,
) -> Estimator:
    """The mean of the k nearest training rows, by Euclidean distance."""
    neighbors = required("sklearn.neighbors", "experiments")
    kind = neighbors.KNeighborsClassifier if shape.task == "classes" else neighbors.KNeighborsRegressor
    return prepared(shape, kind(n_neighbors=k, weights=weights), scale=scale)


@learner(title="Random forest", tasks=["classes", "numbers"])
def forest(shape: Shape, *, trees: Annotated[int, "how many trees"] = 100) -> Estimator:
    """The mean of trees, each grown on a bootstrap sample with few features to choose from at every split."""
    ensemble = required("sklearn.ensemble", "experiments")
    kind = ensemble.RandomForestClassifier if shape.task == "classes" else ensemble.RandomForestRegressor
    return prepared(shape, kind(n_estimators=trees, random_state=shape.seed), impute=False, scale=False)


@learner(title="Gradient boosting", tasks=["classes", "numbers"])
def boosting(
    shape: Shape,
    *,
    trees: Annotated[int, "how many trees"] = 100,
    rate: Annotated[float, "how much each tree counts"] = 0.1,
) -> Estimator:
    """Small trees on binned features, each fitted to what the earlier ones leave."""
    ensemble = required("sklearn.ensemble", "experiments")
    name = "HistGradientBoostingClassifier" if shape.task == "classes" else "HistGradientBoostingRegressor"
    made = getattr(ensemble, name)(max_iter=trees, learning_rate=rate, early_stopping=False, random_state=shape.seed)
    return prepared(shape, made, impute=False, scale=False)
