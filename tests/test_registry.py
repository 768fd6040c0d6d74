"""What every declared noun has: options read from annotations, a registry of names, and one grammar."""

import math
import sys
import warnings
from dataclasses import dataclass
from importlib.machinery import PathFinder
from types import SimpleNamespace
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace import registry
from scorespace.cli.options import measure_names
from scorespace.curves.curve import CURVES
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.measures.measure import MEASURES
from scorespace.options import Option, format_value, keyword_options, parse_value, split_at_commas
from scorespace.registry import Call, Registry, required_table


@dataclass(frozen=True)
class Dish:
    """A noun that is no measure."""

    name: str
    aliases: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()


def cooked(
    pot: int,
    *,
    minutes: Annotated[float, "how long"] = 3.0,
    eggs: Annotated[int | None, "how many"] = None,
    way: Annotated[Literal["soft", "hard"], "how it ends"] = "soft",
    salt: Annotated[bool, "whether there is salt"] = True,
    heat: Annotated[float | Literal["low"], "degrees"] = 90.0,
    bare: str = "x",
):
    """It takes a table, too."""


@pytest.fixture
def menu():
    found = Registry("dish", "menu", MeasureError)
    found.add(Dish("egg", ("boiled_egg", "oeuf"), keyword_options(cooked)))
    found.add(Dish("toast"))
    return found


def told(ask, kind=MeasureError):
    with pytest.raises(kind) as caught:
        ask()
    return str(caught.value)


# --- what a function declares


def test_options_are_the_keyword_only_parameters_with_what_is_said_of_them():
    options = {one.name: one for one in keyword_options(cooked)[:-1]}
    assert list(options) == ["minutes", "eggs", "way", "salt", "heat"]
    assert [one.stated for one in options.values()] == ["minutes=3", "eggs=…", "way=soft", "salt=true", "heat=90"]
    assert options["way"].choices == ("soft", "hard")
    assert options["way"].text == "way=soft: how it ends (soft, hard)"
    assert keyword_options(cooked)[-1].text == "bare=x"


def test_the_first_parameter_names_the_table():
    assert required_table(cooked) is int

    def nothing(table): ...

    with pytest.raises(TypeError, match="annotate the first"):
        required_table(nothing)


# --- the registry


@pytest.mark.parametrize("name", ["egg", "EGG", " boiled egg ", "Boiled-Egg", "oeuf"])
def test_a_noun_is_found_by_any_of_its_names(menu, name):
    assert menu.find(name).name == "egg"


def test_an_unknown_name(menu):
    assert told(lambda: menu.find("boild_egg")) == "there is no dish 'boild_egg'.\n  hint: did you mean boiled_egg?"
    assert told(lambda: menu.find("zzzz")) == "there is no dish 'zzzz'.\n  hint: scorespace menu lists them all"


def test_a_name_is_taken_once_and_a_noun_may_be_declared_again(menu):
    assert told(lambda: menu.add(Dish("bread", ("Boiled-EGG",)))) == (
        "the name 'Boiled-EGG' of dish bread is taken by egg.\n  hint: another name"
    )
    again = menu.add(Dish("toast", ("bread",)))
    assert [one.name for one in menu] == ["egg", "toast"]
    assert menu.find("bread") is again


# --- the grammar


def test_a_noun_with_options(menu):
    found = menu.parse(' egg ( salt=false, minutes = 4.5, way="hard", heat=low, eggs=2 ) ')
    assert found.options == {"minutes": 4.5, "eggs": 2, "way": "hard", "salt": False, "heat": "low"}
    assert str(found) == "egg(minutes=4.5, eggs=2, way=hard, salt=false, heat=low)"
    assert menu.parse(str(found)) == found
    assert menu.parse("egg()") == Call(menu.find("egg")) == menu.parse("egg")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("egg(", "the dish 'egg(' cannot be parsed.\n  hint: NAME, or NAME(option=value, option=value)"),
        ("egg@1", "the dish 'egg@1' cannot be parsed.\n  hint: NAME, or NAME(option=value, option=value)"),
        ("egg(salt)", "the option 'salt' of 'egg(salt)' has no value.\n  hint: salt=VALUE"),
        ("egg(salt=)", "the option 'salt=' of 'egg(salt=)' has no value.\n  hint: salt=VALUE"),
        (
            "egg(eggs=1, eggs=2)",
            "the option 'eggs' of 'egg(eggs=1, eggs=2)' is given twice.\n  hint: specify each option once",
        ),
        (
            "egg(minute=3)",
            "egg has no option 'minute'.\n"
            "  seen: its options: 'minutes', 'eggs', 'way', 'salt', 'heat', 'bare'\n"
            "  hint: did you mean minutes?",
        ),
        (
            "toast(minutes=3)",
            "toast has no option 'minutes'.\n  seen: its options: none\n  hint: write toast without options",
        ),
        (
            "egg(way=hart)",
            "way=hart in 'egg(way=hart)' is unknown.\n  seen: way can be 'soft', 'hard'\n  hint: did you mean hard?",
        ),
        ("egg(salt=1)", "salt=1 in 'egg(salt=1)' is not true or false.\n  hint: salt=true: whether there is salt"),
        ("egg(minutes=long)", "minutes=long in 'egg(minutes=long)' is not a number.\n  hint: minutes=3: how long"),
        ("egg(eggs=1.5)", "eggs=1.5 in 'egg(eggs=1.5)' is not a number.\n  hint: eggs=…: how many"),
        ("egg(heat=high)", "heat=high in 'egg(heat=high)' is not a number.\n  hint: heat=90: degrees (low)"),
        (
            'egg(bare="x)',
            "a bracket or a quote in 'egg(bare=\"x)' is not closed.\n  hint: close each bracket and quote",
        ),
        (
            "egg(bare=x])",
            "a bracket or a quote in 'egg(bare=x])' is not closed.\n  hint: close each bracket and quote",
        ),
    ],
)
def test_what_cannot_be_read(menu, text, message):
    assert told(lambda: menu.parse(text)) == message


