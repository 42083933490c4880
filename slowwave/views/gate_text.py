"""Every reason of the save gate in words: for people, and for the assistant that wants its note let in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple


class ReasonText(NamedTuple):
    """One reason.

    Attributes:
        why: what is wrong with the note.
        mend: what whoever wrote it can do to get it in.
    """

    why: str
    mend: str


_UNREADABLE: Final = "mend the file; the next night takes it in"
_LABEL: Final = "leave it out, or use one of the words that are allowed"

REASONS: Final[Mapping[str, ReasonText]] = {
    "empty_title": ReasonText("it has no title", "give it a title that says what it is about"),
    "too_short": ReasonText(
        "it is too short to be understood without this conversation",
        "say it in a whole sentence: who or what, what is true of it, and since when",
    ),
    "no_statement": ReasonText(
        "it does not state anything",
        "say something about something in a whole sentence: who or what, and what is true of it",
    ),
    "low_quality": ReasonText(
        "little of it says anything that will matter later",
        "leave out filler and repetition, and say the fact, decision or preference itself, with names and "
        "dates",
    ),
    "bad_namespace": ReasonText(
        "its namespace has characters that are not allowed",
        "a person has to choose another namespace: letters, digits, '_', '-', '.' and '/'",
    ),
    "bad_path": ReasonText(
        "its key or path is absolute, climbs with '..' or has control characters",
        "give a key that is relative and printable, or none",
    ),
    "bad_timestamp": ReasonText("its date cannot be read", "write the date as YYYY-MM-DD, or leave it out"),
    "unknown_memory_type": ReasonText("its memory type is no word that is known", _LABEL),
    "unknown_importance_tier": ReasonText("its importance tier is no word that is known", _LABEL),
    "unknown_retrieval_priority": ReasonText("its retrieval priority is no word that is known", _LABEL),
    "unknown_sensitivity": ReasonText("its sensitivity is no word that is known", _LABEL),
    "unknown_state": ReasonText("its state is no word that is known", _LABEL),
    "unknown_source_kind": ReasonText("its source kind is no word that is known", _LABEL),
    "tool_output": ReasonText(
        "it is the output of a tool or a log",
        "say in your own sentences what it showed and why that matters",
    ),
    "boot_file": ReasonText(
        "it is a file of instructions to an assistant, or restates one",
        "save only what was decided or learned, in your own sentences",
    ),
    "echo": ReasonText(
        "a search has just shown all of this from the memory itself",
        "nothing has to be done; save only what is new beside it",
    ),
    "exact_duplicate": ReasonText("the memory says exactly this already", "nothing has to be done"),
    "near_duplicate": ReasonText(
        "the memory says nearly this already, and nothing in it differs",
        "nothing has to be done; if something does differ, say that and what it replaces",
    ),
    "unexpected": ReasonText(
        "the gate failed at it, and it may be no fault of the note",
        "a person can look at it and release it",
    ),
    "bad_entry": ReasonText("its entry in the journal cannot be read as a note", "save it again"),
    "empty": ReasonText("there is no text in it", "write some text, or delete the file"),
    "too_large": ReasonText("it is larger than notes.max_bytes", "split it, or raise that setting"),
    "not_utf8": ReasonText("it is not UTF-8", f"save it as UTF-8: {_UNREADABLE}"),
    "nul_bytes": ReasonText("it has NUL bytes: it is no text file", f"remove them: {_UNREADABLE}"),
    "wrong_type": ReasonText("a field of its front matter has a value of the wrong kind", _UNREADABLE),
    "bad_json_line": ReasonText("the line is no JSON object with a text and an id of its own", _UNREADABLE),
    "broken_front_matter": ReasonText("its front matter is no valid YAML", _UNREADABLE),
    "bad_name": ReasonText("the file's name cannot be stored", "rename the file; the next night takes it in"),
}
"""By the names that verdicts have."""

_OTHER: Final = ReasonText("the gate has this against it", "a person can look at it and release it")


def words_of(reason: str) -> ReasonText:
    """A reason in words; one that this version does not know has words, too."""
    return REASONS.get(reason, _OTHER)


def told(reasons: Iterable[str]) -> list[str]:
    """For people, a line for each reason: its name, what is wrong, and what to do."""
    return [f"{name}: {words_of(name).why}; {words_of(name).mend}" for name in reasons]
