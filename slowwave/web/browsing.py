"""Pages that list all memories with filters, and actions on several of them with undo."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from slowwave.common import ids
from slowwave.common.pluralize import counted
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.home.heartbeat import beats, describe_beat
from slowwave.home.visibility import is_open
from slowwave.lifecycle.browse import (
    PERSONS_ONLY,
    SORTS,
    STATES,
    STORED,
    WORDS,
    BrowseOptions,
    beginning_of,
    browse,
    facets,
)
from slowwave.lifecycle.newer_values import newer_values
from slowwave.lifecycle.quarantine import NothingToReleaseError, file_of, held, label_of, redacted, release_id
from slowwave.lifecycle.reading import record_of
from slowwave.lifecycle.refusals import senders
from slowwave.lifecycle.tagging import change_tag, checked_tag
from slowwave.memory import Memory
from slowwave.quality.admission.statuses import HELD
from slowwave.quality.content import is_generic_title
from slowwave.quality.statement import states_something
from slowwave.web.request import (
    PAGE,
    Download,
    PageAnswer,
    PageRequest,
    PageRoute,
    Redirect,
    ShownPage,
    beyond,
    local,
)
from slowwave.web.sessions import Reversal

LOG = logging.getLogger("slowwave.web")
ADDRESS: Final = "/memories"
CURRENT: Final = "current"
"""State that the list and the first page count: memories that a search may return."""
SUPERSEDED: Final = "superseded"
OUTDATED: Final = WORDS[SUPERSEDED]
MARKED: Final = "m-"
"""Beginning of the form fields that name marked memories."""
MAX_TAGS: Final = 30  # offered as a filter, the most frequent (count)
TRIES: Final = 3  # questions that the first page offers (count)
LATEST: Final = 6  # memories on the first page (count)
_FILTERS: Final = ("type", "tag", "source", "by", "kind", "from", "to", "date", "state", "sort")


def listed(request: PageRequest) -> ShownPage | Redirect:
    """List memories by type, tag, source, user, date and state."""
    typed = {name: request.query[name].strip() for name in _FILTERS if request.query.get(name, "").strip()}
    skip, memory = request.number("skip"), request.memory
    state = typed.get("state", CURRENT)
    state = SUPERSEDED if state == OUTDATED else state
    options = BrowseOptions(
        state, typed.get("type", ""), tuple(filter(None, [typed.get("tag")])),
        typed.get("source", ""), typed.get("from", ""), typed.get("to", ""), typed.get("date", "changed"),
        typed.get("by", ""), typed.get("kind", ""), typed.get("sort", "updated"), limit=PAGE, skip=skip,
    )  # fmt: skip
    if options.state == "quarantined" and not request.person:
        raise ArgumentError("state = 'quarantined': only a person can see refused notes.")
    rows, total = browse(memory.tenant, options, request.lists)
    more = f"&{urlencode(typed)}" if typed else ""
    if redirect := beyond(skip, total, ADDRESS, more):
        return redirect
    hooks = [
        (beat.silent, describe_beat(beat, request.now))
        for beat in beats(memory.settings.home)
        if beat.namespace == memory.namespace
    ]
    stored = [row["memory_id"] for row in rows if row["state"] in (CURRENT, SUPERSEDED)]
    data = {
        "rows": rows, "newer": newer_values(memory.tenant, stored), "refused": _refused(memory, rows),
        "state_words": WORDS, "total": total, "skip": skip, "page": PAGE, "hooks": hooks,
        "typed": typed,
        "facets": facets(memory.home, memory.namespace, request.lists), "sorts": SORTS,
        "states": [*(name for name in STATES if request.person or name not in PERSONS_ONLY), STORED],
        "narrowed": bool(set(typed) - {"sort"}), "max_tags": MAX_TAGS,
        "reversal": request.session.offered_reversal(), "state": options.state, "more": more,
        "here": f"{ADDRESS}?{urlencode({'skip': skip, **typed})}",
    }  # fmt: skip
    return ShownPage("memories", "Memories", data, place=ADDRESS)


def _refused(memory: Memory, rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the quarantine's row of each refused note of a page: its reasons, sender and beginning."""
    names = [row["memory_id"] for row in rows if row["state"] == "quarantined"]
    if not names:
        return {}
    notes = memory.store.read_by(
        "quarantine", "memory_id", names, also=memory.tenant.mine(f"status = '{HELD}'")
    ).sort("occurred_at")  # fmt: skip
    notes = redacted(memory.home, notes)
    by = senders(memory.tenant, notes.to_dicts())
    found = {}
    for row in notes.to_dicts():
        text = beginning_of(row["content"] or "")
        more = {"by": by.get(row["quarantine_id"]), "label": label_of(row), "file": file_of(row)}
        found[row["memory_id"]] = row | more | {"beginning": text}
    return found


