"""Pages of one memory, with its actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote

from markupsafe import Markup

from slowwave.common import ids
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.feedback.stats import stats as stats_of
from slowwave.home.tenant import MemoryRecord, Saved
from slowwave.home.visibility import HIDDEN, SECRET, Viewer, assistant_rows, is_open, open_rows, redact
from slowwave.lifecycle.correcting import given_title
from slowwave.lifecycle.note_links import link_targets, linked_from
from slowwave.lifecycle.reading import record_of
from slowwave.search.subject_line import LineEntry, subject_line
from slowwave.serving import saving
from slowwave.store import one_of
from slowwave.views import gate_text, learning_lists, usage
from slowwave.web.browsing import reversal_of
from slowwave.web.request import PageRequest, PageRoute, Redirect, ShownPage, linked, local, to, together

EVENTS: Final = 100  # latest events of a history (count)
CHARACTERS: Final = 20_000  # maximum characters of a text on a page
LESSONS: Final = 20  # of a memory (count)
_BEFORE: Final = Markup(' To go back, use the text before it again, under <a href="#history">History</a>.')
_EDITED: Final = {"type": "memory_type", "tier": "importance_tier", "sensitivity": "sensitivity"}
_TAKEN_BACK: Final = ("merge", "supersede", "related", "duplicate")
_WORDS: Final = {
    "saved": "saved", "remembered": "no longer forgotten", "released": "released from quarantine",
    "complement": "compared with others", "forgotten": "forgotten", "unreadable": "unreadable",
    "refused": "refused by the save gate",
}  # fmt: skip
_CHANGED: Final = (
    "This memory has changed since you opened it. Your correction was not saved. The form still has your "
    "text; the current text is above it. Saving again replaces the current text."
)
_LABELS: Final = ("revision", "origin", "principal", "source_kind", "source_of_truth", "state", "links")


def memory(request: PageRequest) -> ShownPage | Redirect:
    """Show a memory."""
    name = request.path["memory"]
    try:
        record = request.record(name)
    except NotFoundError:
        if request.person and _is_quarantined(request, name):
            return Redirect(to("quarantine", name))
        raise
    calls: list[Callable[[], Any]] = [
        lambda: request.memory.history(name, viewer=request.viewer),
        lambda: _labels(request, name),
        lambda: linked_from(request.memory.tenant, given_title(record), record.source),
    ]
    if request.person:
        calls += [
            lambda: _taught(request, name),
            lambda: stats_of(request.memory.home, record, as_of=request.now),
        ]
    events, labels, sources, *personal = together(*calls)
    line, (links, addresses) = together(
        lambda: _line(request, record, events),
        lambda: _links(request, record, events, labels["links"] or (), sources),
    )
    data: dict[str, Any] = {
        "record": record,
        "title_given": given_title(record),
        "text": record.content[:CHARACTERS],
        "more": max(0, len(record.content) - CHARACTERS),
        "events": _events(events[-EVENTS:], record.content),
        "omitted": max(0, len(events) - EVENTS),
        "line": line,
        "links": links,
        "graph": [
            (", ".join(how for how, name, _ in links if name == other), other, title)
            for other, title in {name: title for _, name, title in links}.items()
        ],
        "addresses": addresses,
        "file": record.source if labels["origin"] else "",
        "hidden": HIDDEN,
        "labels": labels,
    }
    if personal:
        taught, usage_stats = personal
        data |= {
            "used": usage.usage_text(usage_stats, request.now),
            "recent": usage_stats.recent,
            **taught,
        }
    return ShownPage("memory", record.title or name, data, place="/memories")


def _is_quarantined(request: PageRequest, name: str) -> bool:
    where = request.memory.tenant.mine(one_of("memory_id", [name]))
    return request.memory.store.count("quarantine", where) > 0


def _labels(request: PageRequest, name: str) -> dict[str, Any]:
    where = request.memory.tenant.mine(one_of("memory_id", [name]))
    return request.memory.store.read("memories", where, columns=_LABELS).row(0, named=True)


def _events(events: list[dict[str, Any]], content: str) -> list[dict[str, Any]]:
    undone = {event["id"] for event in events if event["event"].endswith((" undone", "accepted"))}
    return [
        event
        | {
            "words": _words_of(event, before),
            "text": event["text"][:CHARACTERS],
            "is_current": event["text"] == content,
            "undo": event["event"].partition(" (")[0] in _TAKEN_BACK and event["id"] not in undone,
        }
        for before, event in reversed(list(zip(_saved_before(events), events, strict=True)))
    ]


def _saved_before(events: list[dict[str, Any]]) -> Iterator[dict[str, Any] | None]:
    """Yield the save before each event; None if it has none."""
    last = None
    for event in events:
        yield last
        last = event if event["event"] in ("saved", "remembered", "released") else last


def _words_of(event: dict[str, Any], before: dict[str, Any] | None) -> str:
    """Return an event of a history in plain words."""
    name: str = event["event"]
    if name in _WORDS:
        name = _WORDS[name]
        if event["event"] in ("saved", "released") and before is not None and event["text"] == before["text"]:
            name = "labels changed" if event["details"] else "saved again"
        elif event["event"] == "saved" and before is not None:
            name = "text changed"
    return name[:1].upper() + name[1:]


def _line(request: PageRequest, record: MemoryRecord, events: list[dict[str, Any]]) -> list[LineEntry]:
    """Return the line in time of a memory, given its history."""
    # The line quotes texts beside others, so one that was secret is not in it.
    if is_open(record.sensitivity) and sum(bool(event["text"]) for event in events) > 1:
        events = request.memory.history(record.memory_id, viewer=Viewer.REPORT)
    return subject_line(request.memory.tenant, record, events)


def _links(
    request: PageRequest,
    record: MemoryRecord,
    events: list[dict[str, Any]],
    targets: Sequence[str],
    sources: Sequence[str],
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Return linked memories as (relation, id, title), and addresses by link target.

    Args:
        targets: Link targets of its text.
        sources: Memories whose text links to it.
    """
    links: dict[tuple[str, str], None] = {}
    now = {"merged": "merged into", "superseded": "superseded by"}.get(record.status, "replaced by")
    if record.replaced_by:
        links[now, record.replaced_by] = None
    links |= dict.fromkeys(("absorbed", memory_id) for memory_id in record.absorbed)
    if record.follows:
        links["follows", record.follows] = None
    tenant = request.memory.tenant
    where = f"{one_of('from_memory', [record.memory_id])} OR {one_of('to_memory', [record.memory_id])}"
    edges = tenant.store.read("edges", tenant.mine(where), columns=["from_memory", "to_memory", "kind"])
    for start, end, kind in edges.iter_rows():
        is_start = start == record.memory_id
        verb = {"supersedes": ("supersedes", "superseded by")}.get(kind, (kind, kind))[0 if is_start else 1]
        links[verb, end if is_start else start] = None
    found = link_targets(tenant, targets)
    links |= dict.fromkeys(("links to", name) for name in found.values() if name != record.memory_id)
    links |= dict.fromkeys(("linked from", name) for name in sources if name != record.memory_id)
    linked = {name for _, name in links}
    links |= {
        ("compared with", event["other"]): None
        for event in events
        if event["other"] and event["other"] not in linked
    }
    names = sorted({name for _, name in links})
    titles = tenant.memories(names, "memory_id", "title", "sensitivity", "status")
    if not request.person:
        titles = titles.filter(assistant_rows())
    titles_by_id = dict(redact(titles, ~open_rows(), "title").select("memory_id", "title").iter_rows())
    shown = [(how, name, titles_by_id[name]) for how, name in links if name in titles_by_id]
    own = {**titles_by_id, record.memory_id: record.title}
    return shown, {target: to("memory", name) for target, name in found.items() if name in own}


