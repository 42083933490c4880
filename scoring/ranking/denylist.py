"""Words that teach nothing (rule 5.1): they are in any question, any code, any memory of an assistant."""

from __future__ import annotations

_ENGLISH = """
a about above across actually after again against ago all almost along already also although always am among
an and another any anybody anyone anything anyway anywhere are around as ask asked at away back be because
become been before began begin behind being below beside best better between beyond big both but by call came
can cannot come could day days did different do does doing done down during each early either else enough
especially even ever every everybody everyone everything everywhere exactly few find first follow following
for found from full further gave get gets getting give given gives go goes going gone good got great had
happen happened happens hardly has have having he hello help her here hers herself hey him himself his how
however hundred i if important in indeed inside instead into is it its itself just keep kind knew know known
last late later least less let like likely little long look looked looking lot made mainly make makes making
many may maybe me mean means meant might mine more most much must my myself name namely near nearly need
needed needs neither never new next nice no nobody none nor not nothing now nowhere number of off often oh ok
okay old on once one ones only onto or other others otherwise our ours ourselves out outside over own part
particular people perhaps place please point possible possibly probably put quite rather really recent
recently regarding right said same saw say says second see seem seemed seems seen self several shall she
should show showed shown side simply since small so some somebody somehow someone something sometimes
somewhere soon still such sure take taken takes taking tell than thank thanks that the their theirs them
themselves then there therefore these they thing things think third this those though thought thousand three
through thus time times to today together told tomorrow too took toward towards tried tries try trying turn
two under unless until up upon us use used useful user uses using usual usually very via want wanted wants
was way ways we week well went were what whatever when whenever where wherever whether which while who
whoever whole whom whose why will with within without wonder word words work worked working works would year
years yes yesterday yet you your yours yourself yourselves
"""
_CODE = """
add api app application apply arg args argument arguments array async await bool boolean bug build call
callback class code command commit config configuration const constructor copy create data database debug
default define delete deploy dev dict directory doc docs edit else endpoint enum env error errors event
exception export false field file files fix flag float folder function functions get git global host html
http https implement implementation import include index init input install instance int integer interface
issue item json key keys lambda lib library line lines link list load local log logs loop main map merge
message method methods module null number object objects open option options output package page param
parameter parameters parse path port print private process program project property public push query read
release remove repo repository request response result results return returns run running save script search
select send server service set setting settings setup source start static status stop string struct sync
system table task test tests text token tool true tuple type types undefined update url user value values var
variable version view void write yaml
"""
_MEMORY = """
agent answer answered answers assistant chat context conversation decide decided decision decisions detail
details discuss discussed document documents example examples explain fact facts feedback idea information
learn learned memories memory mention mentioned note noted notes person plan problem question questions
reason recall reference relevant remember remembered remind reminder session similar summary talk talked
thread todo topic topics
"""

DENYLIST = frozenset(f"{_ENGLISH} {_CODE} {_MEMORY}".split())
"""Words in lower case; a word with the stem of one of them is denied, too."""
