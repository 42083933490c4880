"""Id resolution: a full id, a unique prefix, or `last` for the last search."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, Literal

from slowwave.errors import ArgumentError, NotFoundError
from slowwave.store import quote

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant

Kind = Literal["search", "memory", "decision", "quarantine"]

LAST: Final = "last"
"""Alias of the user's last search in this namespace."""
MIN_PREFIX: Final = 4
"""Minimum length of a prefix (characters)."""
SHOWN_PREFIX: Final = 8
"""Length of a shown id if its prefix is unique (characters)."""

_MANY: Final = {
    "search": "searches", "memory": "memories", "decision": "decisions", "quarantine": "notes in quarantine",
}  # fmt: skip
_COLUMNS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "memory": ("memory_id", ("memories", "quarantine")),
    "decision": ("decision_id", ("decisions",)),
    "quarantine": ("memory_id", ("quarantine",)),
}
_MAX_LISTED: Final = 10  # ids in an error message (count)


def resolve_id(tenant: Tenant, kind: Kind, text: str) -> str:
    """Return the full id that `text` means.

    Args:
        kind: Kind of id; of a note in quarantine the id of its memory is accepted too.
        text: A full id, a prefix of `MIN_PREFIX` or more characters, or for a search ``last``.

    Returns:
        The id; `text` unchanged if no id begins so, and the later read reports that it is missing.

    Raises:
        ArgumentError: Several ids begin so; the message lists them.
        NotFoundError: ``last``, and this user has made no search.
    """
    if kind == "search" and text == LAST:
        return last_search(tenant)
    return _only_match(text, {kind: prefix_of(tenant, kind, text)})[1] or text


def resolve_either(tenant: Tenant, kinds: Collection[Kind], text: str) -> tuple[Kind | None, str]:
    """Return kind and full id that `text` means among several kinds; None if nothing matches.

    Raises:
        ArgumentError: Several ids begin so; the message lists them.
        NotFoundError: ``last``, and this user has made no search.
    """
    if "search" in kinds and text == LAST:
        return "search", last_search(tenant)
    kind, match = _only_match(text, {name: prefix_of(tenant, name, text) for name in kinds})
    return kind, match or text


def last_search(tenant: Tenant) -> str:
    """Return the id of the user's last search in this namespace.

    Raises:
        NotFoundError: There is none.
    """
    search_id = tenant.journal.last("search", tenant.namespace, tenant.principal)
    if search_id is None:
        raise NotFoundError(
            f"There is no last search: the journal has none by {tenant.principal} in namespace "
            f'{tenant.namespace!r}. Run `slowwave search "…"` first.'
        )
    return search_id


def prefix_of(tenant: Tenant, kind: Kind, text: str) -> list[str]:
    """Return the sorted ids of a kind that begin with `text`; empty below `MIN_PREFIX` characters."""
    if len(text) < MIN_PREFIX or not text.isprintable():
        return []
    if kind == "search":
        return tenant.journal.named("search", tenant.namespace, text, most=_MAX_LISTED)
    column, tables = _COLUMNS[kind]
    if kind == "quarantine" and ":" in text:
        column = "quarantine_id"
    where = tenant.mine(f"starts_with({column}, {quote(text)})")
    return sorted(set().union(*(tenant.store.read(name, where, columns=[column])[column] for name in tables)))


def _only_match(text: str, matches: Mapping[Kind, list[str]]) -> tuple[Kind | None, str]:
    """Return the only match of a prefix, or the exact id among several matches."""
    for kind, ids in matches.items():
        if text in ids:
            return kind, text
    every = [(kind, match) for kind, ids in matches.items() for match in ids]
    if len(every) > 1:
        what = " and ".join(_MANY[kind] for kind, ids in matches.items() if ids)
        more = ", …" if len(every) > _MAX_LISTED else ""
        listed = ", ".join(match for _, match in every[:_MAX_LISTED]) + more
        raise ArgumentError(f"{text!r} begins the ids of several {what}: {listed}. Give more characters.")
    return every[0] if every else (None, "")


def shorten(ids: Collection[str], every: Collection[str]) -> dict[str, str]:
    """Return each id as its shortest prefix (`SHOWN_PREFIX` or more characters) that is unique.

    Args:
        every: Every id of that kind.
    """
    whole = set(every) | set(ids)
    length = SHOWN_PREFIX
    while len({name[:length] for name in whole}) < len(whole):
        length += 1
    return {name: name[:length] for name in ids}


def short_ids(tenant: Tenant, kind: Kind, ids: Collection[str]) -> dict[str, str]:
    """Return each id as the prefix that is shown; commands accept it for the full id."""
    if kind == "search":
        return {name: name[: _unique_length(tenant, name)] for name in ids}
    column, tables = _COLUMNS[kind]
    where = tenant.mine("true")
    existing = [tenant.store.read(name, where, columns=[column])[column].to_list() for name in tables]
    return shorten(ids, [name for part in existing for name in part])


def _unique_length(tenant: Tenant, search_id: str) -> int:
    """Return the length of a search id's shortest prefix that is unique."""
    length = SHOWN_PREFIX
    while length < len(search_id):
        alike = tenant.journal.named("search", tenant.namespace, search_id[:length], most=2)
        if len(alike) < 2:
            break
        length += 1
    return length
