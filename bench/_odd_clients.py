"""Habits of MCP clients: ways to send a sensible call, and ways to send what is none."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

HALF = "\ud83d"  # of a surrogate pair
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
Arguments = dict[str, Any]


class Sent(NamedTuple):
    """Bytes of a client, and the ids of the answers that it waits for; None is an error without an id."""

    data: bytes
    ids: tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Sensible call of a tool.

    Attributes:
        number: Its id.
        tool: Its name.
        arguments: As the tool declares them.
        names: All arguments of the tool.
        random: Source of choices.
    """

    number: int
    tool: str
    arguments: Arguments
    names: tuple[str, ...]
    random: random.Random

    def message(self, arguments: object = None, **more: object) -> dict[str, Any]:
        """The JSON-RPC message of the call."""
        given = self.arguments if arguments is None else arguments
        params = {"name": self.tool, "arguments": given}
        return {"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params, **more}


# -- well meant: arguments -------------------------------------------------------------------------


def _numbers_as_texts(call: Call) -> Arguments:
    return {
        name: str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        for name, value in call.arguments.items()
    }


def _truths_as_texts(call: Call) -> Arguments:
    words = {True: call.random.choice(("true", "True", "1")), False: call.random.choice(("false", "no", "0"))}
    return {
        name: words[value] if isinstance(value, bool) else value for name, value in call.arguments.items()
    }


def _floats(call: Call) -> Arguments:
    return {name: float(value) if type(value) is int else value for name, value in call.arguments.items()}


def _joined(call: Call, join: Callable[[list[Any]], str]) -> Arguments:
    return {name: join(value) if isinstance(value, list) else value for name, value in call.arguments.items()}


def _camel(call: Call) -> Arguments:
    return {
        re.sub("_([a-z])", lambda part: part[1].upper(), name): value
        for name, value in call.arguments.items()
    }


def _half_emoji(call: Call) -> Arguments:
    texts = {"content", "query", "response", "title"}
    return {name: f"{value} {HALF}" if name in texts else value for name, value in call.arguments.items()}


def _extra(call: Call) -> Arguments:
    return {**call.arguments, "requestId": "r1", "sessionId": None, "toolCallId": "c", "explanation": "why"}


ARGUMENTS: Mapping[str, Callable[[Call], object]] = {
    "null for what is optional": lambda call: {**dict.fromkeys(call.names), **call.arguments},
    "empty text for what is optional": lambda call: {**dict.fromkeys(call.names, ""), **call.arguments},
    "numbers as texts": _numbers_as_texts,
    "numbers as floats": _floats,
    "booleans as texts": _truths_as_texts,
    "list as a text with commas": lambda call: _joined(call, lambda value: ", ".join(map(str, value))),
    "list as a JSON text": lambda call: _joined(call, json.dumps),
    "camelCase names": _camel,
    "unknown arguments": _extra,
    "arguments as a JSON text": lambda call: json.dumps(call.arguments),
    "arguments inside arguments": lambda call: {
        call.random.choice(("arguments", "args", "input", "params")): call.arguments
    },
    "half an emoji": _half_emoji,
}
"""Ways to send the arguments of a call."""


# -- well meant: messages --------------------------------------------------------------------------


def _sent(*messages: object, between: str = "\n") -> bytes:
    return between.join(json.dumps(message) for message in messages).encode()


def _batch(call: Call) -> Sent:
    other = f"b{call.number}"
    messages = [call.message(), NOTIFICATION, {"jsonrpc": "2.0", "id": other, "method": "ping"}]
    return Sent(_sent(messages), (call.number, other))


def _with_id(call: Call, given: object, answered: int | str) -> Sent:
    return Sent(_sent(call.message(id=given)), (answered,))


def _missing(call: Call) -> Sent:
    message = call.message()
    message["params"] = {"name": "memory_wakeup"}
    return Sent(_sent(message), (call.number,))


def _with_token(call: Call) -> Sent:
    message = call.message()
    message["params"]["_meta"] = {"progressToken": call.random.choice((call.number, "t", 0)), "vendor/x": {}}
    return Sent(_sent(message), (call.number,))


def _no_version(call: Call) -> Sent:
    message = {name: value for name, value in call.message().items() if name != "jsonrpc"}
    return Sent(_sent(message), (call.number,))


def _renamed(call: Call) -> Sent:
    message = call.message()
    message["params"] = {"name": call.tool, call.random.choice(("args", "input")): call.arguments}
    return Sent(_sent(message), (call.number,))


def _pretty(call: Call) -> Sent:
    return Sent(json.dumps(call.message(), indent=call.random.choice((1, 2, "\t"))).encode(), (call.number,))


def _framed(call: Call) -> Sent:
    body = json.dumps(call.message(), ensure_ascii=False).encode("utf-8", "replace")
    return Sent(b"Content-Length: %d\r\n\r\n%s" % (len(body), body), (call.number,))


def _two(call: Call) -> Sent:
    ping = {"jsonrpc": "2.0", "id": f"p{call.number}", "method": "ping"}
    return Sent(_sent(call.message(), ping, between=""), (call.number, ping["id"]))


MESSAGES: Mapping[str, Callable[[Call], Sent]] = {
    "batch": _batch,
    "two messages in a row": _two,
    "id as a text": lambda call: _with_id(call, f"n{call.number}", f"n{call.number}"),
    "id as a float": lambda call: _with_id(call, float(call.number), call.number),
    "call without arguments": _missing,
    "progress token and _meta": _with_token,
    "no jsonrpc field": _no_version,
    "arguments under another name": _renamed,
    "message over several lines": _pretty,
    "byte order mark": lambda call: Sent(b"\xef\xbb\xbf" + _sent(call.message()), (call.number,)),
}
"""Ways to send the message of a call."""
LINES: Mapping[str, Callable[[Call], Sent]] = {
    "notification first": lambda call: Sent(_sent(NOTIFICATION, call.message()), (call.number,)),
    "empty lines and CRLF": lambda call: Sent(b"\n\r\n  \n" + _sent(call.message()) + b"\r", (call.number,)),
    "Content-Length header": _framed,
}
"""Ways to send the message of a call over standard input."""


# -- what is no sensible call ----------------------------------------------------------------------


def _changed(call: Call, **changes: object) -> Sent:
    return Sent(_sent(call.message({**call.arguments, **changes})), (call.number,))


def _no_json(call: Call) -> Sent:
    texts = [b"hello", b"{'id': 1}", b"\xff\xfe\x00", b"<html></html>", b"{half a mess", b"}", b"1 2", b"nul"]
    return Sent(call.random.choice(texts), (None,))


def _cut(call: Call) -> Sent:
    whole = _sent(call.message())
    return Sent(whole[: call.random.randrange(10, len(whole) - 2)], (None,))


def _no_message(call: Call) -> Sent:
    return Sent(_sent(call.random.choice((5, "x", True, [], [1], [[]], {}, {"id": None}))), (None,))


def _odd_id(call: Call) -> Sent:
    return Sent(_sent(call.message(id=call.random.choice((None, 1.5, True, [1], {})))), (None,))


BROKEN: Mapping[str, Callable[[Call], Sent]] = {
    "no JSON": _no_json,
    "half a message": _cut,
    "JSON that is no message": _no_message,
    "id of no kind": _odd_id,
    "unknown tool": lambda call: Sent(
        _sent(call.message() | {"params": {"name": "memory_write", "arguments": {}}}), (call.number,)
    ),
    "unknown method": lambda call: Sent(_sent(call.message(method="tools/run")), (call.number,)),
    "arguments of no kind": lambda call: Sent(
        _sent(call.message(call.random.choice(([1], 7, "x", [[]])))), (call.number,)
    ),
    "huge number": lambda call: _changed(call, limit=10 ** call.random.choice((12, 30, 300))),
    "NaN and Infinity": lambda call: _changed(call, limit=call.random.choice((float("nan"), float("inf")))),
    "NUL in a text": lambda call: _changed(call, content="a\0b", query="a\0b"),
    "nested deeply": lambda call: Sent(
        _sent(call.message()).replace(b'"arguments": {', b'"arguments": {"x": %s,' % _nested(call)),
        (call.number,),
    ),
    "another namespace": lambda call: _changed(
        call, **{call.random.choice(("namespace", "tenant_id", "userId", "role")): "bob"}
    ),
}
"""Ways to send what is no sensible call: an error has to say what is wrong."""


def _nested(call: Call) -> bytes:
    depth = call.random.choice((50, 900))
    return b"[" * depth + b"]" * depth


def well_meant(call: Call, habit: str) -> Sent:
    """The call as a client with a habit sends it."""
    if habit in ARGUMENTS:
        return Sent(_sent(call.message(ARGUMENTS[habit](call))), (call.number,))
    return {**MESSAGES, **LINES}[habit](call)


def sensible(chance: random.Random, number: int, ids: Mapping[str, str], names: Mapping[str, Any]) -> Call:
    """A call that an assistant means.

    Args:
        chance: Source of choices.
        number: Of the call.
        ids: A known `memory` and `search`.
        names: Arguments by tool.
    """
    what = chance.choice(("anchor", "boiler", "ledger", "ladder", "ferry", "gauge"))
    memory, of_search = {"memory_id": ids["memory"]}, {"search_id": ids["search"]}
    save = {"content": f"The {what} number {number} is in the shed of {chance.randint(1, 9)}.", "title": what}
    search = {"query": f"where is the {what}?", "limit": chance.randint(1, 5), "debug": False}
    calls: list[tuple[str, Arguments]] = [
        ("memory_search", {**search, "project": "spring", "memory_type": ["note", "fact"]}),
        (
            "memory_save",
            {**save, "memory_type": "fact", "tags": ["harbour", "store"], "key": f"k{number % 40}"},
        ),
        ("memory_observe", {**of_search, "response": "On Thursday.", "cited": [1, ids["memory"]]}),
        ("knowledge_feedback", {**of_search, "result": 1, "rating": "helpful"}),
        ("memory_outcome", {"project": "spring", "outcome": "success"}),
        ("memory_history", memory),
        ("memory_wakeup", {"budget": chance.randint(100, 900)}),
    ]
    tool, arguments = chance.choices(calls, [8, 3, 2, 2, 1, 2, 2])[0]
    return Call(number, tool, arguments, tuple(names[tool]), chance)
