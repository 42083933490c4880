"""What a person types for an id: all of it, a beginning that only one has, or `last` of a search."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, Literal

from slowwave.errors import ArgumentError, NotFoundError
from slowwave.store import quote

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant

Kind = Literal["search", "memory", "decision", "quarantine"]

LAST: Final = "last"
"""The last search of whoever asks, in this namespace."""
LEAST: Final = 4
"""Characters of a beginning that are enough (count)."""
SHORT: Final = 8
"""Characters that are shown of an id, if no other begins so (count)."""

_MANY: Final = {
    "search": "searches", "memory": "memories", "decision": "decisions", "quarantine": "notes in quarantine",
}  # fmt: skip
_COLUMNS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "memory": ("memory_id", ("memories", "quarantine")),
    "decision": ("decision_id", ("decisions",)),
    "quarantine": ("memory_id", ("quarantine",)),
}
_NAMED: Final = 10  # ids that an error lists (count)


def resolve_id(tenant: Tenant, kind: Kind, text: str) -> str:
    """The whole id that somebody means.

    Args:
        tenant: the namespace, and who asks.
        kind: of what it is the id; of what is in quarantine, the id of its memory does, too.
        text: an id, a beginning of `LEAST` characters or more, or of a search ``last``.

    Returns:
        The id; the text as it is where none begins so, and whoever looks for it says that it is not there.

    Raises:
        ArgumentError: several ids begin so; the message lists them.
        NotFoundError: ``last``, and there is no search of this principal.
    """
    if kind == "search" and text == LAST:
        return last_search(tenant)
    return _one(text, {kind: prefix_of(tenant, kind, text)})[1] or text


def resolve_either(tenant: Tenant, kinds: Collection[Kind], text: str) -> tuple[Kind | None, str]:
    """What somebody means who may mean several kinds: which it is, and its id; None where nothing begins so.

    Raises:
        ArgumentError: several ids begin so; the message lists them.
        NotFoundError: ``last``, and there is no search of this principal.
    """
    if "search" in kinds and text == LAST:
        return "search", last_search(tenant)
    kind, found = _one(text, {one: prefix_of(tenant, one, text) for one in kinds})
    return kind, found or text


def last_search(tenant: Tenant) -> str:
    """Id of the last search that this principal made in this namespace.

    Raises:
        NotFoundError: there is none.
    """
    found = tenant.journal.last("search", tenant.namespace, tenant.principal)
    if found is None:
        raise NotFoundError(
            f"There is no last search: the journal has none that {tenant.principal} made in namespace "
            f'{tenant.namespace!r}. `slowwave search "…"` makes one.'
        )
    return found


def prefix_of(tenant: Tenant, kind: Kind, text: str) -> list[str]:
    """Ids of a kind that begin so, sorted; none where the text is shorter than `LEAST` characters."""
    if len(text) < LEAST or not text.isprintable():
        return []
    if kind == "search":
        return tenant.journal.named("search", tenant.namespace, text, most=_NAMED)
    column, tables = _COLUMNS[kind]
    if kind == "quarantine" and ":" in text:
        column = "quarantine_id"
    where = tenant.mine(f"starts_with({column}, {quote(text)})")
    found = {one for name in tables for one in tenant.store.read(name, where, columns=[column])[column]}
    return sorted(found)


def _one(text: str, found: Mapping[Kind, list[str]]) -> tuple[Kind | None, str]:
    """The one that is meant, of those that begin so."""
    for kind, ids in found.items():
        if text in ids:
            return kind, text
    every = [(kind, one) for kind, ids in found.items() for one in ids]
    if len(every) > 1:
        what = " and ".join(_MANY[kind] for kind, ids in found.items() if ids)
        listed = ", ".join(one for _, one in every[:_NAMED]) + (", …" if len(every) > _NAMED else "")
        raise ArgumentError(f"{text!r} begins the ids of several {what}: {listed}. Give more of it.")
    return every[0] if every else (None, "")


def shorten(ids: Collection[str], known: Collection[str]) -> dict[str, str]:
    """Each id as its beginning of `SHORT` characters or more, so many that no two known ids begin alike.

    Args:
        ids: that are to be shown.
        known: every id of that kind.
    """
    whole = set(known) | set(ids)
    length = SHORT
    while len({one[:length] for one in whole}) < len(whole):
        length += 1
    return {one: one[:length] for one in ids}


def short_ids(tenant: Tenant, kind: Kind, ids: Collection[str]) -> dict[str, str]:
    """Each of these ids as it may be shown: commands take it for the whole one."""
    if kind == "search":
        return {one: one[: _unlike(tenant, one)] for one in ids}
    column, tables = _COLUMNS[kind]
    mine = tenant.mine("true")
    known = [tenant.store.read(name, mine, columns=[column])[column].to_list() for name in tables]
    return shorten(ids, [one for part in known for one in part])


def _unlike(tenant: Tenant, search_id: str) -> int:
    """Characters of the id of a search that no other one begins with."""
    length = SHORT
    while length < len(search_id):
        alike = tenant.journal.named("search", tenant.namespace, search_id[:length], most=2)
        if len(alike) < 2:
            break
        length += 1
    return length
