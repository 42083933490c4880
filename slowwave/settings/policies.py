"""Settings made from the parameters that policies declare (`slowwave.scoring.parameters`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import Field, create_model, model_validator

from slowwave.scoring.parameters import Declared, parameters, rising
from slowwave.scoring.validation import require_ascending
from slowwave.settings.groups import Group


class PolicyGroup(Group, defer_build=True):
    """A group of settings that `with_parameters` completes; only the whole one is worth building."""


G = TypeVar("G", bound=PolicyGroup)


def with_parameters(*policies: type[object], unset: bool = False) -> Callable[[type[G]], type[G]]:
    """A group of settings with one for each parameter of these policies that is not fixed.

    Range, default and meaning are those of the declaration. What the group declares itself stays.

    Args:
        policies: Classes that declare parameters.
        unset: Whether a setting is None by default: then another place has the value.
    """

    def made(group: type[G]) -> type[G]:
        own: dict[str, Any] = {
            one.name: _field(one, unset=unset)
            for policy in policies
            for one in parameters(policy)
            if not one.spec.fixed and one.name not in group.model_fields
        }

        order = [names for policy in policies if (names := [one for one in rising(policy) if one in own])]

        def ordered(self: G) -> G:
            for names in order:
                require_ascending(**{name: getattr(self, name) for name in names})
            return self

        return create_model(
            group.__name__, __base__=group, __doc__=group.__doc__, __module__=group.__module__,
            __validators__={"_ordered": _after(ordered)} if order else None,
            __cls_kwargs__={"defer_build": False}, **own,
        )  # fmt: skip

    return made


def _after(check: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - what pydantic makes of it
    return model_validator(mode="after")(check)


def _field(one: Declared, *, unset: bool) -> tuple[Any, Any]:
    """Type and field of a setting, as `create_model` wants them."""
    low, high = one.spec.min, one.spec.max
    bounds = {
        "ge": low if low > -float("inf") and one.spec.above is None else None,
        "gt": one.spec.above,
        "le": high if high < float("inf") and one.spec.below is None else None,
        "lt": one.spec.below,
    }
    given: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    if unset:
        told = f"{one.description}; unset: {one.shown_default}"
        return one.kind | None, Field(None, description=told, **given)
    return one.kind, Field(one.default, description=one.description, **given)


def given(group: Group, policy: type[object]) -> dict[str, Any]:
    """The parameters of a policy that a group of settings has, without those that are unset."""
    names = {one.name for one in parameters(policy)}
    return group.model_dump(include=names, exclude_none=True)
