"""Held-out notes on numbered things, written separately, to measure look-alikes and updates."""

from __future__ import annotations

from _lookalikes import Family


def _family(name: str, text: str, ids: str, values: str) -> Family:
    """Read the identifiers and the values from texts that part them with a bar."""
    return Family(name, text, tuple(ids.split("|")), tuple(values.split("|")))


HELD_OUT: tuple[Family, ...] = (
    # farm, garden and outdoors
    _family(
        "vine row",
        "Row {id} of the Riesling gives {value} of grapes{cue}.",
        "4|7|12|13|18|22",
        "310 kg|285 kg|402 kg|96 kg|350 kg|277.5 kg",
    ),
    _family(
        "beehive",
        "There are {value} of brood in hive {id}{cue}.",
        "2|3|5|6|9",
        "four frames|six frames|seven frames|three frames|nine frames|five and a half frames",
    ),
    _family(
        "greenhouse bay",
        "bay {id} - vents open at {value}{cue}.",
        "A1|A2|B1|B4|C3|C5",
        "24 °C|26 °C|22.5 °C|28 °C|21 °C|30 °C",
    ),
    _family(
        "well water",
        "In well {id} the water stands {value} below the rim{cue}.",
        "1|2|4|8|10",
        "6.2 m|5.8 m|7.1 m|11 m|9.4 m|4.95 m",
    ),
    _family(
        "quarry blasting",
        "At quarry no. {id} they blast at {value}{cue}.",
        "3|6|7|11|15",
        "10:15|11:00|13:30|14:45|9:20|15:10",
    ),
    _family(
        "buoy light",
        "Buoy #{id} flashes every {value}{cue}.",
        "17|19|21|22|34|35",
        "4 seconds|6 seconds|2.5 seconds|10 seconds|8 seconds|15 seconds",
    ),
    _family(
        "canal lock",
        "Boats wait {value} at the {id} lock{cue}.",
        "1st|2nd|3rd|5th|6th|9th",
        "20 minutes|45 minutes|an hour|10 minutes|35 minutes|two hours",
    ),
    _family(
        "ski lift",
        "Lift {id}: {value}{cue}.",
        "K1|K2|K4|L3|L7",
        "running|closed for wind|on hold|open for season pass holders only|half speed|shut for repairs",
    ),
    _family(
        "orchard plot",
        "Whoever does plot {id} of the orchard should prune {value}{cue}.",
        "5|6|8|14|20",
        "31 trees|40 trees|27 trees|18 trees|52 trees|36 trees",
    ),
    # care, laboratory and workshop
    _family(
        "patient bed",
        "The patient in bed {id} gets {value} of heparin a day{cue}.",
        "3|4|7|11|12|16",
        "5,000 units|7,500 units|10,000 units|12,500 units|15,000 units|2,500 units",
    ),
    _family(
        "bed nurse",
        "{value} looks after bed {id} at night{cue}.",
        "1|2|6|9|10",
        "Nurse Okafor|Nurse Lindqvist|Nurse Tanaka|Nurse Ferrari|Nurse Boateng|Nurse Haddad",
    ),
    _family(
        "sample tube",
        "tube {id} pH {value}{cue}.",
        "S-01|S-02|S-07|S-11|S-12|S-30",
        "6.8|7.1|7.4|5.9|8.2|6.35",
    ),
    _family(
        "kiln",
        "We fire kiln {id} up to {value}{cue}.",
        "1|2|3|4|6",
        "1,060 °C|1,140 °C|1,220 °C|1,280 °C|980 °C|1,250 °C",
    ),
    _family(
        "test bench",
        "On test bench {id}, the engine idles at {value}{cue}.",
        "2|3|5|7|8",
        "750 rpm|820 rpm|900 rpm|680 rpm|1,050 rpm|795 rpm",
    ),
    _family(
        "freezer rack",
        "Dr. Osei keeps {value} on rack {id} of the deep freezer{cue}.",
        "A|B|C|D|E|F",
        "12 boxes|15 boxes|9 boxes|21 boxes|6 boxes|18 boxes",
    ),
    # traffic and buildings
    _family(
        "parking deck",
        "Only {value} free on deck {id}{cue}.",
        "1|2|3|4|5|-1",
        "14 spaces|3 spaces|27 spaces|61 spaces|8 spaces|40 spaces",
    ),
    _family(
        "tram interval",
        "The number {id} tram comes every {value}{cue}.",
        "2|4|9|11|16|28",
        "7 minutes|10 minutes|12 minutes|15 minutes|20 minutes|6 minutes",
    ),
    _family(
        "elevator inspection",
        "Elevator {id} is due for inspection on {value}{cue}.",
        "E1|E2|E3|W1|W2",
        "14 May|2 June|19 August|30 September|11 October|7 July",
    ),
    _family(
        "fuel pump",
        "Diesel at pump {id} sells for {value} a litre{cue}.",
        "1|3|4|6|8",
        "1.62 euros|1.69 euros|1.74 euros|1.58 euros|1.81 euros|1.655 euros",
    ),
    _family(
        "substation",
        "Substation {id} feeds {value}{cue}.",
        "12|14|23|31|32|40",
        "1,900 homes|2,350 homes|870 homes|4,100 homes|3,020 homes|640 homes",
    ),
    _family(
        "court room",
        "Judge {value} sits in court room {id}{cue}.",
        "101|102|118|204|210|305",
        "Abernathy|Castellanos|Whitlock|Nakamura|Obi|Sorensen",
    ),
    _family(
        "exhibition hall",
        "What is in hall {id}? The {value}{cue}.",
        "3|4|5.1|6|8|11",
        "boat show|garden fair|book fair|dental congress|used car market|pet show",
    ),
    _family(
        "stairwell",
        "For stairwell {id} the caretaker wants the light to stay on {value}{cue}.",
        "A|B|C|D|F",
        "90 seconds|two minutes|three minutes|60 seconds|five minutes|45 seconds",
    ),
    # arts, sports and reading
    _family(
        "sail number",
        "GER {id} is helmed by {value}{cue}.",
        "41|77|108|146|212|518",
        "Maren|Joost|Philippa|Anders|Renata|Kofi",
    ),
    _family(
        "film reel",
        "Reel {id} runs {value}{cue}.",
        "1|2|3|4|5|6",
        "18 min 40 s|19 min 05 s|20 min 12 s|17 min 30 s|11 min 58 s|21 min 03 s",
    ),
    _family(
        "choir voice",
        "We have {value} singing {id}{cue}.",
        "soprano 1|soprano 2|alto 1|alto 2|tenor 1|bass 2",
        "seven people|nine people|four people|eleven people|six people|three people",
    ),
    _family(
        "chess board",
        "Playing on board {id} for us: {value}{cue}.",
        "1|2|3|4|6|8",
        "Tibor|Yusuf|Clementine|Magda|Henrik|Ravi",
    ),
    _family(
        "bookshelf",
        "Shelf {id} = {value}{cue}.",
        "2|3|5|9|10",
        "travel guides|cookbooks|Russian novels|atlases|poetry|crime fiction",
    ),
    _family(
        "podcast episode",
        "Episode {id} goes out on {value}{cue}.",
        "31|32|33|40|41|57",
        "6 February|13 February|27 February|5 March|19 March|2 April",
    ),
    _family(
        "book volume",
        "vol. {id} - {value} is the translator{cue}.",
        "I|II|III|IV|VI|IX",
        "Ms Albrecht|Mr Dubois|Ms Ivanova|Mr Keane|Ms Moreau|Mr Sato",
    ),
    _family(
        "radio channel",
        "You reach the {value} on channel {id}{cue}.",
        "6|8|12|13|16|72",
        "harbour master|tug crew|coast guard|race committee|marina office|pilot boat",
    ),
    # software and office
    _family(
        "VLAN",
        "The {value} sit in VLAN {id}{cue}.",
        "10|20|30|110|120|200",
        "printers|cameras|guest phones|card readers|door sensors|meeting screens",
    ),
    _family(
        "database shard",
        "shard-{id} is at {value} of disk{cue}.",
        "00|01|02|05|07|12",
        "61%|74%|88%|43%|92%|55%",
    ),
    _family(
        "cron job",
        "cron job #{id} kicks in at {value}{cue}.",
        "3|4|9|15|16",
        "02:10|03:25|04:00|23:50|00:40|05:15",
    ),
    _family(
        "Kubernetes node",
        "kubectl says {value} for worker-{id}{cue}.",
        "1|2|3|6|11|14",
        "Ready|NotReady|SchedulingDisabled|MemoryPressure|DiskPressure|Unknown",
    ),
    _family(
        "API version",
        "v{id} of the orders API allows {value} per key{cue}.",
        "1|2|3|4|5",
        "60 calls a minute|100 calls a minute|240 calls a minute|30 calls a minute|500 calls a minute"
        "|1,000 calls a minute",
    ),
    _family(
        "schema version",
        "{value} still have to be migrated to schema {id}{cue}.",
        "2.0|2.1|2.4|3.0|3.2",
        "14 tenants|9 tenants|31 tenants|6 tenants|52 tenants|20 tenants",
    ),
    _family(
        "sprint points",
        "Sprint {id}: committed to {value}{cue}.",
        "18|19|20|24|25|41",
        "34 points|29 points|41 points|22 points|38 points|47 points",
    ),
    _family(
        "RFC state",
        "Our internal RFC {id} is marked {value}{cue}.",
        "007|012|013|021|034|101",
        "draft|accepted|rejected|on ice|superseded|in last call",
    ),
    _family(
        "tax year",
        "For tax year {id} I owe the revenue office {value}{cue}.",
        "2018|2019|2020|2021|2022|2023",
        "1,310 pounds|845 pounds|2,076 pounds|95 pounds|560.40 pounds|3,412 pounds",
    ),
    _family(
        "semester course",
        "In my {id} semester I take {value}{cue}.",
        "second|third|fourth|fifth|sixth|eighth",
        "30 credits|27 credits|24 credits|33 credits|18 credits|21 credits",
    ),
    _family(
        "auction lot",
        "Bids on lot no. {id} stand at {value}{cue}.",
        "55|56|81|130|131|244",
        "420 dollars|610 dollars|1,150 dollars|90 dollars|2,300 dollars|775 dollars",
    ),
    # German
    _family(
        "Bienenstock",
        "Stock {id} wiegt {value}{cue}.",
        "1|2|4|7|8",
        "38 kg|41,5 kg|29 kg|52 kg|46 kg|33,2 kg",
    ),
    _family(
        "Schleuse",
        "An der Schleuse {id} ist ab {value} kein Betrieb{cue}.",
        "I|II|III|IV|VI",
        "18 Uhr|19:30 Uhr|20 Uhr|17 Uhr|21 Uhr|16:45 Uhr",
    ),
    _family(
        "Wahlbezirk",
        "{value} leitet den {id}. Wahlbezirk{cue}.",
        "3|5|12|14|27",
        "Frau Petersen|Herr Yildiz|Frau Oberhuber|Herr Wendt|Frau Kowalski|Herr Lorenz",
    ),
    _family(
        "Klasse",
        "Für die Klasse {id} brauchen wir {value}{cue}.",
        "5a|5b|6c|7a|9d",
        "24 Atlanten|27 Atlanten|31 Atlanten|19 Atlanten|22 Atlanten|29 Atlanten",
    ),
    _family(
        "Bauabschnitt",
        "Bauabschnitt {id} – fertig {value}{cue}.",
        "1|2|3|5|6",
        "im April|im Juni|Ende August|Mitte Oktober|im November|Anfang Februar",
    ),
    # French and Spanish
    _family(
        "quai de gare",
        "Le train pour {value} part du quai {id}{cue}.",
        "2|3|7|A|B|C",
        "Lyon|Nantes|Dijon|Lille|Bordeaux|Strasbourg",
    ),
    _family(
        "fût de chai",
        "Dans le fût n° {id}, il reste {value}{cue}.",
        "4|6|9|15|18",
        "120 litres|95 litres|210 litres|64 litres|180 litres|37 litres",
    ),
    _family(
        "puesto del mercado",
        "El puesto {id} del mercado paga {value} al mes{cue}.",
        "8|11|12|23|30",
        "140 euros|165 euros|180 euros|210 euros|95 euros|250 euros",
    ),
)

