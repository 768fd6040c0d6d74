"""`scorespace power`: every flag reaches its formula, and flags that contradict each other are told."""

import json

import pytest

from scorespace.comparisons.power import (
    PowerTarget,
    auc_width,
    sample_size,
    sample_size_of_share,
    sample_size_of_width,
    share_width,
    solve_for,
    solve_for_prevalence,
)

BASE = ("power", "--auc", "0.8", "--prevalence", "0.3")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--against", "0.7"), sample_size(PowerTarget(auc=0.8, against=0.7), 0.3)),
        (("--against", "0.7", "--power", "0.9"), sample_size(PowerTarget(auc=0.8, against=0.7), 0.3, 0.9)),
        (("--against", "0.7", "--cases", "100"), PowerTarget(auc=0.8, against=0.7).with_cases(30, 70)),
        (
            ("--against", "0.7", "--cases", "100", "--one-sided"),
            PowerTarget(auc=0.8, against=0.7, sides=1).with_cases(30, 70),
        ),
        (
            ("--against", "0.7", "--paired-correlation", "0.5", "--alpha", "0.01"),
            sample_size(PowerTarget(auc=0.8, against=0.7, correlation=0.5, alpha=0.01), 0.3),
        ),
        (("--against", "0.7", "--unpaired"), sample_size(PowerTarget(auc=0.8, against=0.7, unpaired=True), 0.3)),
        (
            ("--against", "0.7", "--unpaired", "--cases", "100"),
            PowerTarget(auc=0.8, against=0.7, unpaired=True).with_cases(30, 70),
        ),
        (("--half-width", "0.05"), sample_size_of_width(0.8, 0.05, 0.3)),
        (("--cases", "100"), auc_width(0.8, 30, 70)),
        (("--cases", "100", "--variance", "obuchowski"), auc_width(0.8, 30, 70, variance="obuchowski")),
        (
            ("--against", "0.7", "--variance", "obuchowski"),
            sample_size(PowerTarget(auc=0.8, against=0.7, variance="obuchowski"), 0.3),
        ),
        (
            ("--cases", "400", "--power", "0.9", "--paired-correlation", "0.5"),
            solve_for("against", PowerTarget(auc=0.8, correlation=0.5), 120, 280, 0.9),
        ),
        (("--cases", "400", "--solve", "against"), solve_for("against", PowerTarget(auc=0.8), 120, 280)),
        (
            ("--cases", "400", "--against", "0.75", "--solve", "correlation"),
            solve_for("correlation", PowerTarget(auc=0.8, against=0.75), 120, 280),
        ),
        (
            ("--cases", "400", "--against", "0.75", "--unpaired", "--one-sided", "--solve", "alpha"),
            solve_for("alpha", PowerTarget(auc=0.8, against=0.75, unpaired=True, sides=1), 120, 280),
        ),
    ],
)
def test_flags(run, flags, expected):
    done = run(*BASE, *flags, "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.json()["rows"] == json.loads(json.dumps(expected.rows()))


def test_the_share_of_positives_follows_from_the_rest(run):
    done = run("power", "--auc", "0.8", "--against", "0.7", "--cases", "400", "--unpaired", "--solve", "prevalence")
    expected = solve_for_prevalence(PowerTarget(auc=0.8, against=0.7, unpaired=True), 400)
    assert expected.words.endswith("53.8 % to 61.5 %.")
    assert expected.words in " ".join(done.out.split())
    row = run(
        *("power", "--auc", "0.8", "--against", "0.7", "--cases", "400", "--unpaired", "--solve", "prevalence"),
        *("--format", "json"),
    ).json()["rows"][0]
    assert (row["prevalence"], row["prevalence_most"]) == expected.prevalences


def test_the_page_of_a_plan(run):
    # 80 % power at 5 %: the numbers of comparisons/test_power.py, laid out.
    found = sample_size(PowerTarget(auc=0.8, against=0.7, correlation=0.5), 0.3)
    done = run(*BASE, "--against", "0.7", "--paired-correlation", "0.5")
    assert [line.rstrip() for line in done.out.strip().splitlines()] == [
        "Power   variance of Hanley and McNeil, equal variances, normal approximation",
        "",
        "plan             number",
        f"positive cases   {found.n_pos}",
        f"negative cases   {found.n_neg}",
        f"all cases        {found.cases}",
        f"power            {found.power:.3f}",
        "",
        f"With {found.n_pos} positive and {found.n_neg} negative cases, a two-sided test at 0.05 has power",
        f"{found.power:.3f} to detect a difference between AUCs of 0.8 and 0.7 on the same cases",
        "(correlation 0.5).",
    ]


@pytest.mark.parametrize("form", ["markdown", "csv"])
def test_formats(run, form):
    done = run(*BASE, "--against", "0.7", "--format", form)
    assert done.code == 0
    assert str(sample_size(PowerTarget(auc=0.8, against=0.7), 0.3).n_pos) in done.out


def test_few_cases_are_noted_below_the_plan(run):
    assert "notes" in run(*BASE, "--against", "0.7", "--cases", "12").out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "the goal of the study is missing.\n  hint: --against 0.7, or --half-width 0.05"),
        (
            ("--unpaired", "--half-width", "0.1"),
            "the goal of the study is missing.\n  hint: --against 0.7, or --half-width 0.05",
        ),
        (
            ("--against", "0.7", "--power", "0.8", "--cases", "100"),
            "both power and cases are stated, which leaves nothing to solve for.\n  hint: --power or --cases",
        ),
        (("--solve", "against"), "--solve against needs the number of cases.\n  hint: --cases 400"),
        (
            ("--solve", "prevalence", "--against", "0.7", "--cases", "100"),
            "--prevalence is both stated and to be solved for.\n  hint: leave out --prevalence",
        ),
        (
            ("--solve", "against", "--against", "0.7", "--cases", "100"),
            "--against is both stated and to be solved for.\n  hint: leave out --against",
        ),
        (
            ("--against", "0.7", "--paired-correlation", "0.5", "--unpaired"),
            "--paired-correlation and --unpaired exclude each other.\n  hint: leave out --unpaired",
        ),
        (
            ("--against", "0.7", "--half-width", "0.1"),
            "--half-width does not use a test.\n  hint: --auc, --half-width, --prevalence and --alpha",
        ),
        (
            ("--half-width", "0.1", "--cases", "10"),
            "--half-width does not use a test.\n  hint: --auc, --half-width, --prevalence and --alpha",
        ),
        (
            ("--half-width", "1e-200"),
            "no study is large enough for this target.\n  seen: more than 1 000 000 000 000 cases",
        ),
        (
            ("--against", "0.8000000001"),
            "no study is large enough for this target.\n  seen: more than 1 000 000 000 000 cases",
        ),
    ],
)
def test_what_cannot_be_planned(run, flags, message):
    done = run(*BASE, *flags)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ConditionError: {message}")


