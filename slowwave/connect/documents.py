"""A client's file as a text: what is in it, and that text with an entry or without it. All of it is pure."""

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
    """The file is JSON with comments, which are not to be lost: only a person can change it."""


def read(text: str, form: str, where: str) -> dict[str, Any]:
    """What a text says.

    Args:
        text: of a configuration file; white space alone says nothing.
        form: json or toml.
        where: the file, for errors.

    Raises:
        CommentsError: it is JSON with comments or trailing commas.
        SlowwaveError: it cannot be read; says where the fault is.
    """
    if not text.strip():
        return {}
    found = _toml(text, where) if form == "toml" else _json(text, where)
    if not isinstance(found, dict):
        raise SlowwaveError(f"{where} is not a settings file: it is {type(found).__name__}, not an object.")
    return found


def loosely(text: str | None, form: str, where: str) -> dict[str, Any]:
    """The same of a whole file; comments and trailing commas are passed over. To look, not to change."""
    bare = (text or "").removeprefix(BOM)
    return read(bare if form == "toml" else json_text.without_comments(bare), form, where)


def servers_in(document: Mapping[str, Any], client: Client) -> dict[str, Any]:
    """The servers that a document has."""
    servers = document.get(client.servers, {})
    return dict(servers) if isinstance(servers, Mapping) else {}


def connections(document: Mapping[str, Any], client: Client) -> dict[str, HomeConnection]:
    """Those of its servers that are of the form that Slowwave writes, by name."""
    found = {name: connection_in(entry) for name, entry in servers_in(document, client).items()}
    return {name: connection for name, connection in found.items() if connection is not None}


def connected(
    text: str | None, client: Client, name: str, launch: Sequence[str], connection: HomeConnection, where: str
) -> str:
    """The text with an entry of that name; the same text if it has it already.

    Args:
        text: of the file; None if there is none.
        client: whose it is.
        name: of the server in it.
        launch: words that start `slowwave`.
        connection: which memory it opens.
        where: the file, for errors.

    Raises:
        CommentsError: the file has comments that would be lost; the message says what to add by hand.
        SlowwaveError: it cannot be read, or has an entry of that name that Slowwave did not write.
    """
    entry = entry_of(client, launch, connection)
    given = (text or "").removeprefix(BOM)
    try:
        document = read(given, client.form, where)
    except CommentsError as error:
        if connections(loosely(given, client.form, where), client).get(name) == connection:
            return text or ""
        raise CommentsError(f"{error}\n{by_hand(client, name, entry)}") from None
    there = _ours(document, client, name, where)
    if there is not None and there | entry == there:
        return text or ""
    wanted = {**(there or {}), **entry}
    try:
        made = _put(given, client, name, wanted, blank=text is not None)
    except json_text.PathError as error:
        raise SlowwaveError(f"{where} cannot be changed: {error}.") from None
    _require(made, document, client, name, wanted, where)
    return (BOM if (text or "").startswith(BOM) else "") + made


def disconnected(text: str, client: Client, name: str, where: str) -> str | None:
    """The text without the entry of that name; the same text if it has none.

    Returns:
        The text; None if `connected` made the file and nothing else has come into it.

    Raises:
        CommentsError: the file has comments that would be lost, and such an entry.
        SlowwaveError: it cannot be read, or the entry is not one that Slowwave wrote.
    """
    given = text.removeprefix(BOM)
    try:
        document = read(given, client.form, where)
    except CommentsError as error:
        if name not in servers_in(loosely(given, client.form, where), client):
            return text
        raise CommentsError(f"{error} Take out {client.servers}.{name} by hand.") from None
    there = _ours(document, client, name, where)
    if there is None:
        return text
    if client.form == "toml":
        left = toml_text.taken_out(given, client.servers, name, there)
    else:
        left = json_text.taken_out(given, (client.servers, name))
    return remainder(text, left)


def remainder(text: str, left: str) -> str | None:
    """What is left of a file: None if nothing is, and it was made for what was taken out.

    Args:
        text: of the file.
        left: of it, without a mark of the byte order.
    """
    # What is made where no file was begins at once and ends with a line break; in a file that was there and
    # blank it ends as that did.
    if not left.strip() and not text[:1].isspace() and text.endswith("\n"):
        return None
    return (BOM if text.startswith(BOM) else "") + left


def by_hand(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """What a person adds to a file that Slowwave does not change."""
    shown = json.dumps({client.servers: {name: entry}}, indent=2, ensure_ascii=False)
    return f"Add this by hand:\n{shown}"


def _put(text: str, client: Client, name: str, entry: Mapping[str, Any], *, blank: bool) -> str:
    if client.form == "json":
        return json_text.put(text, (client.servers, name), entry, blank=blank)
    return toml_text.put(text, client.servers, name, entry, blank=blank)


def _ours(document: Mapping[str, Any], client: Client, name: str, where: str) -> dict[str, Any] | None:
    """The entry of that name, if there is one.

    Raises:
        SlowwaveError: it is not one that Slowwave wrote.
    """
    servers = servers_in(document, client)
    if name not in servers:
        return None
    if connection_in(servers[name]) is None:
        raise SlowwaveError(
            f"{where} has an entry {client.servers}.{name} that Slowwave did not write, and it stays as it "
            f"is. Give another name with --name, or take that entry out by hand."
        )
    return dict(servers[name])


def _require(
    made: str, before: Mapping[str, Any], client: Client, name: str, entry: Mapping[str, Any], where: str
) -> None:
    """See that the text that was made says what the one before said, and the entry; for every odd file."""
    wanted = {**before, client.servers: {**servers_in(before, client), name: dict(entry)}}
    try:
        found = read(made, client.form, where)
    except SlowwaveError:
        found = {}
    if found != wanted:
        raise SlowwaveError(
            f"{where} is written in a way that Slowwave cannot add to. Nothing was changed.\n"
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
                f"Nothing was changed; mend it first."
            ) from None
        raise CommentsError(
            f"{where} is JSON with comments or trailing commas, which would be lost. Nothing was changed."
        ) from None
    except RecursionError:
        raise SlowwaveError(f"{where} is nested too deeply to be read. Nothing was changed.") from None


def _toml(text: str, where: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SlowwaveError(
            f"{where} is not valid TOML: {error}. Nothing was changed; mend it first."
        ) from None
