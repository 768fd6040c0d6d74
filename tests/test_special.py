"""Special functions: those that are ours agree with SciPy's, and SciPy loads only for the others."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose

from scorespace import special

AT = np.concatenate([np.linspace(-37, 37, 400), [0.0, -1e-300, 1e-9]])
SHARES = np.concatenate([10.0 ** np.arange(-300, -1, 7), np.linspace(0.001, 0.999, 333), [1 - 1e-12]])


def each(function, values):
    return [float(function(float(value))) for value in values]


def test_the_normal_distribution():
    assert_allclose(each(special.ndtr, AT), scipy.special.ndtr(AT), rtol=1e-12, atol=1e-300)
    assert_allclose(each(special.ndtri, SHARES), scipy.special.ndtri(SHARES), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 8, 9, 50, 99, 100])
def test_chi_squared(df):
    at = np.concatenate([np.linspace(1e-6, 4 * df, 100), [0.0, 1e-300, 700.0]])
    found = [special.chdtrc(df, float(x)) for x in at]
    assert_allclose(found, scipy.special.chdtrc(df, at), rtol=1e-12)
    assert max(found) <= 1


@pytest.mark.parametrize("df", [1, 1.5, 2, 3, 4, 7, 10, 29, 30.7, 151.95, 299, 1000, 4999, 4999.5])
def test_students_quantiles(df):
    shares = np.array([0.55, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9999])
    found = [special.stdtrit(df, float(p)) for p in shares]
    assert_allclose(found, scipy.special.stdtrit(df, shares), rtol=1e-10)
    assert_allclose(special.stdtrit(np.array([[3.0, df]]), 0.975), scipy.special.stdtrit(np.array([[3.0, df]]), 0.975))


@pytest.mark.parametrize("df", [5001, 6000.5, 1e5, 1e9])
def test_students_quantiles_of_many(df):
    shares = np.array([0.55, 0.9, 0.975, 0.9999])
    found = [special.stdtrit(df, float(p)) for p in shares]
    assert_allclose(found, scipy.special.stdtrit(df, shares), rtol=1e-12)


@pytest.mark.parametrize("df", [1, 1.5, 2, 7, 29, 299, 1999, 2001, 4999.5, 1e6])
def test_students_shares(df):
    at = np.array([1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0])
    at = np.concatenate([at, -at, [0.0]])
    found = [special.stdtr(df, float(t)) for t in at]
    assert_allclose(found, scipy.special.stdtr(df, at), rtol=1e-9, atol=1e-290)
    # Cauchy's distribution has a closed form, also where SciPy rounds.
    assert special.stdtr(1, 1e-9) == pytest.approx(0.5 + math.atan(1e-9) / math.pi, rel=1e-15)


def test_digamma():
    x = np.concatenate([10.0 ** np.arange(-6, 9), np.linspace(0.1, 20, 99)])
    assert_allclose(special.digamma(x), scipy.special.digamma(x), rtol=1e-12, atol=1e-14)


def test_quantiles_of_few_numbers_need_no_scipy():
    shares = np.array([[0.1, 0.5], [0.975, 1e-12]])
    assert_allclose(special.ndtri(shares), scipy.special.ndtri(shares), rtol=1e-12, atol=1e-15)


def test_logistic():
    x = np.linspace(-740, 740, 999)
    assert_allclose(special.expit(x), scipy.special.expit(x), rtol=1e-12, atol=1e-300)
    assert_allclose(special.logit(SHARES), scipy.special.logit(SHARES), rtol=1e-12, atol=1e-15)
    assert list(special.logit(np.array([0.0, 1.0]))) == [-math.inf, math.inf]
    assert special.expit(-math.inf) == 0
    assert special.expit(math.inf) == 1
    assert math.isnan(special.logit(-0.1))
    assert math.isnan(special.expit(math.nan))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ndtr", (np.array([0.0, 1.0]),)),
        ("ndtri", (np.array([0.0, 0.5, 1.0]),)),
        ("ndtri", (0.0,)),
        ("ndtri", (1,)),
        ("ndtri", (math.nan,)),
        ("chdtrc", (2.5, 1.0)),
        ("chdtrc", (200, 150.0)),
        ("chdtrc", (2, math.inf)),
        ("chdtrc", (2, math.nan)),
        ("chdtrc", (2, np.array([0.5, 2.0]))),
        ("bdtr", (3, 10, 0.4)),
        ("betainc", (2.0, 3.0, 0.4)),
        ("betaincinv", (2.0, 3.0, 0.4)),
        ("digamma", (2.5,)),
        ("fdtrc", (2, 9, 1.5)),
        ("softmax", (np.array([0.0, 1.0]),)),
        ("stdtr", (9, -1.5)),
        ("stdtrit", (9, 0.975)),
    ],
)
def test_the_others_are_scipys(name, values):
    assert_allclose(getattr(special, name)(*values), getattr(scipy.special, name)(*values), equal_nan=True)


def test_the_short_ones_do_without_scipy():
    code = (
        "import sys\nfrom scorespace.special import betainc, chdtrc, expit, logit, ndtr, ndtri\n"
        "ndtr(1.0), ndtri(0.9), chdtrc(8, 3.0), expit(0.3), logit(0.3)\nprint('scipy' in sys.modules)\n"
        "betainc(1.0, 2.0, 0.5)\nprint('scipy.special' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