def _taught(request: PageRequest, name: str) -> dict[str, Any]:
    """Return what a memory learned. A count first avoids reading all proposals."""
    tenant = request.memory.tenant
    where = tenant.mine(one_of("memory_id", [name]))
    if not tenant.store.count("learned_proposals", where):
        return {}
    learning = request.memory.learning
    return {
        "terms": learning_lists.terms(learning.terms(memory_id=name), LESSONS),
        "keys": learning_lists.keys(learning.keys(memory_id=name), LESSONS),
    }


# -- actions -------------------------------------------------------------------------------------------


def save(request: PageRequest) -> Redirect:
    """Save a note."""
    form = request.form
    fields = (form.get(name, "") for name in ("once", "title", "content", "type"))
    form_key = ids.digest(*fields) if form.get("once") else ""
    if (answer := request.session.saves.get(form_key)) and _is_there(request, answer[0]):  # a second click
        return Redirect(*answer)
    label = {"source_kind": "manual"} if request.person else {}
    saved = request.memory.save(
        _text(form.get("content", "")), title=form.get("title", "").strip(),
        memory_type=form.get("type", ""), **label,
    )  # fmt: skip
    answer = _saved(request, saved)
    if form_key:
        request.session.keep_save(form_key, answer)
    return answer


def _is_there(request: PageRequest, address: str) -> bool:
    """Whether the memory or note at an address is still there."""
    name = unquote(address.rpartition("/")[2])
    where, store = request.memory.tenant.mine(one_of("memory_id", [name])), request.memory.store
    return not name or any(store.count(table, where) for table in ("memories", "quarantine"))


