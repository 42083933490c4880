"""Injuries of notes: front matter and bytes as editors, plugins and sync tools leave them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LABELS = ("importance_tier: important", "tags: [kept]", "created: {date}")
"""Sound labels of every note; `{date}` is in the form of the injury."""
SPELLINGS = (
    "sensitivity: secret", "Sensitivity : SECRET", '"sensitivity": \'secret\'', "sensitivity: [secret]",
    "sensitivity: secret # for the board", "sensitivity:\tsecret", "sensitivity:\n  - level: secret",
    "sensitivity:: secret", "sensitivity\uff1asecret", "SENSITIVITY = secret", "sensitivty: secret",
    "\uff33ensitivity: secret", "sensitivity: confidential", "sensitivity: #secret",
    "sensitivity: **secret**",
    "sensitivity: public\nsensitivity: secret", "meta:\n  - {sensitivity: secret}",
)  # fmt: skip
"""Spellings of a label that closes."""
FLAT = tuple(spelling for spelling in SPELLINGS if "\n" not in spelling)


@dataclass(frozen=True)
class Injury:
    """Injury of a note.

    Attributes:
        head: lines of labels, with `{labels}` for the sound ones; empty: the form has its own.
        date: of the note, as the kind writes it.
        place: the whole text, with `{head}` and `{body}`.
        damage: last change, of the text or its bytes.
        suffix: of the file.
        has_labels: whether the sound labels can be read; else the injury hides them.
    """

    head: str = "{labels}"
    date: str = "2024-03-14"
    place: str = "---\n{head}\n---\n{body}"
    damage: Callable[[str], bytes] = str.encode
    suffix: str = ".md"
    has_labels: bool = True

    def file(self, body: str, closing: str = "") -> bytes:
        """The injured file of a body, with a line that closes it or without."""
        labels = "\n".join([*LABELS, *([closing] if closing else [])]).replace("{date}", self.date)
        head = self.head.replace("{labels}", labels)
        return self.damage(self.place.replace("{head}", head).replace("{body}", body))


def _json_line(text: str) -> bytes:
    head, _, body = text.partition("\0")
    fields: dict[str, Any] = {"importance_tier": "important", "tags": ["kept"], "created": "2024-03-14"}
    closing = {"Sensitivity ": ["SECRET"]} if len(head.split("\n")) > len(LABELS) else {}
    record = json.dumps({"id": "a", "text": body} | fields | closing)
    return record.replace('"text": "', '"text": "\\ud83d \\u0000', 1).encode()


def _toml(text: str) -> bytes:
    head, _, body = text.partition("\0")
    own = ['importance_tier = "important"', 'tags = ["kept"]', "created = 2024-03-14"]
    lines = [*own, *head.split("\n")[len(LABELS) :]]
    return "\n".join(["+++", *lines, "+++", body]).encode()


KINDS: dict[str, Injury] = {
    "colon in a title": Injury("title: Retro: what we learned\n{labels}"),
    "template, quoted or not": Injury("title: <% tp.file.title %>\nmade: {{date}}\n{labels}"),
    "script of a template": Injury("<%* const own = 1 -%>\n{labels}\nx: <% own %>"),
    "tabs": Injury("owner: a\n\tteam: b\n\t\t- c\n{labels}"),
    "label twice": Injury("owner: a\nowner: b\n{labels}"),
    "Windows path": Injury('source: "C:\\Users\\ada\\new: x"\n{labels}'),
    "open quote": Injury('owner: "Ada\n{labels}'),
    "inner quotes": Injury('about: "the "old" harbour"\n{labels}'),
    "open bracket": Injury("people: [Ada, Bo\n{labels}"),
    "links with more": Injury("related:\n  - [[Home]]s\n  - [[Plan|the plan]] too\n{labels}"),
    "special first characters": Injury("owner: @ada\nshare: %5\nmark: `x`\n{labels}"),
    "wrong types": Injury("aliases: {a: 1}\nstate: [x, y]\nsource_of_truth: perhaps\n{labels}"),
    "unknown words": Injury("memory_type: recipe\nstate: done\n{labels}"),
    "stray sentence": Injury("{labels}\nSome tool left this sentence in the block here.\nowner: a"),
    "control characters": Injury("owner: \x01Ada\x07\n{labels}"),
    "end of three dots": Injury(place="---\n{head}\n...\n{body}"),
    "second block": Injury(place="---\npermalink: a/b\n---\n\n---\ntitle: c: d\n{head}\n---\n{body}"),
    "never closed": Injury(place="---\nowner: a: b\n{head}\n\n{body}"),
    "text between rules": Injury(
        place="---\n\nThis part stands between two rules.\n\n---\n\n---\n{head}\n---\n{body}",
        has_labels=False,
    ),
    "page properties": Injury(place="{head}\n\n{body}", damage=lambda text: _properties(text).encode()),
    "TOML": Injury(place="{head}\0{body}", damage=_toml),
    "date with dots": Injury(date="14.03.2024"),
    "date in words": Injury(date="March 14, 2024"),
    "date as a link": Injury(date='"[[2024-03-14]]"'),
    "date of a script": Injury(date="Thu Mar 14 2024 10:00:00 GMT+0100"),
    "milliseconds": Injury(date="1710406800000"),
    "mark and CRLF": Injury(damage=lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()),
    "UTF-16": Injury(damage=lambda text: text.encode("utf-16")),
    "Windows-1252": Injury(
        damage=lambda text: (
            f"{text}\nK\xe4se \u2013 \u20ac 5".replace("\uff1a", ":")
            .replace("\uff33", "S")
            .encode("cp1252", "ignore")
        )
    ),
    "NUL and half a character": Injury(damage=lambda text: f"{text}\0".encode() + b"\xe2\x82"),
    "half an emoji in a JSON line": Injury(place="{head}\0{body}", damage=_json_line, suffix=".jsonl"),
}
"""Kinds of injury by name."""


def _properties(text: str) -> str:
    """The first paragraph as properties of a page."""
    head, _, body = text.partition("\n\n")
    lines = [line if "::" in line else line.replace(":", "::", 1) for line in head.split("\n")]
    return "\n".join(lines).replace("[kept]", "kept") + "\n\n" + body
