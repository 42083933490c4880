"""Reference of the MCP server's tools and resources, as listed to a client."""

from __future__ import annotations

import asyncio
from typing import Any

from tools.reference.markdown import code, codes, paragraphs, prose, section, table

KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


class _Nobody:
    """Stub of the open memories: what the server lists does not depend on any."""

    def request(self) -> Any:  # noqa: ANN401
        """Raise, because no memory is open."""
        raise LookupError("no memory is open here")

    def caller(self) -> Any:  # noqa: ANN401
        """Return a caller to whom every tool is listed."""
        from slowwave.serving.caller import Caller

        return Caller("reference", "reference")

    def close(self) -> None:
        """Do nothing."""


def page() -> str:
    """Return the page."""
    from slowwave.mcp.server import build

    memories: Any = _Nobody()
    server = build(memories)
    tools, fixed, templates = asyncio.run(_listed(server))
    parts = [
        "# MCP tools and resources",
        "These are the tools and resources that the MCP server offers to an assistant. "
        "[Connect an assistant](../how-to/connect-an-assistant.md) and [Run the MCP server with "
        "tokens](../how-to/mcp-server.md) say how to use it. Every tool responds in text, for a model to "
        "read, and as structured data.",
        "Arguments are read as they were meant: null or an empty text for an optional one is not given, "
        '`"10"` and `10.0` are numbers, a text with commas is a list, `searchId` is `search_id`, and all '
        "may be inside `arguments` or be a JSON text. An unknown argument is ignored, and the answer's "
        "warnings name it. One about owner, rights, visibility or dry runs, also by its value, "
        "(`namespace`, `user_id`, `role`, `sensitivity`, `dry_run`, …) is refused. So is a value without "
        "meaning, by its name. A character that is not Unicode is replaced by �, with a warning. Batches of "
        "up to 100 messages are answered as an array, and what is not JSON with the error -32700. Over "
        "standard input, a message may take several lines or follow a `Content-Length` header. "
        "[Odd calls of clients](../benchmarks/clients.md) has figures.",
        table(
            ["tool", "description", "changes"], [(_link(tool), tool.title, _changes(tool)) for tool in tools]
        ),
        *(_described(tool) for tool in tools),
        section(2, "Resources", _resources([*fixed, *templates])),
        section(2, "Instructions for the client", paragraphs(server.instructions)),
    ]
    return "\n\n".join(parts)


async def _listed(server: Any) -> tuple[list[Any], list[Any], list[Any]]:  # noqa: ANN401
    return (
        await server.list_tools(),
        sorted(await server.list_resources(), key=lambda item: str(item.uri)),
        sorted(await server.list_resource_templates(), key=lambda item: item.uri_template),
    )


def _link(tool: Any) -> str:  # noqa: ANN401
    return f"[`{tool.name}`](#{tool.name})"


def _changes(tool: Any) -> str:  # noqa: ANN401
    hints = tool.annotations
    if hints.read_only_hint:
        return "nothing"
    idempotent = ", idempotent" if hints.idempotent_hint else ""
    return ("destructive" if hints.destructive_hint else "adds") + idempotent


def _described(tool: Any) -> str:  # noqa: ANN401
    schema = tool.input_schema
    required = set(schema.get("required", ()))
    rows = [
        (code(name), _kind(part, schema), _default(name, part, required), prose(part.get("description", "")))
        for name, part in schema.get("properties", {}).items()
    ]
    arguments = table(["argument", "type", "default", "description"], rows) if rows else "No arguments."
    return section(2, tool.name, paragraphs(tool.description), arguments)


def _default(name: str, part: dict[str, Any], required: set[str]) -> str:
    if name in required:
        return "required"
    value = part.get("default")
    if isinstance(value, bool):
        return code(str(value).lower())
    return "" if value in (None, [], "") else code(value)


def _kind(part: dict[str, Any], schema: dict[str, Any]) -> str:
    if "$ref" in part:
        return _kind(schema["$defs"][part["$ref"].rpartition("/")[2]], schema)
    if "anyOf" in part:
        return " or ".join(_kind(choice, schema) for choice in part["anyOf"] if choice.get("type") != "null")
    if "enum" in part:
        return codes(map(str, part["enum"]))
    if part.get("type") == "array":
        return f"list of {_kind(part.get('items', {}), schema)}"
    name = KINDS.get(part.get("type", ""), "anything")
    low, high = part.get("minimum"), part.get("maximum")
    return f"{name}, {low:,} to {high:,}" if low is not None and high is not None else name


def _resources(listed: list[Any]) -> str:
    rows = []
    for item in listed:
        address = str(getattr(item, "uri", "") or item.uri_template)
        rows.append((code(address), item.title or item.name, item.mime_type or ""))
    return table(["address", "description", "media type"], rows)
