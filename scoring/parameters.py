"""Parameters of policies, each declared once on its dataclass.

    title_weight: Annotated[float, Parameter("What a title adds", 0, 1, rule="3.1")] = 0.1

Checks, version, settings, reference and ablations of a policy derive from the declarations.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from math import inf, isinf
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from slowwave.scoring.validation import require_ascending


class Parameter(NamedTuple):
    """Declaration of a parameter, besides its type and default.

    Attributes:
        words: Meaning as shown in settings, without unit and default.
        min: Minimum.
        max: Maximum.
        above: Exclusive minimum.
        below: Exclusive maximum.
        unit: Unit of a value; empty if it has none, or `words` has it.
        rule: Number of its rule.
        before: Value in every policy logged before the parameter existed. A policy with this value keeps its
            previous version, and the value may be out of range. None: the parameter is as old as the journal.
        of_model: Whether the embedding model sets it.
        stage: Name of the stage that `off` switches off, for ablations; empty for none.
        off: Value that switches the stage off.
        fixed: Reason that it is no setting; empty for a setting.
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
    """Parameter of a policy with its declaration.

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
        """Return the meaning with unit and rule."""
        notes = ", ".join(filter(None, [self.spec.unit, self.spec.rule and f"rule {self.spec.rule}"]))
        return f"{self.spec.words} ({notes})" if notes else self.spec.words

    @property
    def shown_default(self) -> str:
        """Return the default as text."""
        if self.spec.of_model:
            return "the embedding model's own"
        if isinstance(self.default, bool):
            return str(self.default).lower()
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    def check(self, value: Any) -> None:  # noqa: ANN401 - whatever was given
        """Raise if a value is not allowed.

        Raises:
            ValueError: With the parameter, the value, and what is allowed.
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


_DECLARED: Final = dict[type, tuple[Declared, ...]]()  # by policy


def parameters(policy: type[object]) -> tuple[Declared, ...]:
    """Return the declared parameters of a policy, in the order of its fields."""
    if policy not in _DECLARED:
        assert is_dataclass(policy)
        hints = get_type_hints(policy, include_extras=True)
        _DECLARED[policy] = tuple(
            Declared(field.name, get_args(hints[field.name])[0], field.default, spec)
            for field in fields(policy)
            for spec in getattr(hints[field.name], "__metadata__", ())
            if isinstance(spec, Parameter)
        )
    return _DECLARED[policy]


def check(policy: Any) -> None:  # noqa: ANN401 - any policy
    """Raise if a value is not allowed, or thresholds are out of order.

    The policy's class lists ascending thresholds in `RISING`.

    Raises:
        ValueError: As of `Declared.check` and `require_ascending`.
    """
    for parameter in parameters(type(policy)):
        parameter.check(getattr(policy, parameter.name))
    require_ascending(**{name: getattr(policy, name) for name in rising(type(policy))})


def rising(policy: type[object]) -> tuple[str, ...]:
    """Return the parameters whose values have to ascend in this order."""
    return getattr(policy, "RISING", ())


def plain(policy: Any) -> dict[str, Any]:  # noqa: ANN401 - any policy
    """Return all fields as plain JSON data; an infinite value is None."""
    values = {field.name: getattr(policy, field.name) for field in fields(policy)}
    for parameter in parameters(type(policy)):
        if parameter.kind is float:
            value = values[parameter.name]
            values[parameter.name] = None if isinf(value) else float(value)
    return values
