"""Pages of items that wait for a person: quarantine and decisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from markupsafe import Markup

from slowwave.common import ids
from slowwave.common.pluralize import counted
from slowwave.errors import SlowwaveError
from slowwave.home.visibility import HIDDEN, is_open, open_rows
from slowwave.journal.kinds.note import text_in
from slowwave.lifecycle.correcting import refused_file, rewriting
from slowwave.lifecycle.decisions import get_decision
from slowwave.lifecycle.quarantine import file_of, held, label_of, listed, without_text
from slowwave.lifecycle.refusals import repeated_memory, senders
from slowwave.lifecycle.trusted_sources import trust, trusted_sources, untrust
from slowwave.quality.admission.statuses import DISCARDED, HELD
from slowwave.views.decisions import outcome_of
from slowwave.views.differences import Piece, apart
from slowwave.views.gate_text import words_of
from slowwave.web.browsing import reversal_of
from slowwave.web.request import (
    PAGE,
    PageRequest,
    PageRoute,
    Redirect,
    ShownPage,
    beyond,
    linked,
    local,
    to,
    together,
)

if TYPE_CHECKING:
    from slowwave.journal import Entry

WAITING: Final = 5  # decisions with both their texts on a page (count)
_DISCARDED: Final = Markup('<a href="/quarantine?status=discarded">Discarded</a>')
CHARACTERS: Final = 4_000  # maximum characters of each of two compared texts


def quarantine(request: PageRequest) -> ShownPage | Redirect:
    """List refused notes with their reasons."""
    skip, memory = request.number("skip"), request.memory
    discarded = request.query.get("status") == DISCARDED
    counts = {
        status: memory.store.count("quarantine", memory.tenant.mine(f"status = '{status}'"))
        for status in (HELD, DISCARDED)
    }
    status = DISCARDED if discarded else HELD
    if redirect := beyond(skip, counts[status], "/quarantine", f"&status={DISCARDED}" if discarded else ""):
        return redirect
    rows = listed(memory.home, memory.namespace, status=status, limit=PAGE, skip=skip)
    by, silent = senders(memory.tenant, rows), without_text(memory.journal, rows)
    others = _texts(request, [row["duplicate_of"] for row in rows if row["duplicate_of"]])
    data = {
        "rows": [
            row | {
                "label": label_of(row), "file": file_of(row), "by": by.get(row["quarantine_id"]),
                "is_unreadable": row["quarantine_id"] in silent,
                "both": _both(others.get(row["duplicate_of"] or ""), row["content"]),
                "other": row["duplicate_of"], "other_title": _title(others, row["duplicate_of"]),
            }
            for row in rows
        ],
        "trusted": trusted_sources(memory.tenant),
        "total": counts[status], "skip": skip, "page": PAGE, "is_discarded": discarded,
        "discarded_count": counts[DISCARDED],
        "reasons": [] if discarded else [found for found in _reasons(request) if found[1] > 1],
        "reversal": request.session.offered_reversal(),
    }  # fmt: skip
    return ShownPage("quarantine", "Discarded" if discarded else "Quarantine", data, "/quarantine")


def _reasons(request: PageRequest) -> list[tuple[str, int, str]]:
    """Return each reason of held notes with their count and digest, the most frequent first."""
    tenant = request.memory.tenant
    rows = tenant.store.read(
        "quarantine", tenant.mine(f"status = '{HELD}'"), columns=["quarantine_id", "reasons"]
    )
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name, reasons in rows.sort("quarantine_id").iter_rows():
        for reason in reasons:
            by_reason[reason].append(name)
    found = [(reason, len(names), ids.digest(*names)) for reason, names in by_reason.items()]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def refused(request: PageRequest) -> ShownPage:
    """Show one refused note in full."""
    row = held(request.memory.store, request.memory.namespace, request.path["note"])
    other = repeated_memory(request.memory.tenant, row)
    others = _texts(request, [other] if other else [])
    data = {
        "is_unreadable": bool(without_text(request.memory.journal, [row])),
        "is_of_file": bool(refused_file(request.memory.tenant, row)),
        "row": row, "quality": orjson.loads(row["parts"] or "{}"), "file": file_of(row),
        "by": senders(request.memory.tenant, [row]).get(row["quarantine_id"]), "other": other,
        "other_title": _title(others, other), "both": _both(others.get(other), row["content"]),
    }  # fmt: skip
    return ShownPage("refused", label_of(row), data, "/quarantine")


def trust_sender(request: PageRequest) -> Redirect:
    """Let in all further notes of a refused note's source, and release this one.

    Raises:
        SlowwaveError: No rule may let this note in.
    """
    row = held(request.memory.store, request.memory.namespace, request.path["note"])
    by = senders(request.memory.tenant, [row]).get(row["quarantine_id"])
    if by is None or not by.source:
        raise SlowwaveError("Notes with such a fault are never let in by a rule. Nothing was changed.")
    saved = request.memory.release(row["quarantine_id"])
    trust(request.memory.tenant, by.source, why=request.form.get("why", "").strip())
    message = f"{in_words(by.source)} are let in from now on. This note is released; earlier ones wait here."
    return Redirect(local(request.form.get("back", ""), to("memory", saved.memory_id)), message)


def untrust_source(request: PageRequest) -> Redirect:
    """End the rule that lets in a source's notes."""
    source = request.form.get("source", "")
    new = untrust(request.memory.tenant, source)
    message = f"{in_words(source)} are judged by the save gate again."
    back = local(request.form.get("back", ""), "/quarantine")
    return Redirect(back, message if new else "No such rule; nothing changed.")