@given(st.lists(st.text("ab([,=", max_size=6), max_size=5))
def test_commas_inside_brackets_and_quotes_part_nothing(pieces):
    whole = [f"({piece.replace('(', '').replace('[', '')})" for piece in pieces]
    assert split_at_commas(",".join(whole), "") == (whole or [""])
    quoted = [f'"{piece}"' for piece in pieces]
    assert split_at_commas(",".join(quoted), "") == (quoted or [""])


@given(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["median", "f1"]))
def test_a_written_value_reads_back(value):
    kind = str if value is None else type(value)
    found = parse_value(Option("o", kind, None), format_value(value), "")
    assert found == ("none" if value is None else value)


# --- plug-ins


def test_a_plug_in_that_fails_is_remembered_and_does_not_stop_the_others(monkeypatch):
    loaded = []

    def broken():
        raise SystemExit("no licence")

    entries = [
        SimpleNamespace(name="broken", value="broken.module", load=broken),
        SimpleNamespace(name="fine", value="fine.module", load=lambda: loaded.append("fine")),
    ]
    every = SimpleNamespace(select=lambda group: entries if group == "scorespace" else [])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda: every)
    monkeypatch.setattr(registry, "_may_have_plugins", lambda: True)
    monkeypatch.setattr(registry, "FAILED_PLUGINS", {})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        registry.load_plugins.__wrapped__()
    assert loaded == ["fine"]
    assert registry.FAILED_PLUGINS == {"broken": "SystemExit: no licence"}
    assert [str(one.message) for one in said] == [
        "the plug-in broken (broken.module) cannot be loaded: SystemExit: no licence"
    ]


@pytest.mark.parametrize("kind", ["strange-1.0.dist-info", "strange.egg-info", "EGG-INFO"])
def test_plug_ins_are_looked_for_where_packages_are(tmp_path, monkeypatch, kind):
    (tmp_path / kind).mkdir()
    (tmp_path / kind / "entry_points.txt").write_text("[console_scripts]\nscorespace = scorespace.__main__:main\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "absent")])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    assert not registry._may_have_plugins()
    (tmp_path / kind / "entry_points.txt").write_text("[scorespace.measures]\ntoll = toll_booth\n")
    assert registry._may_have_plugins()


def test_plug_ins_in_archives_and_of_other_finders_are_left_to_python(tmp_path, monkeypatch):
    (tmp_path / "packages.zip").touch()
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages.zip")])
    assert registry._may_have_plugins()
    monkeypatch.setattr(sys, "path", [])
    assert not registry._may_have_plugins()
    monkeypatch.setattr(sys, "meta_path", [SimpleNamespace(find_distributions=list)])
    assert registry._may_have_plugins()


def test_errors_are_of_the_kind_that_the_registry_names():
    assert told(lambda: Registry("dish", "menu").find("egg"), ScoreSpaceError).startswith("there is no dish 'egg'.")


def test_two_files_that_declare_one_name_are_told():
    kinds = Registry("method", "methods", MeasureError)
    kinds.add(SimpleNamespace(name="extreme", aliases=(), options=(), function=math.sqrt))
    kinds.add(SimpleNamespace(name="extreme", aliases=(), options=(), function=math.sqrt))  # loaded again
    assert told(lambda: kinds.add(SimpleNamespace(name="extreme", aliases=(), options=(), function=math.exp))) == (
        "the name 'extreme' of method extreme is taken by extreme.\n  hint: another name"
    )


def test_a_noun_of_another_kind_is_known_as_such():
    with pytest.raises(ScoreSpaceError) as caught:
        MEASURES.find("brier curve")
    assert str(caught.value) == ("there is no measure 'brier curve'.\n  hint: it is a curve: scorespace curves brier")
    with pytest.raises(ScoreSpaceError, match="scorespace measures tpr"):
        CURVES.find("recall")


def test_a_shell_is_offered_names_then_other_names_then_options_and_their_values():
    def offered(text: str) -> list[str]:
        return [name for name, _ in CURVES.completed(text)]

    assert offered("roc") == ["roc"]
    other = next(alias for one in CURVES for alias in one.aliases)
    assert other in offered(other)
    assert offered("nothing_like_it") == []
    assert offered("calibration(") == ["calibration(by=", "calibration(bins="]
    assert offered("calibration(bins=5, b") == ["calibration(bins=5, by=", "calibration(bins=5, bins="]
    assert offered("calibration(by=") == [f"calibration(by={how}" for how in ("isotonic", "width", "count")]
    assert offered("calibration(by=c") == ["calibration(by=count"]
    assert offered("nothing(") == []
    assert dict(CURVES.completed("calibration(bi"))["calibration(bins="] == "number of bins, unless groups are isotonic"
    assert measure_names("auc,pauc(corr") == ["auc,pauc(corrected="]
    assert measure_names("fbeta(beta=2),gme") == ["fbeta(beta=2),gmean"]
