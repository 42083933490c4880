"""Legal and page notices in short texts: licences, cookies, newsletters, errors.

A piece of a licence is found by word sequences of common licence texts. A sentence about a licence has other
words, too.
"""

# ruff: noqa: E501 - patterns

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.quality._lexicons import FUNCTION_WORDS, LICENCE_WORDS, MENU_PHRASES, MENU_WORDS, ROOM
from slowwave.scoring.wordlists import lines

NOTICE_CHARACTERS = 300
"""Maximum length of a checked text (characters); a longer one has statistics."""
STOCK_SHARE = 0.8
"""Minimum share of words in sequences of a licence text."""
_RUN = 3
_FEWEST_WORDS = 5
_FEWEST_ITEMS = 3

_WORD = re.compile(r"[a-z]+")
_COPYRIGHT = re.compile(
    r"(?m)^\W*(?:copyright\W+)?(?:©|\(c\))\W*\d{4}\b[^\n]{0,60}?(?:\n|\Z|[.](?=\s)|inc[.]?|ltd[.]?|gmbh)"
    r"|^\W*spdx-license-identifier:\s*\S+|^\W*@license\b"
)
_PAGE = re.compile(
    r"\b(?:this|our) (?:web ?)?site uses cookies|\bwe(?: and our (?:\w+ )?partners)? (?:use|store) (?:\w+ )?cookies"
    r"(?: and (?:similar|other) \w+)? (?:to|so that we can) (?:improve|enhance|personali[sz]e|ensure|give|offer|provide|make|analy[sz]e|serve|deliver)"
    r"|\bby (?:continuing|using this|clicking|browsing)\b.{0,40}\byou (?:accept|agree|consent)|\bby continuing to (?:use|browse)"
    r"|\b(?:accept|reject|allow|decline) (?:all )?(?:optional )?cookies\b|\b(?:manage|change) (?:your )?(?:cookie )?(?:preferences|settings)\W*\Z"
    r"|\A\W*we value your privacy|\A\W*your privacy (?:matters|is important)"
    r"|\bsubscribe to our\b|\bsign up (?:for|to) our newsletter|\bjoin our (?:mailing list|newsletter)"
    r"|\A\W*(?:skip|jump|back|return) to (?:main )?(?:content|navigation|top|search|home)|\A\W*sent from my \w+\W*\Z|\A\W*get outlook for"
    r"|\bclick (?:here|below|the (?:link|button)) to (?:unsubscribe|subscribe|view|read|learn|continue|verify|confirm|download|see)"
    r"|\bunsubscribe (?:from (?:this|these|our)|at any time|here)|\bno longer wish to receive|\bview (?:this email )?in your browser"
    r"|\b(?:subscribe|sign in|log ?in|register|create (?:an|a free) account)(?: now| here)? to (?:continue|read|keep|unlock|access|view|see|post|comment)\b"
    r"|\b(?:you have|you've) (?:reached|read|used) (?:your|all|\d+ of)\b.{0,40}\barticles?\b|\b(?:remaining|free) articles? (?:this|left|remaining)"
    r"|\bthis (?:article|content|story|page|video) is (?:only )?(?:available|reserved|exclusive|for)\b.{0,20}\b(?:subscribers|members|your (?:country|region))"
    r"|\balready (?:a (?:subscriber|member)|have an account|subscribed|registered)\?|\bdon'?t have an account\?"
    r"|\bplease (?:enable|turn on|activate) (?:javascript|cookies)|\b(?:disable|turn off) your ad ?blocker|\byour browser (?:is (?:out of date|not supported)|does not support)"
    r"|\b(?:checking|verifying) (?:your browser|(?:that )?you are (?:a )?human)|\bverify (?:that )?you are (?:a )?human|\A\W*are you a robot"
    r"|\byou must be (?:logged|signed) in to (?:post|comment|reply|vote|continue|view|see|do)\b|\byour (?:cart|basket|bag) is empty"
    r"|\b(?:log|sign) ?in to (?:post|comment|reply|leave|join)\b|\byour session has (?:expired|timed out)\b.*\b(?:log|sign) ?in"
    r"|\A\W*(?:(?:error )?(?:404|403|500|502|503)\b\W*)?(?:page not found|not found|access denied|forbidden|bad gateway|internal server error|service unavailable)\W*\Z"
    r"|\bwas this (?:page|article|answer|information) helpful|\A\W*share this (?:article|post|page|story)\b|\A\W*follow us on\b|\A\W*(?:advertisements?|sponsored)\W*\Z"
    r"|\bdo not reply to this (?:e-?mail|message)|\bthis (?:e-?mail|message)(?: and any attachments?)? (?:was sent to|is (?:confidential|intended (?:only|solely)))"
    r"|\bterms (?:of (?:use|service)|and conditions) apply\b|\bread our (?:privacy|cookie) policy|\bsee our (?:privacy|cookie) policy"
    r"|\b(?:web)?(?:seite|site) (?:verwendet|nutzt) cookies|\bwir verwenden cookies|\butilise(?:nt|ons)? des cookies|\butiliza(?:mos)? cookies|\butilizza(?:mo)? (?:i )?cookie|使用 ?cookie|cookieを使用"
    r"|\bmit der nutzung (?:dieser|unserer) (?:web)?seite|\bzum inhalt springen|\baller au contenu|\bir al contenido|\bvai al contenuto"
)
# Each text that _PAGE finds has one of these; looking for them takes a thirtieth of its time.
_PAGE_SIGNS = (
    "cookie", "subscribe", "newsletter", "by continuing", "by using this", "by clicking", "by browsing",
    "preferences", "settings", "privacy", "join our", "skip to", "jump to", "back to", "return to",
    "sent from", "get outlook", "click ", "no longer wish", "browser", "sign in", "signin", "log in", "login",
    "register", "account", "article", "members", "your country", "your region", "already ", "javascript",
    "blocker", "human", "robot", "you must be", " is empty", "your session", "not found", "denied",
    "forbidden", "bad gateway", "server error", "unavailable", "helpful", "share this", "follow us",
    "advertisement", "sponsored", "do not reply", "was sent to", "confidential", "intended", " apply",
    "policy", "mit der nutzung", "zum inhalt", "au contenu", "al conten",
)  # fmt: skip
_ITEMS = [phrase for phrase in sorted(MENU_PHRASES, key=len, reverse=True) if " " in phrase]
_ITEM = re.compile("|".join(rf"\b{re.escape(phrase)}\b" for phrase in _ITEMS))
_LABELS = (
    MENU_WORDS
    | MENU_PHRASES
    | frozenset(["tweet", "like", "pin", "print", "email", "comment", "comments", "reply", "follow", "now"])
)
_HELD_WORDS = _LABELS | FUNCTION_WORDS | LICENCE_WORDS
_NAMED = re.compile(r"[^\W\d_]+")
_WORDS_OF_LABELS = (
    _LABELS | FUNCTION_WORDS | frozenset(word for item in _ITEMS for word in _NAMED.findall(item))
)


