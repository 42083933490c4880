"""Words as the divergence guard knows them: general linguistics, no vocabulary of any collection.

A word is *function* (ignored), *light* (counts only when exchanged for another of its group: on/off, he/she,
must/may), a *negation*, or *content*. Content words are compared by a key: Snowball stem, after irregular
forms, British spelling and a short list of everyday synonyms were put into one form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

_STEMMERS: dict[str, Callable[[str], str]] = {
    name: SnowballStemmer(name).stem_word for name in ("english", "russian", "greek", "arabic")
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Ambiguous with an English word or name, hence left out: die, war, man, son, met, un.
ENGLISH_WORDS = _words("""
    a an the this that these those there here it its itself they them their theirs themselves who whom whose
    which what where when while whether why how is am are was were be been being isn has have had having do
    does did doing done will would shall let got get gets getting and or but nor so if then than as of
    to from by at on in into onto upon with for about across along around through throughout towards toward
    via per within during since until till because although though however also too very just quite rather
    really some any such own up down out off over under above below before after inside
    between among beside besides against etc eg ie please one's ones oneself
    become becomes became becoming make makes made making
""")
FUNCTION_WORDS = ENGLISH_WORDS | _words("""
    der das dem des ein eine einen einem einer eines und ist sind
    le la les une des du et est sont ce cette ces
    el los las uno una unos unas es
    il lo gli di che è
    os um uma
    het een
    och att ett är
    и
""")

# Small words of other languages: a text with more of these than of English ones is not read closely.
FOREIGN_WORDS = _words("""
    der das dem des den die ein eine einen einem einer eines und oder aber ist sind wird wurde wenn
    zu zum zur von vom mit
    bei auf aus nach für nicht kein keine ich wir ihr sie er es im am an in
    le la les une des du de et ou est sont ce cette ces dans sur avec au aux il elle nous vous je
    que qui ne pas pour
    el los las una unos unas es del al con en y o por para se su lo no si a
    gli di che nel nella della per sono e
    os um uma do dos das em na nos nas ao com não
    het een van op te voor niet en
    och att ett som på av är
    и в на с не что это он она мы
""")

NEGATIONS = _words("""
    not no never none nobody nothing nowhere neither cannot without n't nt hardly scarcely barely noone
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne
    pas jamais aucun aucune sans rien
    nunca jamás nada nadie ningún ninguno ninguna tampoco sin
    nessuno nessuna senza mai
    não nem sem nenhum nenhuma
    niet geen nooit niets zonder
    inte aldrig utan ingen
    ikke aldri uten
    не нет ни никогда никто ничто ничего без
    nie nigdy bez nikt
    değil yok hiç
    لا ليس لم لن بدون غير
    לא אין בלי
    नहीं मत बिना ना
    δεν μη μην χωρίς ποτέ
    tidak bukan tanpa belum không chưa
""")
# Scripts without spaces: the negation is a character or a short ending.
NEGATIONS_UNSPACED = (
    "ません",
    "なかった",
    "ない",
    "ず",
    "不",
    "没",
    "沒",
    "無",
    "无",
    "未",
    "別",
    "别",
    "非",
    "ไม่",
)
_IRREGULAR = """
    man:men woman:women child:children foot:feet tooth:teeth goose:geese mouse:mice person:people,persons
    wife:wives knife:knives life:lives wolf:wolves leaf:leaves half:halves shelf:shelves thief:thieves
    criterion:criteria index:indices analysis:analyses vertex:vertices datum:data
    eat:ate,eaten go:went,gone see:saw,seen say:said take:took,taken give:gave,given
    know:knew,known come:came think:thought find:found tell:told feel:felt leave:left keep:kept
    begin:began,begun
    bring:brought write:wrote,written,writing sit:sat stand:stood lose:lost pay:paid meet:met run:ran
    hold:held buy:bought
    speak:spoke,spoken grow:grew,grown fall:fell,fallen send:sent build:built understand:understood
    draw:drew,drawn break:broke,broken spend:spent rise:rose,risen drive:drove,driven ride:rode,ridden
    wear:wore,worn choose:chose,chosen throw:threw,thrown catch:caught teach:taught sell:sold fight:fought
    sing:sang,sung swim:swam,swum drink:drank,drunk ring:rang,rung sink:sank,sunk fly:flew,flown
    blow:blew,blown show:shown sleep:slept sweep:swept leap:leapt creep:crept win:won hang:hung dig:dug
    swing:swung stick:stuck strike:struck shoot:shot hide:hid,hidden bite:bit,bitten tear:tore,torn
    steal:stole,stolen freeze:froze,frozen wake:woke,woken feed:fed lead:led bleed:bled light:lit slide:slid
    kneel:knelt deal:dealt mean:meant dream:dreamt burn:burnt learn:learnt spill:spilt bend:bent lend:lent
    lay:laid lie:lain forget:forgot,forgotten get:gotten forgive:forgave,forgiven hear:heard seek:sought
    shake:shook,shaken bind:bound grind:ground wind:wound weave:wove,woven tie:tying die:dying lie:lying
    ski:skis,skiing,skied big:bigger,biggest good:better,best bad:worse,worst
