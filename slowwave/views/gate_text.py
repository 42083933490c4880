"""Reasons of the save gate as text: what is wrong, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave.quality.gate_policy import GatePolicy


class ReasonText(NamedTuple):
    """Text of one reason.

    Attributes:
        why: what is wrong with the note.
        fix: how its author can fix it.
    """

    why: str
    fix: str


_UNREADABLE: Final = "fix the file; the next nightly job reads it again"
_LABEL: Final = "leave it out, or use an allowed value"

REASONS: Final[Mapping[str, ReasonText]] = {
    "empty_title": ReasonText("it has no title", "give it a title that says what it is about"),
    "too_short": ReasonText(
        "it is too short to be understood on its own",
        "write a whole sentence: who or what, what is true of it, and since when",
    ),
    "no_statement": ReasonText(
        "it does not state anything",
        "write a whole sentence: who or what, and what is true of it",
    ),
    "low_quality": ReasonText(
        "little of it will matter later",
        "leave out filler and repetition; state the fact, decision or preference itself, with names and "
        "dates",
    ),
    "bad_namespace": ReasonText(
        "its namespace has forbidden characters",
        "a person has to choose another namespace, of letters, digits, '_', '-', '.' and '/'",
    ),
    "bad_path": ReasonText(
        "its key or path is absolute, contains '..' or has control characters",
        "give a key that is relative and printable, or none",
    ),
    "bad_timestamp": ReasonText("its date cannot be read", "write the date as YYYY-MM-DD, or leave it out"),
    "unknown_memory_type": ReasonText("its memory type is unknown", _LABEL),
    "unknown_importance_tier": ReasonText("its importance tier is unknown", _LABEL),
    "unknown_retrieval_priority": ReasonText("its retrieval priority is unknown", _LABEL),
    "unknown_sensitivity": ReasonText("its sensitivity is unknown", _LABEL),
    "unknown_state": ReasonText("its state is unknown", _LABEL),
    "unknown_source_kind": ReasonText("its source kind is unknown", _LABEL),
    "tool_output": ReasonText(
        "it is the output of a tool or a log",
        "write in your own sentences what it showed and why that matters",
    ),
    "boot_file": ReasonText(
        "it is a file of instructions to an assistant, or restates one",
        "save only what was decided or learned, in your own sentences",
    ),
    "echo": ReasonText(
        "a search has just returned all of this from the memory",
        "no action needed; save only what is new",
    ),
    "exact_duplicate": ReasonText("a memory has exactly this text already", "no action needed"),
    "near_duplicate": ReasonText(
        "a memory has nearly this text already, without a difference in content",
        "no action needed; if something differs, state that and what it replaces",
    ),
    "unexpected": ReasonText(
        "the save gate failed on it, maybe without a fault of the note",
        "a person can check and release it",
    ),
    "bad_entry": ReasonText("its journal event cannot be read as a note", "save it again"),
    "empty": ReasonText("there is no text in it", "write some text, or delete the file"),
    "too_large": ReasonText("it is larger than notes.max_bytes", "split it, or raise that setting"),
    "not_utf8": ReasonText("it is not UTF-8", f"convert it to UTF-8: {_UNREADABLE}"),
    "nul_bytes": ReasonText("it has NUL bytes, so it is no text file", f"remove them: {_UNREADABLE}"),
    "wrong_type": ReasonText("a field of its front matter has a value of the wrong kind", _UNREADABLE),
    "bad_json_line": ReasonText("the line is no JSON object with a text and an id", _UNREADABLE),
    "broken_front_matter": ReasonText("its front matter is no valid YAML", _UNREADABLE),
    "bad_name": ReasonText(
        "the file's name cannot be stored", "rename the file; the next nightly job reads it again"
    ),
}
"""Texts by reason."""

_OTHER: Final = ReasonText("the save gate refused it for this reason", "a person can check and release it")


def words_of(reason: str) -> ReasonText:
    """Return the text of a reason; unknown ones get a general text."""
    return REASONS.get(reason, _OTHER)


def reason_lines(reasons: Iterable[str]) -> list[str]:
    """Return a line for each reason: its name, what is wrong, and how to fix it."""
    return [f"{name}: {words_of(name).why}; {words_of(name).fix}" for name in reasons]


def stored_despite(policy: GatePolicy, now: datetime) -> str:
    """Return why a note with reasons was stored, as the beginning of a sentence."""
    if policy.enforces_at(now):
        return "A rule of a person lets in all notes of this source. Otherwise the save gate refuses"
    begins = policy.enforces_from
    when = f"from {begins:%F} on" if begins else "once it enforces"
    return f"The save gate only warns yet; {when} it refuses"
