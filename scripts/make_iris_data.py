"""Makes src/scorespace/data/iris.csv again; with --check says whether it still does.

Two learners of scikit-learn on the sepals of Fisher's irises alone, because all four attributes leave few errors to
look at; every flower is scored by models that have not seen it (stratified 10-fold cross-validation, seed 0).
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

TARGET = Path(__file__).parents[1] / "src" / "scorespace" / "data" / "iris.csv"


def predictions() -> str:
    """The file's content."""
    irises = load_iris()
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    learners = {"nb": GaussianNB(), "forest": RandomForestClassifier(200, random_state=0)}
    scored = {
        name: cross_val_predict(learner, irises.data[:, :2], irises.target, cv=folds, method="predict_proba")
        for name, learner in learners.items()
    }
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["species", *(f"{name}_{species}" for name in scored for species in irises.target_names)])
    for row, code in enumerate(irises.target):
        values = (f"{value:.4g}" for table in scored.values() for value in table[row])
        writer.writerow([irises.target_names[code], *values])
    return out.getvalue()


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        same = TARGET.read_text(encoding="utf-8") == predictions()
        print(f"{TARGET.name} is {'still' if same else 'no longer'} what the script makes")
        sys.exit(not same)
    TARGET.write_text(predictions(), encoding="utf-8")