"""
_SPELLING = """
    gray:grey center:centre theater:theatre meter:metre liter:litre fiber:fibre defense:defence
    license:licence program:programme catalog:catalogue dialog:dialogue check:cheque tire:tyre pajamas:pyjamas
    jewelry:jewellery plow:plough skeptical:sceptical mustache:moustache okay:ok color:colour
    favor:favour behavior:behaviour
    honor:honour labor:labour neighbor:neighbour flavor:flavour harbor:harbour humor:humour rumor:rumour
    separate:seperate government:goverment definite:definate until:untill which:wich address:adress
    weird:wierd
    accommodate:accomodate begin:begining believe:beleive calendar:calender environment:enviroment their:thier
    existence:existance final:finaly forward:foward immediate:immediatly independent:independant the:teh
    knowledge:knowlege necessary:neccessary,necesary noticeable:noticable parallel:paralel
    persistent:persistant
    possession:posession prefer:prefered public:publically recommend:recomend,reccomend refer:refered
    success:sucess successful:succesful,successfull tomorrow:tommorow,tommorrow truly:truely happen:happend
    favorite:favourite armor:armour donut:doughnut
"""
# Everyday words with one meaning in almost any sentence; a pair that is only sometimes equal is left out.
_SYNONYMS = """
    big:large,huge small:little,tiny child:kid,youngster mother:mom,mum,mommy,mummy father:dad,daddy
    woman:lady man:guy,gentleman bicycle:bike motorcycle:motorbike picture:photo,photograph,image
    road:street couch:sofa begin:start,commence finish:complete happy:glad,delighted,joyful,pleased
    sad:unhappy,miserable near:close,nearby
    talk:speak,chat,converse buy:purchase car:automobile movie:film taxi:cab airplane:plane,aeroplane,aircraft
    television:tv telephone:phone fast:quick,rapid,quickly  rabbit:bunny police:cop shop:store
    cut:slice,chop,dice garbage:trash,rubbish sick:ill fix:repair aid:help,assist choose:select,pick
    nation:country lawn:grass present:gift beach:shore,seashore,seaside match:game jump:leap,hop
    usa:us,america,american uk:britain,british vote:ballot chef:cook instructor:teacher
    doctor:physician pupil:student baby:infant puppy:pup cat:kitty error:mistake answer:reply,response
    require:need permit:allow show:display delete:remove,erase hurt:injure kill:slay dead:deceased error:fault
    rich:wealthy smart:clever,intelligent angry:mad,furious
    hard:difficult easy:simple correct:right wrong:incorrect
    other:another,others config:configuration repo:repository db:database app:application
    lawyer:attorney stair:staircase,stairway explosion:blast resign:quit old:elderly earthquake:quake
    strong:powerful global:worldwide rise:increase release:free teenager:teen marijuana:cannabis
    strict:harsh refuse:decline urge:exhort expand:widen vow:pledge insurgent:rebel put:place path:trail
    hit:strike fight:battle look:stare,gaze
    snow:snowy lawn:grassy timber:wooden,wood gold:golden sand:sandy rock:rocky wool:woollen,woolen sun:sunny
    info:information doc:document docs:documentation env:environment auth:authentication
    approximately:roughly,circa,approx
