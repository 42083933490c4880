"""Acts on memories: search, rate, save, edit, forget, erase, list and several at once."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from web_acts import ACTS, Act, Visit, act, on

from slowwave.memory import Memory

# -- searching ----------------------------------------------------------------------------------

FILTERED = {
    ("/", 1280): "person", ("/?q", 1280): "meeting", ("/found/{search}", 1280): "incident",
    ("/", 390): "project", ("/?q", 390): "reference", ("/found/{search}", 390): "constraint",
}  # fmt: skip
"""Type of the memories that an act filters, by the page of its form and the width: no other act has it."""


def _open_form_of_search(visit: Visit, page: str) -> None:
    visit.go("/" if page == "/" else "/?q=who+signs+the+book+in+the+porch%3F")
    if page == "/found/{search}":
        visit.press(visit.page.locator("form.rate button").first)
        visit.page.wait_for_url("**/found/*")


def _search_with_filters(visit: Visit, page: str) -> None:
    kind = FILTERED[page, visit.width]
    text = visit.text()
    visit.save(text, title="Wanted", memory_type=kind)
    visit.save(title="Of another type", memory_type="preference")
    visit.save(title="Old", memory_type=kind, created_at=datetime(2020, 1, 1, tzinfo=UTC))
    visit.save(title="Hidden", memory_type=kind, sensitivity="secret")
    decision, older = visit.waiting(memory_type=kind)
    newer = visit.memory.accept(decision)["title"]
    assert visit.status(older) == "superseded"
    usual = {"Wanted", newer}
    for name, found in (
        ("", [*usual, "Old"]), ("since", usual), ("superseded", [*usual, "Old", newer]),
        ("secret", [*usual, "Old", "Hidden"]),
    ):  # fmt: skip
        _open_form_of_search(visit, page)
        visit.press(visit.page.locator("details.filters summary"))
        visit.choose("type", kind)
        if name == "since":
            visit.choose("since", "2026-01-01")
        elif name:
            visit.press(visit.page.locator(f"input[name='{name}']"))
        visit.fill("q", f"where {text}")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url("**q=where**")
        titles = visit.page.locator("ol.results h3").all_inner_texts()
        assert sorted(titles) == sorted(found), (name, titles)
        assert titles[0] == "Wanted"


for page, name in (("/", "first"), ("/?q", "results"), ("/found/{search}", "rated")):
    names = on(page, *(f"GET / {one}" for one in ("q", "type", "since", "superseded", "secret")))
    ACTS.append(Act(f"filter_from_the_{name}_page", partial(_search_with_filters, page=page), names))


@act(
    *on("/", "GET / q"),
    *(name
      for page in ("/?q", "/found/{search}") for rating in ("helpful", "neutral", "unhelpful")
      for name in on(page, f"POST /found/{{search}}/rate rating={rating}")),
)  # fmt: skip
def rate_results(visit: Visit) -> None:
    text = visit.text()
    memory_id = visit.save(text)
    form = visit.page.locator(f"form.rate:has(input[value='{memory_id}'])")
    for first, then in (("helpful", "neutral"), ("neutral", "unhelpful"), ("unhelpful", "helpful")):
        visit.go("/")
        visit.fill("q", f"{first} {text}")
        visit.press(visit.page.locator("form.search > button"))
        for rating in (first, then):  # of the results, then of the page that shows the rating
            visit.press(form.locator(f"button[value='{rating}']"))
            visit.page.locator(
                f"form.rate:has(input[value='{memory_id}']) [aria-pressed][value='{rating}']"
            ).wait_for()
            visit.page.reload()
            assert form.locator("button[aria-pressed]").get_attribute("value") == rating
    stats = visit.memory.stats(memory_id)
    assert (stats.helpful, stats.neutral, stats.unhelpful) == (1, 1, 1)  # the last of each search
    assert stats.waiting == 6


@act(*on("/", "POST /save title", "POST /save content", "POST /save type"))
def save_a_note(visit: Visit) -> None:
    text = visit.text()
    visit.go("/")
    visit.press(visit.page.locator("details.box > summary"))
    form = visit.page.locator("form[action='/save']")
    visit.fill("title", "Typed in", form)
    visit.fill("content", text, form)
    visit.choose("type", "decision", form)
    visit.send("/save")
    visit.page.wait_for_url("**/memory/*")
    record = visit.record(visit.page.url.rpartition("/")[2])
    assert (record.content, record.title, record.memory_type) == (text, "Typed in", "decision")


# -- one memory ---------------------------------------------------------------------------------


@act(*on("/memory/{memory}", *(f"POST /memory/{{memory}}/correct {name}" for name in
       ("title", "content", "type", "tier", "sensitivity", "tags"))))  # fmt: skip
def edit_a_memory(visit: Visit) -> None:
    memory_id, text = visit.save(), visit.text()
    visit.go(f"/memory/{memory_id}")
    visit.press(visit.page.locator("details.box > summary"))
    form = visit.page.locator("form.stack[action$='/correct']")
    visit.fill("title", "Another title", form)
    visit.fill("content", text, form)
    for name, value in (("type", "procedure"), ("tier", "important"), ("sensitivity", "public")):
        visit.choose(name, value, form)
    visit.fill("tags", "pier, #lamp", form)
    visit.press(form.locator("button"))
    visit.told()
    record = visit.record(memory_id)
    labels = (record.title, record.content, record.memory_type, record.importance_tier, record.sensitivity)
    assert labels == ("Another title", text, "procedure", "important", "public")
    assert record.tags == ("pier", "lamp")
    visit.press(visit.page.locator(".notice a[href='#history']"))  # it says how to go back
    visit.press(visit.page.locator("#history form[action$='/correct'] button"))
    visit.told()
    assert visit.record(memory_id).content != text


@act(*on("/memory/{memory}", "POST /memory/{memory}/correct", "POST /memory/{memory}/correct event"))
def use_an_earlier_text_again(visit: Visit) -> None:
    text = f"{visit.text()}\nIt is written on two lines."
    memory_id = visit.save(text, key=f"again/{visit.width}")
    visit.memory.save(visit.text(), key=f"again/{visit.width}", title="Later")
    assert visit.record(memory_id).content != text
    visit.go(f"/memory/{memory_id}")
    first = visit.page.locator("li[id^='e-']:has(form[action$='/correct'])").last
    visit.press(first.locator("summary"))
    visit.press(first.locator("form[action$='/correct'] button"))
    visit.told()
    assert visit.record(memory_id).content == text


@act(*on("/memory/{memory}", "POST /memory/{memory}/forget", "POST /memory/{memory}/remember"))
def forget_a_memory_and_unforget_it(visit: Visit) -> None:
    memory_id = visit.save()
    visit.go(f"/memory/{memory_id}")
    visit.send(f"/memory/{memory_id}/forget")
    visit.page.locator("form[action$='/remember']").wait_for()
    assert visit.status(memory_id) == "retired"
    visit.send(f"/memory/{memory_id}/remember")
    visit.page.locator("form[action$='/forget']").wait_for()
    assert visit.status(memory_id) == "live"


@act(*on("/memory/{memory}/erase", "POST /memory/{memory}/erase why"))
def erase_a_memory_after_its_preview(visit: Visit) -> None:
    memory_id = visit.save()
    visit.go(f"/memory/{memory_id}")
    for leave in (True, False):
        visit.press(visit.page.locator(f"a[href='/memory/{memory_id}/erase']"))
        visit.page.locator("input[name='shown']").wait_for(state="attached")
        if leave:
            visit.press(visit.page.locator(f"main a.button[href='/memory/{memory_id}']"))
            assert visit.status(memory_id) == "live"
    visit.fill("why", "nobody asked for it")
    visit.send(f"/memory/{memory_id}/erase")
    visit.page.wait_for_url("**/memories")
    assert visit.memory.store.count("memories", f"memory_id = '{memory_id}'") == 0


@act(*on("/memory/{memory}", "POST /decisions/{decision}/undo"))
def undo_a_merge_on_the_page_of_its_memory(visit: Visit) -> None:
    decision, memory_id, text = visit.merged()
    assert visit.record(memory_id).content != text
    visit.go(f"/memory/{memory_id}")
    visit.send(f"/decisions/{decision}/undo")
    visit.told()
    assert visit.record(memory_id).content == text


# -- the list -----------------------------------------------------------------------------------


@act(*on("/memories", *(f"GET /memories {name}" for name in
       ("type", "tag", "by", "state", "sort", "kind", "date", "from", "to", "source"))))  # fmt: skip
def filter_and_sort_the_list(visit: Visit) -> None:
    tag, place = f"pick-{visit.width}", f"list/{visit.width}"
    own = {"tags": [tag], "memory_type": "decision", "source_kind": "imported"}
    for title in ("Beta", "Alpha"):
        visit.save(title=title, key=f"{place}/{title}", **own)
    visit.save(title="Elsewhere", key=f"other/{place}", **own)
    visit.save(title="Of another type", key=f"{place}/type", **own | {"memory_type": "procedure"})
    visit.save(title="Kept by hand", key=f"{place}/kind", **own | {"source_kind": "manual"})
    visit.save(title="Old", key=f"{place}/old", created_at=datetime(2020, 1, 1, tzinfo=UTC), **own)
    visit.memory.forget(visit.save(title="Forgotten", key=f"{place}/forgotten", **own))
    beside = Memory(visit.memory.settings, namespace="ada", principal="claude", space=visit.memory.home)
    beside.save(visit.text(), title="By claude", key=f"{place}/claude", **own)
    visit.go("/memories")
    visit.choose("tag", tag)
    current = ["Alpha", "Beta", "By claude", "Elsewhere", "Kept by hand", "Of another type", "Old"]
    _choose_and_see(visit, current, sort="title")
    current.remove("Of another type")
    _choose_and_see(visit, current, type="decision")
    _choose_and_see(visit, ["Forgotten"], state="forgotten")
    _choose_and_see(visit, current, state="current")
    _choose_and_see(visit, ["By claude"], by="claude")
    current.remove("By claude")
    _choose_and_see(visit, current, by=visit.memory.principal)
    _choose_and_see(visit, ["Old", "Kept by hand", "Elsewhere", "Alpha", "Beta"], sort="updated")
    _choose_and_see(visit, current, sort="title")
    visit.press(visit.page.locator("details.filters summary"))
    current.remove("Kept by hand")
    _choose_and_see(visit, current, kind="imported")
    _choose_and_see(visit, ["Old"], date="created", to="2026-01-01")
    current.remove("Old")
    _choose_and_see(visit, current, **{"from": "2026-01-01", "to": "2100-01-01"})
    visit.fill("source", place)
    _choose_and_see(visit, ["Alpha", "Beta"])


def _choose_and_see(visit: Visit, titles: list[str], **filters: str) -> None:
    """Choose filters, and see that the list has exactly these memories, in this order."""
    for name, value in filters.items():
        visit.choose(name, value)
    with visit.page.expect_navigation():
        visit.press(visit.page.locator("form.filter > button"))
    shown = visit.page.locator(".list h2 a").all_inner_texts()
    assert shown == titles, (filters, shown)


@act()
def turn_the_pages_of_the_list(visit: Visit) -> None:
    visit.go("/memories")
    shown = visit.page.locator(".list h2 a")
    first = shown.all_inner_texts()
    visit.press(visit.page.locator("a[rel='next']"))
    visit.page.locator("a[rel='prev']").wait_for()
    second = shown.all_inner_texts()
    assert set(second) != set(first)
    visit.press(visit.page.locator("a[rel='prev']"))
    visit.page.wait_for_url("**skip=0**")
    assert shown.all_inner_texts() == first != second


@act(*on("/memories", "POST /memory/{memory}/forget", "POST /memory/{memory}/remember",
         "POST /memories/act action=unforget", "POST /memories/act action=forget"))  # fmt: skip
def forget_and_unforget_in_the_list_and_take_both_back(visit: Visit) -> None:
    tag = f"one-{visit.width}"
    memory_id = visit.save(tags=[tag])
    for state, step, after, back in (
        ("current", "forget", "retired", "live"), ("forgotten", "remember", "live", "retired")
    ):  # fmt: skip
        visit.go(f"/memories?tag={tag}&state={state}")
        visit.send(f"/memory/{memory_id}/{step}")
        visit.page.locator("form.notice button").wait_for()
        assert visit.status(memory_id) == after
        visit.press(visit.page.locator("form.notice button"))
        visit.page.locator("form.notice").wait_for(state="detached")
        assert visit.status(memory_id) == back
        visit.memory.forget(memory_id)


def _in_bulk(visit: Visit, action: str, undo: str, rows: str, read: Callable[[Visit, str], Any]) -> None:
    tag = f"{action}-{visit.width}"
    memory_ids = [visit.save(tags=[tag]) for _ in range(3)]
    if action == "unforget":
        for memory_id in memory_ids:
            visit.memory.forget(memory_id)
    before = [read(visit, one) for one in memory_ids]
    visit.go(f"/memories?tag={tag}&state={rows}")
    if action.endswith("tag"):
        visit.fill("tag", f"new-{tag}" if action == "tag" else tag, visit.page.locator("#bulk"))
    visit.mark(*memory_ids[:2])
    visit.press(visit.page.locator(f"#bulk button[value='{action}']"))
    visit.page.locator(f"form.notice button[value='{undo}']").wait_for()
    after = [read(visit, one) for one in memory_ids]
    assert after[2] == before[2]
    assert all(one != other for one, other in zip(before[:2], after[:2], strict=True))
    visit.press(visit.page.locator(f"form.notice button[value='{undo}']"))
    visit.page.locator("form.notice").wait_for(state="detached")
    assert [read(visit, one) for one in memory_ids] == before


def _status(visit: Visit, memory_id: str) -> str:
    return visit.status(memory_id)


def _tags(visit: Visit, memory_id: str) -> set[str]:
    return set(visit.record(memory_id).tags)


for action, undo, rows, read in (
    ("forget", "unforget", "current", _status), ("unforget", "forget", "forgotten", _status),
    ("tag", "untag", "current", _tags), ("untag", "tag", "current", _tags),
):  # fmt: skip
    more = ("POST /memories/act tag",) if action.endswith("tag") else ()
    sends = (f"POST /memories/act action={action}", f"POST /memories/act action={undo}", *more)
    run = partial(_in_bulk, action=action, undo=undo, rows=rows, read=read)
    sends = on("/memories", "POST /memories/act m-*", *sends)
    ACTS.append(Act(f"{action}_several_and_take_it_back", run, sends))


@act(*on("/memories", "POST /memories/act action=export", "POST /memories/act m-*"))
def export_all_that_are_marked(visit: Visit) -> None:
    tag = f"export-{visit.width}"
    texts = [visit.text(), visit.text()]
    for text in texts:
        visit.save(text, tags=[tag])
    visit.go(f"/memories?tag={tag}")
    visit.press(visit.page.locator("[data-mark-all]"))
    with visit.page.expect_download() as download:
        visit.press(visit.page.locator("#bulk button[value='export']"))
    with zipfile.ZipFile(Path(download.value.path())) as archive:
        notes = [archive.read(name).decode() for name in archive.namelist() if name != "index.md"]
    assert len(notes) == 2
    assert all(any(text in note for note in notes) for text in texts)


@act(*on("/memories", "POST /memories/act action=release", "POST /memories/act action=discard",
         "POST /memories/act action=restore", "POST /memories/act m-*"))  # fmt: skip
def release_and_discard_several_and_restore_them(visit: Visit) -> None:
    rows = {}
    for _ in range(2):
        held = visit.held()
        rows[held] = visit.memory.store.read("quarantine", f"quarantine_id = '{held}'")["memory_id"][0]
    kept, released = rows
    visit.go("/memories?state=quarantined")
    visit.mark(rows[released])
    visit.press(visit.page.locator("#bulk button[value='release']"))
    visit.told()
    assert visit.status(rows[released]) == "live"
    visit.go("/memories?state=quarantined")
    visit.mark(rows[kept])
    visit.press(visit.page.locator("#bulk button[value='discard']"))
    visit.page.locator("form.notice button[value='restore']").wait_for()
    assert kept in visit.discarded()
    visit.press(visit.page.locator("form.notice button[value='restore']"))
    visit.page.locator("form.notice").wait_for(state="detached")
    assert kept in visit.held_now()


@act(
    *on(
        "/memories",
        "POST /memories/act action=release", "POST /memories/act action=withdraw", "POST /memories/act m-*",
    )
)  # fmt: skip
def release_a_marked_note_and_take_it_back(visit: Visit) -> None:
    held = visit.held()
    note = visit.memory.store.read("quarantine", f"quarantine_id = '{held}'")["memory_id"][0]
    visit.go("/memories?state=quarantined")
    visit.mark(note)
    visit.press(visit.page.locator("#bulk button[value='release']"))
    visit.page.locator("form.notice button", has_text="Undo: forget 1 memory").wait_for()
    assert visit.status(note) == "live"
    visit.press(visit.page.locator("form.notice button"))
    visit.page.locator("form.notice").wait_for(state="detached")
    assert visit.status(note) == "retired"
