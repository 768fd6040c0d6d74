"""The catalogue of measures: lookup by any name, and the grammar users type."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from types import NoneType
from typing import Any, get_args

from scorespace.errors import MeasureError, did_you_mean
from scorespace.measures.measure import REGISTRY, Measure, Option

_SHAPE = re.compile(
    r"""\s*(?P<name>[^\s()\[\]@,=]+)\s*
        (?:\((?P<options>[^()]*)\))?\s*
        (?:\[(?P<of>"(?:[^"\\]|\\.)*"|[^\[\]"]*)\])?\s*
        (?:@\s*(?P<at>[^\s\[\]()@]+))?\s*""",
    re.VERBOSE,
)
_PIECE = re.compile(r"""(?:\([^()]*\)|\[(?:"(?:[^"\\]|\\.)*"|[^\[\]"]*)\]|[^,(\[])+""")
_SIMPLE_LABEL = re.compile(r"[^\[\]\",\\\s][^\[\]\",\\]*(?<!\s)")


@dataclass(frozen=True)
class MeasureSpec:
    """A measure with its options, class or average, and operating point: what a user asks for.

    `str()` of it parses back to it.

    >>> str(parse("F_beta( beta=2 )[bad] @ 0.50"))
    'fbeta(beta=2)[bad]@0.5'
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    of: str | None = None
    at: float | None = None

    @property
    def measure(self) -> Measure:
        return find(self.name)

    @property
    def label(self) -> str:
        """Name and options, without class and operating point."""
        shown = ", ".join(f"{name}={_written(value)}" for name, value in self.options)
        return f"{self.name}({shown})" if shown else self.name

    def __str__(self) -> str:
        of = "" if self.of is None else f"[{_quoted(self.of)}]"
        return f"{self.label}{of}" + ("" if self.at is None else f"@{_written(self.at)}")


def measures() -> tuple[Measure, ...]:
    """Every measure of the catalogue, third-party ones included."""
    _load_plugins()
    return tuple(REGISTRY.values())


def find(name: str) -> Measure:
    """The measure of that name or alias; case, hyphens and blanks do not matter.

    >>> find("ROC-AUC").name, find("recall").name
    ('auc', 'tpr')
    """
    _load_plugins()
    names = {alias: declared for declared in REGISTRY.values() for alias in (declared.name, *declared.aliases)}
    wanted = re.sub(r"[\s\-]+", "_", name.strip()).casefold()
    if wanted in names:
        return names[wanted]
    near = did_you_mean(wanted, names)
    raise MeasureError(
        f"there is no measure {name!r}.", hint=f"did you mean {near}?" if near else "scorespace measures lists them all"
    )


def parse(text: str) -> MeasureSpec:
    """Read one measure: NAME(options)[class or average]@threshold.

    >>> parse("precision@0.5")
    MeasureSpec(name='ppv', options=(), of=None, at=0.5)
    """
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise MeasureError(
            f"the measure {text!r} cannot be read.",
            hint="NAME(option=value)[class]@threshold, such as fbeta(beta=2)@0.5",
        )
    measure = find(match["name"])
    of = match["of"]
    if of is not None:
        of = re.sub(r"\\(.)", r"\1", of[1:-1]) if of.startswith('"') else of.strip()
        if not of:
            raise MeasureError(f"{text!r} names no class in its brackets.", hint=f"{measure.name}[macro], for example")
    options = _options(measure, match["options"], text)
    return MeasureSpec(measure.name, options, of, _threshold(match["at"], text))


def parse_list(text: str) -> list[MeasureSpec]:
    """Read measures separated by commas, those inside parentheses and brackets excepted.

    >>> [str(m) for m in parse_list("auc, pauc(fpr_high=0.2, corrected=true), f1[macro]")]
    ['auc', 'pauc(fpr_high=0.2, corrected=true)', 'f1[macro]']
    """
    pieces = _PIECE.findall(text)
    if _PIECE.sub("", text).strip(", "):
        raise MeasureError(f"a bracket in {text!r} is not closed.")
    return [parse(piece) for piece in pieces if piece.strip()]


def _options(measure: Measure, text: str | None, whole: str) -> tuple[tuple[str, Any], ...]:
    given: dict[str, str] = {}
    for piece in filter(str.strip, (text or "").split(",")):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not value:
            raise MeasureError(f"the option {piece.strip()!r} of {whole!r} has no value.", hint=f"{name}=VALUE")
        if name in given:
            raise MeasureError(f"the option {name!r} of {whole!r} is stated twice.")
        given[name] = value
    measure.check_options(given)
    return tuple(
        (option.name, _value(option, given[option.name], whole)) for option in measure.options if option.name in given
    )


def _value(option: Option, text: str, whole: str) -> Any:
    kinds = [kind for kind in get_args(option.kind) or (option.kind,) if kind is not NoneType]
    try:
        if bool in kinds:
            return {"true": True, "false": False}[text.casefold()]
        return float(text) if float in kinds else int(text) if int in kinds else text.strip("\"'")
    except (KeyError, ValueError):
        if str in kinds:  # a number or a name
            return text.strip("\"'")
        wanted = "true or false" if bool in kinds else "a number"
        raise MeasureError(f"{option.name}={text} in {whole!r} is not {wanted}.") from None


def _threshold(text: str | None, whole: str) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value != value:
        raise MeasureError(f"the threshold {text!r} in {whole!r} is not a number.", hint="such as @0.5 or @inf")
    return value


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _quoted(label: str) -> str:
    if _SIMPLE_LABEL.fullmatch(label):
        return label
    return '"' + re.sub(r'(["\\])', r"\\\1", label) + '"'


@cache
def _load_plugins() -> None:
    """Import third-party measures once, on the first lookup."""
    for entry in entry_points(group="scorespace.measures"):
        try:
            entry.load()
        except (Exception, SystemExit) as error:  # whatever others do, our own measures are there
            said = f"{type(error).__name__}: {error}"
            warnings.warn(f"the measures of {entry.name} ({entry.value}) cannot be loaded: {said}", stacklevel=2)
