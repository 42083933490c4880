"""Readers of coding assistants' sessions (JSON lines on this machine) and their memory files.

Neither form is documented, and both change. Lines that are no turns are skipped. A person's text is
recognised by exclusion: no tool result, no note of the client, no turn of a subagent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from slowwave.common import ids
from slowwave.imports.archives import Member, members, read_whole
from slowwave.imports.json_records import Element, lines
from slowwave.imports.model import ImportItem, ImportSource, Read, Skipped, Unread, text_of
from slowwave.imports.moments import moment_in
from slowwave.imports.transcripts import Turn, joined, thread
from slowwave.notes.decoding import decode, says_nothing
from slowwave.notes.model import NoteError

NO_TURN = "a line of the client, not a turn of a conversation"


class ClaudeCode(ImportSource):
    """Sessions of Claude Code (``projects/*/SESSION.jsonl``) and its memory files."""

    title = "Claude Code"
    expected = (
        "a folder with session files (projects/*/*.jsonl, lines with `type`, `message` and `sessionId`) or "
        "memory files (CLAUDE.md, memory/*.md)"
    )

    def read(self) -> Iterator[Read]:
        """Yield its sessions and memory files; see `ImportSource`."""
        folder = Path(self.path).expanduser()
        projects = folder / "projects"
        root = str(projects if projects.is_dir() else folder)
        sessions = members(root, "*.jsonl")
        yield from _memories(self, sessions, "CLAUDE.md", "CLAUDE.local.md", "memory/*.md")
        for file in sessions:
            if _of_a_subagent(file.name):
                yield Skipped("a session of a subagent, without a person")
            else:
                yield from self._session(file)

    def _session(self, file: Member) -> Iterator[Read]:
        """Yield the conversations of a file; each line names its session, because files may be continued."""
        turns: dict[str, list[Turn]] = {}
        about: dict[str, dict[str, Any]] = {}
        other = 0
        for element in lines(file):
            if not isinstance(element, Element):
                yield element
            elif isinstance(element.value, dict) and (turn := self._turn(element)) is not None:
                session = text_of(element.value.get("sessionId")) or Path(file.name).stem
                turns.setdefault(session, []).append(turn)
                about.setdefault(session, {"project": _project(element.value)})
            else:
                other += 1
        if other:
            yield Skipped(NO_TURN, other)
        for session, session_turns in turns.items():
            yield from thread(
                session_turns, self.name, session, assistant=self.assistant, about=about[session],
                updated=_latest(session_turns),
            )  # fmt: skip

    def _turn(self, element: Element) -> Turn | None:
        value = element.value
        role, message = value.get("type"), value.get("message")
        if role not in ("user", "assistant") or not isinstance(message, dict):
            return None
        content, origin = message.get("content"), value.get("origin")
        machine = (
            any(bool(value.get(flag)) for flag in ("isMeta", "isSidechain", "isCompactSummary"))
            or (isinstance(origin, dict) and origin.get("kind", "human") != "human")
            or text_of(message.get("role")) not in ("", role)
        )
        of_a_tool = "toolUseResult" in value or _has(content, "tool_result")
        return Turn(
            "tool" if of_a_tool else role,
            joined(content, "text"),
            text_of(value.get("uuid")) or element.line,
            moment_in(value.get("timestamp"), self.now),
            element.place,
            of_a_program=machine,
        )


class Codex(ImportSource):
    """Sessions of Codex (``sessions/YYYY/MM/DD/rollout-*.jsonl``) and its memory files."""

    title = "Codex"
    expected = (
        "a folder with rollouts (sessions/**/rollout-*.jsonl, lines with `type` and `payload`) or memory "
        "files (AGENTS.md, memories/*.md)"
    )

    def read(self) -> Iterator[Read]:
        """Yield its sessions and memory files; see `ImportSource`."""
        sessions = members(self.path, "rollout-*.jsonl")
        yield from _memories(self, sessions, "AGENTS.md", "memories/*.md")
        for file in sessions:
            yield from self._session(file)

    def _session(self, file: Member) -> Iterator[Read]:
        rollout = _Rollout(Path(file.name).stem, self.now)
        for element in lines(file):
            if not isinstance(element, Element):
                yield element
            elif not isinstance(element.value, dict) or not rollout.take(element):
                rollout.other += 1
        if rollout.other:
            yield Skipped(NO_TURN, rollout.other)
        if rollout.of_a_subagent:
            yield Skipped("a session of a subagent, without a person")
            return
        turns = rollout.turns()
        yield from thread(
            turns, self.name, rollout.session, assistant=self.assistant, about={"project": rollout.project},
            updated=_latest(turns),
        )  # fmt: skip


