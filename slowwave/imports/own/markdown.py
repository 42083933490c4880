"""Markdown of an export: a file per memory that Obsidian opens, with front matter, links and versions.

The files follow the Open Knowledge Format 0.1 (`type` in the front matter, ``index.md``) and the relations
of Basic Memory (``- supersedes [[Title]]``).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import polars as pl

from slowwave.imports.own.model import EVENTS, Contents

MAX_NAME: Final = 80
"""Maximum length of a file's name without its ending (characters)."""
MAX_NAME_BYTES: Final = 200
VERSIONS: Final = "versions"
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*#^\[\]\u2028\u2029\u202a-\u202e\u2066-\u2069]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|index|log)(\..*)?", re.IGNORECASE)
_SHORT = 8  # characters of an id in a name
_LABELS = (
    "memory_type", "status", "sensitivity", "importance_tier", "retrieval_priority", "state", "source_kind",
    "source_of_truth", "context",
)  # fmt: skip


def write_markdown(contents: Contents, folder: Path) -> None:
    """Write a file per memory, its earlier versions beside it, and an index."""
    memories = contents.frames["memories"].sort("memory_id")
    rows = list(memories.iter_rows(named=True))
    names = file_names((row["memory_id"], row["title"] or "") for row in rows)
    relations = _relations(contents, rows)
    versions = _versions(contents.frames[EVENTS])
    (folder / VERSIONS).mkdir()
    for row in rows:
        stem = names[row["memory_id"]]
        earlier = versions.get(row["source"], [])
        text = _note(row, stem, names, relations[row["memory_id"]], versions=len(earlier))
        (folder / f"{stem}.md").write_text(text, encoding="utf-8", newline="")
        if len(earlier) > 1:
            history = _history(row, stem, earlier)
            (folder / VERSIONS / f"{stem} - versions.md").write_text(history, encoding="utf-8", newline="")
    titles = sorted((" ".join((row["title"] or "").split()), names[row["memory_id"]]) for row in rows)
    lines = [f"# Memories of {contents.header['namespace']}", ""]
    lines += [f"- [[{stem}|{_label(title) or stem}]]" for title, stem in titles]
    (folder / "index.md").write_text("\n".join([*lines, ""]), encoding="utf-8", newline="")


def file_names(titles: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a file name per id, from its title, that every system can keep apart.

    Args:
        titles: Pairs of id and title.
    """
    names = {memory: safe_name(title) for memory, title in titles}
    shared = Counter(_folded(name) for name in names.values())
    made: dict[str, str] = {}
    for memory, name in names.items():
        plain = name and shared[_folded(name)] == 1
        made[memory] = name if plain else f"{name} {memory[:_SHORT]}".strip()
    shared = Counter(_folded(name) for name in made.values())
    return {
        memory: name if shared[_folded(name)] == 1 else f"{names[memory]} {memory}".strip()
        for memory, name in made.items()
    }


def safe_name(title: str) -> str:
    """Return a title as a file name for Linux, macOS, Windows and Obsidian; empty if nothing is left."""
    sound = unicodedata.normalize("NFC", title).encode("utf-8", "ignore").decode()
    name = " ".join(_NOT_IN_NAMES.sub(" ", sound).split())[:MAX_NAME]
    name = name.encode()[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip(" .")
    return f"{name} note" if _RESERVED.fullmatch(name) else name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())


def _relations(contents: Contents, rows: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """Return kind and other memory of each relation, by memory."""
    found: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for edge in contents.frames["edges"].sort("edge_id").iter_rows(named=True):
        if edge["from_memory"] and edge["to_memory"]:
            found[edge["from_memory"]][edge["kind"] or "related", edge["to_memory"]] = None
    for row in rows:
        if row["replaced_by"]:
            kind = "merged_into" if row["status"] == "merged" else "superseded_by"
            found[row["memory_id"]][kind, row["replaced_by"]] = None
    return defaultdict(list, {memory: list(pairs) for memory, pairs in found.items()})


def _versions(events: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return the events of each source, oldest first."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in events.filter(pl.col("kind").is_in(["save", "forget"])).iter_rows(named=True):
        found[row["subject"]].append(row)
    return found


def _note(
    row: Mapping[str, Any],
    stem: str,
    names: Mapping[str, str],
    relations: Iterable[tuple[str, str]],
    *,
    versions: int,
) -> str:
    links = [(kind, names[other]) for kind, other in relations if other in names]
    fields: dict[str, Any] = {
        "title": row["title"], "type": row["memory_type"] or "note", "tags": row["tags"],
        "aliases": row["aliases"], "timestamp": _day(row["updated_at"]), "created": _day(row["created_at"]),
        "permalink": row["memory_id"], "key": row["source"],
        **{name: row[name] for name in _LABELS[1:]},
        "trigger_phrases": row["trigger_phrases"], "links": row["links"],
        "related": [f"[[{name}]]" for _, name in links],
        "versions": f"[[{stem} - versions]]" if versions > 1 else None,
    }  # fmt: skip
    body = row["content"] or ""
    if links:
        body += "\n\n## Relations\n\n" + "\n".join(f"- {kind} [[{name}]]" for kind, name in links)
    return f"{_front_matter(fields)}{body}\n"


def _history(row: Mapping[str, Any], stem: str, events: Iterable[Mapping[str, Any]]) -> str:
    parts = [_front_matter({"title": f"{row['title'] or stem} (versions)", "type": "versions"})]
    parts.append(f"Versions of [[{stem}]], oldest first.\n")
    for event in events:
        who = f", {event['principal']}" if event["principal"] else ""
        parts.append(f"\n## {event['occurred_at']:%Y-%m-%d %H:%M:%S} UTC: {event['kind']}{who}\n")
        content = orjson.loads(event["payload"]).get("content")
        if content:
            fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", content)), default=0))
            parts.append(f"\n{fence}markdown\n{content}\n{fence}\n")
    return "".join(parts)


def _front_matter(fields: Mapping[str, Any]) -> str:
    """Return fields as YAML; JSON values are YAML, too."""
    lines = [f"{name}: {_value(value)}" for name, value in fields.items() if value not in (None, "", [], ())]
    return "\n".join(["---", *lines, "---", ""])


def _value(value: object) -> str:
    text = orjson.dumps(value).decode()
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _day(moment: Any) -> str | None:  # noqa: ANN401 - datetime
    return moment.isoformat() if moment is not None else None


def _label(title: str) -> str:
    return re.sub(r"[\[\]|]", " ", title).strip()
