"""Changing one table of a TOML text; comments and the order of everything else stay.

A new table is appended as text, and cut out again if it stands there as it was written: a writer of TOML
would move the blank lines around it. What people have changed in it since is left to tomlkit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def put(text: str, servers: str, name: str, entry: Mapping[str, Any], *, blank: bool) -> str:
    """The text with a table ``[servers.name]``: a new one at its end, or new values in the one that is there.

    Args:
        text: TOML.
        servers: the table of tables.
        name: of the table.
        entry: its values.
        blank: The file is there, and nothing is in it: it ends as it did.
    """
    import tomlkit

    document = tomlkit.parse(text)
    there = document.get(servers, {})
    if name in there:
        for key, value in entry.items():
            if there[name].get(key) != value:
                there[name][key] = value
        return tomlkit.dumps(document)
    block = _block(servers, name, entry)
    if not text:
        return block.removesuffix("\n") if blank else block
    # Where the last line has no end, what follows has none either: so it can be taken out without a trace.
    if text.endswith("\n"):
        return f"{text}\n{block}"
    return f"{text}\n\n{block.removesuffix(chr(10))}"


def taken_out(text: str, servers: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text without the table.

    Args:
        text: TOML that has it.
        servers: the table of tables.
        name: of the table.
        entry: its values as they are there.
    """
    import tomlkit

    block = _block(servers, name, entry)
    without = _cut(text, block)
    if without is not None and _is_without(without, text, servers, name):
        return without
    document = tomlkit.parse(text)
    there = document[servers]
    del there[name]
    if not there:
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
    """The text without a block as `put` wrote it; None if it does not stand there so."""
    if text == block or text == block.removesuffix("\n"):
        return ""
    if f"\n{block}" in text:
        before, _, after = text.rpartition(f"\n{block}")
        return before + after
    last = f"\n\n{block.removesuffix(chr(10))}"
    return text.removesuffix(last) if text.endswith(last) else None


def _is_without(after: str, before: str, servers: str, name: str) -> bool:
    """Whether the one text says all that the other one says, but for the table."""
    import tomllib

    try:
        left = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    wanted = tomllib.loads(before)
    del wanted[servers][name]
    if not wanted[servers] and servers not in left:
        del wanted[servers]
    return left == wanted
