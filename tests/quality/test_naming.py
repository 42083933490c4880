"""Numbers that name a thing: a note about another one replaces nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from slowwave.quality.divergence import naming
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.divergence.token_collector import Token
from slowwave.quality.divergence.tokens import traits
from slowwave.quality.reconsolidation import Thresholds, decide

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from lookalikes import FAMILIES, HELD_OUT, pairs, supersedes


def outcome(new: str, old: str) -> str:
    differences, alike = DivergenceGuard().compare(ComparedNote("", "", new), ComparedNote("", "", old))
    return decide(
        1.0, differences, same_subject=alike, thresholds=Thresholds(), policy="guarded", gate=False
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rent of flat 1 is 713 euros since Monday.", "The rent of flat 8 is 650 euros since Monday."),
        ("Berth 12 costs 40 euros a night now.", "Berth 14 costs 55 euros a night now."),
        ("The third floor is cleaned on Fridays.", "The second floor is cleaned on Mondays now."),
        ("The 9:15 train leaves from platform 4.", "The 10:15 train leaves from platform 7 now."),
        ("The 2.1 release is supported until March.", "The 2.2 release is supported until May as of today."),
        ("Ticket #4821 is due on Friday.", "Ticket #4822 is due on Monday now."),
        ("Invoice no. 2071 comes to 730 euros as of today.", "Invoice no. 1440 comes to 1,260 euros now."),
        ("In room 204 the limit is 12 people.", "In room 205 the limit is 16 people since June."),
        ("713 euros is the rent of flat 1.", "650 euros is the rent of flat 8 since Monday."),
        ("Rent flat 1: 713 euros.", "Rent flat 8: 650 euros since Monday."),
        ("The meeting of 3 March begins at 9:00.", "The meeting of 10 March begins at 10:00 now."),
        ("Chapter 2 takes up 9 pages.", "Chapter 9 takes up 27 pages since last week."),
        ("Die Miete von Wohnung 1 ist 713 Euro.", "Die Miete von Wohnung 8 ist 650 Euro seit Montag."),
        ("The standup is at 9:00 in room 4.", "The standup is at 10:00 in room 7 now."),
    ],
)  # fmt: skip
def test_what_names_another_thing_is_another_subject(old, new):
    assert outcome(new, old) != "supersede"
    assert outcome(old, new) != "supersede"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rent of flat 1 is 713 euros.", "The rent of flat 1 is 745 euros since May."),
        ("The staging API listens on port 8080.", "The staging API listens on port 9090 since May."),
        ("The standup is in room 4.", "The standup is in room 7 now."),
        ("There are 12 boats in the shed.", "There are 14 boats in the shed now."),
        ("The 3 engineers of the team are on call.", "The 5 engineers of the team are on call now."),
        ("The limit of the queue is 40 messages.", "The limit of the queue is 60 messages as of 3 March."),
        ("5 pm is the check-in time for cabin 5.", "1 pm is the check-in time for cabin 5 since last week."),
        ("Chapter 2 takes up 9 pages.", "Chapter 2 takes up 12 pages now."),
        ("Python 3.11 is required to build it.", "Python 3.12 is now required to build it."),
    ],
)
def test_a_number_that_is_the_value_is_replaced(old, new):
    assert outcome(new, old) == "supersede"


@pytest.mark.parametrize(("name", "families"), [("looked at", FAMILIES), ("held out", HELD_OUT)])
def test_of_look_alikes_hardly_any_supersedes_another(name, families):
    """The bound of the project is one of two hundred; bench/lookalikes.py has the figures."""
    made = list(pairs(families, 12, same=False))
    wrong = [one for one in made if supersedes(one, 1.0, Thresholds())]
    assert len(wrong) <= 0.01 * len(made), wrong


@pytest.mark.parametrize("shape", ["1 am ", "12:30 ", "of 8 ", "v1.2.3 ", "flat 7 is 3 euros. ", "the 3rd "])
def test_the_work_grows_with_the_length_and_no_faster(shape, monkeypatch):
    """Counted in looks at a number, each of which has a bounded window."""
    looks: list[int] = []
    names = naming._names

    def counted(text: str, token: Token, *, sure: bool) -> bool:
        looks.append(1)
        return names(text, token, sure=sure)

    monkeypatch.setattr(naming, "_names", counted)
    long = traits(shape * 3_000)
    naming.name_different_things(long, traits(shape * 2_999 + "9 pm"))
    assert len(looks) <= 4 * naming._MOST