class _Rollout:
    """Lines of one rollout.

    The client logs a person's input as an event, and the model's input as an item, with additions under the
    person's name. Where there are events, they have the person's text; older files have items only, the
    oldest without an envelope.
    """

    def __init__(self, session: str, now: datetime) -> None:
        self.session, self.project = session, ""
        self.of_a_subagent = False
        self.other = 0
        self._now = now
        self._began: datetime | None = None
        self._typed: list[Turn] = []
        self._items: list[Turn] = []

    def take(self, element: Element) -> bool:
        """Whether a line belongs to the conversation or its header; such a line is recorded."""
        value: Mapping[str, Any] = element.value
        payload = value.get("payload")
        kind = value.get("type")
        if kind == "message" or (kind is None and "timestamp" in value and "id" in value):
            payload, kind = value, "response_item" if kind == "message" else "session_meta"
        if not isinstance(payload, dict):
            return False
        at = moment_in(value.get("timestamp"), self._now)
        if kind == "session_meta":
            self._meta(payload, at)
        elif kind == "event_msg" and payload.get("type") == "user_message":
            self._typed.append(self._turn("user", text_of(payload.get("message")) or None, at, element))
        elif kind == "response_item" and payload.get("type") == "message":
            role = text_of(payload.get("role"))
            text = joined(payload.get("content"), "input_text", "output_text", "text")
            self._items.append(self._turn(role, text, at, element))
        else:
            return False
        return True

    def turns(self) -> Sequence[Turn]:
        """Return the turns in the order of the file."""
        typed = self._typed
        items = [turn for turn in self._items if not (typed and turn.role == "user")]
        return sorted(typed + items, key=_position)

    def _meta(self, payload: Mapping[str, Any], at: datetime | None) -> None:
        self.session = text_of(payload.get("id")) or self.session
        self.project = _project(payload)
        self.of_a_subagent = isinstance(payload.get("source"), dict) and "subagent" in payload["source"]
        self._began = moment_in(payload.get("timestamp"), self._now) or at

    def _turn(self, role: str, text: str | None, at: datetime | None, element: Element) -> Turn:
        return Turn(role, text, element.line, at or self._began, element.place)


def _position(turn: Turn) -> list[int]:
    """Return the line of a turn, and its part of the line."""
    return [int(part) for part in turn.name.removeprefix("line-").split(".")]


def _latest(turns: Sequence[Turn]) -> datetime | None:
    return max((turn.at for turn in turns if turn.at is not None), default=None)


def _project(value: Mapping[str, Any]) -> str:
    """Return the name of the folder in which a session worked."""
    return text_of(value.get("cwd")).replace("\\", "/").rstrip("/").rpartition("/")[2]


def _has(content: object, kind: str) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == kind for part in content
    )


def _of_a_subagent(name: str) -> bool:
    path = Path(name)
    return path.name.startswith("agent-") or "subagents" in path.parts


def _memories(source: ImportSource, sessions: Sequence[Member], *patterns: str) -> Iterator[Read]:
    """Read the memory files of a folder.

    Raises:
        ImportFailedError: There are none, and no sessions either.
    """
    folder = Path(source.path).expanduser()
    files = members(source.path, *patterns) if folder.is_dir() else []
    source.require([*sessions, *files], "are no session files and no memory files")
    for file in files:
        yield from _memory_file(file, source.name, folder)


def _memory_file(file: Member, source: str, folder: Path) -> Iterator[Read]:
    """Yield a memory file whole; its key is its path, as it has no other name."""
    try:
        text, _ = decode(read_whole(file), file.name, max_bytes=file.size + 1)
    except (NoteError, OSError) as error:
        yield Unread(file.name, str(error))
        return
    if says_nothing(text):
        yield Skipped("a memory file without a text")
        return
    where = ids.digest("folder", str(folder.resolve()))[:12]
    key = f"{source}:memory/{where}/{file.name.replace(chr(92), '/')}"
    labels = {"source_kind": "imported"}
    yield (ImportItem(key, text.strip(), "memory file", file.name, memory_type="preference", labels=labels),)
