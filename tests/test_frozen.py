"""Frozen dataclasses: what the standard library makes of the same declaration is the oracle."""

import copy
import dataclasses
import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from functools import cached_property
from typing import ClassVar

import pytest

from scorespace import frozen


def declared(dataclass):
    """The same classes, made by one or the other."""

    @dataclass(frozen=True)
    class Point:
        """A point."""

        x: float
        y: float = 0.0
        most: ClassVar[int] = 3
        seen: list = field(default_factory=list, compare=False, repr=False)

        @cached_property
        def size(self):
            return self.x + self.y

    @dataclass(frozen=True)
    class Named(Point):
        """A point with a name, and what follows from it."""

        name: str = "p"
        _: KW_ONLY
        colour: str = field(default="red")
        after: str = field(init=False)
        kept: dict = field(init=False, default_factory=dict, compare=False)

        def __post_init__(self):
            self.__dict__["after"] = self.name + "!"

    @dataclass(frozen=True, kw_only=True, repr=False)
    class Told:
        """Words of its own."""

        text: str

        def __repr__(self):
            return f"<{self.text}>"

    @dataclass(frozen=True, eq=False)
    class Single:
        """Equal to itself alone."""

        value: int = 1

    @dataclass(frozen=True)
    class Own:
        """Equal by a rule of its own."""

        value: int

        def __eq__(self, other):
            return True

    @dataclass(frozen=True)
    class Empty:
        """Nothing."""

    class Plain(Named):
        """Not declared itself."""

    return Point, Named, Told, Single, Own, Empty, Plain


OURS, THEIRS = declared(frozen.dataclass), declared(dataclasses.dataclass)
BOTH = pytest.mark.parametrize("classes", [OURS, THEIRS], ids=["ours", "theirs"])


def made(classes):
    """Objects of each class."""
    point, named, told, single, own, empty, plain = classes
    again = [named(1, 2, [3], "q", colour="blue"), replace(named(1, name="r"), y=5), plain(4)]
    return [point(1), point(1, 2), point(x=1, y=2, seen=[7]), *again, told(text="t"), single(), own(2), empty()]


@BOTH
def test_fields_are_told_and_replaced(classes):
    _, named, *_ = classes
    assert [(one.name, one.type, one.init, one.kw_only) for one in fields(named)] == [
        ("x", float, True, False),
        ("y", float, True, False),
        ("seen", list, True, False),
        ("name", str, True, False),
        ("colour", str, True, True),
        ("after", str, False, True),
        ("kept", dict, False, True),
    ]
    assert named.__match_args__ == ("x", "y", "seen", "name")
    assert str(inspect.signature(named)).startswith("(x: float, y: float = 0.0, seen: list = <factory>")
    changed = replace(named(1), y=5, name="z")
    assert asdict(changed) == {
        "x": 1, "y": 5, "seen": [], "name": "z", "colour": "red", "after": "z!", "kept": {}
    }  # fmt: skip
    assert changed.size == 6
    assert named(1).seen is not named(1).seen
    assert (named.colour, named.most, hasattr(named, "kept")) == ("red", 3, False)
    match changed:
        case named(x, y):
            assert (x, y) == (1, 5)


def test_all_is_as_the_standard_library_has_it():
    ours, theirs = made(OURS), made(THEIRS)
    assert list(map(repr, ours)) == list(map(repr, theirs))
    assert [vars(one) for one in ours] == [vars(one) for one in theirs]
    assert [[a == b for a in ours] for b in ours] == [[a == b for a in theirs] for b in theirs]
    same = [[hash(a) == hash(b) for a in found] for found in (ours, theirs) for b in found]
    assert same[: len(ours)] == same[len(ours) :]
    for mine, other in zip(OURS, THEIRS, strict=True):
        assert inspect.signature(mine).parameters.keys() == inspect.signature(other).parameters.keys()
        assert mine.__init__.__annotations__ == other.__init__.__annotations__
        assert mine.__init__.__qualname__ == other.__init__.__qualname__
        assert is_dataclass(mine)


@BOTH
def test_nothing_is_changed_or_deleted(classes):
    point, *_ = classes
    one = point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x


@BOTH
@pytest.mark.parametrize(
    ("arguments", "named", "wrong"),
    [
        ((), {}, "missing 1 required positional argument: 'x'"),
        ((1, 2, [], "n", "red"), {}, "takes from 2 to 5 positional arguments but 6 were given"),
        ((1,), {"shade": 2}, "got an unexpected keyword argument 'shade'"),
        ((1,), {"after": 2}, "got an unexpected keyword argument 'after'"),
    ],
)
def test_wrong_arguments_are_named(classes, arguments, named, wrong):
    with pytest.raises(TypeError, match=wrong):
        classes[1](*arguments, **named)


@BOTH
@pytest.mark.parametrize("by", [frozen.dataclass, dataclasses.dataclass], ids=["ours", "theirs"])
def test_either_is_declared_upon_the_other(classes, by):
    @by(frozen=True)
    class Further(classes[0]):
        z: int = 3

    assert repr(Further(1)).endswith("Further(x=1, y=0.0, z=3)")
    assert [one.name for one in fields(Further)] == ["x", "y", "seen", "z"]


@frozen.dataclass(frozen=True)
class Sent:
    """What goes to another process."""

    value: float
    inner: "Sent | None" = None


def test_objects_are_copied_and_sent():
    one = Sent(1.0, Sent(float("nan")))
    assert copy.copy(one) == one
    sent = pickle.loads(pickle.dumps(one))
    assert repr(sent) == repr(one)
    assert sent != one  # NaN is not NaN, as in tuples


def test_what_holds_itself_is_told_in_a_line():
    held = []
    one = Sent(held)
    held.append(one)
    assert repr(one) == "Sent(value=[...], inner=None)"


def test_threads_may_make_the_first_object_together():
    for _ in range(20):
        point = declared(frozen.dataclass)[0]
        with ThreadPoolExecutor(8) as pool:
            assert {repr(one) for one in pool.map(point, range(3))} == {repr(point(k)) for k in range(3)}


def test_a_class_that_changes_is_not_ours():
    with pytest.raises(TypeError, match="of the standard library"):
        frozen.dataclass(frozen=False)
