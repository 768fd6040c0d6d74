"""The models of one sample: their tables by name, and the pair tables that link them case by case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scorespace.errors import DataError, ScoreSpaceError, did_you_mean, listing
from scorespace.tables.counts import Counts
from scorespace.tables.labels import list_classes
from scorespace.tables.paired import PairTable
from scorespace.tables.regression import ResidualTable
from scorespace.tables.scores import ScoreTable
from scorespace.tables.table import NoTableError, Table
from scorespace.tables.threshold import Scale


@dataclass(frozen=True)
class Models(Mapping[str, Any]):
    """The table of every model of a sample, the classes with their weights, and the cases in pair tables.

    A class of a model is addressed as `nb[setosa]`, its highest score as `nb[top]`. For binned data, `couples` holds a
    pair table for every two models. `order` holds the cases of a single model, so that folds are the same as with
    several models.
    """

    name: str
    rows: int
    classes: Mapping[str, float]
    positive: str | None
    tables: Mapping[str, Table]
    pairs: PairTable | None = field(default=None, compare=False, repr=False)
    couples: Mapping[tuple[str, str], PairTable] = field(default_factory=dict, compare=False, repr=False)
    order: PairTable | None = field(default=None, compare=False, repr=False)

    def __getitem__(self, model: str) -> Any:
        if model in self.tables:
            return self.tables[model]
        hint = did_you_mean(model, self.tables, quoted=True)
        raise ScoreSpaceError(f"there is no model {model!r}.", seen=listing(self.tables), hint=hint)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __contains__(self, model: object) -> bool:
        return model in self.tables

    def refuse_unlike(self, other: Models, models: Iterable[str], samples: str = "the two samples") -> None:
        """Refuse another sample with a different positive class, or without one of the models."""
        if self.positive != other.positive:
            raise ScoreSpaceError(
                f"{samples} have different positive classes.",
                seen=listing([self.positive, other.positive]),
                hint="use the same positive class in both",
            )
        for name in models:
            if name not in other:
                raise ScoreSpaceError(
                    f"there is no model {name!r} in {other.name}.",
                    seen=listing(other),
                    hint="use the same columns in both samples",
                )

    def inside(self, model: str, wanted: type[Table], at: float | None = None) -> Any:
        """Derive a table of the required kind from that of a model, or of one of its classes in brackets."""
        name, of = self.split_class(model)
        try:
            return self[name].inside(wanted, of, at)
        except NoTableError as error:
            hint = error.hint and error.hint.replace("{label}", name)
            raise ScoreSpaceError(
                f"{model}: {error.reason.replace('{label}', model)}.", seen=error.seen, hint=hint
            ) from None

    def split_class(self, model: str) -> tuple[str, str | None]:
        """Split `model[class]` into model and class."""
        if model not in self.tables and model.endswith("]"):
            name = next((known for known in self.tables if model.startswith(f"{known}[")), None)
            if name is not None:
                return name, model.removeprefix(name)[1:-1]
        return model, None

    def only(self) -> str:
        """The model that is meant if none is named: the only one."""
        names = list(self.tables)
        if len(names) != 1:
            raise ScoreSpaceError("several models: specify one.", seen=listing(names), hint=f"model={names[0]!r}")
        return names[0]

    def _classified(self, model: str, what: str) -> Table:
        """The table of a model, which must have classes."""
        table = self[model]
        if not table.class_names:
            raise ScoreSpaceError(
                f"{model} has no {what}: it is {table.described()}.", hint="a model with scores or decisions"
            )
        return table

    def score_table(self, model: str) -> ScoreTable:
        """Score table of a model; decisions score 1 or 0, a multiclass model needs a class in brackets."""
        name, of = self.split_class(model)
        table = self._classified(name, "class scores")
        if of is None and table.scores_classes:
            raise ScoreSpaceError(
                f"{model} scores {len(table.class_names)} classes.", hint=f"name one: {model}[{table.class_names[0]}]"
            )
        scores: ScoreTable = self.inside(model, ScoreTable)
        return scores

    def counts(self, model: str, at: float | None) -> Counts:
        """The four outcomes of a binary model, at a threshold if it needs one."""
        table = self._classified(model, "outcomes of decisions")
        if table.positive_name is None:
            raise ScoreSpaceError(
                f"{model} decides between {len(table.class_names)} classes, none of them positive.",
                hint="specify the positive class: positive=…",
            )
        counts: Counts = table.inside(Counts, None, at if table.thresholded else None)
        return counts

    def at_prevalence(self, share: float) -> Models:
        """The models with cases reweighted to the given prevalence."""
        if self.positive is None:
            return self
        tables = {name: table.at_prevalence(share) for name, table in self.tables.items()}
        total = sum(self.classes.values())
        rest = total - self.classes.get(self.positive, 0.0)
        classes = {
            name: share * total if name == self.positive else count * (1 - share) * total / rest if rest else count
            for name, count in self.classes.items()
        }
        pairs = None if self.pairs is None else self.pairs.at_prevalence(share)
        return replace(self, classes=classes, tables=tables, pairs=pairs, couples={})

    @property
    def numeric(self) -> list[str]:
        """Regression models with predictions of single cases."""
        return [name for name, table in self.tables.items() if table.whole_inside(ResidualTable) is not None]

    @property
    def two_class(self) -> list[str]:
        """Names of the binary models."""
        return [name for name, table in self.tables.items() if table.positive_name is not None]

    @property
    def thresholded(self) -> list[str]:
        """Names of the models whose scores need a threshold."""
        return [name for name, table in self.tables.items() if table.thresholded]

    @property
    def of_classes(self) -> list[str]:
        """Names of the multiclass models with scores."""
        return [name for name, table in self.tables.items() if table.scores_classes]

    @property
    def present(self) -> list[str]:
        """Names of the classes that occur."""
        return [name for name, count in self.classes.items() if count]

    @property
    def deciding(self) -> dict[str, Any]:
        """The table of each model from which decisions are made; multiclass models decide by the highest score."""
        return {name: table.deciding() for name, table in self.tables.items()}

    @property
    def prevalence(self) -> float:
        """Share of positives in the sample."""
        total = sum(self.classes.values())
        return self.classes.get(self.positive, 0.0) / total if self.positive is not None and total else float("nan")

    @property
    def comparable(self) -> bool:
        """Whether at least two models can be compared on the same cases."""
        return bool(self.couples) or (self.pairs is not None and len(self.pairs.models) > 1)

    def paired(self, a: str, b: str) -> PairTable | None:
        """Pair table of two models: their cases, or their joint bins."""
        if (a, b) in self.couples:
            return self.couples[a, b]
        reverse = self.couples.get((b, a))
        return self.pairs if reverse is None else reverse.only(a, b)

    @property
    def scale(self) -> Scale:
        """Range of the rating scale of the scores, if one is stated."""
        scales = (getattr(table, "scale", None) for table in self.tables.values())
        return next(filter(None, scales), None)

    def on_scale(self, scale: Scale) -> Models:
        """The models with scores that are ratings on a scale, in whose units thresholds are shown."""
        if scale is None:
            return self
        rated = {
            name: replace(table, scale=scale) if isinstance(table, ScoreTable) else table
            for name, table in self.tables.items()
        }
        return replace(self, tables=rated)

    @property
    def side_by_side(self) -> PairTable | None:
        """Pair table of the binary models as scores of the positive class; None if cases are weighted or binned."""
        pairs = self.pairs or self.order
        if pairs is None or self.positive is None or pairs.weight is not None or pairs.times is not None:
            return None
        return pairs.only(*(name for name in pairs.models if name in self.two_class)).scoring()

    @property
    def grouped(self) -> bool:
        """Whether cases are grouped, and resampled as whole groups."""
        groups = [self.pairs and self.pairs.group, *(table.grouping for table in self.tables.values())]
        return any(group is not None for group in groups)

    @property
    def groups(self) -> int:
        """Number of groups of cases; 0 if cases are not grouped."""
        groups = [None if self.pairs is None else self.pairs.group]
        groups += [table.grouping for table in self.tables.values()]
        return max((int(group.max(initial=-1)) + 1 for group in groups if group is not None), default=0)


@dataclass(frozen=True)
class SubgroupModels:
    """A sample divided into subgroups by columns: the models on each subgroup, and on its complement.

    `shared` is the number of groups of related cases that span more than one subgroup; `bands` are the models whose own
    scores or decisions make the subgroups.
    """

    by: tuple[str, ...]
    slices: Mapping[str, Models]
    rests: Mapping[str, Models]
    shared: int = 0
    bands: frozenset[str] = frozenset()


def models_from_tables(tables: Mapping[str, Table], name: str = "tables") -> Models:
    """Build models from tables of the same cases.

    >>> from scorespace.tables.scores import score_table
    >>> models_from_tables({"nb": score_table([1, 0, 1], [0.9, 0.4, 0.4])}).classes
    {'0': 1, '1': 2}
    """
    weights = {model: class_weights(table) for model, table in tables.items()}
    (first_name, totals), *others = weights.items()
    for model, classes in others:
        if not _equal_weights(classes, totals):
            raise DataError(
                f"{first_name} and {model} are not evaluated on the same cases.",
                seen="; ".join(list_classes(tuple(counts), tuple(counts.values())) for counts in (totals, classes)),
                hint="evaluate tables of different samples separately",
            )
    first = tables[first_name]
    return Models(name, int(first.total), totals, first.positive_name, tables)


def _equal_weights(a: Mapping[str, float], b: Mapping[str, float]) -> bool:
    """Whether classes have equal weights; sums of fractions may differ by rounding."""
    return a.keys() == b.keys() and all(math.isclose(a[name], b[name], rel_tol=1e-9) for name in a)


def class_weights(table: Table) -> dict[str, float]:
    """Weight of each class of a table; integral weights as int."""
    totals = dict(zip(table.class_names, map(float, table.class_totals if table.class_names else ()), strict=True))
    return {name: int(total) if total.is_integer() else total for name, total in totals.items()}