def test_the_expected_area_can_be_what_is_looked_for(run):
    done = run("power", "--prevalence", "0.3", "--against", "0.7", "--cases", "400", "--power", "0.8")
    assert "a two-sided test at 0.05 has power 0.800 to distinguish an AUC of" in " ".join(done.out.split())
    assert run("power", "--prevalence", "0.3", "--half-width", "0.05").err.startswith(
        "ConditionError: the expected AUC is missing.\n"
    )


def test_the_page_of_a_share(run):
    done = run("power", "--share", "0.9", "--within", "0.05", "--prevalence", "0.2")
    assert [line.rstrip() for line in done.out.strip().splitlines()] == [
        "Power   Wilson interval of a proportion",
        "",
        "plan                       number",
        "cases in the denominator   141",
        "all cases                  705",
        "half-width                 0.050",
        "",
        "With 141 cases, of 705 in all, the 95 % Wilson interval of a share of 0.9 is",
        "0.839 to 0.939, half of which is 0.050.",
    ]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--within", "0.05"), sample_size_of_share(0.9, 0.05)),
        (("--cases", "100"), share_width(0.9, 100)),
        (("--cases", "500", "--prevalence", "0.2", "--alpha", "0.1"), share_width(0.9, 100, prevalence=0.2, alpha=0.1)),
    ],
)
def test_flags_of_a_share(run, flags, expected):
    done = run("power", "--share", "0.9", *flags, "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.json()["rows"] == json.loads(json.dumps(expected.rows()))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--share", "0.9"), "pass either the half-width or the number of cases.\n  hint: --within 0.05"),
        (("--within", "0.05"), "the expected proportion is missing.\n  hint: --share 0.9"),
        (("--share", "0.9", "--within", "0.05", "--auc", "0.8"), "--share does not use an AUC or a test."),
        (("--share", "0.9", "--within", "0.05", "--one-sided"), "--share does not use an AUC or a test."),
    ],
)
def test_shares_that_cannot_be_planned(run, flags, message):
    done = run("power", *flags)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ConditionError: {message}")


def test_an_external_validation_as_pmvalsampsize_plans_it(run):
    done = run(
        *("power", "--validation", "--prevalence", "0.1", "--auc", "0.8", "--lp-mean", "-2.6", "--lp-sd", "1.1"),
        *("--threshold", "0.2", "--sensitivity", "0.409", "--specificity", "0.897"),
        *("--width", "oe=0.4", "--width", "slope=0.3", "--format", "json"),
    )
    found = done.json()
    assert {row["name"]: row["cases"] for row in found["rows"]} == {"oe": 876, "slope": 2243, "auc": 836, "snb": 1358}
    assert found["cases"] == 2243


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--validation", "--auc", "0.8"], "the prevalence is missing"),
        (["--validation", "--prevalence", "0.1"], "the expected model is missing"),
        (["--validation", "--prevalence", "0.1", "--auc", "0.8", "--against", "0.7"], "--validation does not use"),
        (["--prevalence", "0.1", "--auc", "0.8", "--lp-sd", "1"], "--lp-sd is for an external validation"),
        (["--validation", "--prevalence", "0.1", "--lp-sd", "1"], "--lp-mean and --lp-sd belong together"),
        (["--validation", "--prevalence", "0.1", "--auc", "0.8", "--width", "oe=x"], "--width x is not a number"),
        (["--validation", "--prevalence", "0.1", "--auc", "0.8", "--sensitivity", "0.4"], "belong together"),
    ],
)
def test_validations_that_contradict_themselves(run, options, problem):
    done = run("power", *options)
    assert done.code == 2
    assert problem in done.err
