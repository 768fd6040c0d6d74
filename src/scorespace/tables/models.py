"""The models of one sample: their tables by name, what ties them together case by case, and no more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from scorespace.errors import DataError, ScoreSpaceError, did_you_mean, listing
from scorespace.frozen import dataclass
from scorespace.tables.counts import Counts
from scorespace.tables.labels import class_listing
from scorespace.tables.pair import PairTable
from scorespace.tables.score import ScoreTable
from scorespace.tables.table import NoTableError, Table
from scorespace.tables.threshold import Scale


@dataclass(frozen=True)
class Models(Mapping[str, Any]):
    """What is known of a sample: the table of every model, the classes with their weights, and the cases side by side.

    A model may be named with one of its classes, `nb[setosa]`, or with its highest score, `nb[top]`. Where cases were
    counted in bins, `couples` ties every two models together. `order` has the cases of a single model, so that they
    are split into folds as they are beside other models.
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
        """Refuse another sample that speaks of another positive class, or lacks one of the models."""
        if self.positive != other.positive:
            raise ScoreSpaceError(
                f"{samples} have different positive classes.",
                seen=listing([self.positive, other.positive]),
                hint="the same positive class in both",
            )
        for name in models:
            if name not in other:
                raise ScoreSpaceError(
                    f"there is no model {name!r} in {other.name}.",
                    seen=listing(other),
                    hint="the same columns in both samples",
                )

    def inside(self, model: str, wanted: type[Table], at: float | None = None) -> Any:
        """The table of the wanted kind inside that of a model, or of one class of it in brackets."""
        name, of = self.parted(model)
        try:
            return self[name].inside(wanted, of, at)
        except NoTableError as error:
            hint = error.hint and error.hint.replace("{label}", name)
            raise ScoreSpaceError(
                f"{model}: {error.reason.replace('{label}', model)}.", seen=error.seen, hint=hint
            ) from None

    def parted(self, model: str) -> tuple[str, str | None]:
        """The name of a model and the class in brackets behind it, if any."""
        if model not in self.tables and model.endswith("]"):
            name = next((one for one in self.tables if model.startswith(f"{one}[")), None)
            if name is not None:
                return name, model.removeprefix(name)[1:-1]
        return model, None

    def only(self) -> str:
        """The model meant when none is named: the only one."""
        names = list(self.tables)
        if len(names) != 1:
            raise ScoreSpaceError("which model?", seen=listing(names), hint=f"model={names[0]!r}")
        return names[0]

    def _parted_by(self, model: str, what: str) -> Table:
        """The table of a model, which must tell classes apart to have what is wanted."""
        table = self[model]
        if not table.class_names:
            raise ScoreSpaceError(
                f"{model} has no {what}: it is {table.described()}.", hint="a model with scores or decisions"
            )
        return table

    def score_table(self, model: str) -> ScoreTable:
        """The scores of a model: a crisp decision as 1 and 0, of several classes the one in brackets."""
        name, of = self.parted(model)
        table = self._parted_by(name, "scores of classes")
        if of is None and table.scores_classes:
            raise ScoreSpaceError(
                f"{model} scores {len(table.class_names)} classes.", hint=f"name one: {model}[{table.class_names[0]}]"
            )
        scores: ScoreTable = self.inside(model, ScoreTable)
        return scores

    def counts(self, model: str, at: float | None) -> Counts:
        """The four outcomes of a two-class model, at a threshold where it needs one."""
        table = self._parted_by(model, "outcomes of decisions")
        if table.positive_name is None:
            raise ScoreSpaceError(
                f"{model} decides between {len(table.class_names)} classes, none of them positive.",
                hint="name the positive class: positive=…",
            )
        counts: Counts = table.inside(Counts, None, at if table.thresholded else None)
        return counts

    def at_prevalence(self, share: float) -> Models:
        """The same models on the same cases, weighed so that positives have that share."""
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
    def two_class(self) -> list[str]:
        """The models that decide between positive and negative."""
        return [name for name, table in self.tables.items() if table.positive_name is not None]

    @property
    def thresholded(self) -> list[str]:
        """The models whose scores become decisions at a threshold."""
        return [name for name, table in self.tables.items() if table.thresholded]

    @property
    def of_classes(self) -> list[str]:
        """The models that score several classes."""
        return [name for name, table in self.tables.items() if table.scores_classes]

    @property
    def present(self) -> list[str]:
        """The classes that occur."""
        return [name for name, count in self.classes.items() if count]

    @property
    def deciding(self) -> dict[str, Any]:
        """The tables of the models, with the decisions of the highest score for those that score several classes."""
        return {name: table.deciding() for name, table in self.tables.items()}

    @property
    def prevalence(self) -> float:
        """Share of positives in the sample."""
        total = sum(self.classes.values())
        return self.classes.get(self.positive, 0.0) / total if self.positive is not None and total else float("nan")

    @property
    def comparable(self) -> bool:
        """Whether at least two models can be compared case by case."""
        return bool(self.couples) or (self.pairs is not None and len(self.pairs.models) > 1)

    def paired(self, a: str, b: str) -> PairTable | None:
        """What ties two models together: their cases, or bins of both."""
        if (a, b) in self.couples:
            return self.couples[a, b]
        turned = self.couples.get((b, a))
        return self.pairs if turned is None else turned.only(a, b)

    @property
    def scale(self) -> Scale:
        """The ends of the scale that scores were rated on, where one is stated."""
        return next((one for table in self.tables.values() if (one := getattr(table, "scale", None))), None)

    def on_scale(self, scale: Scale) -> Models:
        """The same with scores that are ratings on a scale: thresholds are told in its units."""
        if scale is None:
            return self
        rated = {
            name: replace(table, scale=scale) if isinstance(table, ScoreTable) else table
            for name, table in self.tables.items()
        }
        return replace(self, tables=rated)

    @property
    def side_by_side(self) -> PairTable | None:
        """The cases of the two-class models, each as scores of the positive class; none where rows are not one case."""
        pairs = self.pairs or self.order
        if pairs is None or self.positive is None or pairs.weight is not None or pairs.times is not None:
            return None
        return pairs.only(*(name for name in pairs.models if name in self.two_class)).scoring()

    @property
    def grouped(self) -> bool:
        """Whether cases come in groups that are drawn whole."""
        held = [self.pairs and self.pairs.group, *(table.grouping for table in self.tables.values())]
        return any(one is not None for one in held)

    @property
    def groups(self) -> int:
        """How many groups the cases come in; 0 where they do not."""
        held = [None if self.pairs is None else self.pairs.group]
        held += [table.grouping for table in self.tables.values()]
        return max((int(one.max(initial=-1)) + 1 for one in held if one is not None), default=0)


