"""The chart of each kind of result, for `result.plot()`."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, Final

from scorespace.agreement.raters import RaterAgreement
from scorespace.agreement.scored_raters import Agreement
from scorespace.comparisons.ranking import Ranking
from scorespace.comparisons.result import Comparisons
from scorespace.decisions import Decision, ShiftDecision
from scorespace.decisions.hard_cases import HardCases
from scorespace.drift.monitor import Monitoring
from scorespace.drift.nearest_sample import SampleMatches
from scorespace.drift.result import Drift
from scorespace.errors import DataError
from scorespace.experiments.label_permutation import PermutationTest
from scorespace.experiments.overfitting import LearningCurve
from scorespace.experiments.results import Benchmark
from scorespace.report import agreement, drift, ranking
from scorespace.report.chart_styles import StyleName, styled
from scorespace.report.chart_theme import Spec
from scorespace.report.cluster_charts import cluster_chart
from scorespace.report.comparison import differences_chart
from scorespace.report.experiments import benchmark_chart
from scorespace.report.hull_charts import hull_chart
from scorespace.report.plots import as_altair
from scorespace.report.regression_charts import rroc_chart
from scorespace.report.rules import rule_chart
from scorespace.report.smooth_charts import zones_chart
from scorespace.report.study import learning_chart, permutation_chart
from scorespace.unsupervised.clusters import Clusters
from scorespace.unsupervised.rules import Rules


def plot(result: Any, style: StyleName | None = None, size: str | None = None) -> Any:
    """The chart of a result as an Altair object."""
    return as_altair(styled(chart_of(result), style, size))


@singledispatch
def chart_of(result: Any) -> Spec:
    """The chart of a result; refused for results that have none."""
    raise DataError(f"{type(result).__name__} has no chart.", hint="its rows: .rows(), .to_frame()")


_CHARTS: Final[dict[type[Any], Callable[[Any], Spec]]] = {
    Agreement: agreement.agreement_chart,
    Benchmark: benchmark_chart,
    Clusters: cluster_chart,
    Comparisons: differences_chart,
    Drift: drift.drift_chart,
    LearningCurve: learning_chart,
    Monitoring: drift.monitor_chart,
    PermutationTest: permutation_chart,
    Rules: rule_chart,
    SampleMatches: drift.match_chart,
}
for _kind, _draw in _CHARTS.items():
    chart_of.register(_kind, _draw)


@chart_of.register
def _(result: RaterAgreement) -> Spec:
    if not result.judged:
        raise DataError("raters without scores have no chart.", hint='compare="llm" for a judge, or raters with scores')
    return agreement.judge_chart(result)


@chart_of.register
def _(result: Ranking) -> Spec:
    spec: Spec = ranking.picture(result).draw()
    return spec


@chart_of.register
def _(result: Decision) -> Spec:
    return hull_chart({}, result.hull, [result])


@chart_of.register
def _(result: ShiftDecision) -> Spec:
    return rroc_chart(result.curves, result)


@chart_of.register
def _(result: HardCases) -> Spec:
    return zones_chart(result.table, result.zones)
