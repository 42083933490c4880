"""One memory with all that is known of it, what was stored lately, and what people do about both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from slowwave.common import ids
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.feedback.stats import stats as stats_of
from slowwave.home.heartbeat import beats, describe_beat
from slowwave.home.tenant import MemoryRecord, Saved
from slowwave.home.visibility import open_rows, redact
from slowwave.lifecycle.correcting import given_title
from slowwave.lifecycle.recent_memories import recent_memories
from slowwave.serving import saving
from slowwave.store import one_of
from slowwave.views import erasing, gate_text, learning_lists, mcp_text, usage
from slowwave.web.request import PAGE, PageRequest, PageRoute, Redirect, ShownPage, local, to, together

EVENTS: Final = 100  # of a history, the last ones (count)
CHARACTERS: Final = 20_000  # of a text that a page shows
LESSONS: Final = 20  # of a memory (count)
LISTED: Final = 50  # memories and files that an erasure lists (count)
_TAKEN_BACK: Final = ("merge", "supersede", "related", "duplicate")
_LABELS: Final = ("revision", "origin", "principal", "source_kind", "source_of_truth", "state")


def memory(asked: PageRequest) -> ShownPage | Redirect:
    """A memory."""
    name = asked.path["memory"]
    asked.require_visible(name)
    try:
        record = asked.memory.get(name)
    except NotFoundError:
        if asked.person and _held(asked, name):
            return Redirect(to("quarantine", name))
        raise
    calls: list[Callable[[], Any]] = [
        lambda: asked.memory.history(name, viewer=asked.viewer),
        lambda: _labels(asked, name),
    ]
    if asked.person:
        calls.append(lambda: stats_of(asked.memory.home, record, as_of=asked.now))
    events, labels, *stats = together(*calls)
    data: dict[str, Any] = {
        "record": record,
        "title_given": given_title(record),
        "text": record.content[:CHARACTERS],
        "more": max(0, len(record.content) - CHARACTERS),
        "events": _events(events[-EVENTS:]),
        "omitted": max(0, len(events) - EVENTS),
        "links": _links(asked, record, events),
        "file": record.source if labels["origin"] else "",
        "labels": labels,
    }
    for one in stats:
        data |= {"used": usage.usage_text(one, asked.now), "recent": one.recent, **_taught(asked, name)}
    return ShownPage("memory", record.title or name, data, place="/lately")


def _held(asked: PageRequest, name: str) -> bool:
    mine = asked.memory.tenant.mine(one_of("memory_id", [name]))
    return asked.memory.store.count("quarantine", mine) > 0


def _labels(asked: PageRequest, name: str) -> dict[str, Any]:
    mine = asked.memory.tenant.mine(one_of("memory_id", [name]))
    return asked.memory.store.read("memories", mine, columns=_LABELS).row(0, named=True)


def _events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    undone = {one["id"] for one in events if one["event"].endswith((" undone", "accepted"))}
    return [
        one
        | {
            "text": one["text"][:CHARACTERS],
            "undo": one["event"].partition(" (")[0] in _TAKEN_BACK and one["id"] not in undone,
        }
        for one in reversed(events)
    ]


def _links(
    asked: PageRequest, record: MemoryRecord, events: list[dict[str, Any]]
) -> list[tuple[str, str, str]]:
    """Other memories: how they are linked with this one, their ids and titles."""
    found: dict[tuple[str, str], None] = {}
    now = {"merged": "merged into", "superseded": "superseded by"}.get(record.status, "replaced by")
    if record.replaced_by:
        found[now, record.replaced_by] = None
    found |= dict.fromkeys(("absorbed", one) for one in record.absorbed)
    if record.follows:
        found["follows", record.follows] = None
    tenant = asked.memory.tenant
    about = f"{one_of('from_memory', [record.memory_id])} OR {one_of('to_memory', [record.memory_id])}"
    edges = tenant.store.read("edges", tenant.mine(about), columns=["from_memory", "to_memory", "kind"])
    for start, end, kind in edges.iter_rows():
        mine = start == record.memory_id
        verb = {"supersedes": ("supersedes", "superseded by")}.get(kind, (kind, kind))[0 if mine else 1]
        found[verb, end if mine else start] = None
    known = {name for _, name in found}
    found |= {
        ("looked at beside", one["other"]): None
        for one in events
        if one["other"] and one["other"] not in known
    }
    names = sorted({name for _, name in found})
    titles = tenant.store.read_by(
        "memories",
        "memory_id",
        names,
        columns=["memory_id", "title", "sensitivity"],
        also=tenant.mine("true"),
    )
    if not asked.person:
        titles = titles.filter(open_rows())
    told = dict(redact(titles, ~open_rows(), "title").select("memory_id", "title").iter_rows())
    return [(how, name, told[name]) for how, name in found if name in told]


def _taught(asked: PageRequest, name: str) -> dict[str, Any]:
    """What was learned of a memory; to ask for it is to read all that was proposed, so first a look."""
    tenant = asked.memory.tenant
    mine = tenant.mine(one_of("memory_id", [name]))
    if not tenant.store.count("learned_proposals", mine):
        return {}
    learning = asked.memory.learning
    return {
        "terms": learning_lists.terms(learning.terms(memory_id=name), LESSONS),
        "keys": learning_lists.keys(learning.keys(memory_id=name), LESSONS),
    }


# -- acts ------------------------------------------------------------------------------------------


def save(asked: PageRequest) -> Redirect:
    """Save a note."""
    form = asked.form
    label = {"source_kind": "manual"} if asked.person else {}
    saved = asked.memory.save(
        _text(form.get("content", "")), title=form.get("title", "").strip(),
        memory_type=form.get("type", ""), **label,
    )  # fmt: skip
    return _saved(asked, saved)


def correct(asked: PageRequest) -> Redirect:
    """Let a memory say something else."""
    name = asked.path["memory"]
    asked.require_visible(name)

    def check(revision: str) -> None:
        if asked.form.get("read", "") not in ("", revision):
            raise SlowwaveError(
                "This memory was changed since you opened it, so your correction was not saved. Go back to "
                "copy your text, and look at the memory again."
            )

    content, title = _text(asked.form.get("content", "")), asked.form.get("title", "").strip()
    return _saved(asked, saving.correct(asked, name, content, title=title, check=check))


def _saved(asked: PageRequest, saved: Saved) -> Redirect:
    told = " ".join(saved.warnings)
    if saved.status == "quarantined":
        why = "; ".join(gate_text.told(saved.reasons))
        goal = to("quarantine", saved.memory_id) if asked.person else "/"
        return Redirect(goal, f"Not let in: {why}. {told}".strip())
    became = {
        "merged": "It says nearly the same as another one, and was merged into that.",
        "superseded": "A newer memory says otherwise, and supersedes it.",
    }
    known = {"supersede": "It supersedes another one.", "related": "It is related to another one."}
    more = became.get(saved.status) or known.get(saved.outcome) or ""
    return Redirect(to("memory", saved.memory_id), f"Saved. {more} {told}".strip())


def _text(content: str) -> str:
    return content.replace("\r\n", "\n")


def forget(asked: PageRequest) -> Redirect:
    """Take a memory out of every search."""
    name = asked.path["memory"]
    new = asked.memory.forget(name, viewer=asked.viewer)
    said = "Forgotten: no search finds it any more." if new else "It was forgotten already."
    more = "You can bring it back." if asked.person else mcp_text.after_forgetting(name)
    return Redirect(local(asked.form.get("back", ""), to("memory", name)), f"{said} {more}")


def remember(asked: PageRequest) -> Redirect:
    """Take a forgetting back."""
    name = asked.path["memory"]
    new = asked.memory.remember(name)
    told = "Remembered: it is found again, as it was." if new else "It was not forgotten; nothing changed."
    return Redirect(local(asked.form.get("back", ""), to("memory", name)), told)


def about_to_erase(asked: PageRequest) -> ShownPage:
    """What an erasure would take away."""
    name = asked.path["memory"]
    planned = asked.memory.to_erase(name)
    data = {
        "name": name,
        "sections": erasing.goes(planned, LISTED),
        "beside": erasing.beside(planned, LISTED),
        "elsewhere": erasing.ELSEWHERE,
        "warning": erasing.NO_WAY_BACK,
        "shown": _mark(asked, planned),
    }
    return ShownPage("erase", "Erase for good", data, place="/lately")


def erase(asked: PageRequest) -> Redirect:
    """Take a memory away for good, if it is what was shown."""
    planned = asked.memory.to_erase(asked.path["memory"])
    if asked.form.get("shown") != _mark(asked, planned):
        raise SlowwaveError(
            "What would be erased is not what was shown any more, so nothing was erased. Look at it again."
        )
    done = asked.memory.erase_planned(planned, why=asked.form.get("why", "").strip())
    return Redirect("/lately", " ".join(["Erased.", f"The record is {done.erasure}.", *done.remains]))


def _mark(asked: PageRequest, planned: Any) -> str:  # noqa: ANN401 - upkeep.erasure.Plan
    """What tells whether the same memories would go, and say the same still."""
    rows = asked.memory.store.read_by(
        "memories", "memory_id", [one.memory_id for one in planned.memories],
        columns=["memory_id", "revision"], also=asked.memory.tenant.mine("true"),
    )  # fmt: skip
    says = dict(rows.iter_rows())
    return ids.digest("erase", *(f"{one.memory_id} {says.get(one.memory_id)}" for one in planned.memories))


# -- what was stored lately ------------------------------------------------------------------------


def stored(asked: PageRequest) -> ShownPage:
    """What was stored lately, and by whom."""
    principal, kind, skip = asked.query.get("by", ""), asked.query.get("kind", ""), asked.number("skip")
    found = recent_memories(
        asked.memory.tenant, principal=principal, source_kind=kind, skip=skip, limit=PAGE,
        viewer=asked.lists,
    )  # fmt: skip
    hooks = [
        (beat.silent, describe_beat(beat, asked.now))
        for beat in beats(asked.memory.settings.home)
        if beat.namespace == asked.memory.namespace
    ]
    data = {"found": found, "by": principal, "kind": kind, "skip": skip, "page": PAGE, "hooks": hooks}
    return ShownPage("lately", "Stored lately", data, place="/lately")


WAYS: Final = (
    PageRoute("/save", save, post=True, person=False, changes=True),
    PageRoute("/lately", stored, person=False),
    PageRoute("/memory/{memory}", memory, person=False),
    PageRoute("/memory/{memory}/correct", correct, post=True, person=False, changes=True),
    PageRoute("/memory/{memory}/forget", forget, post=True, person=False, changes=True),
    PageRoute("/memory/{memory}/remember", remember, post=True, changes=True),
    PageRoute("/memory/{memory}/erase", about_to_erase),
    PageRoute("/memory/{memory}/erase", erase, post=True, changes=True),
)