def act(request: PageRequest) -> PageAnswer:
    """Apply an action to the marked memories, all or none where it can fail.

    Raises:
        ArgumentError: The action is unknown.
    """
    form, back_to = request.form, local(request.form.get("back", ""), ADDRESS)
    memory_ids = tuple(name.removeprefix(MARKED) for name in form if name.startswith(MARKED))
    action, tag = form.get("action", ""), form.get("tag", "")
    if undo := form.get("undo", ""):
        reversal = request.session.reversals.pop(undo, None)
        if reversal is None:
            return Redirect(
                back_to, "This undo was used, or many later ones followed. Nothing was done.", failed=True
            )
        memory_ids, action, tag = reversal.memory_ids, reversal.action, reversal.tag
    if action not in ACTIONS and action != "export":
        raise ArgumentError(f"action = {action!r}: use one of {', '.join(ACTIONS)} or export.")
    if not memory_ids:
        message = "No memory is marked. Nothing was done. Mark some in the list, then choose an action."
        return Redirect(back_to, message, failed=True)
    if action == "export":
        from slowwave.imports.own.selection import exportable, zipped_markdown

        if not exportable(request.memory, memory_ids):
            message = "Nothing was exported: the marked memories are secret, or not in this namespace."
            return Redirect(back_to, message, failed=True)
        return Download(zipped_markdown(request.memory, memory_ids), "memories.zip", "application/zip")
    apply, done, back = ACTIONS[action]
    try:
        tag = checked_tag(tag) if action in TAGGING else ""
    except ArgumentError as error:
        return Redirect(back_to, f"{error} Nothing was done.", failed=True)
    before = _existing(request.memory, memory_ids) if action == "release" else set()
    changed = (
        _as_far_as_possible(apply, request.memory, memory_ids, tag)
        if undo
        else apply(request.memory, memory_ids, tag)
    )
    about = f" {tag}" if tag else ""
    reversible = [memory_id for memory_id in changed if memory_id not in before]
    if back and reversible and not undo:
        request.session.offer(reversal_of(back, reversible, tag))
    files = _of_files(request.memory, memory_ids) if action in TAGGING else 0
    unchanged = len(memory_ids) - len(changed)
    more = (
        f" {counted(unchanged, 'item')} unchanged: erased, settled or so already since."
        if undo and unchanged and action != "withdraw"
        else _unchanged_text(action, unchanged, files)
    )
    if replaced := len(changed) - len(reversible):
        more = f" {counted(replaced, 'note')} replaced an earlier text: undo leaves that to its page.{more}"
    count = counted(len(changed), "memory", "memories")
    return Redirect(back_to, f"{done}{about}: {count}.{more}", failed=not changed)


def _as_far_as_possible(
    apply: Callable[[Memory, Sequence[str], str], list[str]],
    memory: Memory, memory_ids: Sequence[str], tag: str,
) -> list[str]:  # fmt: skip
    """Apply an action to all memories; if one does not allow it any more, to each of the others."""
    try:
        return apply(memory, memory_ids, tag)
    except SlowwaveError as error:  # erased, or settled by a newer text
        if len(memory_ids) == 1:
            LOG.info("An undo left %s unchanged: %s", memory_ids[0], error)
            return []
    return [
        changed
        for memory_id in memory_ids
        for changed in _as_far_as_possible(apply, memory, [memory_id], tag)
    ]


def _of_files(memory: Memory, memory_ids: Sequence[str]) -> int:
    """Return how many memories come from files of a vault."""
    origins = memory.tenant.memories(memory_ids, "origin")["origin"]
    return int(origins.fill_null("").ne("").sum())


def _unchanged_text(action: str, count: int, files: int) -> str:
    """Return a sentence on the marked ones that an action left unchanged; empty if it left none.

    Args:
        files: how many of them come from files of a vault, which the page does not tag.
    """
    if not count:
        return ""
    if action in TAGGING:
        whys = ((files, "edit the tags in the file"), (count - files, "tagged so already, or not current"))
        return "".join(
            f" {counted(some, 'memory', 'memories')} unchanged: {why}." for some, why in whys if some
        )
    if action == "release":
        return f" {counted(count, 'note')} stayed in quarantine: the file could not be read."
    if action == "withdraw":
        return f" {counted(count, 'note')} unchanged: forgotten, replaced or erased since."
    return f" {counted(count, 'memory was', 'memories were')} so already."


def reversal_of(action: str, memory_ids: Sequence[str], tag: str = "") -> Reversal:
    """Return the offer to take back an action on memories.

    Args:
        action: Action that takes it back.
        memory_ids: Memories that it changed.
        tag: Tag that it added or removed.
    """
    name = f"{TAGGING[action]} {tag}," if tag else _BUTTONS.get(action, action)
    words = f"Undo: {name} {counted(len(memory_ids), 'memory', 'memories')}"
    return Reversal(action, tuple(memory_ids), words, tag)


def _forget(memory: Memory, memory_ids: Sequence[str], _: str) -> list[str]:
    for memory_id in memory_ids:
        record_of(memory.tenant, memory_id)  # none is forgotten if one is unknown
    return [memory_id for memory_id in memory_ids if memory.forget(memory_id)]