@dataclass(frozen=True)
class Parts:
    """A sample cut into slices by columns: what is known of each slice, and of all cases outside of it.

    `shared` counts the groups of related cases that lie in more than one slice.
    """

    by: tuple[str, ...]
    slices: Mapping[str, Models]
    rests: Mapping[str, Models]
    shared: int = 0


def models_of(tables: Mapping[str, Table], name: str = "tables") -> Models:
    """The models of tables that were made elsewhere; they must be about the same cases.

    >>> from scorespace.tables.score import score_table
    >>> models_of({"nb": score_table([1, 0, 1], [0.9, 0.4, 0.4])}).classes
    {'0': 1, '1': 2}
    """
    seen = {model: class_weights(table) for model, table in tables.items()}
    (first_name, totals), *others = seen.items()
    for model, classes in others:
        if not _alike(classes, totals):
            raise DataError(
                f"{first_name} and {model} are not about the same cases.",
                seen="; ".join(class_listing(tuple(found), tuple(found.values())) for found in (totals, classes)),
                hint="evaluate tables of different samples one by one",
            )
    first = tables[first_name]
    return Models(name, int(first.total), totals, first.positive_name, tables)


def _alike(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether classes have the same weights, by name; sums of fractions differ by their order."""
    return one.keys() == other.keys() and all(math.isclose(one[name], other[name], rel_tol=1e-9) for name in one)


def class_weights(table: Table) -> dict[str, float]:
    """The weight of each class of a table, whole numbers as such."""
    totals = dict(zip(table.class_names, map(float, table.class_totals if table.class_names else ()), strict=True))
    return {name: int(total) if total.is_integer() else total for name, total in totals.items()}
