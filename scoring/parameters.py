"""Parameters of policies: each is declared once, on the dataclass that has it.

    title_weight: Annotated[float, Parameter("What a title adds", 0, 1, rule="3.1")] = 0.1

The checks of a policy, its version, its settings, the reference and the ablations are made from that.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from math import inf, isinf
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from slowwave.scoring.validation import require_ascending


class Parameter(NamedTuple):
    """Declaration of a parameter, beside its type and its default.

    Attributes:
        words: Meaning, as the settings say it, without unit and default.
        min: Least value.
        max: Greatest value.
        above: Value that it has to exceed, where the least one is not allowed itself.
        below: Value that it may not reach, likewise.
        unit: Unit of a value; empty: it has none, or `words` says it.
        rule: Number of the rule that has it.
        before: Value of every policy that was logged before there was the parameter. A policy with it has the
            version that it had then, so it is allowed outside the range, too. None: as old as the journal.
        of_model: Whether the embedding model has a value of its own.
        stage: Name of what `off` switches off, for the ablations; empty: it is no stage.
        off: Value without the stage.
        fixed: Why it is no setting; empty: it is one.
    """

    words: str
    min: float = -inf
    max: float = inf
    above: float | None = None
    below: float | None = None
    unit: str = ""
    rule: str = ""
    before: Any = None
    of_model: bool = False
    stage: str = ""
    off: Any = 0.0
    fixed: str = ""


class Declared(NamedTuple):
    """A parameter of a policy with its declaration.

    Attributes:
        kind: Type of its values.
        default: Value where none is given.
        spec: Its declaration.
    """

    name: str
    kind: Any
    default: Any
    spec: Parameter

    @property
    def description(self) -> str:
        """Meaning with unit and rule."""
        known = ", ".join(filter(None, [self.spec.unit, self.spec.rule and f"rule {self.spec.rule}"]))
        return f"{self.spec.words} ({known})" if known else self.spec.words

    @property
    def shown_default(self) -> str:
        """Default as text."""
        if self.spec.of_model:
            return "the embedding model's own"
        if isinstance(self.default, bool):
            return str(self.default).lower()
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    def check(self, value: Any) -> None:  # noqa: ANN401 - whatever was given
        """Refuse a value that is not allowed.

        Raises:
            ValueError: It names the parameter, the value, and what is allowed.
        """
        if get_origin(self.kind) is Literal:
            if value not in get_args(self.kind):
                raise ValueError(f"{self.name} = {value!r} is not one of {', '.join(get_args(self.kind))}")
        elif self.kind is bool:
            if not isinstance(value, bool):
                raise ValueError(f"{self.name} = {value!r} is not true or false")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not self._allows(value):
            raise ValueError(f"{self.name} = {value} is not in {self._range()}")
        elif self.kind is int and not isinstance(value, int):
            raise ValueError(f"{self.name} = {value} is not a whole number")

    def _allows(self, value: float) -> bool:
        low = self.spec.min <= value and (self.spec.above is None or self.spec.above < value)
        high = value <= self.spec.max and (self.spec.below is None or value < self.spec.below)
        return (low and high) or value == self.spec.before

    def _range(self) -> str:
        low = f"[{self.spec.min:g}" if self.spec.above is None else f"({self.spec.above:g}"
        high = f"{self.spec.max:g}]" if self.spec.below is None else f"{self.spec.below:g})"
        return f"{low}, {high}"


_KNOWN: Final = dict[type, tuple[Declared, ...]]()  # of each policy that was asked for


def parameters(policy: type[object]) -> tuple[Declared, ...]:
    """The declared parameters of a policy, in the order of its fields."""
    if policy not in _KNOWN:
        assert is_dataclass(policy)
        hints = get_type_hints(policy, include_extras=True)
        _KNOWN[policy] = tuple(
            Declared(field.name, get_args(hints[field.name])[0], field.default, one)
            for field in fields(policy)
            for one in getattr(hints[field.name], "__metadata__", ())
            if isinstance(one, Parameter)
        )
    return _KNOWN[policy]


def check(policy: Any) -> None:  # noqa: ANN401 - any policy
    """Refuse a policy with a value that is not allowed, or with thresholds out of order.

    Thresholds that have to rise are named by the policy's class, in `RISING`.

    Raises:
        ValueError: As of `Declared.check` and `require_ascending`.
    """
    for one in parameters(type(policy)):
        one.check(getattr(policy, one.name))
    require_ascending(**{name: getattr(policy, name) for name in rising(type(policy))})


def rising(policy: type[object]) -> tuple[str, ...]:
    """The parameters whose values have to rise in this order."""
    return getattr(policy, "RISING", ())


def plain(policy: Any) -> dict[str, Any]:  # noqa: ANN401 - any policy
    """All fields as plain data that JSON can hold; an infinite value is None."""
    given = {field.name: getattr(policy, field.name) for field in fields(policy)}
    for one in parameters(type(policy)):
        if one.kind is float:
            value = given[one.name]
            given[one.name] = None if isinf(value) else float(value)
    return given