HELD_OUT_PLAIN: tuple[tuple[str, str], ...] = (
    ("The build server uses port 8080.", "The build server uses port 9090 since Monday."),
    ("Choir practice is in room 12.", "Choir practice is now in room 31."),
    ("My bus to work is line 48.", "As of Monday my bus to work is line 53."),
    ("We run Postgres version 13.", "We no longer run Postgres version 13 but version 16."),
    ("Lena lives on floor 3.", "Lena moved to floor 5."),
    ("The press conference is in hall 2.", "The press conference was changed to hall 7."),
    ("I read to Ben from chapter 4.", "I read to Ben from chapter 6 now."),
    ("The parcels are on pallet 17.", "The parcels are on pallet 22 instead."),
    ("Our stand at the fair is number 140.", "From now on our stand at the fair is number 162."),
    ("Deploys go to cluster 1.", "Deploys go to cluster 3 from now on."),
    ("The piano tuner comes in week 14.", "The piano tuner comes in week 19 instead."),
    ("Grandpa is in ward 6.", "Grandpa has been in ward 9 since yesterday."),
    ("Our flight leaves from pier 4.", "Our flight was moved to pier 8."),
    ("The team plays in division 3.", "The team plays in division 2 as of this season."),
    ("The thermostat is on level 2.", "The thermostat is on level 4 now."),
    ("Javier wears shirt number 10.", "Javier no longer wears shirt number 10, he has number 23."),
    ("The ferry docks at berth 5.", "Since the storm the ferry docks at berth 1."),
    ("The intercom is on channel 11.", "The intercom has been changed to channel 14."),
    ("The backup goes onto tape 6.", "The backup now goes onto tape 7."),
    ("We follow revision 2 of the drawing.", "We follow revision 5 of the drawing as of Tuesday."),
    ("Mia is in group 1 at swimming.", "Mia moved to group 4 at swimming."),
    ("The key is kept in drawer 3.", "The key is kept in drawer 8 instead."),
    ("The exam covers unit 7.", "The exam no longer covers unit 7; it covers unit 9."),
    ("Our mooring is at jetty 12.", "Our mooring is at jetty 15 since April."),
    ("I use lens setting 4 on the scope.", "From now on I use lens setting 6 on the scope."),
    ("The app is built with Java 11.", "The app is built with Java 21 now."),
    ("The dentist put the crown on tooth 26.", "The dentist is to put the crown on tooth 27 instead."),
    ("The night shift starts on line 2.", "As of next week the night shift starts on line 5."),
    ("The router sits at address 192.168.0.1.", "The router now sits at address 192.168.0.254."),
    ("Gymnastics is on mat 1.", "Gymnastics has been on mat 3 since the floor was redone."),
)
