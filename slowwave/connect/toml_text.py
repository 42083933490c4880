"""Edits of one table of a TOML text; comments and order stay.

A new table is appended as text, and removed as text if it is unchanged: a TOML writer would move the blank
lines around it. A table that was edited since is changed with tomlkit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def put(text: str, servers: str, name: str, entry: Mapping[str, Any], *, blank: bool) -> str:
    """Return the text with a table ``[servers.name]``: new at the end, or with new values.

    Args:
        text: TOML.
        servers: the table of tables.
        name: of the table.
        entry: its values.
        blank: the file exists and is empty: its ending stays.
    """
    import tomlkit

    document = tomlkit.parse(text)
    tables = document.get(servers, {})
    if name in tables:
        for key, value in entry.items():
            if tables[name].get(key) != value:
                tables[name][key] = value
        return tomlkit.dumps(document)
    block = _block(servers, name, entry)
    if not text:
        return block.removesuffix("\n") if blank else block
    # A last line without a line break stays so, so that removal restores the exact text.
    if text.endswith("\n"):
        return f"{text}\n{block}"
    return f"{text}\n\n{block.removesuffix(chr(10))}"


def taken_out(text: str, servers: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text without the table.

    Args:
        text: TOML that has it.
        servers: the table of tables.
        name: of the table.
        entry: its current values.
    """
    import tomlkit

    block = _block(servers, name, entry)
    without = _cut(text, block)
    if without is not None and _is_without(without, text, servers, name):
        return without
    document = tomlkit.parse(text)
    tables = document[servers]
    del tables[name]
    if not tables:
        del document[servers]
    return tomlkit.dumps(document)


def _block(servers: str, name: str, entry: Mapping[str, Any]) -> str:
    import tomlkit

    table = tomlkit.table()
    table.update(entry)
    document = tomlkit.document()
    document[servers] = tomlkit.table(is_super_table=True)
    document[servers][name] = table
    return tomlkit.dumps(document)


def _cut(text: str, block: str) -> str | None:
    """Remove a block as `put` wrote it; None if it is not in the text in this form."""
    if text == block or text == block.removesuffix("\n"):
        return ""
    if f"\n{block}" in text:
        before, _, after = text.rpartition(f"\n{block}")
        return before + after
    last = f"\n\n{block.removesuffix(chr(10))}"
    return text.removesuffix(last) if text.endswith(last) else None


def _is_without(after: str, before: str, servers: str, name: str) -> bool:
    """Whether a text equals the other one without the table."""
    import tomllib

    try:
        parsed = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    wanted = tomllib.loads(before)
    del wanted[servers][name]
    if not wanted[servers] and servers not in parsed:
        del wanted[servers]
    return parsed == wanted