class _ChangedSinceError(SlowwaveError):
    """A memory changed between its form and the save."""


def correct(request: PageRequest) -> Redirect | ShownPage:
    """Replace the text of a memory.

    If it changed meanwhile, the page shows the form again as it was typed.
    """
    name = request.path["memory"]
    request.require_visible(name)

    def check(revision: str) -> None:
        if request.form.get("read", "") not in ("", revision):
            raise _ChangedSinceError(_CHANGED)

    content, title = _content(request, name), request.form.get("title", "").strip()
    before = record_of(request.memory.tenant, name)
    labels = _labels_in(request, before.tags) | _closed_again(request, name)
    try:
        saved = saving.correct(request, name, content, title=title, check=check, labels=labels)
    except _ChangedSinceError as error:
        page = memory(request)
        if isinstance(page, Redirect):
            raise
        typed = {**request.form, "content": content, "problem": str(error)}
        return replace(page, data={**page.data, "typed": typed}, status=409)
    return _saved(request, saved, corrected=name, is_new_text=content.strip() != before.content.strip())


def _content(request: PageRequest, name: str) -> str:
    """Return the text of a form, or of the event that it names.

    Raises:
        NotFoundError: The history has no such event with a text.
    """
    if not (named := request.form.get("event")):
        return _text(request.form.get("content", ""))
    events = request.memory.history(name, viewer=request.viewer)
    texts = {event["id"]: event["text"] for event in events if event["text"] not in ("", HIDDEN)}
    if named not in texts:
        raise NotFoundError("The history has no such text any more. Nothing was changed.")
    return str(texts[named])


def _closed_again(request: PageRequest, name: str) -> dict[str, Any]:
    """Return the sensitivity of an earlier text that was closed since; else nothing."""
    if not (named := request.form.get("event")):
        return {}
    events = request.memory.history(name, viewer=Viewer.REPORT)
    closed = any(event["id"] == named and event["text"] == HIDDEN for event in events)
    return {"sensitivity": SECRET} if closed else {}


def _labels_in(request: PageRequest, tags: Sequence[str]) -> dict[str, Any]:
    """Return the labels that a person's form gives; tags that it leaves as they are stay, commas and all."""
    form = request.form
    given: dict[str, Any] = {column: form[name] for name, column in _EDITED.items() if form.get(name)}
    if form.get("tags", shown := ", ".join(tags)) != shown:
        given["tags"] = _typed_tags(form["tags"], tags)
    return given if request.person else {}


def _typed_tags(text: str, known: Sequence[str]) -> list[str]:
    """Return the tags of a field with commas between; known ones may have commas and begin with "#"."""
    for at, tag in enumerate(known):
        if "," in tag or tag.startswith("#"):
            text = text.replace(tag, f"\0{at}\0", 1)
    parts = [part.strip() for part in text.split(",")]
    typed = [
        known[int(part.strip("\0"))] if part.startswith("\0") else part.removeprefix("#") for part in parts
    ]
    return list(dict.fromkeys(filter(None, typed)))