def in_words(source: str) -> str:
    """Return a source of notes in words."""
    kind, _, name = source.partition(":")
    return f'Files of the vault "{name}"' if kind == "vault" else f"Notes of {name}"


def release(request: PageRequest) -> Redirect:
    """Release a refused note unchanged."""
    row = held(request.memory.store, request.memory.namespace, request.path["note"])
    saved = request.memory.release(row["quarantine_id"])
    message = f"Released unchanged: {label_of(row)}. The journal records your name."
    return Redirect(to("memory", saved.memory_id), message)


def rewrite(request: PageRequest) -> Redirect:
    """Save a refused note with another text under its key, which settles it."""
    memory, form = request.memory, request.form
    row = held(memory.store, memory.namespace, request.path["note"])
    text = form.get("content", "").replace("\r\n", "\n")
    saved = memory.save(**rewriting(memory.tenant, row, text, form.get("title", "").strip()))
    if saved.status == "quarantined":
        why = "; ".join(words_of(name).why for name in saved.reasons)
        message = f"Not saved: the save gate refused it again ({why})."
        return Redirect(to("quarantine", saved.memory_id), message, failed=True)
    return Redirect(to("memory", saved.memory_id), "Saved with your text. The quarantine no longer has it.")


def discard(request: PageRequest) -> Redirect:
    """Discard one refused note."""
    (done,) = request.memory.discard(request.path["note"])
    message = Markup("Discarded: {}. Restore it under {}.").format(done["label"].rstrip("."), _DISCARDED)
    return Redirect("/quarantine", message)


def discard_reason(request: PageRequest) -> Redirect:
    """Discard all refused notes of one reason, if they are those that were shown."""
    reason, shown = request.path["reason"], request.form.get("shown", "")
    present = {name: digest for name, _, digest in _reasons(request)}
    if shown not in ("", present.get(reason)):
        message = "Other notes have this reason now than the page showed. Nothing was discarded."
        return Redirect("/quarantine", message, failed=True)
    done = request.memory.discard(reason=reason)
    request.session.offer(reversal_of("restore", [row["quarantine_id"] for row in done]))
    return Redirect("/quarantine", f"Discarded: {counted(len(done), 'note')}.")


def restore(request: PageRequest) -> Redirect:
    """Undo the discard of a note."""
    (done,) = request.memory.restore_discarded(request.path["note"])
    return Redirect("/quarantine", f"In quarantine again: {done['label'].rstrip('.')}.")


def decisions(request: PageRequest) -> ShownPage:
    """List waiting decisions, and recent changes."""
    waiting, changed = together(
        lambda: request.memory.decisions(waiting=True, limit=WAITING),
        lambda: request.memory.decisions(outcome="changed", limit=PAGE),
    )
    names = {row[name] for row in waiting for name in ("memory_id", "other_memory")}
    texts = _texts(request, names)
    savers = _savers(request, [*waiting, *changed])
    data = {
        "waiting": [
            row
            | {
                "saved_by": savers.get(row["decision_id"], ""),
                "both": _both(texts.get(row["other_memory"]), texts.get(row["memory_id"])),
            }
            for row in waiting
        ],
        "total": request.waits.counts(request.memory).decisions,
        "changed": [row | {"saved_by": savers.get(row["decision_id"], "")} for row in changed],
        "most": PAGE,
    }
    return ShownPage("decisions", "Decisions", data, "/decisions")


def decision(request: PageRequest) -> ShownPage:
    """Show a past decision with both texts as they were then."""
    memory = request.memory
    row = get_decision(memory.home, memory.namespace, request.path["decision"])
    events = {name: ids.event_of(row[name] or "") for name in ("revision", "other_revision")}
    entries = memory.journal.entries({event for event in events.values() if event})
    closed = _closed(request, [row["memory_id"], row["other_memory"] or ""])
    note, other = (
        None if row[memory_id] in closed else entries.get(events[name])
        for memory_id, name in (("memory_id", "revision"), ("other_memory", "other_revision"))
    )
    data = {
        "row": row, "both": _both(_text_of(other), _text_of(note)), "note": note, "existing": other,
        "here": to("decisions", row["decision_id"]),
    }  # fmt: skip
    outcome = outcome_of(row)
    title = f"{outcome[:1].upper()}{outcome[1:]}: {row['title'] or row['memory_id']}"
    return ShownPage("decision", title, data, "/decisions")