"""
# A country and what belongs to it.
_DEMONYMS = """
    afghanistan:afghan argentina:argentine,argentinian australia:australian austria:austrian belgium:belgian
    brazil:brazilian bulgaria:bulgarian canada:canadian chile:chilean china:chinese colombia:colombian
    croatia:croatian cuba:cuban cyprus:cypriot denmark:danish egypt:egyptian england:english estonia:estonian
    finland:finnish france:french georgia:georgian germany:german greece:greek hungary:hungarian
    iceland:icelandic
    india:indian indonesia:indonesian iran:iranian iraq:iraqi ireland:irish israel:israeli italy:italian
    japan:japanese jordan:jordanian kenya:kenyan korea:korean latvia:latvian lebanon:lebanese libya:libyan
    lithuania:lithuanian malaysia:malaysian mexico:mexican morocco:moroccan netherlands:dutch nigeria:nigerian
    norway:norwegian pakistan:pakistani palestine:palestinian peru:peruvian poland:polish portugal:portuguese
    romania:romanian russia:russian scotland:scottish serbia:serbian slovakia:slovak slovenia:slovenian
    somalia:somali spain:spanish sweden:swedish switzerland:swiss syria:syrian thailand:thai tunisia:tunisian
    turkey:turkish ukraine:ukrainian venezuela:venezuelan vietnam:vietnamese wales:welsh yemen:yemeni
"""


def _table(text: str) -> dict[str, str]:
    return {
        form: head
        for entry in text.split()
        for head, _, forms in [entry.partition(":")]
        for form in forms.split(",")
    }


_FORMS = _table(_IRREGULAR) | _table(_SPELLING)
# Forms of a verb that can only be its past, and forms of comparison.
IRREGULAR_FORMS = frozenset(_table(_IRREGULAR))
PAST = frozenset(
    _words("""
    ate went saw said took gave knew came thought found told felt kept began brought wrote sat stood
    lost paid met ran held
    bought spoke grew fell sent built understood drew broke spent rose drove rode wore chose threw
    caught taught sold fought
    sang swam drank rang sank flew blew slept swept won hung dug swung stuck struck shot hid bit
    tore stole froze woke fed led
    bled dreamt burnt learnt spilt bent lent laid forgot forgave heard sought shook bound wove made
    got became left
""")
)
DEGREES = {
    form: degree
    for degree, forms in {
        "comparative": "better worse bigger", "superlative": "best worst biggest",
    }.items()
    for form in forms.split()
}  # fmt: skip


def _stem(word: str) -> str:
    first = ord(word[0])
    if first < 0x250:
        return _STEMMERS["english"](word)
    if 0x370 <= first < 0x400:
        return _STEMMERS["greek"](word)
    if 0x400 <= first < 0x530:
        return _STEMMERS["russian"](word)
    if 0x600 <= first < 0x700:
        return _STEMMERS["arabic"](word)
    return word


def _spelled(word: str) -> str:
    word = _FORMS.get(word, word)
    if len(word) > 6:
        for british, american in (
            ("isation", "ization"),
            ("ise", "ize"),
            ("ised", "ized"),
            ("ising", "izing"),
            ("lyse", "lyze"),
            ("lysed", "lyzed"),
            ("lysing", "lyzing"),
        ):
            if word.endswith(british):
                return word[: -len(british)] + american
        for british in ("lled", "lling", "ller"):
            if word.endswith(british):
                return word[: -len(british)] + british[1:]
    return word


_SYNONYM_STEMS = {
    _stem(form): _stem(_spelled(head)) for form, head in _table(_SPELLING + _SYNONYMS + _DEMONYMS).items()
}


def stem_key(word: str) -> str:
    """The key of a folded word without its synonyms: one verb in all its forms."""
    return _stem(_FORMS.get(base, base)) if (base := _spelled(word)) else word


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """The key under which a folded content word is compared."""
    stem = stem_key(word)
    return _SYNONYM_STEMS.get(stem, stem)


_LONG = 7  # shorter words turn into others: untied and united, silver and sliver


def mistyped(one: str, other: str) -> bool:
    """Whether two long words differ in two neighbouring letters turned round or one doubled by mistake.

    A doubled consonant before an ending makes another word (scraping, scrapping), hence is none.
    """
    if one[:1] != other[:1] or one[-1:] != other[-1:] or min(len(one), len(other)) < _LONG:
        return False
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
    if len(one) == len(other):
        turned = one[:at] + one[at + 1 : at + 2] + one[at : at + 1] + one[at + 2 :]
        return (turned == other and len(one) > _LONG) or (
            turned == other and {*one[at : at + 2]} == {"e", "i"}
        )
    short, long = sorted((one, other), key=len)
    doubled = long[:at] + long[at + 1 :] == short and long[at] == long[at - 1]
    return doubled and not long.endswith(("ing", "ed", "er", "ers", "ings", "erts"))
