"""Lenient reader of JSON-RPC messages: each request gets an answer, also a broken one or a batch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from slowwave.common.arguments import shown
from slowwave.common.json_repair import Damaged, Parsed, parse, records

MAX_BATCH: Final = 100
"""Maximum messages of a batch (count)."""
_ARGUMENTS: Final = ("args", "input", "parameters", "kwargs")

Message = dict[str, Any]


class _InvalidMessageError(Exception):
    """Value that is no message, with the code of its answer."""

    def __init__(self, why: str, code: int = INVALID_REQUEST) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True, slots=True)
class Incoming:
    """Messages of a client, and the answers to what is no message.

    Attributes:
        messages: valid ones, in order.
        errors: answers to the others.
        batch: whether all answers belong into one array.
    """

    messages: tuple[Message, ...] = ()
    errors: tuple[Message, ...] = ()
    batch: bool = False

    @property
    def requests(self) -> list[Message]:
        """Messages that get an answer."""
        return [message for message in self.messages if "id" in message and "method" in message]


def read_messages(data: bytes | str) -> Incoming:
    """Read a line or a body: one message, several in a row, or a batch."""
    read = list(records(data)) or [Damaged("it is empty")]
    errors = [
        error_answer(None, PARSE_ERROR, f"This is not JSON: {part.why}. Nothing was done.")
        for part in read
        if isinstance(part, Damaged)
    ]
    values = [part.value for part in read if isinstance(part, Parsed)]
    batch = len(read) == 1 and bool(values) and isinstance(values[0], list)
    if batch:
        values = values[0]
        if not 0 < len(values) <= MAX_BATCH:
            why = f"A batch has 1 to {MAX_BATCH} messages, not {len(values):,}. Nothing was done."
            return Incoming(errors=(error_answer(None, INVALID_REQUEST, why),))
    messages = []
    for value in values:
        try:
            messages.append(_message(value))
        except _InvalidMessageError as error:
            errors.append(error_answer(_id_of(value), error.code, f"{error} Nothing was done."))
    return Incoming(tuple(messages), tuple(errors), batch)


def error_answer(request_id: int | str | None, code: int, why: str) -> Message:
    """Return the answer to a message that cannot be processed."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": why}}


def _message(value: object) -> Message:
    """Return the message that is meant.

    Raises:
        _InvalidMessageError: there is none.
    """
    if not isinstance(value, dict):
        raise _InvalidMessageError(f"{shown(value)} is no JSON-RPC message: send an object.")
    message = {"jsonrpc": "2.0", **value}
    if "id" in message and "method" in message and _id_of(value) is None:
        raise _InvalidMessageError(f"id = {shown(value['id'])}: give a text or a whole number.")
    if "id" in message:
        message["id"] = _id_of(value)
    if message.get("params") == []:
        del message["params"]
    if message.get("method") == "tools/call" and isinstance(message.get("params"), dict):
        message["params"] = _call(message["params"])
    try:
        jsonrpc_message_adapter.validate_json(json.dumps(message), by_name=False)  # as the SDK will
    except RecursionError:
        raise _InvalidMessageError("The message is nested too deeply.") from None
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise _InvalidMessageError("The message is nested too deeply.") from None
        where = ".".join(str(part) for part in first["loc"][1:]) or "message"
        raise _InvalidMessageError(f"{where} = {shown(first['input'])}: {first['msg']}.") from None
    return message


def _call(params: Message) -> Message:
    """Return the parameters of a call, with its arguments as an object.

    Raises:
        _InvalidMessageError: they are none.
    """
    other = next((name for name in _ARGUMENTS if name in params), "")
    if "arguments" not in params and other:
        params = {name: value for name, value in params.items() if name != other} | {
            "arguments": params[other]
        }
    given = params.get("arguments")
    if isinstance(given, str) and given.strip():
        try:
            given = parse(given).value
        except ValueError as error:
            why = f"arguments = {shown(given)}: give an object. As JSON text: {error}."
            raise _InvalidMessageError(why, INVALID_PARAMS) from None
    given = {} if given in (None, "", []) else given
    if not isinstance(given, dict):
        raise _InvalidMessageError(f"arguments = {shown(given)}: give an object.", INVALID_PARAMS)
    return {**params, "arguments": given}


def _id_of(value: object) -> int | str | None:
    """Return the id of a message; None if it has none that an answer can name."""
    given = value.get("id") if isinstance(value, dict) else None
    if isinstance(given, float) and given.is_integer():
        return int(given)
    return given if isinstance(given, int | str) and not isinstance(given, bool) else None
