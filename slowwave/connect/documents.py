"""Text of a client's file: parse, add an entry, remove an entry. All functions are pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from slowwave.connect import json_text, toml_text
from slowwave.connect.clients import Client
from slowwave.connect.entries import HomeConnection, connection_in, entry_of
from slowwave.errors import SlowwaveError

BOM = "\ufeff"


class CommentsError(SlowwaveError):
    """JSON file with comments, which a rewrite would lose; only a person can edit it."""


def read(text: str, form: str, where: str) -> dict[str, Any]:
    """Parse a configuration file.

    Args:
        text: of the file; white space alone is an empty document.
        form: json or toml.
        where: the file, for errors.

    Raises:
        CommentsError: it is JSON with comments or trailing commas.
        SlowwaveError: it is invalid; the message has the position.
    """
    if not text.strip():
        return {}
    parsed = _toml(text, where) if form == "toml" else _json(text, where)
    if not isinstance(parsed, dict):
        raise SlowwaveError(f"{where} is not a settings file: it is {type(parsed).__name__}, not an object.")
    return parsed


def loosely(text: str | None, form: str, where: str) -> dict[str, Any]:
    """Parse a file for reading only: comments and trailing commas are ignored."""
    bare = (text or "").removeprefix(BOM)
    return read(bare if form == "toml" else json_text.without_comments(bare), form, where)


def servers_in(document: Mapping[str, Any], client: Client) -> dict[str, Any]:
    """Return the servers of a document."""
    servers = document.get(client.servers, {})
    return dict(servers) if isinstance(servers, Mapping) else {}


def connections(document: Mapping[str, Any], client: Client) -> dict[str, HomeConnection]:
    """Return its servers in the form that Slowwave writes, by name."""
    parsed = {name: connection_in(entry) for name, entry in servers_in(document, client).items()}
    return {name: connection for name, connection in parsed.items() if connection is not None}


def connected(
    text: str | None, client: Client, name: str, launch: Sequence[str], connection: HomeConnection, where: str
) -> str:
    """Return the text with an entry of that name; unchanged if it has it already.

    Args:
        text: of the file; None if there is none.
        client: of the file.
        name: of the server in it.
        launch: command that starts `slowwave`.
        connection: home, namespace and principal.
        where: the file, for errors.

    Raises:
        CommentsError: the file has comments that would be lost; the message has the entry to add by hand.
        SlowwaveError: it is invalid, or has an entry of that name that Slowwave did not write.
    """
    entry = entry_of(client, launch, connection)
    content = (text or "").removeprefix(BOM)
    try:
        document = read(content, client.form, where)
    except CommentsError as error:
        if connections(loosely(content, client.form, where), client).get(name) == connection:
            return text or ""
        raise CommentsError(f"{error}\n{by_hand(client, name, entry)}") from None
    existing = _ours(document, client, name, where)
    if existing is not None and existing | entry == existing:
        return text or ""
    wanted = {**(existing or {}), **entry}
    try:
        new_text = _put(content, client, name, wanted, blank=text is not None)
    except json_text.PathError as error:
        raise SlowwaveError(f"Cannot change {where}: {error}.") from None
    _require(new_text, document, client, name, wanted, where)
    return (BOM if (text or "").startswith(BOM) else "") + new_text


def disconnected(text: str, client: Client, name: str, where: str) -> str | None:
    """Return the text without the entry of that name; unchanged if it has none.

    Returns:
        The text; None if `connected` created the file and it has nothing else.

    Raises:
        CommentsError: the file has comments that would be lost, and such an entry.
        SlowwaveError: it is invalid, or Slowwave did not write the entry.
    """
    content = text.removeprefix(BOM)
    try:
        document = read(content, client.form, where)
    except CommentsError as error:
        if name not in servers_in(loosely(content, client.form, where), client):
            return text
        raise CommentsError(f"{error} Remove {client.servers}.{name} by hand.") from None
    existing = _ours(document, client, name, where)
    if existing is None:
        return text
    if client.form == "toml":
        rest = toml_text.taken_out(content, client.servers, name, existing)
    else:
        rest = json_text.taken_out(content, (client.servers, name))
    return remainder(text, rest)


def remainder(text: str, left: str) -> str | None:
    """Return the rest of a file; None if it is empty and the file was created for the entry.

    Args:
        text: of the file.
        left: the rest, without byte order mark.
    """
    # A created file begins without white space and ends with a line break. A file that existed and was blank
    # keeps its ending.
    if not left.strip() and not text[:1].isspace() and text.endswith("\n"):
        return None
    return (BOM if text.startswith(BOM) else "") + left


def by_hand(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """Return the instruction to add an entry by hand."""
    shown = json.dumps({client.servers: {name: entry}}, indent=2, ensure_ascii=False)
    return f"Add this by hand:\n{shown}"


def _put(text: str, client: Client, name: str, entry: Mapping[str, Any], *, blank: bool) -> str:
    if client.form == "json":
        return json_text.put(text, (client.servers, name), entry, blank=blank)
    return toml_text.put(text, client.servers, name, entry, blank=blank)


def _ours(document: Mapping[str, Any], client: Client, name: str, where: str) -> dict[str, Any] | None:
    """Return the existing entry of that name, or None.

    Raises:
        SlowwaveError: Slowwave did not write it.
    """
    servers = servers_in(document, client)
    if name not in servers:
        return None
    if connection_in(servers[name]) is None:
        raise SlowwaveError(
            f"{where} has an entry {client.servers}.{name} that Slowwave did not write. It was not "
            f"changed. Give another name with --name, or remove that entry by hand."
        )
    return dict(servers[name])


def _require(
    new_text: str, before: Mapping[str, Any], client: Client, name: str, entry: Mapping[str, Any], where: str
) -> None:
    """Verify that the new text equals the old document plus the entry, for unusual files."""
    wanted = {**before, client.servers: {**servers_in(before, client), name: dict(entry)}}
    try:
        parsed = read(new_text, client.form, where)
    except SlowwaveError:
        parsed = {}
    if parsed != wanted:
        raise SlowwaveError(
            f"Slowwave cannot add to the format of {where}. Nothing was changed.\n"
            f"{by_hand(client, name, entry)}"
        )


def _json(text: str, where: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        try:
            json.loads(json_text.without_comments(text))
        except ValueError:
            raise SlowwaveError(
                f"{where} is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}. "
                f"Nothing was changed. Fix it first."
            ) from None
        raise CommentsError(
            f"{where} is JSON with comments or trailing commas, which would be lost. Nothing was changed."
        ) from None
    except RecursionError:
        raise SlowwaveError(f"{where} is nested too deeply. Nothing was changed.") from None


def _toml(text: str, where: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SlowwaveError(
            f"{where} is not valid TOML: {error}. Nothing was changed. Fix it first."
        ) from None