def _unforget(memory: Memory, memory_ids: Sequence[str], _: str) -> list[str]:
    for memory_id in memory_ids:
        record_of(memory.tenant, memory_id)
    return [memory_id for memory_id in memory_ids if memory.unforget(memory_id)]


def _release(memory: Memory, memory_ids: Sequence[str], _: str) -> list[str]:
    for memory_id in memory_ids:
        held(memory.store, memory.namespace, memory_id)  # none is released if one is unknown
    released = []
    for memory_id in memory_ids:
        try:
            released.append(memory.release(memory_id).memory_id)
        except NothingToReleaseError:  # the others are released all the same
            continue
    return released


def _existing(memory: Memory, names: Sequence[str]) -> set[str]:
    """Return the memories that have a stored text, by memory or quarantine ids."""
    memory_ids = [name.partition(":")[0] for name in names]
    return set(memory.tenant.memories(memory_ids, "memory_id")["memory_id"])


def _withdraw(memory: Memory, memory_ids: Sequence[str], _: str) -> list[str]:
    """Forget memories whose last event is their release; leave out the others."""
    rows = memory.tenant.memories(memory_ids, "memory_id", "revision", where="status = 'live'")
    refused = memory.store.read_by(
        "quarantine", "memory_id", memory_ids, columns=["quarantine_id"], also=memory.tenant.mine("true")
    )
    releases = {release_id(name) for name in refused["quarantine_id"]}
    released = {name for name, revision in rows.iter_rows() if ids.event_of(revision) in releases}
    return [name for name in memory_ids if name in released and memory.forget(name)]


def _discard(memory: Memory, memory_ids: Sequence[str], _: str) -> list[str]:
    return [row["quarantine_id"] for row in memory.discard(*memory_ids)]


def _restore(memory: Memory, quarantine_ids: Sequence[str], _: str) -> list[str]:
    return [row["memory_id"] for row in memory.restore_discarded(*quarantine_ids)]


def _tag(memory: Memory, memory_ids: Sequence[str], tag: str) -> list[str]:
    return change_tag(memory.tenant, memory_ids, tag, add=True)


def _untag(memory: Memory, memory_ids: Sequence[str], tag: str) -> list[str]:
    return change_tag(memory.tenant, memory_ids, tag, add=False)


ASKED: Final = 60  # latest memories that questions to try are made of (count)
_QUESTIONS: Final = {"person": "Who is {}?", "procedure": "How does this go: {}?"}
"""Questions to try by type of memory."""
MAX_WORDS: Final = 6  # of a title that a question is made of (count)
_ENDS: Final = " .!?…"
"""Signs at the end of a title that no question has before its own."""
TAGGING: Final = {"tag": "add tag", "untag": "remove tag"}
"""Actions that need a tag, in words."""
_BUTTONS: Final = {"withdraw": "forget"}
"""Words of actions that only an undo offers."""
ACTIONS: Final[dict[str, tuple[Callable[[Memory, Sequence[str], str], list[str]], str, str]]] = {
    "forget": (_forget, "Forgotten", "unforget"),
    "unforget": (_unforget, "No longer forgotten", "forget"),
    "release": (_release, "Released unchanged", "withdraw"),
    "withdraw": (_withdraw, "Forgotten, since a release is final", ""),
    "discard": (_discard, "Discarded", "restore"),
    "restore": (_restore, "In quarantine again", "discard"),
    "tag": (_tag, "Tag added", "untag"),
    "untag": (_untag, "Tag removed", "tag"),
}
"""Bulk actions: call, notice, and the action that takes it back (empty: none)."""


def overview(request: PageRequest) -> dict[str, Any]:
    """Return what the first page shows: latest memories, and counts by type and source."""
    memory = request.memory
    rows, total = browse(memory.tenant, BrowseOptions(limit=ASKED), request.lists)
    return {
        "latest": rows[:LATEST], "memories": total, "learns": memory.settings.learning.enabled,
        "facets": facets(memory.home, memory.namespace, request.lists),
        "tries": questions_to_try(rows),
    }  # fmt: skip


def questions_to_try(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return questions that the latest memories may answer.

    Those of different types come first, and no two share a word.
    """
    open_rows = [row for row in rows if is_open(row["sensitivity"]) and row["title"]]
    short = [
        row
        for row in open_rows
        if len(row["title"].split()) <= MAX_WORDS
        and not is_generic_title(row["title"])
        and states_something(row["beginning"], title=row["title"])
    ]
    newest_of_type = {row["memory_type"]: row for row in reversed(short)}.values()
    of_types = [row for row in short if any(row is one for one in newest_of_type)]
    questions: dict[str, set[str]] = {}
    for row in [*of_types, *short]:
        title = row["title"].rstrip(_ENDS)
        words = set(title.casefold().split())
        if len(questions) < TRIES and not any(words & asked for asked in questions.values()):
            questions[_QUESTIONS.get(row["memory_type"], "What do I know about {}?").format(title)] = words
    return list(questions)


WAYS: Final = (
    PageRoute(ADDRESS, listed, person=False),
    PageRoute(f"{ADDRESS}/act", act, post=True, changes=True),
)
