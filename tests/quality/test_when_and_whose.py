"""Questions for times, things of one owner, demands, tests and ends: which notes replace another one."""

from __future__ import annotations

import pytest
from outdated_pairs import marks


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Is Noor allergic to peanuts?", "Noor is allergic to peanuts.",
         "Noor is not allergic to peanuts after all: the test at the hospital was negative."),
        ("What is the upload limit?", "The upload limit is 50.",
         "The upload limit was raised to 100 after the load test."),
        ("How much is the night bonus?", "The night bonus is 25 percent.",
         "At the request of the staff the night bonus was raised to 30 percent."),
        ("Who was on call for harbor?", "Jin Park is on call for harbor.",
         "Since 19 October Priya is on call for harbor instead of Jin."),
        ("When is chess club?", "Chess club is on Mondays at 19:00.",
         "Chess club has moved to the library and to Tuesdays at 18:00."),
        ("When is the concert?", "The concert is on 3 December in the church.",
         "The concert in the church was cancelled."),
        ("When is the lesson?", "Milo's swimming lesson is on Wednesdays.",
         "Milo's swimming lesson was moved to Thursdays."),
        ("Do we still use LastPass?", "We use LastPass as our password manager.", "We cancelled LastPass."),
        ("Which password manager do we use?", "We use LastPass as our password manager.",
         "We cancelled LastPass and use Vaultwarden now."),
        ("Do we still use Slack?", "The team chats on Slack.", "We have left Slack for Mattermost."),
        ("Do I still have the gym membership?", "I have a gym membership at Fit24 for 39 a month.",
         "Cancelled my gym membership today."),
        ("Where does Joris work?", "Joris works at the shipping company Damco.", "Joris has left Damco."),
        ("Where does Joris work?", "Joris works at the shipping company Damco.",
         "Joris left Damco in early October."),
        ("How much is the rent?", "The rent is 840.",
         "The rent was raised to 900, the landlord had insisted on it."),
        ("How much is lunch?", "The school asks for 10 euros a month for lunch.",
         "The school now asks for 12 euros a month for lunch."),
    ],
)  # fmt: skip
def test_a_change_or_an_end_is_marked(question, older, newer):
    assert marks(question, older, newer)[0]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("What is the upload limit?", "The upload limit is 50.", "Test: the upload limit is 100 now."),
        ("How high is the night bonus?", "The night bonus is 25 percent.",
         "Union talks: they demand that the night bonus rises to 35 percent."),
        ("How much is the rent?", "The rent is 780 a month.",
         "The landlord insists that the rent goes up to 900."),
        ("What is the upload limit?", "The upload limit is 50.",
         "Just a test message: the upload limit is now 100."),
        ("Do we use Sky?", "We have Sky for the football.", "We cancelled Sky Sports."),
        ("Which password manager do we use?", "We use LastPass as our password manager.",
         "LastPass cancelled."),
        ("Who is my manager?", "My manager is Ines.", "Ines left the meeting."),
        ("When is derby practice?", "Derby practice is every Wednesday at 20:00.",
         "No derby practice this Wednesday because of the parade; we skate on Friday instead."),
        ("How long is the fence?", "The fence is 12 metres long.",
         "The fence can't be any longer than 15 metres."),
        ("When is chess club?", "Chess club is on Mondays at 19:00.", "Chess club is now in the library."),
        ("When is chess club?", "Chess club is on Mondays at 19:00.", "Chess club is now led by Mr. Frost."),
        ("What day of the week is derby practice?", "Derby practice is every Wednesday at 20:00.",
         "Derby practice is no longer at the Korn Hall but at the ice rink in Lenzing."),
        ("Everything about Milo", "Milo's swimming lesson has moved to Thursdays at 17:00.",
         "Parents' evening of Milo's class was moved to 10 December at 18:30."),
        ("Do we still use LastPass?", "We use LastPass as our password manager.",
         "We cancelled the LastPass training for Friday."),
        ("Do we still use LastPass?", "We use LastPass as our password manager.",
         "We cancelled LastPass for the interns."),
        ("Do we use Sentry?", "We use Sentry for errors.", "We cancelled the Sentry upgrade."),
        ("Do I still have the gym membership?", "I have a gym membership at Fit24 for 39 a month.",
         "My brother cancelled his gym membership today."),
        ("Where does Joris work?", "Joris works at the shipping company Damco.",
         "Joris left his bag at Damco."),
        ("Where does Joris work?", "Joris works at the shipping company Damco.",
         "Joris left Damco early today."),
    ],
)  # fmt: skip
def test_a_demand_another_attribute_or_another_thing_replaces_nothing(question, older, newer):
    assert marks(question, older, newer) == (False, False)
