"""Settings derived from declared policy parameters (`slowwave.scoring.parameters`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import Field, create_model, model_validator

from slowwave.scoring.parameters import Declared, parameters, rising
from slowwave.scoring.validation import require_ascending
from slowwave.settings.groups import Group


class PolicyGroup(Group, defer_build=True):
    """Group of settings that `with_parameters` completes; only the complete one is built."""


G = TypeVar("G", bound=PolicyGroup)


def with_parameters(*policies: type[object], unset: bool = False) -> Callable[[type[G]], type[G]]:
    """Add a setting for each parameter of these policies that is not fixed.

    Range, default and meaning are those of the declaration. Settings that the group declares itself stay.

    Args:
        policies: Classes that declare parameters.
        unset: Make None the default: then another place has the value.
    """

    def made(group: type[G]) -> type[G]:
        own: dict[str, Any] = {
            declared.name: _field(declared, unset=unset)
            for policy in policies
            for declared in parameters(policy)
            if not declared.spec.fixed and declared.name not in group.model_fields
        }

        order = [names for policy in policies if (names := [name for name in rising(policy) if name in own])]

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


def _after(check: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - of pydantic
    return model_validator(mode="after")(check)


def _field(declared: Declared, *, unset: bool) -> tuple[Any, Any]:
    """Return type and field of a setting, for `create_model`."""
    low, high = declared.spec.min, declared.spec.max
    bounds = {
        "ge": low if low > -float("inf") and declared.spec.above is None else None,
        "gt": declared.spec.above,
        "le": high if high < float("inf") and declared.spec.below is None else None,
        "lt": declared.spec.below,
    }
    keywords: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    if unset:
        description = f"{declared.description}; unset: {declared.shown_default}"
        return declared.kind | None, Field(None, description=description, **keywords)
    return declared.kind, Field(declared.default, description=declared.description, **keywords)


def given(group: Group, policy: type[object]) -> dict[str, Any]:
    """Return the parameters of a policy that a group of settings sets."""
    names = {declared.name for declared in parameters(policy)}
    return group.model_dump(include=names, exclude_none=True)
