"""Acts on what waits for a person, on the timeline, on learning, and to sign in and out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from urllib.parse import quote

from web_acts import ACTS, HEADER, Act, Visit, act, on

from slowwave.lifecycle.trusted_sources import trust, trusted_sources
from slowwave.memory import Memory

# -- quarantine ---------------------------------------------------------------------------------


PLACES = {"/quarantine": "/quarantine", "/quarantine/{note}": "/quarantine/{}"}
"""Pages with the forms of a refused note."""


@act(*(name for page in PLACES for name in on(page, "POST /quarantine/{note}/release")))
def release_a_refused_note(visit: Visit) -> None:
    for place in PLACES.values():
        note = visit.held()
        visit.go(place.format(note))
        visit.send(f"/quarantine/{note}/release")
        visit.page.wait_for_url("**/memory/*")
        assert visit.status(visit.page.url.rpartition("/")[2]) == "live"
        assert note not in visit.held_now()


@act(*on("/quarantine/{note}", "POST /quarantine/{note}/rewrite",
         *(f"POST /quarantine/{{note}}/rewrite {name}" for name in ("title", "content"))))  # fmt: skip
def write_a_refused_note_again(visit: Visit) -> None:
    note = visit.held()
    text, title = visit.text(), f"Again {next(visit.words)}"
    visit.go(f"/quarantine/{note}")
    address = quote(f"/quarantine/{note}/rewrite")
    visit.press(visit.page.locator(f"details:has(form[action='{address}']) > summary"))
    form = visit.page.locator(f"form[action='{address}']")
    visit.fill("title", title, form)
    visit.fill("content", text, form)
    visit.press(form.locator("button"))
    visit.page.wait_for_url("**/memory/*")
    record = visit.record(visit.page.url.rpartition("/")[2])
    assert (record.title, record.content, record.status) == (title, text, "live")
    assert note not in visit.held_now()


@act(*(name for page in PLACES for act in ("discard", "restore")
       for name in on(page, f"POST /quarantine/{{note}}/{act}")))  # fmt: skip
def discard_a_refused_note_and_restore_it(visit: Visit) -> None:
    note = visit.held()
    for place in PLACES.values():
        visit.go(place.format(note))
        visit.send(f"/quarantine/{note}/discard")
        visit.told()
        assert note in visit.discarded()
        visit.press(visit.page.locator("a[href='/quarantine?status=discarded']").first)
        if "{}" in place:
            visit.press(visit.page.locator(f"a[href='{quote(f'/quarantine/{note}')}']"))
        visit.send(f"/quarantine/{note}/restore")
        visit.told()
        assert note in visit.held_now()


@act(*on("/quarantine", "POST /quarantine/reason/{reason}/discard", "POST /memories/act action=restore"))
def discard_all_of_a_reason_and_restore_them(visit: Visit) -> None:
    notes = {visit.held(), visit.held()}
    visit.go("/quarantine")
    visit.send("/quarantine/reason/no_statement/discard")
    visit.told()
    assert notes <= visit.discarded()
    visit.press(visit.page.locator("form.notice button[value='restore']"))
    visit.page.locator("form.notice").wait_for(state="detached")
    assert notes <= visit.held_now()
    visit.memory.discard(*notes)


def _always_let_in(visit: Visit, page: str) -> None:
    beside = Memory(visit.memory.settings, namespace="ada", principal="claude", space=visit.memory.home)
    text = f"ok {next(visit.words)}"
    assert beside.save(text).status == "quarantined"
    note = next(row["quarantine_id"] for row in visit.memory.quarantine() if row["content"] == text)
    visit.go(PLACES[page].format(note))
    address = quote(f"/quarantine/{note}/trust")
    form = visit.page.locator(f"form[action='{address}']")
    visit.press(visit.page.locator(f"details.trust:has(form[action='{address}']) > summary"))
    visit.fill("why", "short remarks", form)
    visit.press(form.locator("button"))
    visit.told()
    assert note not in visit.held_now()
    assert beside.save(f"well {next(visit.words)}").status == "live"


@act(*(name for page in PLACES for name in on(page, "POST /quarantine/{note}/trust why")),
     *on("/quarantine", "POST /quarantine/sources/untrust"))  # fmt: skip
def always_let_in_a_source_and_end_that(visit: Visit) -> None:
    beside = Memory(visit.memory.settings, namespace="ada", principal="claude", space=visit.memory.home)
    for page in PLACES:
        _always_let_in(visit, page)
        visit.go("/quarantine")
        assert "short remarks" in visit.page.locator("li.rule").inner_text()
        visit.send("/quarantine/sources/untrust")
        visit.page.locator("form[action='/quarantine/sources/untrust']").wait_for(state="detached")
        assert beside.save(f"so {next(visit.words)}").status == "quarantined"


@act(*on("/settings", "POST /quarantine/sources/untrust"), who="owner")
def end_that_a_source_is_let_in_on_the_settings(visit: Visit) -> None:
    trust(visit.memory.tenant, "user:claude", why="short remarks")
    visit.go("/settings")
    assert "short remarks" in visit.page.locator("li.rule").inner_text()
    visit.send("/quarantine/sources/untrust")
    visit.page.locator("form[action='/quarantine/sources/untrust']").wait_for(state="detached")
    assert visit.page.url.endswith("/settings")
    assert not trusted_sources(visit.memory.tenant)


# -- decisions ----------------------------------------------------------------------------------


@act(*on("/decisions", "POST /decisions/{decision}/accept", "POST /decisions/{decision}/undo"))
def accept_a_decision_and_undo_it(visit: Visit) -> None:
    decision, older = visit.waiting()
    visit.go("/decisions")
    visit.send(f"/decisions/{decision}/accept")
    visit.told()
    assert visit.status(older) == "superseded"
    done = visit.memory.decisions(memory_id=older, outcome="supersede")[0]["decision_id"]
    visit.send(f"/decisions/{done}/undo")
    visit.told()
    assert visit.status(older) == "live"


@act(*on("/decisions", "POST /decisions/{decision}/decline"))
def decline_a_decision(visit: Visit) -> None:
    decision, older = visit.waiting()
    visit.go("/decisions")
    visit.send(f"/decisions/{decision}/decline")
    visit.told()
    assert decision not in {row["decision_id"] for row in visit.memory.decisions(waiting=True)}
    assert visit.status(older) == "live"


@act(*on("/decisions/{decision}", "POST /decisions/{decision}/undo"))
def compare_both_texts_of_a_merge_and_undo_it(visit: Visit) -> None:
    decision, memory_id, text = visit.merged()
    visit.go("/decisions")
    visit.press(visit.page.locator(f"a[href='/decisions/{decision}']"))
    visit.page.locator(".sides").wait_for()
    assert visit.page.locator(".sides blockquote").count() == 2
    visit.send(f"/decisions/{decision}/undo")
    visit.told()
    assert visit.record(memory_id).content == text


# -- judging ------------------------------------------------------------------------------------

JUDGED = ("0", "1", "2", "3", "unrateable", "later")


@act(*on("/judge", *(f"POST /judge grade={grade}" for grade in JUDGED)))
def judge_pairs_by_click_and_by_key(visit: Visit) -> None:
    visit.memory.search(visit.text(), limit=8)
    visit.go("/judge")
    for grade in (*JUDGED, "key 1", "key 3"):
        names = [visit.page.locator(f"input[name='{name}']").input_value() for name in ("query", "memory")]
        with visit.page.expect_navigation():
            if grade.startswith("key "):
                visit.page.keyboard.press(grade[-1])
            else:
                visit.press(visit.page.locator(f"button[name='grade'][value='{grade}']"))
        entries = visit.memory.journal.read(kinds=["judgment"])
        payload = entries.sort("seq")["payload"][-1]
        assert names[1] in str(payload)
        judged = json.loads(payload)
        if grade[-1].isdigit():
            assert judged["grade"] == int(grade[-1])
        else:
            assert judged.get("grade") is None
            assert "state" in judged or grade == "later"


# -- the timeline -------------------------------------------------------------------------------


@act(*on("/timeline", "GET /timeline month", "GET /timeline kind"))
def narrow_the_timeline_and_open_a_memory(visit: Visit) -> None:
    at = datetime(2025, 3 + visit.width // 1000, 2, tzinfo=UTC)
    memory_id = visit.save(created_at=at, title="Of that month")
    visit.go("/memories")
    visit.press(visit.page.locator("p.ways a[href='/timeline']"))
    assert visit.page.locator("section.day li").count() > 1
    visit.choose("month", f"{at:%Y-%m}")
    for kind, count in (("forgotten", 0), ("new", 1)):
        visit.choose("kind", kind)
        visit.press(visit.page.locator("form.filter > button"))
        visit.page.wait_for_url(f"**kind={kind}**")
        assert visit.page.locator("section.day li").count() == count
    visit.press(visit.page.locator(f"section.day a[href='/memory/{memory_id}']"))
    assert visit.page.locator("h1").inner_text() == "Of that month"


@act()
def turn_the_pages_of_the_timeline(visit: Visit) -> None:
    visit.go("/timeline")
    first = visit.page.locator("ol.timeline").all_inner_texts()
    visit.press(visit.page.locator("a[rel='next']"))
    visit.page.locator("a[rel='prev']").wait_for()
    assert visit.page.locator("ol.timeline").all_inner_texts() != first
    visit.press(visit.page.locator("a[rel='prev']"))
    visit.page.wait_for_url("**skip=0**")
    assert visit.page.locator("ol.timeline").all_inner_texts() == first


# -- keys and links -----------------------------------------------------------------------------


@act()
def go_through_the_list_with_keys(visit: Visit) -> None:
    visit.go("/memories")
    here = "document.activeElement.querySelector('h2 a')?.href"
    keys = visit.page.keyboard
    keys.press("j")
    first = visit.page.evaluate(here)
    keys.press("j")
    assert visit.page.evaluate(here) != first
    keys.press("k")
    assert visit.page.evaluate(here) == first
    keys.press("Tab")
    keys.press("Tab")  # from the mark of the memory to its title
    keys.press("Enter")
    visit.page.wait_for_url(first)
    keys.press("?")
    visit.press(visit.page.locator("dialog[open] button"))
    visit.page.locator("dialog[open]").wait_for(state="detached")
    keys.press("/")
    visit.page.wait_for_url(visit.served.url + "/")


@act()
def open_each_page_from_the_navigation(visit: Visit) -> None:
    visit.go("/")
    for at in range(visit.page.locator("header nav a").count()):
        link = visit.page.locator("header nav a").nth(at)
        address = link.get_attribute("href")
        visit.press(link)
        visit.page.wait_for_url(visit.served.url + str(address))
        assert visit.page.locator("header nav a[aria-current=page]").get_attribute("href") == address


# -- signing in, and namespaces -----------------------------------------------------------------


@act(*on("/sign-in", "POST /sign-in token"), *on(HEADER, "POST /sign-out"), who="nobody")
def sign_in_and_out(visit: Visit) -> None:
    visit.go("/memories")
    for token, heading in (("wrong", "Sign in"), (visit.served.tokens["ida"], "Search")):
        visit.fill("token", token)
        visit.press(visit.page.locator("form[action='/sign-in'] button"))
        visit.page.locator("h1", has_text=heading).wait_for()
    visit.press(visit.page.locator("form[action='/sign-out'] button"))
    visit.page.wait_for_url("**/sign-in")
    visit.go("/memories")
    assert visit.page.url.endswith("/sign-in")


@act(*on("/namespaces", "POST /namespaces namespace"), who="owner")
def choose_another_namespace(visit: Visit) -> None:
    visit.go("/")
    for name in ("bob", "ada"):
        visit.press(visit.page.locator("header a[href='/namespaces']"))
        visit.press(visit.page.locator(f"input[name='namespace'][value='{name}']"))
        visit.send("/namespaces")
        visit.told()
        visit.page.reload()
        assert visit.page.locator("header a[href='/namespaces']").inner_text().startswith(name)


# -- learning: last, since a rollback leaves nothing to approve ----------------------------------


@act(*on("/learning/{kind}/approve", *(f"POST /learning/{{kind}}/approve {name}" for name in ("who", "why"))),
     *on("/learning", *(f"POST /learning/{{kind}}/withdraw {name}" for name in ("who", "why"))))  # fmt: skip
def approve_learning_and_withdraw_it(visit: Visit) -> None:
    for step, opens in (("approve", True), ("withdraw", False)):
        visit.go("/learning")
        form = visit.page.locator(f"form[action='/learning/words/{step}']")
        if opens:
            visit.press(visit.page.locator("a[href='/learning/words/approve']"))
        else:
            visit.press(visit.page.locator(f"details.box:has(form[action$='/{step}']) > summary"))
        visit.press(form.locator("button"))
        assert not visit.page.get_by_role("status").count()  # the browser asks for a name
        who, why = f"Ida {next(visit.words)}", f"{step}: {next(visit.words)} {visit.width}"
        visit.fill("who", who, form)
        visit.fill("why", why, form)
        visit.press(form.locator("button"))
        visit.told()
        assert visit.memory.learning.gate("words").open == opens
        _in_audit_log(visit, who, why)


def _in_audit_log(visit: Visit, who: str, why: str) -> None:
    """See that the journal has a name and its reason, and that the page shows both in a row."""
    kept = visit.memory.learning.log(limit=None).filter(principal=who, reason=why)
    assert kept.height
    rows = visit.page.locator("section:has(h2:text-is('Audit log')) tbody tr").all_inner_texts()
    assert any(who in row and why in row for row in rows), rows


@act(*on("/learning", "GET /learning/roll-back principal"),
     *on("/learning/roll-back", "POST /learning/roll-back who", "POST /learning/roll-back why"))  # fmt: skip
def roll_back_what_a_user_taught(visit: Visit) -> None:
    teacher = "ann" if visit.width > 1_000 else "bob"
    assert visit.memory.learning.preview_rollback("principal", teacher).proposed.height
    visit.go("/learning")
    visit.fill("principal", teacher, visit.page.locator("form[action='/learning/roll-back']"))
    visit.send("/learning/roll-back")
    visit.page.locator("form[action='/learning/roll-back'][method='post']").wait_for()
    who, why = f"Ida {next(visit.words)}", f"{next(visit.words)} is wrong"
    visit.fill("who", who)
    visit.fill("why", why)
    visit.send("/learning/roll-back")
    visit.told()
    assert not visit.memory.learning.preview_rollback("principal", teacher).proposed.height
    _in_audit_log(visit, who, why)


ALL: tuple[Act, ...] = tuple(ACTS)
