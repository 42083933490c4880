"""Notes that name the old value and the new one, and questions whether a value holds in several languages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.transitions import names_old_value
from slowwave.quality.outdated.updates import outdated_memories

START = datetime(2026, 1, 5, tzinfo=UTC)


def is_marked(question: str, older: str, newer: str) -> bool:
    moments = (START, START + timedelta(days=30))
    passages = [
        DatedPassage(name, "", text, "", moment, moment, None)
        for name, text, moment in zip(("older", "newer"), (older, newer), moments, strict=True)
    ]
    return "older" in outdated_memories(Question.of(question), passages)


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Who supplies our power?", "Our power comes from E.ON.", "We switched from E.ON to Naturstrom."),
        ("Von wem ist unser Strom?", "Unser Strom kommt von E.ON.",
         "Wir sind von E.ON zu Naturstrom gewechselt."),
        ("¿Quién nos da la luz?", "La luz es de Endesa.", "Hemos cambiado de Endesa a Iberdrola."),
        ("What Postgres version does harbor run on?", "Harbor runs on Postgres 15.4 in production.",
         "We upgraded from Postgres 15.4 to Postgres 16.3."),
        ("Beträgt die Miete 780 Euro?", "Die Miete beträgt 780 Euro.",
         "Die Miete wurde auf 840 Euro erhöht."),
        ("¿El alquiler es de 780 euros?", "El alquiler es de 780 euros.",
         "El alquiler ha subido a 840 euros."),
        ("Wie hoch ist mein Stundensatz?", "Mein Stundensatz ist 85 Euro.",
         "Ich habe meinen Stundensatz auf 95 Euro erhöht."),
        ("¿Cuándo es la reunión con Iberia?", "La reunión con Iberia es el 3 de diciembre.",
         "La reunión con Iberia se ha aplazado al 10 de diciembre."),
        ("Which customers have the Enterprise plan?", "Northgate is on the Enterprise plan.",
         "Northgate moved down from Enterprise to Pro."),
        ("Which accounting tool do we use?", "Our accounting tool is Sage.", "We replaced Sage with Xero."),
        ("Which email tool do we use?", "Mails are sent with Mailchimp.",
         "We replaced Mailchimp with Brevo last week."),
        ("What is the hosting provider?", "The website is hosted by Hetzner.",
         "Hetzner was replaced by OVH."),
        ("What is our vet software?", "Our vet software is VetPlus.",
         "Cancelled VetPlus, went with Provet Cloud."),
        ("Which insurance do we have?", "The practice is insured with Allianz.",
         "We swapped Allianz for HUK."),
        ("What is the rent?", "The rent is 780 euros.", "The rent rose from 780 to 840 euros."),
        ("Welche Software nutzen wir?", "Wir nutzen VetPlus für die Termine.",
         "Wir haben VetPlus durch Provet ersetzt."),
        ("¿Qué programa usamos?", "Usamos Contaplus para las facturas.",
         "Hemos sustituido Contaplus por Holded."),
        ("Quel logiciel utilisons-nous ?", "Nous utilisons Sage pour les factures.",
         "Nous avons remplacé Sage par Pennylane."),
        ("Wer macht die Buchhaltung?", "Frau Roth macht die Buchhaltung.",
         "Herr Lange hat die Buchhaltung von Frau Roth übernommen."),
    ],
)  # fmt: skip
def test_the_older_one_is_outdated(question: str, older: str, newer: str) -> None:
    assert is_marked(question, older, newer)


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Was muss ich im Dezember bezahlen?", "Rechnung an Wendt geschickt, fällig am 2. Dezember.",
         "Der Zahnarzttermin wurde auf den 4. Dezember verschoben."),
        ("Who supplies our power?", "Our power comes from E.ON.",
         "We did not switch from E.ON to Naturstrom."),
        ("Who supplies our power?", "Our power comes from E.ON.",
         "We plan to switch from E.ON to Naturstrom next year."),
        ("Who supplies our power?", "Our power comes from E.ON.",
         "Should we switch from E.ON to Naturstrom?"),
        ("Which accounting tool do we use?", "Our accounting tool is Sage.",
         "We replaced Epson with Brother."),
        ("Which email tool do we use?", "Mails are sent with Mailchimp.",
         "We replaced Mailchimp's logo with ours."),
        ("Which insurance do we have?", "The practice is insured with Allianz.",
         "The car insurance swapped Allianz for HUK."),
        ("What is the rent?", "The rent is 780 euros.", "The deposit rose from 780 to 840 euros."),
        ("Which bank do we use?", "The practice banks with GLS.", "My son swapped GLS for Volksbank."),
        ("Who is Rex's vet?", "Rex's vet is Dr Weiss.", "Bella's vet Dr Weiss was replaced by Dr Amsel."),
        ("Which parcel service do we use?", "Parcels go out with DHL.",
         "We switched from DHL to DPD for returns only."),
        ("What does the Pro plan cost?", "The Pro plan costs 49 euros a month per shop.",
         "Northgate Cycles moved down from Pro to Starter, because their second shop has closed."),
        ("How much does Pro cost now?", "From today the Pro plan is 59 euros a month per shop.",
         "Northgate Cycles upgraded from Pro to Gold."),
        ("Which Postgres has the vacuum bug?", "Postgres 15.4 has a bug in vacuum.",
         "We upgraded from Postgres 15.4 to Postgres 16.3."),
        ("Does Omar still live in Kassel?", "Omar lives in Kassel.", "Lena moved to Marburg."),
        ("What is the rent?", "The rent is 780 euros.",
         "The electricity bill changed from 780 euros to 800 euros."),
        ("Who has the spare key?", "The spare key is with Anna.",
         "The on-call shift was changed from Anna to Ben."),
        ("When does Mia have piano?", "Mia has piano on Tuesday at four.",
         "We switched football from Tuesday to Friday."),
        ("Which bank does Omar use?", "Omar has an account at Sparkasse.",
         "I switched from Sparkasse to ING last week."),
        ("Which OS does the web server run?", "The web server runs on Debian 12.",
         "The mail server was upgraded from Debian 12 to Debian 13."),
        ("Où habite Paul ?", "Paul habite à Lyon.",
         "Je suis passé chez Marie sur la route de Lyon à Grenoble."),
        ("Does Tom live in Paris?", "Tom lives in Paris.", "Tom now lives with Marie."),
        ("Wohnt Lena in Köln?", "Lena wohnt in Köln.", "Lena wohnt jetzt mit Jonas zusammen."),
        ("Kostet der Kurs 90 Euro?", "Der Kurs kostet 90 Euro.", "Der Kurs hat jetzt 12 Teilnehmer."),
        ("When is the concert in May?", "The concert in May is on 3 May.",
         "The concert in June was moved to 10 June."),
    ],
)  # fmt: skip
def test_the_older_one_holds(question: str, older: str, newer: str) -> None:
    assert not is_marked(question, older, newer)


@pytest.mark.parametrize(
    ("older", "newer", "names"),
    [
        ("We send with DHL.", "Switched from DHL to DPD.", True),
        ("We send with DHL.", "We flew from DHL to DPD.", False),
        ("We send with DHL Express.", "Switched from dhl to DPD.", False),
        ("DHL is closed.", "Switched from DHL to DPD.", False),
        ("We send with DHL, not with DPD.", "Switched from DHL to DPD.", False),
        ("It runs on 15.41.", "Upgraded from 15.4 to 16.", False),
    ],
)
def test_the_old_value_is_named(older: str, newer: str, names: bool) -> None:
    assert names_old_value(older, newer) == names
