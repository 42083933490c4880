"""The settings page, notices with titles, and the words for fit beside the order of results."""

from __future__ import annotations

import re

import pytest
from page_home import words

from slowwave.lifecycle.trusted_sources import trust
from slowwave.scoring.feedback.learned import ORDER, PROPOSED, REASONS
from slowwave.serving.tokens import digest
from slowwave.settings import CONFIG_FILE
from slowwave.views.learning_lists import SELECTIONS
from slowwave.web.search import FITS, _is_apart
from slowwave.web.settings import SWITCHES

LAMP = "The lamp on the pier is red since the storm."
SECRET = "The code of the safe in the cellar is 4711ZK since Tuesday."


def setting(page: str, name: str) -> str:
    """The words of a setting, where it stands first."""
    part = page.partition(f"<code>{name}</code>")[2].partition("</li>")[0]
    return words(part)


def test_settings_are_shown_with_value_origin_and_meaning(make_site, fast_embedder, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_LEARNING__WORDS", "false")
    page = make_site().person().text("/settings")
    for name in SWITCHES:
        assert setting(page, name), name
    assert setting(page, "learning.words").startswith("false from SLOWWAVE_LEARNING__WORDS ")
    assert setting(page, "journal.log_searches").startswith("true by default ")
    assert setting(page, "ranking.mark_outdated").startswith("true from ranking policy ")
    changed = page.partition('id="changed"')[2].partition("</section>")[0]
    assert setting(changed, "embedding.model").startswith(f"{fast_embedder.name} from {CONFIG_FILE} ")
    assert "journal.log_searches" not in changed


def test_a_token_of_a_person_does_not_open_the_settings_of_the_home(site, person):
    assert "Settings" in person.words("/")
    visitor = site.with_token("ida")
    assert visitor.get("/settings").status_code == 403
    assert "Settings" not in visitor.words("/")


def test_no_secret_stands_among_the_settings(make_site, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_ALERTS__WEBHOOK", "https://ida:4711ZK@alerts.example/hook")
    site = make_site()
    page = site.person().text("/settings")
    assert "alerts.example/hook" in page
    assert "4711ZK" not in page
    for token in site.tokens.values():
        assert token not in page
        assert digest(token) not in page


def test_a_trusted_source_is_ended_on_the_settings_page(person, memory):
    trust(memory.tenant, "user:ida", why="she is careful")
    page = person.words("/settings")
    assert "Notes of ida" in page
    assert "she is careful" in page
    told = person.done("/quarantine/sources/untrust", source="user:ida", back="/settings")
    assert "Notes of ida are judged by the save gate again." in told
    assert "judges the notes of all sources" in person.words("/settings")


def test_a_notice_names_a_memory_by_its_linked_title(person, memory, saved):
    one = saved(LAMP, title="<b>Lamp</b>")
    person.post(f"/memory/{one}/forget")
    page = person.text(f"/memory/{one}")
    link = f'<a href="/memory/{one}">&lt;b&gt;Lamp&lt;/b&gt;</a>'
    assert (
        f'role="status">Forgotten: {link}. Searches do not return it any more. You can unforget it.' in page
    )
    assert "No longer forgotten" in person.done(f"/memory/{one}/remember")


def test_a_notice_has_no_title_of_a_secret_memory(person, saved):
    one = saved(SECRET, title="Safe 4711ZK", sensitivity="secret")
    told = person.done(f"/memory/{one}/forget", back="/memories?state=forgotten")
    assert "Forgotten: (secret) . Searches" in told
    assert "4711ZK" not in told


def test_a_rating_is_confirmed_with_the_title(person, saved):
    one = saved(LAMP, title="Lamp")
    search = re.search(r'action="(/found/[^"]+)/rate"', person.text("/?q=lamp+on+the+pier"))[1]
    told = person.done(f"{search}/rate", memory=one, rating="helpful")
    assert "Recorded: it helped for Lamp . " in told
    assert one[:8] not in told


def test_each_outcome_of_a_selection_has_words():
    assert set(SELECTIONS) == {*REASONS, ORDER, PROPOSED}
    assert not any("_" in text for text in SELECTIONS.values())


@pytest.mark.parametrize(
    ("fits", "apart"),
    [
        ([], False), (["strong", "strong", "fair", "weak"], False), (["fair", "strong"], True),
        (["strong", "weak", "fair"], True),
    ],
)  # fmt: skip
def test_a_better_fit_below_a_worse_one_is_explained(fits, apart):
    assert set(fits) <= set(FITS)
    assert _is_apart(fits) is apart
