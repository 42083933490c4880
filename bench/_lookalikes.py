"""Short notes that state the current value of one numbered thing, for look-alikes and updates.

Notes about two things of a family differ in the identifier; updates of one thing differ in the value alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of note, with the things that it can be about and the values that each of them can have."""

    name: str
    text: str  # has {id} and {value}, and {cue} at the end of the sentence
    ids: tuple[str, ...]
    values: tuple[str, ...]


def _family(name: str, text: str, ids: str, values: str) -> Family:
    """Read the identifiers and the values from texts that part them with a bar."""
    return Family(name, text, tuple(ids.split("|")), tuple(values.split("|")))


CUES: tuple[str, ...] = (
    "",
    " since Monday",
    " now",
    " as of 3 March",
    " from June on",
    " since last week",
    " and no longer as before",
    " these days",
    " for the time being",
    " as of today",
    " after the change",
    " again",
    " until further notice",
)

FAMILIES: tuple[Family, ...] = (
    # amounts, counts and measures
    _family(
        "flat rent",
        "The rent of flat {id} is {value}{cue}.",
        "1|2|5|8|11|14",
        "713 euros|650 euros|745 euros|820 euros|905 euros|1,040 euros",
    ),
    _family(
        "garage cost",
        "{value} is the monthly cost of garage {id}{cue}.",
        "3|4|9|13|21",
        "60 pounds|72 pounds|85 pounds|90 pounds|110 pounds|64.50 pounds",
    ),
    _family(
        "service charge",
        "Service charge flat {id}: {value}{cue}.",
        "2a|2b|3a|3b|4c",
        "182 euros|190 euros|214 euros|176.40 euros|230 euros|208 euros",
    ),
    _family(
        "locker code",
        "The code for locker {id} is {value}{cue}.",
        "14|15|27|31|40|102",
        "7731|0428|5519|9064|2287|6150",
    ),
    _family(
        "oil tank",
        "Tank {id} holds {value}{cue}.",
        "1|2|3|6|7",
        "1,200 litres|940 litres|1,850 litres|300 litres|2,400 litres|615 litres",
    ),
    _family(
        "server load",
        "Server {id} runs at {value}{cue}.",
        "db-1|db-2|web-3|web-7|mail-4",
        "35% load|62% load|80% load|12% load|91% load|48% load",
    ),
    _family(
        "class size",
        "Class {id} has {value}{cue}.",
        "5a|5b|6c|7a|8d",
        "24 pupils|26 pupils|19 pupils|31 pupils|22 pupils|28 pupils",
    ),
    _family(
        "invoice total",
        "Invoice no. {id} comes to {value}{cue}.",
        "1207|1208|1315|1440|2071",
        "$480|$1,260|$95.20|$312|$2,045|$730",
    ),
    _family(
        "bus fare",
        "A single ticket on bus {id} costs {value}{cue}.",
        "7|X7|23|48|101",
        "£1.80|£2.10|£2.40|£3.00|£1.50|£2.75",
    ),
    _family(
        "train length",
        "The {id} to the coast runs with {value}{cue}.",
        "IC 512|IC 514|RE 7|RE 18|RB 33",
        "4 coaches|6 coaches|8 coaches|5 coaches|10 coaches|7 coaches",
    ),
    _family(
        "sensor reading",
        "Sensor {id} reads {value}{cue}.",
        "S1|S2|S4|T9|T12",
        "21.5 °C|19 °C|23.8 °C|17.2 °C|26 °C|20.4 °C",
    ),
    _family(
        "meter reading",
        "The reading on meter {id} is {value}{cue}.",
        "40-118|40-119|41-007|52-300|52-316",
        "8,412 kWh|9,077 kWh|6,250 kWh|11,903 kWh|7,740 kWh|8,965 kWh",
    ),
    _family(
        "ward beds",
        "On ward {id} there are {value} free{cue}.",
        "1|2|4B|5|6A",
        "3 beds|7 beds|2 beds|11 beds|5 beds|8 beds",
    ),
    _family(
        "allotment plot",
        "Plot {id} measures {value}{cue}.",
        "6|7|12|19|33",
        "180 m²|210 m²|95 m²|240 m²|155 m²|300 m²",
    ),
    _family(
        "account balance",
        "Account {id} has a balance of {value}{cue}.",
        "4410|4417|4502|7790|8003",
        "2,310 euros|540 euros|18,200 euros|96 euros|7,455 euros|1,120 euros",
    ),
    _family(
        "phase budget",
        "Phase {id} of the renovation is budgeted at {value}{cue}.",
        "1|2|3|4|5",
        "40,000 francs|62,000 francs|18,500 francs|75,000 francs|33,000 francs|51,000 francs",
    ),
    _family(
        "chapter length",
        "Chapter {id} of the handbook takes up {value}{cue}.",
        "2|3|7|9|12",
        "18 pages|24 pages|31 pages|9 pages|40 pages|27 pages",
    ),
    _family(
        "release memory",
        "The {id} build needs {value} of memory{cue}.",
        "1.9|2.0|2.1|3.4|3.10",
        "512 MB|2 GB|4 GB|768 MB|6 GB|8 GB",
    ),
    _family(
        "model year weight",
        "The {id} model of the van weighs {value}{cue}.",
        "2016|2018|2019|2021|2024",
        "1,640 kg|1,715 kg|1,580 kg|1,802 kg|1,690 kg|1,755 kg",
    ),
    _family(
        "quarter revenue",
        "Revenue for {id} is reported as {value}{cue}.",
        "Q1|Q2|Q3|Q4|Q1 2023",
        "1.2 million|1.4 million|980,000|1.75 million|2.1 million|860,000",
    ),
    _family(
        "freezer setting",
        "Freezer {id} - set to {value}{cue}.",
        "A|B|C|D2|D3",
        "-18 degrees|-20 degrees|-22 degrees|-16 degrees|-24 degrees|-30 degrees",
    ),
    _family(
        "printer speed",
        "Printer {id} manages {value} a minute{cue}.",
        "1|3|P4|P5|P11",
        "22 pages|30 pages|18 pages|45 pages|12 pages|35 pages",
    ),
    _family(
        "message queue",
        "Messages in queue {id} are kept for {value}{cue}.",
        "1|2|3|8|10",
        "4 days|7 days|14 days|24 hours|30 days|48 hours",
    ),
    _family(
        "order boxes",
        "Order #{id} consists of {value}{cue}.",
        "88120|88121|88134|90007|90415",
        "3 boxes|5 boxes|12 boxes|1 box|8 boxes|20 boxes",
    ),
    _family(
        "seminar seats",
        "Room {id} seats {value}{cue}.",
        "101|104|204|B12|C07",
        "16 people|24 people|40 people|12 people|60 people|32 people",
    ),
    _family(
        "dishwasher program",
        "Program {id} of the dishwasher lasts {value}{cue}.",
        "1|2|3|4|6",
        "45 minutes|90 minutes|2 hours|30 minutes|75 minutes|130 minutes",
    ),
    _family(
        "de Miete",
        "Die Miete für Wohnung {id} beträgt {value}{cue}.",
        "1|3|4|9|12",
        "690 Euro|715 Euro|840 Euro|1.050 Euro|575 Euro|760 Euro",
    ),
    _family(
        "de Stellplatz",
        "{value} im Monat kostet Stellplatz {id}{cue}.",
        "5|6|17|22|A3",
        "45 Euro|50 Euro|62 Euro|38 Euro|75 Euro|55 Euro",
    ),
    _family(
        "fr loyer",
        "Le loyer du studio {id} est de {value}{cue}.",
        "1|2|6|15|B4",
        "480 euros|510 euros|535 euros|620 euros|455 euros|700 euros",
    ),
    _family(
        "es plaza",
        "La plaza de garaje {id} cuesta {value} al mes{cue}.",
        "8|9|16|24|31",
        "70 euros|85 euros|95 euros|60 euros|110 euros|78 euros",
    ),
    # times and dates
    _family(
        "meeting start",
        "The meeting of {id} begins at {value}{cue}.",
        "3 March|10 March|17 March|2 April|30 June",
        "9:00|9:30|10:15|13:00|14:30|16:00",
    ),
    _family(
        "release support",
        "The {id} release is supported until {value}{cue}.",
        "2.1|2.2|2.4|3.0|4.1.7",
        "March|the end of June|September 2026|1 December|January 2027|next autumn",
    ),
    _family(
        "flight departure",
        "Flight {id} leaves at {value}{cue}.",
        "LH 440|LH 442|BA 117|KL 1023|EZ 8801",
        "06:25|07:40|11:05|15:50|18:30|21:15",
    ),
    _family(
        "gate closing",
        "Boarding at gate {id} ends at {value}{cue}.",
        "A12|A14|B3|B22|C9",
        "8.10 am|9.45 am|12.20 pm|3.35 pm|5.00 pm|7.55 pm",
    ),
    _family(
        "floor cleaning",
        "The {id} floor is cleaned on {value}{cue}.",
        "first|second|third|fourth|fifth",
        "Fridays|Mondays|Tuesdays|Wednesday evenings|Thursdays|Saturday mornings",
    ),
    _family(
        "shift start",
        "Shift {id} starts at {value}{cue}.",
        "1|2|3|N1|N2",
        "5 am|6 am|1.30 pm|2 pm|9.45 pm|10 pm",
    ),
    _family(
        "module exam",
        "The exam for module {id} takes place on {value}{cue}.",
        "M101|M102|M110|M204|M305",
        "12 February|19 February|4 March|8 July|15 July|21 September",
    ),
    _family(
        "bin collection",
        "In zone {id} the bins are emptied on {value}{cue}.",
        "1|2|4|7|9",
        "Mondays|Tuesdays|Wednesdays|Thursdays|Fridays|every other Saturday",
    ),
    _family(
        "night bus",
        "The last {id} goes at {value}{cue}.",
        "N1|N4|N12|N19|N60",
        "23:40|00:10|00:45|01:20|02:05|23:15",
    ),
    _family(
        "lease end",
        "Lease {id} runs out on {value}{cue}.",
        "17/02|17/03|18/11|20/04|22/09",
        "31 March|30 June|31 August|30 September|31 December|14 May",
    ),
    _family(
        "milestone due",
        "Milestone {id}: due {value}{cue}.",
        "M1|M2|M3|M5|M8",
        "12 May|26 May|9 June|1 July|18 August|3 October",
    ),
    _family(
        "cabin arrival",
        "{value} is the check-in time for cabin {id}{cue}.",
        "2|3|5|10|16",
        "2 pm|3 pm|3.30 pm|4 pm|5 pm|1 pm",
    ),
    _family(
        "de Zug",
        "Der Zug {id} fährt um {value}{cue}.",
        "RE 1|RE 3|RB 24|ICE 703|S 8",
        "6:12 Uhr|7:05 Uhr|8:48 Uhr|12:30 Uhr|17:21 Uhr|20:03 Uhr",
    ),
    _family(
        "de Filiale",
        "Filiale {id} öffnet um {value}{cue}.",
        "2|3|7|11|18",
        "7 Uhr|8 Uhr|8:30 Uhr|9 Uhr|9:30 Uhr|10 Uhr",
    ),
    _family(
        "es autobús",
        "El autobús {id} sale a las {value}{cue}.",
        "3|12|27|L5|L9",
        "6:45|7:20|8:10|13:30|18:05|21:50",
    ),
    # words, names and states
    _family(
        "berth boat",
        "Berth {id} is taken by the {value}{cue}.",
        "4|5|12|13|28",
        "Kittiwake|Sea Holly|Morning Star|Curlew|Saltire|Annabel",
    ),
    _family(
        "boiler keeper",
        "{value} looks after boiler {id}{cue}.",
        "1|2|3|4|7",
        "Ruaridh|Morag|Tomasz|Ines|Farid|Solveig",
    ),
    _family(
        "ticket owner",
        "Ticket #{id} is assigned to {value}{cue}.",
        "4821|4822|4830|5017|5102",
        "Morag|Kwame|Lina|Pieter|Yuki|Callum",
    ),
    _family(
        "room lamp",
        "In room {id} the lamp is {value}{cue}.",
        "201|204|207|305|311",
        "broken|working|flickering|dimmed|on loan|covered up",
    ),
    _family(
        "unit owner",
        "Unit {id} belongs to {value}{cue}.",
        "A|B|C|D|F",
        "the bakery|a dentist|the Lindqvists|a print shop|the council|the climbing club",
    ),
    _family(
        "camera place",
        "Camera {id} was moved to {value}{cue}.",
        "1|2|6|9|C-15",
        "the loading bay|the car park|the front gate|the stairwell|the workshop|the roof",
    ),
    _family(
        "underground line",
        "Line {id} is {value}{cue}.",
        "U1|U2|U3|U6|U9",
        "closed|running normally|delayed|on a short route|out of service|very crowded",
    ),
    _family(
        "team lead",
        "Team {id} is led by {value}{cue}.",
        "1|2|3|5|9",
        "Agnieszka|Bram|Chidi|Dolores|Eilidh|Hamza",
    ),
    _family(
        "house door",
        "The door of number {id} is painted {value}{cue}.",
        "17|19|21|36|40",
        "green|dark blue|red|white|yellow|grey",
    ),
    _family(
        "drawing sheet",
        "Drawing sheet {id} - {value}{cue}.",
        "A-101|A-102|A-201|E-04|S-11",
        "approved|in review|sent back|on hold|withdrawn|signed off",
    ),
    _family(
        "table booking",
        "Table {id} is kept for {value}{cue}.",
        "1|4|6|8|15",
        "the Okafors|Mr Baxter|the choir|Dr Nilsson|the Rossi party|walk-in guests",
    ),
    _family(
        "key holder",
        "The spare key to shed {id} hangs with {value}{cue}.",
        "1|2|5|8|K7",
        "the caretaker|Isobel|the neighbours|Gareth|the office|old Mr Fenn",
    ),
    _family(
        "de Ticket",
        "Ticket Nr. {id} liegt bei {value}{cue}.",
        "310|311|326|402|455",
        "Anke|Jürgen|Frau Demir|Holger|Svenja|Herrn Wolff",
    ),
    _family(
        "de Aufzug",
        "Aufzug {id} ist {value}{cue}.",
        "A|B|C|1|2",
        "in Betrieb|gesperrt|defekt|in Wartung|frei|abgeschaltet",
    ),
    _family(
        "fr salle",
        "La salle {id} est {value}{cue}.",
        "12|14|108|110|B2",
        "libre|occupée|fermée|en travaux|réservée|ouverte",
    ),
)

