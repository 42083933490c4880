"""HTML page of the API's OpenAPI schema, without scripts and external resources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_STYLE: Final = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;
 color-scheme:light dark}
h2{margin-top:2.5rem}code,pre{font:14px/1.4 ui-monospace,monospace}
pre{overflow-x:auto;padding:.6rem .8rem;border:1px solid #8886;border-radius:.4rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0}
summary{cursor:pointer}b.m{display:inline-block;min-width:4.5rem}section{margin:1.2rem 0}
"""
_BOUNDS: Final = {
    "minimum": "≥", "maximum": "≤", "maxLength": "characters ≤", "maxItems": "entries ≤", "default": "=",
}  # fmt: skip
_ORDER: Final = ("search", "memories", "people")


def page(schema: Mapping[str, Any]) -> str:
    """Render the whole page.

    Args:
        schema: of the API (OpenAPI 3.1).
    """
    info = schema["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width,initial-scale=1'>",
        f"<title>{escape(info['title'])} over HTTP</title><style>{_STYLE}</style>",
        f"<h1>{escape(info['title'])} over HTTP <small>{escape(info['version'])}</small></h1>",
        *(f"<p>{_text(paragraph)}</p>" for paragraph in info["description"].split("\n\n")),
        "<p>Send a token with every request: <code>Authorization: Bearer TOKEN</code>. "
        "The schema for programs: <a href='/openapi.json'>openapi.json</a>.</p>",
    ]
    operations = [
        (operation.get("tags", ["other"])[-1], path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    names = [*_ORDER, *sorted({tag for tag, *_ in operations} - set(_ORDER))]
    for name in names:
        parts.append(f"<h2>{escape(name)}</h2>")
        parts += [
            _operation(path, method, operation, schema)
            for tag, path, method, operation in operations
            if tag == name
        ]
    parts.append("<h2>Schemas</h2>")
    parts += [
        f"<details id='{escape(name)}'><summary><code>{escape(name)}</code> "
        f"{_text(model.get('description', ''))}</summary>{_fields(model)}</details>"
        for name, model in sorted(schema["components"]["schemas"].items())
    ]
    return "\n".join(parts)


def _operation(path: str, method: str, operation: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    text = operation.get("description") or operation.get("summary", "")
    parts = [
        f"<section><h3><code><b class=m>{method.upper()}</b> {escape(path)}</code></h3><p>{_text(text)}</p>"
    ]
    rows = [
        (
            f"{parameter['name']} ({parameter['in']})",
            parameter["schema"],
            parameter.get("description", ""),
            parameter.get("required"),
        )
        for parameter in operation.get("parameters", ())
    ]
    if rows:
        parts.append(_table(rows))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        name = body["$ref"].rpartition("/")[2]
        model = schema["components"]["schemas"][name]
        parts.append(f"<p>Body: {_link(name)}</p>{_fields(model)}")
        parts += [
            f"<pre>{escape(json.dumps(example, indent=2))}</pre>" for example in model.get("examples", ())
        ]
    parts += [
        "<details><summary>Responses</summary><table>",
        *_answers(operation),
        "</table></details></section>",
    ]
    return "\n".join(parts)


def _answers(operation: Mapping[str, Any]) -> Iterator[str]:
    for status, response in sorted(operation["responses"].items()):
        kinds = [_type(part["schema"]) for part in response.get("content", {}).values() if part.get("schema")]
        yield (
            f"<tr><td><code>{escape(status)}</code><td>{_text(response.get('description', ''))}"
            f"<td>{' '.join(kinds)}</tr>"
        )


def _fields(model: Mapping[str, Any]) -> str:
    wanted = model.get("required", ())
    return _table(
        [
            (name, field, field.get("description", ""), name in wanted)
            for name, field in model.get("properties", {}).items()
        ]
    )


def _table(rows: list[tuple[str, Mapping[str, Any], str, bool | None]]) -> str:
    lines = [
        f"<tr><td><code>{escape(name)}</code>{' *' if wanted else ''}<td>{_type(kind)}{_bounds(kind)}"
        f"<td>{_text(description)}</tr>"
        for name, kind, description, wanted in rows
    ]
    return f"<table>{''.join(lines)}</table>" if lines else ""


def _type(kind: Mapping[str, Any]) -> str:
    if "$ref" in kind:
        return _link(kind["$ref"].rpartition("/")[2])
    for name in ("anyOf", "oneOf"):
        if name in kind:
            return " or ".join(_type(variant) for variant in kind[name])
    if "enum" in kind:
        return " | ".join(f"<code>{escape(json.dumps(variant))}</code>" for variant in kind["enum"])
    if kind.get("type") == "array":
        return f"list of {_type(kind.get('items', {}))}"
    return escape(str(kind.get("format") or kind.get("type") or "anything"))


def _bounds(kind: Mapping[str, Any]) -> str:
    limits = [
        f"{sign} {_number(kind[name])}"
        for name, sign in _BOUNDS.items()
        if kind.get(name) not in (None, "", [], {})
    ]
    return f" <small>{escape(', '.join(limits))}</small>" if limits else ""


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)


def _link(name: str) -> str:
    return f"<a href='#{escape(name)}'><code>{escape(name)}</code></a>"


def _text(text: str) -> str:
    """Escape a docstring; text between backquotes is code."""
    pieces = escape(" ".join(text.split())).split("`")
    return "".join(f"<code>{piece}</code>" if at % 2 else piece for at, piece in enumerate(pieces))
