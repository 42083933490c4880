"""Questions for times, things of one owner, demands, tests and ends: which notes replace another one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from outdated_pairs import marks

from slowwave.quality.outdated.dates import holds_from


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
        ("Do we have a rabbit?", "We have a rabbit.", "We don't have a rabbit any longer."),
        ("Do we have a rabbit?", "We have a rabbit.", "We no longer have a rabbit."),
        ("Who does the laundry?", "Karim does the laundry.", "Karim doesn't do the laundry any more."),
        ("Do we still have the garage?", "We have a garage in Dock Street.", "We gave up the garage."),
        ("When is the regatta?", "The regatta is on 12 December.", "The regatta has been called off."),
        ("Is the regatta on?", "The regatta is on 12 December.", "They called the regatta off."),
        ("When is the regatta?", "The regatta is on 12 December.",
         "Our regatta was put off to 19 December."),
        ("Who cleans the windows?", "Brightside cleans the windows.", "We cancelled Brightside."),
        ("When is judo?", "Judo is on Mondays at 19:00.", "Judo is now on Tuesdays in the new gym."),
        ("Wer putzt das Büro?", "Brightside putzt das Büro.", "Wir haben Brightside gekündigt."),
        ("Which CRM do we use?", "We use Pipedrive as our CRM.", "We got rid of Pipedrive."),
        ("Where does Mara work?", "Mara works at Bosch.", "Mara left Bosch after a row with her boss."),
        ("Where does Mara work?", "Mara works at Bosch.", "Mara left Bosch for a startup."),
        ("Where does Tom work?", "Tom works at the bakery.", "Tom left the bakery on good terms."),
        ("Wo arbeitet Jonas?", "Jonas arbeitet bei Siemens.", "Jonas hat Siemens verlassen."),
        ("Wann ist das Konzert?", "Das Konzert ist am 3. Dezember in der Kirche.",
         "Das Konzert wurde abgesagt."),
        ("Where does Tom work?", "Tom works at Lidl.",
         "Tom left his traineeship at Lidl and now works at Aldi."),
        ("Wie hoch ist die Kaution?", "Die Kaution beträgt 500 Euro.",
         "Die Kaution wurde auf 800 Euro erhöht, der Vermieter fordert sie bis Freitag."),
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
        ("Where does Joris work?", "Joris works at Damco.", "Joris left Damco at noon."),
        ("Where does Joris work?", "Joris works at Damco.", "Joris left Damco a message about the bill."),
        ("Where does Joris work?", "Joris works at Damco.", "Joris left Damco for lunch."),
        ("Who is our landlord?", "Mr. Okafor is our landlord.", "Mr. Okafor left a note about the bins."),
        ("Who is the plumber?", "Our plumber is Kees.", "Kees has left his ladder in our shed."),
        ("Which provider do we have?", "Our provider is Sky.", "We left Sky out of the comparison."),
        ("Who is our plumber?", "Our plumber is Kees.", "Kees cancelled today."),
        ("How many chairs are in the hall?", "There are 12 chairs in the hall.",
         "We bought two more chairs for the hall."),
        ("How much is the rent?", "The rent is 900 euros a month.",
         "The rent was to be raised to 950 euros, but that was taken back."),
        ("When is the standup?", "The standup is at 9:30.",
         "The standup is at 10:00 from 1 January 2027."),
        ("When is yoga?", "Yoga is on Mondays at 18:00.",
         "There's now yoga in the park on Wednesdays at 18:00 in Ried."),
        ("What is the jetty made of?", "The jetty is made of oak planks, 14 m long.",
         "The board wonders about replacing the jetty by plastic pontoons in 2028. Nothing decided."),
        ("What happened to the Heron?", "The coxed four Heron has oars by Concept2, 374 cm.",
         "Heron hit a log at km 14, a hole as big as a hand next to seat two."),
        ("Which laptop does Ivo have?", "Ivo has a ThinkPad.", "Ivo shut down his ThinkPad today."),
        ("How long is the queue?", "The queue is 10 minutes.",
         "The queue should not get any longer than 15 minutes."),
        ("How much is the rent?", "The rent is 840.",
         "The landlord demands, once again, that the rent be raised to 900."),
        ("How much is the rent?", "The rent is 840.", "The landlord is asking for a rent of 900 now."),
        ("Wie hoch ist die Kaution?", "Die Kaution ist 500 Euro.",
         "Der Vermieter fordert jetzt 800 Euro Kaution."),
        ("Wie hoch ist der Beitrag?", "Der Beitrag ist 20 Euro.",
         "Der Kassierer besteht auf einem neuen Beitrag von 25 Euro."),
    ],
)  # fmt: skip
def test_a_demand_another_attribute_or_another_thing_replaces_nothing(question, older, newer):
    assert marks(question, older, newer) == (False, False)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("From January the standup is at 10:00.", (2027, 1, 1)),
        ("The rent is going to be raised to 950 euros in March.", (2027, 3, 1)),
        ("Ab dem 15. Dezember gilt der neue Preis von 12 Euro.", (2026, 12, 15)),
        ("From 1 October it goes up to 985.", None),
        ("The rent was raised to 950 in November.", None),
        ("The boiler will be serviced on 3 December.", None),
        ("From 31 February it is 12 euros.", None),
    ],
)
def test_a_change_holds_from_a_coming_month_on(text, day):
    noted = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert holds_from(text, noted) == (datetime(*day, tzinfo=UTC) if day else noted)
