import numpy as np

from scorespace.experiments.overfitting import LearningCurve
from scorespace.experiments.permute import PermutationTest
from scorespace.views import markdown
from scorespace.views.study import learning, permutation

NULL = PermutationTest("nb", "auc", "high", 0.9, np.linspace(0.4, 0.6, 199), 10)
CURVE = LearningCurve(
    "tree",
    "acc",
    "high",
    np.array([20, 200]),
    np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    np.array([[0.6, 0.62, 0.61], [0.75, 0.76, 0.74]]),
    0.1,
)


def test_permuted_labels():
    text = " ".join(markdown.text(permutation(NULL)).split())
    assert "| nb | 0.900 | 0.410 | 0.500 | 0.590 | 0.005 |" in text
    assert permutation(NULL).sections[0].blocks[0].caption == "Mean over 10 splits; 199 permutations."
    assert NULL.words in text


def test_a_learning_curve():
    text = " ".join(markdown.text(learning(CURVE)).split())
    assert "| 200 | 1.000 ± 0.000 | 0.750 ± 0.010 |" in text
    assert CURVE.words == (
        "tree overfits: acc 1.000 on the cases it was trained on, 0.750 on others. "
        "With 200 training cases more cases would help."
    )


def test_each_has_its_picture():
    for page, found in ((permutation(NULL), NULL), (learning(CURVE), CURVE)):
        assert page.sections[0].blocks[-1].draw()["description"] == found.words
