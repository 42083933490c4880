"""Questions for persons and lists: what replaces a value must answer them, and be about the same thing."""

from __future__ import annotations

import pytest
from outdated_pairs import marks


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Who is in the choir committee?", "Tomas and Vera are in the choir committee.",
         "The meeting of the choir committee was moved to Thursday."),
        ("Who trains the youth team?", "Otto is the trainer of the youth team.",
         "The youth team now plays in Riverside Park."),
        ("Who works in the night shift?", "Igor and Sven work in the night shift.",
         "The night shift now begins at 21:30."),
        ("Who works on Heron?", "Nikhil and Chiara also work on Heron.",
         "The release of Heron was postponed to 15 January 2027 as the review takes longer."),
        ("Who owns Heron?", "Heron is the mobile app. Ines owns it.",
         "The release of Heron was postponed to 15 January 2027 as the review takes longer."),
        ("Who leads the design team?", "Karin leads the design team.", "The design team is now in Hamburg."),
        ("Who is the contact at Harbour Bakery?", "Rosa Klein is the contact at Harbour Bakery.",
         "Harbour Bakery is now on the Pro plan."),
        ("Who runs the café?", "Rosa runs the café.", "The café is open until 10 now."),
        ("Which devices use Android?", "Falcon phones use Android 14.",
         "Heron tablets were upgraded to Android 15."),
        ("Which servers run Postgres 16?", "The staging database lyra runs Postgres 16.",
         "vega is on Postgres 16 now; the upgrade took 50 minutes."),
        ("Which Postgres version does orion run?", "Analytics live on rigel: Postgres 15 with 2 TB of disk.",
         "vega is on Postgres 16 now; the upgrade took 50 minutes."),
        ("Which browsers do we not support?",
         "We decided not to support Internet Explorer and Safari below 15.",
         "Support is now open until 19:00 CET."),
        ("Which customers are on the Pro plan?",
         "Tindra Health bought Pro for two years; it renews in June 2028.",
         "Marlow Books upgraded from Starter to Pro on 1 October."),
        ("Which halls have 80 chairs?", "Lecture hall B has 80 chairs.",
         "Lecture hall C has 80 chairs now; the delivery took a week."),
    ],
)  # fmt: skip
def test_what_answers_something_else_or_is_about_another_thing_replaces_nothing(question, older, newer):
    assert marks(question, older, newer) == (False, False)


def test_a_contact_is_not_outdated_by_a_plan_whose_note_answers_the_question():
    older, newer = (
        "Marlow Books' contact person is Ruth Adeyemi.",
        "Marlow Books upgraded to Pro on 1 October.",
    )
    assert marks("What plan is Marlow Books on?", older, newer)[0] is False


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Who owns Heron?", "Ines owns Heron.", "Jonas takes over Heron from Ines as of today."),
        ("Who coaches the juniors?", "Sam coaches the juniors.", "Since June Kim coaches the juniors."),
        ("Who drives the bus?", "Ravi drives the school bus.", "Ravi no longer drives the school bus."),
        ("Who is Milo's vet?", "Milo's vet is Dr. Hahn.", "Milo's vet is now the clinic in Altona."),
        ("Who is the head of sales?", "The head of sales is Tim.",
         "Lena has replaced Tim as head of sales."),
        ("Who writes the newsletter?", "Ben writes the newsletter.",
         "The marketing team now writes the newsletter."),
        ("¿Quién lleva a los niños al colegio?", "Carlos lleva a los niños al colegio.",
         "Ahora la abuela lleva a los niños al colegio."),
        ("Qui garde la clé ?", "Marie garde la clé.", "La gardienne garde maintenant la clé."),
        ("How much is the rent?", "Our flat costs 780 euros rent.",
         "The landlord raised the rent to 840 euros."),
        ("When is lunch?", "Lunch is about 12.", "Lunch is at 12:30 now."),
        ("Which servers run Ubuntu?", "atlas is the production web server and runs Ubuntu 22.04.",
         "Bruno upgraded atlas to Ubuntu 24.04 last night."),
        ("Which Postgres version does vega run?", "vega, the production database, runs Postgres 14.",
         "vega is on Postgres 16 now; the upgrade took 50 minutes."),
        ("Which customers order the Dark blend?", "Harbour Cafe orders the Dark blend.",
         "Harbour Cafe switched from Dark to Light."),
    ],
)  # fmt: skip
def test_an_answer_about_the_same_thing_replaces_the_older_one(question, older, newer):
    assert marks(question, older, newer)[0] is True


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Is Paula a trainee?", "Paula is a trainee at the bakery.", "Paula is a full baker since May."),
        ("Is Puffin Travel on the Enterprise plan?", "Puffin Travel is on the Enterprise plan.",
         "Puffin Travel has moved down to Pro because they closed two branches."),
        ("Which servers run Ubuntu 24.04?", "atlas is the production web server and runs Ubuntu 22.04.",
         "Bruno upgraded atlas to Ubuntu 24.04 last night."),
    ],
)  # fmt: skip
def test_a_newer_note_on_the_same_subject_goes_first_where_a_question_names_the_value(question, older, newer):
    assert marks(question, older, newer) == (False, True)
