"""Evaluation: the public object with measures, decisions, comparisons, curves and views of the models of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scorespace.argument_checks import check_method_arguments
from scorespace.calibration import summary as calibrated
from scorespace.case_costs import CaseCosts
from scorespace.comparisons.fold_curves import AveragedCurve
from scorespace.comparisons.margin import MarginKind, margin_of
from scorespace.comparisons.result import Comparisons
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.curves import Curve
from scorespace.decisions import (
    CaseCostDecision,
    ConstrainedChoice,
    CostChoice,
    CostRegion,
    Decision,
    MixtureChoice,
    RejectChoice,
    ShiftDecision,
)
from scorespace.errors import ScoreSpaceError, listing
from scorespace.evaluation import baseline as saved
from scorespace.evaluation import comparisons, curves, decisions
from scorespace.evaluation.results import Results
from scorespace.inference.bands import Band
from scorespace.inference.estimate import Estimates
from scorespace.measures import MeasureSpec, parse
from scorespace.report import chart_styles, confusion_matrix, notebook, plots, screen, serialize, terminal
from scorespace.report import html as report
from scorespace.report import sections as pages
from scorespace.report.chart_styles import StyleName
from scorespace.results import SCHEMA, Alternative, Row


@check_method_arguments
@dataclass(frozen=True, repr=False)
class Evaluation(Results):
    """The evaluation of the models of a sample: measures, curves, comparisons, decisions, notes, and a verdict.

    Made by `evaluate`; holds tables and never the data frame. All numbers share one set of bootstrap replicates.

    Attributes
    ----------
    models, level, seed, interval, requested, condition, sample_notes, frame_library, progress, parts, before
        As in `Results`.
    profile, full, parity, stated_threshold, stated_prevalence
        As in `Results`.

    Examples
    --------
    >>> import scorespace as ss
    >>> ev = ss.evaluate([1, 0, 1, 0], {"lr": [0.9, 0.4, 0.6, 0.7]})
    >>> ev.measures("auc")[0].value
    0.75
    """

    # --- measures

    def measures(self, *names: str | MeasureSpec | Sequence[str | MeasureSpec], model: str | None = None) -> Estimates:
        """Measures by name with their confidence intervals; the requested or default ones without names.

        Parameters
        ----------
        *names : str, MeasureSpec or sequence of these
            Measures, such as "auc", "ppv@0.5" or "fbeta(beta=2)@0.3".
        model : str, optional
            One model instead of all.

        Returns
        -------
        Estimates
            One estimate for each model and measure, with `rows()` and `to_frame()`.
        """
        flat = (one for name in names for one in ([name] if isinstance(name, str | MeasureSpec) else name))
        return self.estimated(*flat, model=model)

    def calibration(self, model: str) -> calibrated.CalibrationSummary:
        """Whether the scores of a model can be taken as probabilities.

        Parameters
        ----------
        model : str
            Name of a model, or of one class of a multiclass model: "nb[setosa]".

        Returns
        -------
        CalibrationSummary
            Calibration slope and intercept, tests, errors, and a sentence.
        """
        if model in self.calibrations:
            return self.calibrations[model]
        table, in_groups = self.models.score_table(model), self.models.grouped
        share = self.prevalence if model in self.models else None
        return calibrated.calibration_summary(table, model=model, seed=self.seed, in_groups=in_groups, prevalence=share)

    def calibration_tests(self, *tests: str) -> Comparisons:
        """Tests of whether scores are calibrated probabilities, and prediction intervals cover at their nominal level.

        Parameters
        ----------
        *tests : str
            Names of tests, such as "spiegelhalter", "hosmer_lemeshow(groups=5)" or "kupiec"; all without names.

        Returns
        -------
        Comparisons
            One test for each model and name; p-values are not adjusted.

        References
        ----------
        Steyerberg, E. W. (2019). Clinical Prediction Models (2nd ed.). Springer.
        """
        return comparisons.tests_of_calibration(self, tests)

    # --- decisions

    def decide(
        self,
        condition: Condition | CostMatrix | Asymmetry | CaseCosts | None = None,
        *,
        fit: Evaluation | None = None,
        **costs: float,
    ) -> Decision | CostChoice | ShiftDecision | CaseCostDecision:
        """Model and threshold of minimum expected cost, with the cross-fitted cost.

        Parameters
        ----------
        condition : Condition, CostMatrix, Asymmetry or CaseCosts, optional
            Costs and prevalence. A matrix of more than two classes needs multiclass models; an `Asymmetry` is for
            regression and chooses a model and its shift; `CaseCosts` must be those of the evaluation, with any rule. By
            default the costs of the evaluation.
        fit : Evaluation, optional
            Another sample that chooses; this one then gives the external cost.
        **costs
            Costs of binary decisions instead of `condition`: ``decide(fp=1, fn=10, prevalence=0.1)``.

        Returns
        -------
        Decision, CostChoice, ShiftDecision or CaseCostDecision
            The choice, its alternatives and their costs.
        """
        if condition is not None and costs:
            raise ScoreSpaceError("costs are stated twice.", seen=f"condition and {listing(costs)}", hint="one of them")
        stated = condition or (Condition(**costs) if costs else self.condition)
        if stated is None:
            raise ScoreSpaceError("no costs are stated.", hint="decide(fp=1, fn=5)")
        return decisions.decide(self, stated, fit=fit, level=self.level)

    def choose(
        self,
        objective: str,
        *,
        at_least: Mapping[str, float] | None = None,
        at_most: Mapping[str, float] | None = None,
        fit: Evaluation | None = None,
    ) -> ConstrainedChoice:
        """Model and threshold that are best for a measure under constraints on others.

        Parameters
        ----------
        objective : str
            The measure to optimise, such as "ppv".
        at_least, at_most : mapping of str to float, optional
            Bounds on other measures: ``at_least={"tpr": 0.9}``.
        fit : Evaluation, optional
            Another sample that chooses; this one then judges.

        Returns
        -------
        ConstrainedChoice
            The choice, with cross-fitted values of objective and constraints.
        """
        other = None if fit is None else fit.models
        bounds = decisions.bounds(at_least or {}, at_most or {}, self.prevalence)
        wanted = parse(objective).for_prevalence(self.prevalence)
        return decisions.choose(self.models, wanted, bounds, fit=other, level=self.level, seed=self.seed)

    def regret(self, ratio: tuple[float, float], *, at: float | None = None, within: float = 0.03) -> CostRegion:
        """The largest regret of a threshold over a range of cost ratios, where costs are not known exactly.

        Parameters
        ----------
        ratio : tuple of float
            Lowest and highest cost ratio FN : FP.
        at : float, optional
            The threshold; by default that with the smallest largest regret (minimax).
        within : float
            Report the cost ratios in which the cost exceeds the lowest one by at most this share.

        Returns
        -------
        CostRegion
            Regret at both ends with upper bounds, and the ranges of cost ratios.

        Examples
        --------
        >>> import scorespace as ss
        >>> ev = ss.evaluate([1, 1, 0, 1, 0, 0] * 20, [0.9, 0.8, 0.7, 0.6, 0.3, 0.2] * 20)
        >>> ev.regret((1, 2)).best.threshold
        0.6
        """
        settings: dict[str, Any] = {"prevalence": self.prevalence, "level": self.level, "seed": self.seed}
        return decisions.regret(self.models, ratio, at=at, within=within, **settings)

    def reject(self, cost: float, condition: Condition | CostMatrix | None = None) -> RejectChoice:
        """Which cases to reject when a rejection costs less than an error (Chow's rule).

        Parameters
        ----------
        cost : float
            Cost of a rejected case, as a share of the cost of an error, or in the units of `condition`.
        condition : Condition or CostMatrix, optional
            Costs of decisions. Multiclass models without it reject by the margin between the two highest scores.

        Returns
        -------
        RejectChoice
            Rules, costs and the share of rejected cases of every model.

        References
        ----------
        Chow, C. K. (1970). On optimum recognition error and reject tradeoff. IEEE Transactions on Information Theory,
        16(1), 41-46.
        """
        return decisions.reject(self.models, cost, condition, level=self.level, seed=self.seed)

    def mix(self, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
        """The randomised mixture of two classifiers that reaches the common ROC convex hull.

        Parameters
        ----------
        fpr, tpr : float, optional
            The rate to reach; exactly one of them.

        Returns
        -------
        MixtureChoice
            Both classifiers and the probability of each.

        References
        ----------
        Provost, F., & Fawcett, T. (2001). Robust classification for imprecise environments. Machine Learning, 42,
        203-231.
        """
        return decisions.mix(self.models, fpr=fpr, tpr=tpr)

    # --- comparisons

    def compare(
        self,
        *models: str,
        test: str | None = None,
        measure: str | Sequence[str] | None = None,
        at: float | None = None,
        alternative: Alternative = "two-sided",
        adjust: str | None = None,
        margin: float | None = None,
        margin_kind: MarginKind | None = None,
    ) -> Comparisons:
        """Paired tests between models on the same cases.

        Parameters
        ----------
        *models : str
            Names; all models without them.
        test : str, optional
            Name of a test, such as "delong"; the default depends on the measure.
        measure : str or sequence of str, optional
            The measure to compare, or several (``"auc, f1@0.5"``), with p-values adjusted over all of them; the AUC of
            scores, the accuracy of decisions by default.
        at : float, optional
            Compare decisions at this threshold.
        alternative : {"two-sided", "greater", "less"}
            Whether the first model of a pair differs, has the greater, or has the lesser value.
        adjust : {"holm", "hochberg", "bonferroni", "finner", "shaffer", "max_t"}, optional
            Adjustment of the p-values for multiple comparisons; by default "max_t", with joint intervals, for three or
            more models by a mean over cases, else "holm".
        margin : float, optional
            Margin in the units of the measure: test that the first model of a pair is not worse by more, instead of
            whether both are equal.
        margin_kind : {"noninferior", "equivalent"}, optional
            Test non-inferiority (default), or that both differ by less than the margin.

        Returns
        -------
        Comparisons
            Differences with confidence intervals and p-values.
        """
        asked: dict[str, Any] = {"test": test, "alternative": alternative, "adjust": adjust}
        asked["margin"] = margin_of(margin, margin_kind, alternative)
        return comparisons.by_each(
            lambda spec: comparisons.compare_models(self, models, spec, at=at, **asked), measure, adjust
        )

    def compare_with(
        self,
        other: Evaluation,
        *models: str,
        test: str | None = None,
        measure: str | Sequence[str] | None = None,
        alternative: Alternative = "two-sided",
        adjust: str = "holm",
        margin: float | None = None,
        margin_kind: MarginKind | None = None,
    ) -> Comparisons:
        """Each model against the model of the same name on an independent sample.

        Parameters
        ----------
        other : Evaluation
            The evaluation of the other sample.
        *models : str
            Names; all models without them.
        test : str, optional
            DeLong's unpaired test for the AUC by default, else the bootstrap.
        measure : str or sequence of str, optional
            The measure to compare, or several.
        alternative, adjust, margin, margin_kind
            As in `compare`.

        Returns
        -------
        Comparisons
            Differences with confidence intervals and p-values.
        """
        asked: dict[str, Any] = {"test": test, "alternative": alternative, "adjust": adjust}
        asked["margin"] = margin_of(margin, margin_kind, alternative)
        return comparisons.by_each(
            lambda spec: comparisons.compare_samples(self, other, models, spec, **asked), measure, adjust
        )

    def compare_against(
        self,
        value: float,
        *models: str,
        test: str | None = None,
        measure: str | Sequence[str] | None = None,
        alternative: Alternative = "two-sided",
        adjust: str = "holm",
        margin: float | None = None,
        margin_kind: MarginKind | None = None,
    ) -> Comparisons:
        """Each model against a fixed value.

        Parameters
        ----------
        value : float
            The value under the null hypothesis.
        *models : str
            Names; all models without them.
        test : str, optional
            DeLong's z test for the AUC by default, else the bootstrap.
        measure : str or sequence of str, optional
            The measure to compare, or several.
        alternative, adjust, margin, margin_kind
            As in `compare`.

        Returns
        -------
        Comparisons
            Differences with confidence intervals and p-values.
        """
        asked: dict[str, Any] = {"test": test, "alternative": alternative, "adjust": adjust}
        asked["margin"] = margin_of(margin, margin_kind, alternative)
        return comparisons.by_each(
            lambda spec: comparisons.compare_with(self, value, models, spec, **asked), measure, adjust
        )

    # --- curves and charts

    def curve(self, kind: str, model: str | None = None, **options: Any) -> Curve:
        """A curve of one model.

        Parameters
        ----------
        kind : str
            Such as "roc", "pr" or "smooth(midpoint=median)"; `scorespace curves` lists all.
        model : str, optional
            Name of a model, or one class of a multiclass model: "nb[setosa]"; needed where there are several.
        **options
            Options of the kind.

        Returns
        -------
        Curve
            Points with their thresholds.
        """
        return curves.curve(self, curves.requested(kind, **options), model)

    def curves(self, kind: str, **options: Any) -> dict[str, Curve]:
        """The curves of all models, and of each class of multiclass models.

        Parameters
        ----------
        kind : str
            As in `curve`.
        **options
            Options of the kind.

        Returns
        -------
        dict of str to Curve
            Curves by name.
        """
        return dict(curves.family(self, curves.requested(kind, **options)).curves)

    def class_curves(self, kind: str, model: str) -> tuple[dict[str, Curve], Curve | None]:
        """The curve of each class of a multiclass model against the rest, and their mean.

        Parameters
        ----------
        kind : str
            Kind of curve, such as "roc".
        model : str
            Name of a multiclass model.

        Returns
        -------
        dict of Curve, and Curve or None
            The curves by class, and their mean where the kind has one.
        """
        return curves.by_class(self, curves.requested(kind), model)

    def average_curve(self, kind: str, model: str | None = None, *, how: str = "vertical") -> AveragedCurve:
        """The mean of a model's curves over folds, with a band.

        Parameters
        ----------
        kind : str
            As in `curve`.
        model : str, optional
            Name of a model.
        how : {"vertical", "threshold"}
            Average at each rate, or at each threshold.

        Returns
        -------
        AveragedCurve
            The mean curve and its band.

        References
        ----------
        Fawcett, T. (2006). An introduction to ROC analysis. Pattern Recognition Letters, 27(8), 861-874.
        """
        return curves.averaged(self, curves.requested(kind), model, how)

    def band(self, kind: str, model: str, *, simultaneous: bool = False, **options: Any) -> Band:
        """The confidence band of a curve; of a calibration curve, where calibrated scores would lie.

        Parameters
        ----------
        kind : str
            As in `curve`.
        model : str
            Name of a model.
        simultaneous : bool
            Whether the band covers the whole curve, instead of each point.
        **options
            Options of the kind.

        Returns
        -------
        Band
            Lower and upper limits along the curve.
        """
        return curves.band(self, curves.requested(kind, **options), model, simultaneous)

    def plot(
        self,
        kind: str = "roc",
        *,
        band: bool | str = False,
        axes: str = "linear",
        style: StyleName | None = None,
        size: str | None = None,
        **options: Any,
    ) -> Any:
        """A chart of all models.

        Parameters
        ----------
        kind : str
            A kind of curve, or "confusion", "distribution", "ranks" or "measures".
        band : bool or {"simultaneous", "pointwise"}
            Whether to draw bands, and of which kind; True for simultaneous ones.
        axes : {"linear", "log"}
            "log": false positive rates of a ROC curve on a log axis, for rare positives.
        style : {"slide", "paper"}, optional
            Fonts, lines and colours for a slide or a paper.
        size : str, optional
            Width and height, such as "12x8cm".
        **options
            Options of the kind.

        Returns
        -------
        altair.Chart
            The chart.
        """
        return plots.as_altair(chart_styles.styled(self.drawing(kind, band=band, axes=axes, **options), style, size))

    def drawing(
        self, kind: str, *, band: bool | str = False, models: Sequence[str] = (), axes: str = "linear", **options: Any
    ) -> Row:
        """The chart of `plot` as a Vega-Lite specification.

        Parameters
        ----------
        kind, band, axes, **options
            As in `plot`.
        models : sequence of str
            Names of the models to draw; all without them.

        Returns
        -------
        dict
            The specification.
        """
        if kind in plots.PICTURES and not options:
            return plots.PICTURES[kind](self, {})
        found = curves.family(self, curves.requested(kind, **options), models=models)
        if not found.curves:
            self.curve(kind, next(iter(self.models)), **options)  # says why there is none
        return found.picture(curves.named_bands(self, curves.requested(kind, **options), found, band, axes), axes=axes)

    # --- output

    def report(
        self, path: str | Path, *, title: str | None = None, sections: Sequence[str] = (), command: str | None = None
    ) -> Path:
        """Write the report, one self-contained HTML page.

        Parameters
        ----------
        path : path
            Where to write it; ends in .html.
        title : str, optional
            The heading.
        sections : sequence of str
            Names of the sections to show; all without them.
        command : str, optional
            The command to name in the footer.

        Returns
        -------
        Path
            Where it is.
        """
        page = pages.document(self, title, (sections,) if isinstance(sections, str) else sections, command)
        return report.write(page, path)

    def save(self, path: str | Path) -> Path:
        """Write the evaluation to a JSON file, to serve as a baseline; it holds tables and no case.

        Parameters
        ----------
        path : path
            Where to write it; ends in .json.

        Returns
        -------
        Path
            Where it is.
        """
        return saved.save(self, path)

    @cached_property
    def document(self) -> Any:
        """The whole page, which every view renders."""
        return pages.document(self)

    @cached_property
    def brief(self) -> Any:
        """The short answer, which fits one screen of text."""
        return screen.summary_document(self, python=True)

    def to_dict(self) -> Row:
        """Everything as plain data, as the JSON output has it."""
        decision = {} if self.decision is None else {"decision": self.decision.to_dict()}
        asked = {str(one.spec) for one in self.summary}
        compared = [one.row() for name, one in self.differences.items() if name in asked]
        differences = {"comparisons": compared} if compared else {}
        models = self.models
        rows, slices, since_then = self._rows, {}, {}
        if self.slices is not None:
            rows = [{"slice": None, **row} for row in rows] + self.slices.rows()
            slices = {"slices": {name: self.slices.to_dict()[name] for name in ("by", "slices", "parity", "verdict")}}
        if self.changes is not None:
            changes = self.changes.to_dict()
            since_then = {"baseline": {**changes["baseline"], "rows": changes["rows"], "verdict": changes["verdict"]}}
        is_tested = any(one.spec.measure.probability or one.spec.name == "coverage" for one in self.summary)
        tests = self.calibration_tests().rows() if is_tested else []
        matrices = [found for name in models if (found := confusion_matrix.confusion_of(self, name)) is not None]
        return {
            "schema": SCHEMA,
            "data": {"rows": models.rows, "classes": dict(models.classes), "positive": models.positive},
            "rows": rows,
            **slices,
            **differences,
            **since_then,
            **(
                {}
                if self.leaderboard is None
                else {"leaderboard": self.leaderboard.facts() | {"rows": self.leaderboard.rows()}}
            ),
            **({"folds": [one.row() for one in self.over_folds]} if self.over_folds else {}),
            **decision,
            **({"confusion": matrices} if matrices else {}),
            **({"calibration": tests} if tests else {}),
            "conclusions": [one.row() for one in self.conclusions],
            "verdict": self.verdict,
            "notes": [note.to_dict() for note in self.notes],
        }

    def to_frame(self) -> Any:
        """The measures as a data frame of the library that the input came from.

        Returns
        -------
        data frame
            One row for each model and measure.
        """
        return self.summary.to_frame()

    def to_latex(self) -> str:
        """The short answer as LaTeX, its tables with booktabs.

        Returns
        -------
        str
            LaTeX; the preamble needs ``\\usepackage{booktabs}``.
        """
        return serialize.latex(self.brief)

    def __repr__(self) -> str:
        return terminal.text(self.brief)

    def _repr_html_(self) -> str:
        # The chart shows the ROC curves, or the confusion matrix.
        kind = "roc" if self.models.two_class else "confusion" if self.models.classes else None
        page = pages.document(self, names=("models", "notes"))
        return notebook.html(page, lambda: None if kind is None else self.drawing(kind))