def _saved(request: PageRequest, saved: Saved, *, corrected: str = "", is_new_text: bool = False) -> Redirect:
    """Name the outcome of a save; `corrected` is the memory whose text it was to replace."""
    warnings = " ".join(saved.warnings)
    why = "; ".join(gate_text.words_of(name).why for name in saved.reasons)
    if saved.status == "quarantined":
        kept = (
            Markup(" {} keeps the text that it had.").format(_linked(request, corrected)) if corrected else ""
        )
        goal = to("quarantine", saved.memory_id) if request.person else "/"
        message = Markup("{}{} {}").format(f"Not saved: the save gate refused it ({why}).", kept, warnings)
        return Redirect(goal, message, failed=True)
    statuses = {
        "merged": "It is nearly the same as another memory, and was merged into that.",
        "superseded": "A newer memory supersedes it.",
    }
    relations = {"supersede": "It supersedes another memory.", "related": "It is related to another memory."}
    more = statuses.get(saved.status) or relations.get(saved.outcome) or ""
    if why:
        despite = gate_text.stored_despite(request.memory.gate_policy, request.now)
        more += f" {despite} notes like this one: {why}."
    notice = Markup("{}").format(f"Saved. {more.strip()} {warnings}".strip())
    if corrected == saved.memory_id and is_new_text:
        notice += _BEFORE
    return Redirect(to("memory", saved.memory_id), notice)


def _linked(request: PageRequest, memory_id: str) -> Markup:
    record = record_of(request.memory.tenant, memory_id)
    return linked(memory_id, record.title if is_open(record.sensitivity) else "(secret)")


def _text(content: str) -> str:
    return content.replace("\r\n", "\n")


def forget(request: PageRequest) -> Redirect:
    """Hide a memory from searches."""
    name = request.path["memory"]
    new = request.memory.forget(name, viewer=request.viewer)
    begins, then = ("Forgotten", "Searches do not return it any more.") if new else ("Already forgotten", "")
    message = _about(request, name, begins, then, "You can" if request.person else "A person can")
    message += Markup(" unforget it.")
    if new and request.person and (same := request.memory.repetitions(name)):
        links = Markup("; ").join(linked(other, title) for other, title in list(same.items())[:5])
        message += Markup(" Stays, and may say the same: {}.").format(links)
    return _back(request, name, message, "unforget" if new and request.person else "")


def _about(request: PageRequest, name: str, begins: str, *then: str) -> Markup:
    """Return a notice with the linked title of a memory; a secret one's is hidden."""
    record = record_of(request.memory.tenant, name)
    title = record.title if is_open(record.sensitivity) else HIDDEN
    return Markup("{}: {}. {}").format(begins, linked(name, title), " ".join(filter(None, then)))


def _back(request: PageRequest, name: str, message: str, undo: str) -> Redirect:
    """Return to the form's page; the list offers to take the action back."""
    page = to("memory", name) if request.person else "/memories"  # a forgotten one is for persons
    goal = local(request.form.get("back", ""), page)
    if undo and goal.startswith("/memories"):
        request.session.offer(reversal_of(undo, [name]))
    return Redirect(goal, message)


def remember(request: PageRequest) -> Redirect:
    """Unforget a memory."""
    name = request.path["memory"]
    new = request.memory.unforget(name)
    begins, then = ("No longer forgotten", "Searches return it again.")
    message = _about(request, name, *((begins, then) if new else ("Not forgotten", "Nothing changed.")))
    return _back(request, name, message, "forget" if new else "")


WAYS: Final = (
    PageRoute("/save", save, post=True, person=False, changes=True),
    PageRoute("/memory/{memory}", memory, person=False),
    PageRoute("/memory/{memory}/correct", correct, post=True, person=False, changes=True),
    PageRoute("/memory/{memory}/forget", forget, post=True, person=False, changes=True),
    PageRoute("/memory/{memory}/remember", remember, post=True, changes=True),
)
