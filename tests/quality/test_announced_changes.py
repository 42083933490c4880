"""Short notes that say that something has changed, and pairs that only look like it (rule 3.12)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.outdated.announced import announces_change
from slowwave.quality.outdated.asked_words import asked_words
from slowwave.quality.outdated.cues import announces
from slowwave.quality.outdated.short_sentences import read

CHANGES = [
    ("where do I live?", "I live at 12 Harbour Street in Hull.", "I moved: I now live at 4 Mill Lane."),
    ("what is my address?", "My address is 12 Harbour Street.", "My new address is 4 Mill Lane."),
    ("who is my dentist?", "My dentist is Dr Patel on Green Lane, phone 0113 555 0134.",
     "Our new dentist from January is Dr Gupta."),
    ("where do I work?", "I work at Tesco.", "I work at Aldi now."),
    ("who is our landlord?", "The landlord is Mr. Kowalski, on the ground floor.",
     "Since May our landlord is Mrs. Brandt; Kowalski sold the house."),
    ("which carrier do we ship with?", "We ship with DHL.", "We switched from DHL to DPD for all parcels."),
    ("how much do I weigh?", "I weigh 84 kilos.", "I'm down to 79 kilos now."),
    ("what does our CI run on?", "Our CI runs on Jenkins.", "CI was migrated to Buildkite."),
    ("who is my manager?", "My manager is Peter Hahn.", "Peter Hahn left; Sabine Roth is my new manager."),
    ("what is the gate code?", "The gate code is 4821.", "New gate code: 9075."),
    ("what car do I drive?", "I drive a Golf diesel.", "Sold the Golf, I drive a Kona electric now."),
    ("where does grandma live?", "Grandma lives in the care home Rosenhof.",
     "Grandma was moved to the care home Am See."),
    ("where do backups go?", "Backups go to the NAS in the cellar.",
     "Backups no longer go to the NAS; they go to Backblaze."),
    ("what is the mortgage interest?", "Interest on the mortgage is 1.9 %.",
     "After refinancing the mortgage interest is 3.4 %."),
    ("how many sources do I cite?", "My essay cites 18 sources so far.",
     "My essay cites 23 sources after today's visit."),
    ("how many chapters have I written?", "I've written 3 chapters so far, can you help me plan the rest?",
     "I've now written 5 chapters, any tips for the end?"),
    ("which database does billing use?", "The billing service uses MySQL 5.7.",
     "The billing service was switched to Postgres 15. The old dump stays until summer."),
    ("where is the router?", "The router is in the hall cupboard.", "The router was moved to the study."),
    ("where are the ladders?", "The ladders are in the shed.", "Moved the ladders to the cellar."),
    ("which branch does staging deploy?", "Staging deploys the develop branch.",
     "Staging now deploys the main branch."),
    ("who signs the contracts?", "The CFO signs the contracts.", "The COO signs the contracts from now on."),
    ("when do I call grandma?", "I call grandma in the afternoon.", "I now call grandma in the evening."),
    ("¿quién riega las plantas?", "Marta riega las plantas.", "Ahora Pablo riega las plantas."),
    ("Wie hoch ist die Miete?", "Die Miete beträgt 980 Euro.", "Die Miete wurde auf 1050 Euro erhöht."),
    ("¿Cuál es el código de la puerta?", "El código de la puerta es 3312.",
     "El código de la puerta cambió a 8840."),
    ("Quand est la réunion d'équipe ?", "La réunion d'équipe est le lundi à 9 h.",
     "La réunion d'équipe a été déplacée au mardi à 14 h."),
    ("when is the support desk open?", "The support desk is open Monday to Friday from 9:00 to 17:00 CET.",
     "The support desk is now open from 8:00 to 18:00 on weekdays."),
    # A plan is a thing, too.
    ("who keeps the floor plan?", "The floor plan is kept by Ada.", "The floor plan is now kept by Tom."),
    ("which plan is the bakery on?", "The bakery is on the small plan.",
     "The bakery is now on the large plan."),
    ("what does the Pro plan cost?", "The Pro plan costs 49 euros.",
     "The new price of the Pro plan is 59 euros."),
    # States of which a thing has one at a time, with and without a word of change.
    ("is ticket SUP-1243 open?", "Ticket SUP-1243 is open.", "Ticket SUP-1243 is now closed."),
    ("what is the status of SUP-1204?", "Status of SUP-1204: open.", "Status of SUP-1204: closed."),
    ("is the case of Mrs Baker open?", "The case of Mrs Baker is open.",
     "The case of Mrs Baker is closed since 3 November."),
    ("is the flat in Quay Street available?", "The flat in Quay Street is available.",
     "The flat in Quay Street is rented."),
    ("is invoice 88 paid?", "Invoice 88 is unpaid.", "Invoice 88 is paid."),
    ("Ist die Rechnung von Wendt bezahlt?", "Die Rechnung von Wendt ist offen.",
     "Die Rechnung von Wendt ist bezahlt."),
]  # fmt: skip
BOTH_HOLD = [
    ("where is the archive?", "The archive is in Leeds.", "We plan to move the archive to York."),
    ("where is the archive?", "The archive is in Leeds.", "The plan is to move the archive to York."),
    ("when does the shop open?", "The shop opens at 9.", "The shop closes at 18."),
    ("is the museum open?", "The museum is open in summer.", "The museum is closed in winter."),
    ("is the shop open on Sunday?", "The shop is open on Sunday.", "The shop is closed on Monday."),
    ("is ticket SUP-9 open?", "Ticket SUP-9 is open.", "Ticket SUP-10 is closed."),
    ("is the kitchen window open?", "The kitchen window is open.", "The bathroom window is closed."),
    ("is Ada's invoice paid?", "Ada's invoice is paid.", "Tom's invoice is overdue."),
    ("who may use the pool?", "The pool is open to members.", "The pool is closed to visitors."),
    ("where are the tickets?", "The open tickets are on the board.",
     "The closed tickets are in the archive."),
    ("where is room Alpha?", "Meeting room Alpha is on the second floor.",
     "Meeting room Beta was moved to the third floor."),
    ("what music do I like?", "I like jazz.", "I like techno now, too."),
    ("where does Anna work?", "Anna works at Bosch.", "Anna's brother now works at Bayer."),
    ("how much is Netflix?", "Netflix costs 12.99 a month.", "Netflix changed its logo in March."),
    ("what is the API limit?", "The API limit is 60 requests a minute.",
     "We raised the API limit to 100 requests a day."),
    ("which city did Leo move from?", "Leo moved from Ghent to Delft in 2019.",
     "Nora moved from Delft to Ghent in 2021."),
    ("what is the wifi password of the office?", "The wifi password of the office is lemon-12.",
     "New wifi password for the cabin: harbour-91."),
    ("where do we live?", "We live in Linz.", "We might move to Graz next year."),
    ("what is my rent?", "My rent is 850 euros.", "My sister's rent is now 700 euros."),
    ("what does error 502 mean?", "Error 502 comes from the proxy.", "Error 503 now comes from the app."),
    ("where is the dog?", "A dog is near the red ball.", "A dog is far from the red ball."),
    ("when is the release?", "The release is on 3 June.", "Is the release now on 5 June?"),
    # each has a qualifier of its own, named by the question or not
    ("Where does my sister live?", "My sister Lena lives in Graz.",
     "My sister Ida now lives in Linz."),
    ("What is the wifi password at the office?", "The wifi password at the office is blue-heron-77.",
     "The wifi password at home is now green-otter-12."),
    ("When does the pool open?", "The pool opens at 7:00 in summer.",
     "In winter the pool now opens at 9:00."),
    ("How many cats do I have?", "I have two cats.",
     "I now have three dogs."),
    ("What medication do I take?", "I take 5 mg of ramipril in the morning.",
     "I now take 20 mg of atorvastatin in the evening."),
    ("What is my favourite food?", "My favourite food is lasagne.",
     "My new favourite dessert is tiramisu."),
    ("What is the timeout?", "The timeout of the gateway is 30 seconds.",
     "The timeout of the worker was raised to 90 seconds."),
    ("Where is the spare key?", "The spare key of the house is in the shed.",
     "The spare key of the car is now in the drawer."),
    ("Who is the manager?", "Olga is the manager of the Kyiv office.",
     "Petra is the new manager of the Prague office."),
    ("What does the subscription cost?", "The music subscription costs 10 euros a month.",
     "The film subscription now costs 14 euros a month."),
    ('What is my weight?', 'My weight was 82 kg in January.',
     "The dog's new weight is 24 kg."),
    ("Where do we go on holiday?", "We go on holiday to Crete in June.",
     "In October we now go on holiday to Malta."),
    ("What instrument does Paul play?", "Paul plays the piano.",
     "Paul now also plays the cello."),
    ("What do I think of the restaurant?", "The pasta at the Lido is great.",
     "The new dessert at the Lido is not great."),
    ("Is the cat allowed upstairs?", "The cat is allowed upstairs.",
     "The dog is no longer allowed upstairs."),
    ("Does Karl drink coffee?", "Karl drinks coffee in the morning.",
     "Karl no longer drinks coffee in the evening."),
    ("What is the budget?", "The budget for marketing is 20000 euros.",
     "The budget for research was raised to 50000 euros."),
    ("What port does the service use?", "The billing service listens on port 8080.",
     "The search service now listens on port 9090."),
    ("How many seats does the hall have?", "The small hall has 80 seats.",
     "The large hall now has 300 seats."),
    ("What is the phone number of the clinic?", "The phone number of the clinic is 030 4455.",
     "The new phone number of the pharmacy is 030 7788."),
    ("Where do I park?", "I park in garage 3 at work.",
     "I now park on Elm Street at home."),
    ("When do I take the bins out?", "I take the paper bins out on Monday.",
     "I now take the glass bins out on Thursday."),
    ("Where does Max work?", "Max works in Vienna on Mondays.",
     "Max now works in Graz on Fridays."),
    ("What is the price of the ticket?", "The ticket for adults costs 12 euros.",
     "The ticket for children now costs 6 euros."),
    ("How old is the child?", "Emil is 4 years old.",
     "Clara is now 7 years old."),
    ('What is the exchange rate?', "Ida's bank takes 2 percent for transfers.",
     "Tom's new bank takes 1 percent for transfers."),
    ("Where does Anna Huber live?", "Anna Huber lives in Hamburg.",
     "Anna Berger now lives in Bremen."),
    ("When does the pool open in summer?", "The pool opens at 7:00 in summer.",
     "The pool now opens at 9:00 in winter."),
    ("What's the speed limit in town?", 'The speed limit in town is 50 km/h.',
     'The speed limit on the motorway is now 120 km/h.'),
    ("Is the cat allowed upstairs?", "The cat is allowed upstairs.",
     "The dog is no longer allowed upstairs."),
    ("Is the office open on Saturday?", "The office is open on Saturday.",
     "The shop is no longer open on Saturday."),
    ("How many people work in Leeds?", "40 people work in the Leeds office.",
     "12 people now work in the York office."),
    ('What is my weight?', 'My weight is 82 kg.',
     "My wife's weight is now 64 kg."),
    # weekdays that tell two times apart
    ("When does training on Thursday begin?", "Training on Thursday begins at 17:00.",
     "Training on Friday now begins at 16:00."),
    ("When does the training begin?", "Training on Thursday begins at 17:00.",
     "Training on Friday now begins at 16:00."),
    ("When is the library open?", "The library is open on Monday from 9 to 12.",
     "The library is now open on Friday from 13 to 15."),
    # events of a diary
    ("How long does cycling to work take?", "Cycled to work in 32 minutes, headwind.",
     "Cycled to work in 27 minutes, new tyres."),
    ("running shoes river", "Ran along the river, wet shoes afterwards.",
     "Ran along the river, new shoes feel great."),
    ("Wie viel kostet Tanken?", "Getankt: 38 Liter für 64 Euro.",
     "Getankt: 41 Liter für 71 Euro, jetzt wieder teurer."),
    # one span differs, and the question does not ask for it
    ("Which plant needs shade?", "The fern needs shade.", "The ivy now needs shade."),
    ("Which queue does the worker read?", "The worker reads the orders queue.",
     "The scheduler now reads the invoices queue."),
    ("Which doctor does grandma see for her knee?", "Grandma sees Dr. Lutz for her knee.",
     "Grandma now sees Dr. Amin for her eyes."),
    ("Where is the printer?", "The printer is in room 4.", "The printer's paper was moved to room 7."),
    ("Where is the projector of room A?", "The projector of room A is in the cupboard.",
     "The projector of room B was moved to the library."),
    ("When is my mother's birthday party?", "My mother's birthday party is on 3 May.",
     "My mother-in-law's birthday party was moved to 9 May."),
]  # fmt: skip


def says(question: str, older: str, newer: str) -> bool:
    return announces_change(asked_words(question), read(older), read(newer))


@pytest.mark.parametrize(("question", "older", "newer"), CHANGES)
def test_a_change_is_known_by_its_words_and_its_subject(question: str, older: str, newer: str):
    assert announces(newer) or announces(older)
    assert says(question, older, newer)


@pytest.mark.parametrize(("question", "older", "newer"), BOTH_HOLD)
def test_statements_that_both_hold_are_left_alone(question: str, older: str, newer: str):
    assert not says(question, older, newer)


def test_a_statement_of_something_else_replaces_nothing():
    cases = [*CHANGES, *BOTH_HOLD]
    marked = {
        (older, newer)
        for (question, older, _), (other, _, newer) in product(cases, cases)
        if question != other and says(question, older, newer)
    }
    assert marked == {("We live in Linz.", "I moved: I now live at 4 Mill Lane.")}


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=80))
def test_any_text_is_read(older: str, newer: str, question: str):
    assert says(question, older, newer) in {True, False}
    assert not says(question, newer, newer)
