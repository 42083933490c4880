"""Links between notes: by title, file name or alias."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from slowwave.quality.admission.statuses import LIVE
from slowwave.store import one_of, quote

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant

MAX_TARGETS: Final = 50  # links of one note that are followed (count)
_NAMES: Final = ["memory_id", "title", "source", "aliases"]


def link_targets(tenant: Tenant, targets: Sequence[str]) -> dict[str, str]:
    """Return the memory of each link target that has one.

    A file name comes before a title, and a title before an alias; of equal ones the first source counts.

    Args:
        tenant: Namespace of the note.
        targets: As the note has them: a title, or a path with or without ``.md``.
    """
    wanted = {target: _file_name(target) for target in dict.fromkeys(targets[:MAX_TARGETS])}
    if not wanted:
        return {}
    titles = one_of("lower(title)", [target.casefold() for target in wanted])
    files = " OR ".join(
        f"lower(source) = {quote(name)} OR ends_with(lower(source), {quote('/' + name)})"
        for name in wanted.values()
    )
    aliases = " OR ".join(f"array_has(aliases, {quote(target)})" for target in wanted)
    rows = _live(tenant, f"{titles} OR {files} OR {aliases}", _NAMES).sort("source", "memory_id")
    found: dict[str, str] = {}
    for target, name in wanted.items():
        ranked = [
            (place, memory_id)
            for memory_id, title, source, known_as in rows.iter_rows()
            if (place := _place(target, name, title or "", source or "", known_as or ())) is not None
        ]
        if ranked:
            found[target] = min(ranked, key=lambda row: row[0])[1]
    return found


def linked_from(tenant: Tenant, title: str, source: str) -> list[str]:
    """Return the live memories whose text links to a note, sorted by id.

    Args:
        tenant: Namespace of the note.
        title: Its title; empty if it was not given one.
        source: Its source, whose file name counts.
    """
    path = PurePosixPath(source)
    names = {name for name in (title, path.name, path.stem) if name}
    where = " OR ".join(f"array_has(links, {quote(name)})" for name in sorted(names))
    return sorted(_live(tenant, where, ["memory_id"])["memory_id"].to_list()) if names else []


def _live(tenant: Tenant, where: str, columns: list[str]) -> pl.DataFrame:
    return tenant.store.read(
        "memories", tenant.mine(f"status = {quote(LIVE)} AND ({where})"), columns=columns
    )


def _file_name(target: str) -> str:
    name = target.casefold().lstrip("./")
    return name if name.endswith(".md") else f"{name}.md"


def _place(target: str, name: str, title: str, source: str, aliases: Sequence[Any]) -> int | None:
    """Return how a memory fits a target: 0 by its file, 1 by its title, 2 by an alias, else None."""
    file = source.casefold()
    if file == name or file.endswith(f"/{name}"):
        return 0
    if title.casefold() == target.casefold():
        return 1
    return 2 if target in aliases else None
