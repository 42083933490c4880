"""Which memories a search may show; the namespace is never left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime

from quality.admission import LIVE, SUPERSEDED
from slowwave.arguments import moment
from slowwave.errors import SlowwaveError
from slowwave.store import one_of, quote
from slowwave.tiers import tier_filter
from slowwave.visibility import open_where


@dataclass(frozen=True, slots=True)
class Filters:
    """What a result has to be; what is empty does not matter.

    Attributes:
        memory_type: one of these types.
        tier: one of these importance tiers.
        tags: has one of these tags.
        sensitivity: one of these; without it everything but ``secret``.
        source: begins with this (a vault's folder, a key).
        since: created at this moment or later.
        until: created before this moment.
        superseded: also what a newer memory has superseded.
    """

    memory_type: tuple[str, ...] = ()
    tier: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sensitivity: tuple[str, ...] = ()
    source: str = ""
    since: datetime | None = None
    until: datetime | None = None
    superseded: bool = False

    @classmethod
    def of(cls, **given: object) -> Filters:
        """Filters from the arguments of a search: one text stands for a list of one.

        Raises:
            SlowwaveError: a value has the wrong type.
        """
        values = {name: _checked(name, value) for name, value in given.items()}
        return cls(**values)  # type: ignore[arg-type]

    @property
    def statuses(self) -> list[str]:
        """Which memories are looked at."""
        return [LIVE, SUPERSEDED] if self.superseded else [LIVE]

    def where(self, namespace: str, promoted: Mapping[str, str] | None = None) -> str:
        """The condition on ``chunks`` (or ``memories``).

        Args:
            namespace: the tenant.
            promoted: memories of it that use has promoted, with their tier.
        """
        parts = [f"namespace = {quote(namespace)}"]
        parts.append(one_of("status", self.statuses) if self.superseded else f"status = {quote(LIVE)}")
        if self.memory_type:
            parts.append(one_of("memory_type", self.memory_type))
        if self.tier:
            parts.append(tier_filter(self.tier, promoted or {}))
        if self.sensitivity:
            parts.append(one_of("sensitivity", self.sensitivity))
        else:
            parts.append(open_where())
        if self.tags:
            parts.append(f"array_has_any(tags, [{', '.join(map(quote, self.tags))}])")
        if self.source:
            parts.append(f"starts_with(source, {quote(self.source)})")
        for sign, bound in ((">=", self.since), ("<", self.until)):
            if bound is not None:
                at = bound.astimezone(UTC).isoformat(timespec="microseconds")
                parts.append(f"created_at {sign} CAST({quote(at)} AS TIMESTAMP)")
        return " AND ".join(parts)


_LISTS = frozenset({"memory_type", "tier", "tags", "sensitivity"})
_KNOWN = frozenset(part.name for part in fields(Filters))


def _checked(name: str, value: object) -> object:
    if name in _LISTS:
        texts = (value,) if isinstance(value, str) else value
        if not isinstance(texts, list | tuple | set | frozenset) or not all(
            isinstance(one, str) and "\0" not in one for one in texts
        ):
            raise SlowwaveError(f"{name} = {value!r}: give a text or a list of texts.")
        return tuple(one.strip().lower() if name != "tags" else one for one in texts if one)
    if name in ("since", "until") and value is not None:
        return moment(name, value)
    if name == "source" and (not isinstance(value, str) or "\0" in value):
        raise SlowwaveError(f"source = {value!r}: give the text that sources begin with.")
    return value