def is_page_notice(folded: str) -> bool:
    """Whether a folded text is a page or mail notice, or a row of labels."""
    if len(folded) > NOTICE_CHARACTERS:
        return False
    if any(map(folded.__contains__, _PAGE_SIGNS)) and _PAGE.search(folded) is not None:
        return True
    return _is_row_of_labels(folded)


def is_licence_notice(folded: str) -> bool:
    """Whether a folded text is a licence excerpt, a copyright line, or both."""
    if len(folded) > NOTICE_CHARACTERS:
        return False
    words = _WORD.findall(folded)
    if LICENCE_WORDS.isdisjoint(words):
        return "©" in folded and _is_held(folded)
    return (len(words) >= _FEWEST_WORDS and _is_stock(words)) or _is_held(folded)


def _is_held(folded: str) -> bool:
    """Whether a text begins with a copyright line, followed only by labels or licence text."""
    rest, held = _COPYRIGHT.subn(" ", folded)
    words = _WORD.findall(rest)
    return held > 0 and (_HELD_WORDS.issuperset(words[:-1]) or _is_stock(words))  # the last may be cut


def _is_row_of_labels(folded: str) -> bool:
    if any(match[0] not in _WORDS_OF_LABELS for match in _NAMED.finditer(folded)):
        return False  # cheap check first: it decides nearly every text
    rest, items = _ITEM.subn(" ", folded)
    for word in _NAMED.findall(rest):
        if word in _LABELS:
            items += 1
        elif word not in FUNCTION_WORDS:
            return False
    return items >= _FEWEST_ITEMS


def _is_stock(words: list[str]) -> bool:
    """Whether most words are in word sequences of a licence; the last word may be cut."""
    runs = _runs()
    covered = [False] * len(words)
    for at in range(len(words) - _RUN + 1):
        if tuple(words[at : at + _RUN]) in runs:
            covered[at : at + _RUN] = [True] * _RUN
    if len(words) >= _RUN and not covered[-1] and covered[-2]:
        covered.pop()
    if len(words) >= _RUN and not covered[0] and covered[1]:
        covered = covered[1:]
    return len(covered) >= _RUN and sum(covered) >= STOCK_SHARE * len(covered)


@lru_cache(maxsize=1)
def _runs() -> frozenset[tuple[str, ...]]:
    texts = [text.split() for text in lines(ROOM, "licences")]
    return frozenset(tuple(text[at : at + _RUN]) for text in texts for at in range(len(text) - _RUN + 1))