def _savers(request: PageRequest, rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return who saved the note of each decision, by its id; a secret note's user is left out."""
    closed = _closed(request, {row["memory_id"] for row in rows})
    events = {
        row["decision_id"]: ids.event_of(row["revision"] or "")
        for row in rows
        if row["memory_id"] not in closed
    }
    entries = request.memory.journal.entries({event for event in events.values() if event})
    return {name: entries[event].principal for name, event in events.items() if event in entries}


def _closed(request: PageRequest, memory_ids: Collection[str]) -> set[str]:
    """Return the memories that are secret now, whatever they were at the decision."""
    rows = request.memory.tenant.memories(sorted(memory_ids), "memory_id", "sensitivity")
    return set(rows.filter(~open_rows())["memory_id"])


def _text_of(entry: Entry | None) -> Content | None:
    """Return title and text of a save; None if it was erased, or is secret."""
    if entry is None or not is_open(entry.payload.get("sensitivity")):
        return None
    text = text_in(entry.payload)
    return None if text is None else Content(entry.payload.get("title", ""), text[:CHARACTERS])


class Content(NamedTuple):
    """Title and beginning of a text."""

    title: str
    text: str


def _texts(request: PageRequest, memory_ids: Collection[str]) -> dict[str, Content]:
    """Return titles and texts of memories, except secret ones."""
    columns = ("memory_id", "title", "content")
    rows = request.memory.tenant.memories(sorted(set(memory_ids)), *columns, "sensitivity")
    return {
        name: Content(title or "", (text or "")[:CHARACTERS])
        for name, title, text in rows.filter(open_rows()).select(columns).iter_rows()
    }


def _title(texts: dict[str, Content], memory_id: str) -> str:
    return texts[memory_id].title if memory_id in texts else memory_id


def _both(other: Content | None, note: Content | str | None) -> tuple[list[Piece], list[Piece]] | None:
    """Return both texts with marked differences; None if one of them may not be shown."""
    text = note.text if isinstance(note, Content) else note
    if other is None or not text or text == HIDDEN:
        return None
    return apart(other.text, text[:CHARACTERS])


def accept(request: PageRequest) -> Redirect:
    """Carry out a waiting decision."""
    done = request.memory.accept(request.path["decision"])
    message = f"Done: {done['outcome']} of {_pair(done)}. You can undo it."
    return Redirect("/decisions", message)


def decline(request: PageRequest) -> Redirect:
    """Decline a waiting decision."""
    done = request.memory.decline(request.path["decision"])
    return Redirect("/decisions", f"Declined: {_pair(done)} stay unchanged, and you are not asked again.")


def _pair(row: dict[str, Any]) -> str:
    """Return the titles of the two memories of a decision, or their ids."""
    return f"{row['title'] or row['memory_id']} and {row['other_title'] or row['other_memory']}"


def undo(request: PageRequest) -> Redirect:
    """Undo a decision."""
    done = request.memory.undo(request.path["decision"], viewer=request.viewer)
    pair = [done["memory_id"], done["other_memory"]]
    texts = _texts(request, pair)
    message = Markup("Undone: {} of {} and {}. Both have their previous state, and stay separate.").format(
        done["outcome"], *(linked(name, _title(texts, name)) for name in pair)
    )
    return Redirect(local(request.form.get("back", ""), "/decisions" if request.person else "/"), message)


WAYS: Final = (
    PageRoute("/quarantine", quarantine),
    PageRoute("/quarantine/{note}", refused),
    PageRoute("/quarantine/{note}/release", release, post=True, changes=True),
    PageRoute("/quarantine/{note}/rewrite", rewrite, post=True, changes=True),
    PageRoute("/quarantine/{note}/discard", discard, post=True, changes=True),
    PageRoute("/quarantine/{note}/restore", restore, post=True, changes=True),
    PageRoute("/quarantine/{note}/trust", trust_sender, post=True, changes=True),
    PageRoute("/quarantine/sources/untrust", untrust_source, post=True, changes=True),
    PageRoute("/quarantine/reason/{reason}/discard", discard_reason, post=True, changes=True),
    PageRoute("/decisions", decisions),
    PageRoute("/decisions/{decision}", decision),
    PageRoute("/decisions/{decision}/accept", accept, post=True, changes=True),
    PageRoute("/decisions/{decision}/decline", decline, post=True, changes=True),
    PageRoute("/decisions/{decision}/undo", undo, post=True, person=False, changes=True),
)
