"""Edits of the contrast bench: kinds that change the meaning of a sentence, and kinds that do not.

An edit is a pattern and what stands for it; it is tried on real sentences, and applied to its first match.
``a <> b`` exchanges whole words in both directions, ``a > b`` in one. One table, so one long file.
"""

# A table: an entry a line.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Edit(NamedTuple):
    """One small change of a sentence."""

    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]
    needle: str = ""  # part of every match, to look for first

    def apply(self, sentence: str) -> str | None:
        """The sentence with the first match changed; None where nothing changes."""
        if self.needle not in sentence:
            return None
        changed = self.pattern.sub(self.replacement, sentence, count=1)
        return changed if changed != sentence else None


def _words(table: str) -> list[Edit]:
    edits = []
    for entry in re.split(r";\s*", table.strip()):
        left, sign, right = re.split(r"\s*(<>|>)\s*", " ".join(entry.split()))
        edits.append(_word(left, right))
        if sign == "<>":
            edits.append(_word(right, left))
    return edits


def _word(left: str, right: str) -> Edit:
    return Edit(re.compile(rf"(?<![\w'’-]){re.escape(left)}(?![\w'’-])"), right, left)


def _edit(pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> list[Edit]:
    return [Edit(re.compile(pattern), replacement)]


def _more(digits: str) -> str:
    return str(int(digits) + 1)


_NAME = (
    r"^((?!The|A|An|In|On|It|He|She|They|There|This|These|That|Two|Some|You|We|If|When|What|How)[A-Z][a-z]+)"
)
_VERB = (
    r"(has|is|was|loves|likes|enjoys|plays|wants|works|lives|thinks|feels|believes|uses|takes|makes|needs)"
)
_NOUN = r"(?!(?:and|or|a|an|the|to|of|in|on|is|are|was)\b)[a-z]{3,}"
_END = r"(?<=[a-z])\.?$"

# What the meaning hangs on.
CHANGES: dict[str, list[Edit]] = {
    "and/or": _words("and <> or"),
    "if/unless": [
        *_words("if <> unless; even if > if; when > unless; If > Unless"),
        *_edit(_END, " unless it rains."),
    ],
    "condition dropped": [
        *_edit(_END, " if it rains."),
        *_edit(_END, " when the office is closed."),
        *_edit(_END, ", provided that Ada agrees."),
        *_edit(_END, " as long as the light is green."),
        *_edit(_END, " in case of fire."),
        *_edit(r"^(.*\w),? (?:if|when|unless|while|as long as) [^,]+$", r"\1."),
        *_edit(r"^(?:If|When|While|Once) [^,]+, (\w)", lambda m: m[1].upper()),
    ],
    "only": [
        *_edit(_NAME + r"(?= \w)", r"Only \1"),
        *_edit(r"\b(on|in|at|for|with|to|when) ", r"only \1 "),
        *_edit(r"\b(solely|only|merely|exclusively) ", ""),
        *_edit(r"\b(is|are|was|were|has|have) ", r"\1 only "),
    ],
    "quantifier": _words(
        "all <> some; every > some; most <> all; All > Some; Some > All; Every > No; many <> few; any > "
        "every;several > all; each > some; everyone <> someone; everything <> something; some <> no; a few > "
        "many;both > neither; a lot of > few; many > most; some > most; Some > No; some > any"
    ),
    "quantifier added": [
        *_edit(r"\b(the [a-z]+s) (are|have|were)\b", r"most of \1 \2"),
        *_edit(r"^The ([a-z]+s) (are|have|were|can)\b", r"Few \1 \2"),
        *_edit(r"^(?!This|His|Its)([A-Z][a-z]+s) (are|have|were|can)\b", r"Some \1 \2"),
        *_edit(r"^(The|These) ([a-z]+s) (are|have|were|can)\b", r"Not all \2 \3"),
    ],
    "both/either": _words("both <> either; both <> neither; Both > Either; either > neither"),
    "before/after": _words("before <> after; Before <> After; prior to > after; since <> until; until > from"),
    "bounds": [
        *_words(
            "at least <> at most; more than <> less than; over > under; up to <> over; at least > exactly;"
            "fewer than > more than; more <> less; no more than > no less than; up to > at least"
        ),
        *_edit(r"(?<![\w.,:/$€£-])(\d+)(?= [a-z]{3,})", r"at least \1"),
        *_edit(r"(?<![\w.,:/$€£-])(\d+)(?= [a-z]{3,})", r"up to \1"),
        *_edit(r"(?<![\w.,:/$€£-])(\d+)(?= [a-z]{3,})", r"almost \1"),
        *_edit(r"(?<![\w.,:/$€£-])(\d+)(?= [a-z]{3,})", r"more than \1"),
    ],
    "modal": _words(
        "can <> must; should <> may; may <> must; will <> might; can > should; could > must; would > will;"
        "has to > may; need to > can; must > need not; can > cannot; should > could; might > will"
    ),
    "modal added": [
        *_edit(r"\b(is|are|was) (?=[a-z]+ing\b)", "may be "),
        *_edit(r"^(\w+) is ", r"\1 should be "),
        *_edit(r"\b(is|are) ", "could be "),
        *_edit(r"\b(is|are) ", "must be "),
        *_edit(r"\b(is|are) ", "would be "),
    ],
    "no longer, still, used to": [
        *_edit(r"\b(is|are) ", r"\1 no longer "),
        *_edit(r"\b(is|are) ", r"\1 still "),
        *_edit(r"\b(is|are|have|has) ", "used to be "),
        *_edit(_NAME + r" ([a-z]+[^s\W])s\b", r"\1 no longer \2s"),
        *_edit(_NAME + r" ([a-z]+[^s\W])s\b", r"\1 used to \2"),
        *_edit(_NAME + r" ([a-z]+[^s\W])s\b", r"\1 still \2s"),
        *_words("still > no longer; already > not yet; no longer > still; again > for the first time"),
    ],
    "plan beside deed": [
        *_edit(_NAME + r" ([a-z]+[^s\W])s\b", r"\1 plans to \2"),
        *_edit(_NAME + r" ([a-z]+[^s\W])s\b", r"\1 wants to \2"),
        *_edit(_NAME + r" ([a-z]+[^s\We])ed\b", r"\1 hopes to \2"),
        *_edit(_NAME + r" ([a-z]+[^s\We])ed\b", r"\1 tried to \2"),
        *_edit(_NAME + r" ([a-z]+[^s\We])ed\b", r"\1 is going to \2"),
        *_edit(_NAME + r" ([a-z]+[^s\We])ed\b", r"\1 almost \2ed"),
        *_edit(r"^(\w+) is ([a-z]+)ing\b", r"\1 intends to be \2ing"),
        *_words("plans to > refuses to; want to > do not want to; decided to > failed to; started > stopped"),
    ],
    "tense": [
        *_words("is <> was; are <> were; has <> had; will be > was; will > did; was > will be; is > will be"),
        *_edit(_NAME + r" ([a-z]+[^s\We])ed\b", r"\1 will \2"),
        *_edit(_NAME + r" (like|love|enjoy|use|need|want|live|work|play|own|keep)s\b", r"\1 will \2"),
        *_edit(_NAME + r" (like|love|use|live)s\b", r"\1 \2d"),
        *_edit(_NAME + r" (enjoy|need|want|work|play|own)s\b", r"\1 \2ed"),
    ],
    "frequency": [
        *_words(
            "always <> sometimes; usually > never; often <> rarely; never > sometimes; always > usually;"
            "sometimes > often; frequently > seldom; daily > weekly; every day > every week; once > twice"
        ),
        *_edit(_NAME + r" ([a-z]+[^s\W]s)\b", r"\1 sometimes \2"),
        *_edit(_NAME + r" ([a-z]+[^s\W]s)\b", r"\1 rarely \2"),
    ],
    "hedge": [
        *_edit(r"\b(is|are|was|were) ", r"\1 probably "),
        *_edit(r"\b(is|are|was|were) ", r"\1 possibly "),
        *_edit(r"\b(is|are|was|were) ", r"\1 allegedly "),
        *_edit(r"^(The|He|She|It|They|We)\b", lambda m: "Maybe " + m[0].lower()),
        *_edit(r"^(The|He|She|It|They|We)\b", lambda m: "It is unlikely that " + m[0].lower()),
        *_words("probably > certainly; definitely > maybe; likely > unlikely; perhaps > surely"),
    ],
    "who said it": [
        *_edit(r"^(The|He|She|It|They|We|A|An)\b", lambda m: "Ada thinks that " + m[0].lower()),
        *_edit(r"^(The|He|She|It|They|We|A|An)\b", lambda m: "Bo denies that " + m[0].lower()),
        *_edit(r"^(The|He|She|It|They|We|A|An)\b", lambda m: "According to Bo, " + m[0].lower()),
        *_edit(r"^(The|He|She|It|They|We|A|An)\b", lambda m: "Ada dreamt that " + m[0].lower()),
        *_edit(_NAME, r"Ada believes \1"),
        *_edit(_END, ", Ada claims."),
    ],
    "question": [
        *_edit(r"^([A-Z]\w+(?: \w+)?) (is|was|can|has|will) (.*\w)\.?$",
               lambda m: f"{m[2].capitalize()} {m[1][0].lower() if m[1].startswith('The') else m[1][0]}{m[1][1:]} {m[3]}?"),
        *_edit(r"(?<=\w)\.$", "?"),
    ],
    "negation": [
        *_edit(r"\b(is|are|was|were|can|will|should|could|would|must) (?!not\b)", r"\1 not "),
        *_edit(r"\b(is|are|was|were) (?!not\b)", r"\1n't "),
        *_edit(r"\b(?:not|never) ", ""),
        *_words("with <> without; can > can't; do > don't; never > always; without > with; nothing > something"),
    ],
    "prefix of negation": _words(
        "possible <> impossible; happy <> unhappy; able <> unable; useful <> useless; careful <> careless;"
        "important > unimportant; likely > unlikely; known > unknown; visible > invisible; like > dislike;"
        "appear > disappear; enabled > disabled; supported > unsupported; expected > unexpected;"
        "comfortable > uncomfortable; valid > invalid; locked > unlocked; dependent > independent;"
        "connected > disconnected; necessary > unnecessary; agree > disagree; regular > irregular;"
        "healthy > unhealthy; available > unavailable; complete > incomplete; familiar > unfamiliar"
    ),
    "antonym": _words(
        "left <> right; increase <> decrease; enable <> disable; start <> stop; open <> close; first <> last;"
        "allowed <> forbidden; true <> false; high <> low; long <> short; early <> late; big <> small;"
        "buy > sell; import <> export; accept > reject; upper > lower; inside <> outside; male > female;"
        "add <> remove; minimum <> maximum; internal > external; easy > hard; old > new; north <> south;"
        "input <> output; require > forbid; include <> exclude; positive <> negative; public <> private"
    ),
    "comparative": _words(
        "better <> worse; more <> less; larger > smaller; faster > slower; higher <> lower; older <> younger;"
        "best <> worst; most <> least; longer > shorter; earlier > later; bigger > smaller; cheaper > dearer;"
        "better > best; larger > largest; as > not as; bigger > big; higher > high; faster > fast"
    ),
    "preposition": _words(
        "to <> from; in <> out of; with <> without; over <> under; into > out of; on <> off; up <> down;"
        "for <> against; above <> below; inside <> outside; in front of > behind; near > far from; to > for;"
        "towards > away from; at > near; on > under; from > for; by > for; of > for; across > around"
    ),
    "exception": [
        *_edit(_END, " except on Mondays."),
        *_edit(_END, ", apart from Ada."),
        *_edit(_END, " but not on Sundays."),
        *_edit(_END, " except for emergencies."),
        *_words("including <> excluding; except > including; instead of > besides; with > except"),
    ],
    "cause and concession": _words(
        "because <> although; since > although; because > even though; due to > despite; so > although;"
        "Because > Although; Although > Because; while > because; because of > despite; so that > although"
    ),
    "ordinal": _words(
        "first <> second; third <> second; First > Second; 1st > 2nd; 2nd > 3rd; next <> previous; last > "
        "next;first > only; fifth > sixth; 19th > 18th; 20th > 19th; second > fourth; 21st > 22nd"
    ),
    "number": [
        *_edit(r"(?<![\w.,:/-])(\d{1,4})(?![\w.,:/%-])", lambda m: _more(m[1])),
        *_edit(r"(\d),(\d{3})\b", r"\1\2,000"),
        *_edit(r"\b(\d)(\d)\b", lambda m: m[2] + m[1] if m[1] != m[2] else _more(m[0])),
    ],
    "number in words": _words(
        "two <> three; four > five; six > seven; Two <> Three; ten > twelve; a dozen > a hundred; one > two;"
        "once > twice; half > third; double > triple; million > billion; thousand > million; a > two;"
        "twenty > thirty; seven > eleven; eight > eighteen; single > double; five > fifteen; hundred > "
        "thousand"
    ),
    "range": [
        *_edit(r"\b(\d{1,3}) ?[-–] ?(\d{1,3})\b(?!-)", lambda m: f"{m[1]}-{_more(m[2])}"),
        *_edit(r"\bbetween (\d+) and (\d+)", lambda m: f"between {m[1]} and {_more(m[2])}"),
        *_edit(r"(?<![\w.,:/$-])(\d{1,2}) (days|minutes|hours|years|weeks|months|people|points)",
               lambda m: f"{m[1]}-{_more(m[1])} {m[2]}"),
        *_edit(r"\bfrom (\d+) to (\d+)\b", r"from \2 to \1"),
    ],
    "ratio": [
        *_edit(r"\b(\d+):(\d+)\b(?! ?[ap]m)", lambda m: f"{m[2]}:{m[1]}" if m[1] != m[2] else f"{m[1]}:{_more(m[2])}"),
        *_edit(r"(?<![\d/.])(\d+)/(\d+)(?![\d/.])", lambda m: f"{m[2]}/{m[1]}" if m[1] != m[2] else f"{m[1]}/{_more(m[2])}"),
        *_edit(r"\b(\d+) out of (\d+)\b", lambda m: f"{_more(m[1])} out of {m[2]}"),
    ],
    "unit": _words(
        "days <> weeks; hours <> minutes; miles <> kilometers; years <> months; seconds > milliseconds;"
        "MB <> GB; KB > MB; GB > TB; feet > meters; pounds > kilograms; percent > points; bytes > bits;"
        "week > month; hour > day; month > year; kg > g; km > m; degrees > radians; seconds > minutes"
    ),
    "currency": [
        *_edit(r"\$(?=\d)", "€"), *_edit(r"€(?=\d)", "£"), *_edit(r"£(?=\d)", "$"),
        *_words("dollars <> euros; dollar > euro; euros > pounds; pounds > dollars; USD > EUR; GBP > USD"),
    ],
    "date": _words(
        "Monday <> Tuesday; Friday > Thursday; Sunday > Saturday; Wednesday > Tuesday; January <> February;"
        "March > April; May > June; July > August; October <> November; December > September; yesterday > "
        "today;tomorrow > today; last week > next week; last month > last year; morning <> evening; weekend "
        "> week;2023 <> 2022; 2024 > 2025; 1990s > 1980s; summer <> winter; tonight > tomorrow; last year > "
        "next year"
    ),
    "am/pm": [*_edit(r"\b(\d{1,2}(?::\d\d)?) ?am\b", r"\1 pm"), *_edit(r"\b(\d{1,2}(?::\d\d)?) ?pm\b", r"\1 am"),
              *_edit(r"\b(\d{1,2}(?::\d\d)?) ?PM\b", r"\1 AM"), *_edit(r"\b(\d{1,2}(?::\d\d)?) ?AM\b", r"\1 PM")],
    "name": [
        *_edit(_NAME + r" (?=" + _VERB[1:-1].replace("|", r"\b|") + r"\b)", "Zelda "),
        *_edit(r"(?<=[a-z] )(?!I\b)([A-Z][a-z]{2,})\b(?=[ .,])", "Zurich"),
        *_edit(r"(?<=[a-z] )(?:John|Caroline|Melanie|Jon|Gina|Maria|Joanna|Nate)\b", "Ursula"),
    ],
    "pronoun": _words("he <> she; his <> her; I <> you; my <> your; we <> they; our <> their; him > her; their > his;"
                      "He <> She; They > We; My > Your; I > we; me > you; its > your; them > us"),
    "exchanged arguments": [
        *_edit(r"^([A-Z]\w+) ((?:reports|writes|talks|listens|belongs|speaks) to|is (?:taller|older) than) ([A-Z]\w+)", r"\3 \2 \1"),
        *_edit(rf"\b({_NOUN}) (over|under|before|after|than|to|from|into|against|behind|above|below|for|with|of) (?:the |a |an )?({_NOUN})\b",
               lambda m: f"{m[3]} {m[2]} {m[1]}" if m[1] != m[3] else m[0]),
        *_edit(r"^(?:The|A) ([a-z]+) (?:is|was) ([a-z]+ing) (?:the|a|an) ([a-z]+)\b", r"The \3 is \2 the \1"),
        *_edit(r"^([A-Z][a-z]+) (supported|encouraged|told|asked|thanked|helped|gave|showed|invited|met) ([A-Z][a-z]+)\b", r"\3 \2 \1"),
        *_edit(rf"\b({_NOUN}) (depends on|leads to|is part of|comes from|requires|causes|replaces|contains|follows) (?:the |a |an )?({_NOUN})\b",
               lambda m: f"{m[3]} {m[2]} {m[1]}"),
    ],
    "case in code": [
        *_edit(r"\b([a-z]+)([A-Z])([a-z]+)(?=\b|[A-Z])", lambda m: m[1] + m[2].lower() + m[3]),
        *_edit(r"(?<=[\w.])([\\/])([a-z])([a-z]+)\b(?!:)", lambda m: m[1] + m[2].upper() + m[3]),
        *_edit(r"`([A-Z])(\w+)`", lambda m: f"`{m[1].lower()}{m[2]}`"),
        *_edit(r"\b([a-z]+)_([a-z]+)\b", lambda m: f"{m[1]}_{m[2].capitalize()}"),
        *_edit(r"\b([A-Z]{2,})_([A-Z]+)\b", lambda m: m[0].lower()),
    ],
    "flag": [
        *_edit(r"(?<= )-([a-z])(?= )", lambda m: "-" + m[1].upper()),
        *_edit(r"(?<= )-([A-Z][a-z]+)(?=\b)", lambda m: "-No" + m[1]),
        *_edit(r"(?<= )--([a-z]+)(?=\b)", lambda m: "--no-" + m[1]),
        *_words("`true` <> `false`; True <> False; $true <> $false; null > 0; $null > 0"),
    ],
    "operator": [
        *_edit(r" == ", " != "), *_edit(r" <= ", " >= "), *_edit(r" > (?=\w)", " < "), *_edit(r" < (?=\w)", " > "),
        *_edit(r" = (?=\w)", " != "), *_edit(r" \+ ", " - "), *_edit(r" && ", " || "), *_edit(r" \* (?=\w)", " / "),
    ],
    "file and address": [
        *_edit(r"(?<=\w)\.json\b", ".yaml"), *_edit(r"(?<=\w)\.txt\b", ".csv"), *_edit(r"(?<=\w)\.ps1\b", ".psm1"),
        *_edit(r"(?<=\w)\.py\b", ".rs"), *_edit(r"(?<=\w)\.exe\b", ".dll"), *_edit(r"(?<=\w)\.xml\b", ".html"),
        *_edit(r"\b(\d+\.\d+\.\d+)\.(\d+)\b", lambda m: f"{m[1]}.{_more(m[2])}"),
        *_edit(r"(?<=:)(\d{4})\b", lambda m: _more(m[1])), *_edit(r"(?<=[Pp]ort )(\d+)", lambda m: _more(m[1])),
        *_edit(r"https?://([a-z]+)", r"https://x\1"),
    ],
    "version": [
        *_edit(r"(?<=[a-z] )(\d+)\.(\d+)\b(?![.%])", lambda m: f"{m[1]}.{_more(m[2])}"),
        *_edit(r"\b[vV](\d+)(?:\.(\d+))?", lambda m: f"v{_more(m[1])}.{m[2]}" if m[2] else f"v{_more(m[1])}"),
        *_edit(r"(?<=[Vv]ersion )(\d+)", lambda m: _more(m[1])),
        *_edit(r"\b(PowerShell|Version|version|Python|Server|Windows) (\d+)\.(\d)\b(?!\.)", r"\1 \2.\g<3>0"),
    ],
    "order of steps": [
        *_edit(r"^(?!If |When|The |Once |Since |To |As )([A-Z])(\w+) ([^,]+?),? (?:and then|then) (\w)([^,.]+)\.?$",
               lambda m: f"{m[4].upper()}{m[5]}, then {m[1].lower()}{m[2]} {m[3]}."),
        *_edit(rf"\b({_NOUN}) (before|after) ({_NOUN})\b", r"\3 \2 \1"),
    ],
    "almost and failed": [
        *_edit(_NAME + r" ([a-z]+ed)\b", r"\1 nearly \2"),
        *_edit(_NAME + r" ([a-z]+[^e\W])ed\b", r"\1 failed to \2"),
        *_edit(_NAME + r" ([a-z]+[^e\W])ed\b", r"\1 refused to \2"),
        *_edit(_NAME + r" ([a-z]+[^e\W])ed\b", r"\1 forgot to \2"),
        *_edit(r"\b(the|a) (?=(?:president|owner|manager|partner|teacher|director|leader|captain)\b)", r"\1 former "),
    ],
}  # fmt: skip


def _rotated(match: re.Match[str]) -> str:
    return f"{match[2]}, {match[1]}{match[3]}{match[4]}"


_BRITISH = """
    color <> colour; favorite <> favourite; center <> centre; organize > organise; realize <> realise;
    behavior <> behaviour; neighbor > neighbour; theater > theatre; gray > grey; traveling > travelling;
    organization > organisation; recognize > recognise; analyze > analyse; program > programme; colors > colours;
    customize > customise; canceled > cancelled; license > licence; honor > honour; flavor > flavour; modeling > modelling
"""

# What the meaning does not hang on.
HARMLESS: dict[str, list[Edit]] = {
    "order of a list": [
        *_edit(rf"\b({_NOUN}), ({_NOUN})(,? and )({_NOUN})\b(?= |\.|$)", _rotated),
        *_edit(rf"(?<=, )({_NOUN}) and ({_NOUN})(?=\.|$)", r"\2 and \1"),
        *_edit(rf"\b(?<=[a-z] )({_NOUN}) and ({_NOUN})(?=\.|$)", r"\2 and \1"),
        *_edit(rf"(?<=(?:the|for|her|his|our) )({_NOUN}) and ({_NOUN})(?= (?:is|are|was|were|with|in|at|to|for)\b)", r"\2 and \1"),
    ],
    "synonym of a connective": _words(
        "and > as well as; because > since; but > however; because > as; so > therefore; also > as well; to "
        "> in order to;for example > for instance; although <> though; while > whereas; but > yet; such as > "
        "like; in addition > additionally;so > thus; due to > because of; however > nevertheless; and > "
        "along with; and > plus; until > till"
    ),
    "punctuation": [
        *_edit(r"\.$", ""), *_edit(r"(?<=[a-z])$", "."), *_edit(r"\.$", "!"), *_edit(r"; ", ". "),
        *_edit(r"(?<=\w), (?=but|which|so|because)", " "), *_edit(r" - ", " – "), *_edit(r", (?=and )", " "),
        *_edit(r": ", " - "), *_edit(r" \(([^)]+)\)", r", \1,"),
    ],
    "typing error": [
        *_edit(r"\b([a-z]{3})([a-z])([a-z])([a-z]{3,})\b", lambda m: m[1] + m[3] + m[2] + m[4]),
        *_edit(r"\b([a-z]{4})([a-z])([a-z]{3,})\b", lambda m: m[1] + m[2] + m[2] + m[3]),
        *_edit(r"\b([a-z]{5})[a-z]([a-z]{3,})\b", r"\1\2"),
    ],
    "British spelling": _words(_BRITISH),
    "contraction": _words(
        "do not <> don't; is not <> isn't; it is <> it's; I am <> I'm; cannot <> can't; does not > doesn't;"
        "did not <> didn't; you are > you're; that is > that's; I have > I've; will not > won't; I will <> "
        "I'll;It is <> It's; are not > aren't; would not > wouldn't; could not > couldn't; He is > He's; "
        "They are > They're"
    ),
    "case": [
        *_edit(r"^([A-Z])(?=[a-z])", lambda m: m[1].lower()), *_edit(r"^([a-z])", lambda m: m[1].upper()),
        *_edit(r"^(The|A|An|There|This|He|She|It|They|We)\b", lambda m: m[0].upper()),
    ],
    "quotes": [
        *_edit(r'"([^"]+)"', r"“\1”"), *_edit(r"'(?=s\b)", "’"), *_edit(r"'(?=t\b)", "’"),
        *_edit(r'"([^"]+)"', r"\1"), *_edit(r"(?<= )'([^']+)'(?=\W)", r'"\1"'), *_edit(r"“([^”]+)”", r'"\1"'),
    ],
    "markdown": [
        *_edit(rf"\b({_NOUN})\b", r"**\1**"), *_edit(rf"\b({_NOUN})(?=\.?$)", r"*\1*"), *_edit(r"\*\*", ""),
        *_edit(r"^(?=[A-Z])", "- "), *_edit(rf"\b({_NOUN})(?=\.?$)", r"`\1`"), *_edit(r"^(?=[A-Z])", "> "),
    ],
    "article": [
        *_edit(r"\b(?:a|an) (?=[a-z]+ (?:and|in|on|is|with)\b)", "the "), *_edit(r"\bthe (?=[a-z]+s\b)", ""),
        *_edit(r"^A (?=\w)", "The "), *_edit(r"^The (?=[a-z]+ (?:is|was|has)\b)", "A "), *_edit(r"^The (?=[a-z]+s )", ""),
    ],
    "format of a number": [
        *_edit(r"\b(\d{1,3}),(\d{3})\b(?!,)", r"\1\2"), *_edit(r"(?<![\w.,:/$#-])3(?= [a-z])", "three"),
        *_words("two <> 2; three > 3; four > 4; five <> 5; ten > 10; six > 6; Two > 2; first > 1st; second > 2nd;"
                "third > 3rd; twenty > 20; percent <> %; 2 > two; seven > 7; hundred > 100; eight > 8"),
        *_edit(r"(?<=\d)%", " percent"), *_edit(r"\$(\d+)(?= )", r"\1 dollars"),
    ],
    "format of a date": [
        *_edit(r"\b(\d{1,2}) (January|February|March|April|May|June|July|August|September|October|November|December)\b,?(?! \d)", r"\2 \1"),
        *_edit(r"\b(January|February|March|April|May|June|July|August|September|October|November|December) (\d{1,2})\b,?(?= \d{4})", r"\2 \1"),
        *_words("January > Jan; February > Feb; August > Aug; October > Oct; November > Nov; December > Dec; September > Sept;"
                "Monday > Mon.; Friday > Fri.; Tuesday > Tue.; Thursday > Thurs."),
        *_edit(r"\b(\d{1,2}) ?pm\b", r"\1 p.m."), *_edit(r"\b(\d{1,2}) ?am\b", r"\1:00 am"),
    ],
    "white space": [*_edit(r"(?<=\w) (?=\w)", "  "), *_edit(r" (?=\w+ \w+$)", "\n"), *_edit(r"$", "  \n")],
    "filler": [
        *_edit(r"^(Open|Use|Set|Add|Run|Call|Type|Select|Click|Create|Help|Check)\b", lambda m: f"Please {m[0].lower()}"),
        *_edit(r"\b(is|are) (?=[a-z]+ing\b)", r"\1 currently "), *_edit(r"\bvery ", ""), *_edit(r"\breally ", ""),
        *_edit(r"^(The|He|She|It|They|We)\b", lambda m: "Well, " + m[0].lower()), *_edit(r"\b(?:please|Please) (\w)", r"\1"),
    ],
    "Oxford comma": [
        *_edit(rf"\b({_NOUN}), ({_NOUN}) and ", r"\1, \2, and "), *_edit(rf"\b({_NOUN}), ({_NOUN}), and ", r"\1, \2 and "),
        *_edit(r"(?<=\w), and ", " and "),
    ],
    "hyphenation": [
        *_edit(r"\b([a-z]{3,})-([a-z]{3,})\b", r"\1 \2"),
        *_words("email > e-mail; website > web site; online > on-line; username > user name; long term > long-term;"
                "real time > real-time; high quality > high-quality; file name > filename; database > data "
                "base"),
    ],
    "abbreviation": _words(
        "for example > e.g.; that is > i.e.; approximately > approx.; information > info; application > app;"
        "documentation > docs; versus > vs.; Doctor > Dr.; Street > St.; United States <> US; repository > "
        "repo;minutes > min; hours > hrs; seconds > sec; photograph > photo; configuration > config; such as "
        "> e.g."
    ),
    "synonym": _words(
        "big <> large; child <> kid; begin > start; buy > purchase; bicycle > bike; small > little; movie > "
        "film;quickly > fast; photo > picture; children > kids; delete > remove; error > mistake; car > "
        "automobile;help > assist; repair > fix; job > work; mother > mom; dog > hound; happy > glad; begins "
        "> starts"
    ),
}  # fmt: skip
