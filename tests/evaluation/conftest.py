"""Evaluations that nothing changes, made once per file."""

import pytest

import scorespace as ss
from helpers.evaluation_data import ASAH, ROLES, SMALL


@pytest.fixture(scope="module")
def asah():
    return ss.evaluate(ASAH, **ROLES, measures="auc,ppv@0.2")


@pytest.fixture(scope="module")
def small():
    return ss.evaluate(SMALL, truth="y", scores="s", decisions="d")
