"""Small exports in the forms of other applications, made here; all that they say is made up."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

START = 1_767_225_600.0  # 2026-01-01T00:00:00Z
LISBON = "I am moving to Lisbon in March with my two cats, Olaf and Miso."
RENT = "My landlord there is called Teresa Pinto and the rent is 950 euros."
BILLING = "We decided to use PostgreSQL 16 for the billing service, not MySQL."
TRACE = "\n".join(
    ["Traceback (most recent call last):"]
    + [f'  File "/srv/billing/worker_{line}.py", line {line}, in run_{line}' for line in range(8)]
    + ["ValueError: invalid literal for int() with base 10: 'x'"]
)

Said = Sequence[tuple[str, Any]]


def gpt(name: str, said: Said, *, title: str = "", at: Any = START, **more: Any) -> dict[str, Any]:
    """A conversation of ChatGPT: (role, text) after one another; a text that is no string is the content."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for number, (role, text) in enumerate(said):
        node = f"{name}-{number}"
        content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
        when = at + 60 * number if isinstance(at, float) else at
        message = {"id": node, "author": {"role": role}, "create_time": when, "content": content}
        nodes[node] = {"id": node, "message": message, "parent": parent, "children": []}
        nodes[parent]["children"].append(node)
        parent = node
    about = {"conversation_id": name, "title": title, "create_time": at, "update_time": at}
    return {**about, "mapping": nodes, "current_node": parent, **more}


def claude(name: str, said: Said, *, title: str = "", day: str = "2026-01-01") -> dict[str, Any]:
    """A conversation of Claude: (sender, text) after one another."""
    messages = [
        {
            "uuid": f"{name}-{number}",
            "sender": sender,
            "text": text,
            "content": [{"type": "text", "text": text}],
            "created_at": f"{day}T10:{number:02}:00.000000Z",
        }
        for number, (sender, text) in enumerate(said)
    ]
    at = f"{day}T10:00:00.000000Z"
    return {"uuid": name, "name": title, "created_at": at, "updated_at": at, "chat_messages": messages}


def code_line(
    number: int, text: Any, *, role: str = "user", session: str = "s1", **more: Any
) -> dict[str, Any]:
    """A line of a session of Claude Code."""
    return {
        "type": role,
        "message": {"role": role, "content": text},
        "uuid": f"u{number}",
        "sessionId": session,
        "cwd": "/home/ada/tidal",
        "timestamp": f"2026-01-02T09:{number:02}:00.000Z",
        **more,
    }


def codex_lines(texts: Iterable[str], session: str = "r1") -> list[dict[str, Any]]:
    """The lines of a rollout of Codex, with what the client puts under the person's name."""
    at = "2026-01-03T08:00:00.000Z"
    payload: dict[str, Any] = {"id": session, "timestamp": at, "cwd": "/home/ada/tidal", "source": "cli"}
    lines = [{"timestamp": at, "type": "session_meta", "payload": payload}]
    for text in ("<environment_context>cwd /home/ada, shell zsh</environment_context>", *texts):
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        lines.append({"timestamp": at, "type": "response_item", "payload": item})
        if not text.startswith("<"):
            event = {"type": "user_message", "message": text}
            lines.append({"timestamp": at, "type": "event_msg", "payload": event})
    return lines


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    """JSON lines; a text is a line as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
    return path


def pack(path: Path, files: Mapping[str, Any]) -> Path:
    """A .zip of JSON files; bytes are written as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path