PLAIN: tuple[tuple[str, str], ...] = (
    ("The staging API listens on port 8080.", "The staging API listens on port 9090 since May."),
    ("The standup is in room 4.", "The standup is in room 7 now."),
    ("We use Postgres 15.", "We use Postgres 16 since the upgrade."),
    ("The office is on floor 3.", "The office is on floor 5 since the move."),
    ("Ishbel lives in flat 4.", "Ishbel lives in flat 9 since September."),
    ("The tariff is at level 2.", "The tariff is at level 3 from June on."),
    ("There are 12 boats in the shed.", "There are 14 boats in the shed since June."),
    ("Our stall at the market is number 31.", "Our stall at the market is number 18 this year."),
    ("The website runs on Python 3.11.", "The website runs on Python 3.12 now."),
    ("Grandfather is on ward 6.", "Grandfather is on ward 2 since last night."),
    ("The Hendersons' car is parked in bay 22.", "The Hendersons' car is parked in bay 40 as of 3 March."),
    ("The book club has got to chapter 5.", "The book club has got to chapter 8 now."),
    (
        "The ferry to the island goes from pier 2.",
        "The ferry to the island goes from pier 6 until the autumn.",
    ),
    ("My locker at the gym is no. 118.", "My locker at the gym is no. 73 since the refit."),
    ("The parcel is at stage 1 of customs.", "The parcel is at stage 3 of customs since Tuesday."),
    ("The night nurse works on corridor 3.", "The night nurse works on corridor 1 since last week."),
    ("The heating is set to step 2.", "The heating is set to step 4 since it froze."),
    ("The choir rehearses in hall B1.", "The choir rehearses in hall C3 from now on."),
    ("Nuala is in class 3b.", "Nuala is in class 4b since the summer."),
    ("The router broadcasts on channel 6.", "The router broadcasts on channel 11 now."),
    (
        "The train to Leeds leaves from platform 9.",
        "The train to Leeds leaves from platform 12 as of Monday.",
    ),
    (
        "The warning for the coast is at grade 1.",
        "The warning for the coast is at grade 3 since this morning.",
    ),
    (
        "The accountant files us under tax code 1257.",
        "The accountant files us under tax code 1185 since April.",
    ),
    ("The renovation is in phase 2.", "The renovation is in phase 3 since the roof was finished."),
    ("The recipe bakes at gas mark 4.", "The recipe bakes at gas mark 6, we found."),
    (
        "The post for the workshop goes to box 77.",
        "The post for the workshop goes to box 15 since the branch closed.",
    ),
    ("The mobile app is at version 2.3.", "The mobile app is at version 2.4 since Friday."),
    ("Our rowing crew starts in lane 5.", "Our rowing crew starts in lane 2 after the redraw."),
    ("Aunt Elspeth takes bus 14 to work.", "Aunt Elspeth takes bus 38 to work now."),
    (
        "The plumber can be reached on extension 204.",
        "The plumber can be reached on extension 311 since May.",
    ),
    ("The bakery opens at 7.", "The bakery opens at 6.30 since the new owner came."),
    ("The dog gets 250 grams of food a day.", "The dog gets 200 grams of food a day since the vet's visit."),
    ("The annual fee of the club is 85 euros.", "The annual fee of the club is 92 euros from January on."),
    ("The deadline for the grant is 15 April.", "The deadline for the grant is 29 April, they wrote today."),
    (
        "The passport of our daughter is valid until May 2026.",
        "The passport of our daughter is valid until July 2036 now.",
    ),
    ("The team consists of 8 people.", "The team consists of 11 people since the merger."),
    ("The speed limit in the village is 50.", "The speed limit in the village is 30 since last week."),
    ("Die Sprechstunde ist in Raum 12.", "Die Sprechstunde ist seit Montag in Raum 20."),
    ("Der Testserver lauscht auf Port 3000.", "Der Testserver lauscht jetzt auf Port 4000."),
    ("Le cours de dessin a lieu en salle 3.", "Le cours de dessin a lieu en salle 8 depuis lundi."),
)
