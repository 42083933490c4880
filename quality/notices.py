"""Notices in a short text: pieces of licences, and what pages and mails say of themselves.

A piece of a licence is found by its words standing in the texts of common licences in the same order: a
sentence about a licence says something else besides.
"""

# ruff: noqa: E501 - texts of licences

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.quality._lexicons import FUNCTION_WORDS, LICENCE_WORDS, MENU_PHRASES, MENU_WORDS

NOTICE_CHARACTERS = 300
"""Longest text that is looked at; a longer one has statistics."""
STOCK_SHARE = 0.8
"""Share of a text's words that stand in a licence as they do here, from which on it is a piece of one."""
_RUN = 3
_FEWEST_WORDS = 5
_FEWEST_ITEMS = 3

_STOCK = (
    """permission is hereby granted free of charge to any person obtaining a copy of this software and associated
    documentation files the software to deal in the software without restriction including without limitation the
    rights to use copy modify merge publish distribute sublicense and or sell copies of the software and to permit
    persons to whom the software is furnished to do so subject to the following conditions the above copyright notice
    and this permission notice shall be included in all copies or substantial portions of the software the software is
    provided as is without warranty of any kind express or implied including but not limited to the warranties of
    merchantability fitness for a particular purpose and noninfringement in no event shall the authors or copyright
    holders be liable for any claim damages or other liability whether in an action of contract tort or otherwise
    arising from out of or in connection with the software or the use or other dealings in the software""",
    """licensed under the apache license version the license you may not use this file except in compliance with the
    license you may obtain a copy of the license at http www apache org licenses license unless required by applicable
    law or agreed to in writing software distributed under the license is distributed on an as is basis without
    warranties or conditions of any kind either express or implied see the license for the specific language governing
    permissions and limitations under the license""",
    """derivative works shall mean any work whether in source or object form that is based on or derived from the work
    and for which the editorial revisions annotations elaborations or other modifications represent as a whole an
    original work of authorship for the purposes of this license derivative works shall not include works that remain
    separable from subject to the terms and conditions of this license each contributor hereby grants to you a
    perpetual worldwide non exclusive no charge royalty free irrevocable copyright license to reproduce prepare
    derivative works of publicly display publicly perform sublicense and distribute the work and such derivative works
    in source or object form""",
    """redistribution and use in source and binary forms with or without modification are permitted provided that the
    following conditions are met redistributions of source code must retain the above copyright notice this list of
    conditions and the following disclaimer redistributions in binary form must reproduce the above copyright notice
    this list of conditions and the following disclaimer in the documentation and or other materials provided with the
    distribution neither the name of the copyright holder nor the names of its contributors may be used to endorse or
    promote products derived from this software without specific prior written permission this software is provided by
    the copyright holders and contributors as is and any express or implied warranties including but not limited to
    the implied warranties of merchantability and fitness for a particular purpose are disclaimed in no event shall
    the copyright owner or contributors be liable for any direct indirect incidental special exemplary or
    consequential damages including but not limited to procurement of substitute goods or services loss of use data or
    profits or business interruption however caused and on any theory of liability whether in contract strict
    liability or tort including negligence or otherwise arising in any way out of the use of this software even if
    advised of the possibility of such damage""",
    """this program is free software you can redistribute it and or modify it under the terms of the gnu lesser affero
    general public license as published by the free software foundation either version of the license or at your
    option any later version this program is distributed in the hope that it will be useful but without any warranty
    without even the implied warranty of merchantability or fitness for a particular purpose see the gnu general
    public license for more details you should have received a copy of the gnu general public license along with this
    program if not see https www gnu org licenses under the terms of the gnu general public license everyone is
    permitted to copy and distribute verbatim copies of this license document but changing it is not allowed""",
    """this source code form is subject to the terms of the mozilla public license v if a copy of the mpl was not
    distributed with this file you can obtain one at https mozilla org mpl permission to use copy modify and or
    distribute this software for any purpose with or without fee is hereby granted provided that the above copyright
    notice and this permission notice appear in all copies the software is provided as is and the author disclaims all
    warranties with regard to this software including all implied warranties of merchantability and fitness""",
    """this is free and unencumbered software released into the public domain anyone is free to copy modify publish
    use compile sell or distribute this software either in source code form or as a compiled binary for any purpose
    commercial or non commercial and by any means this work is licensed under a creative commons attribution share
    alike non commercial no derivatives international license to view a copy of this license visit creativecommons
    org licenses by sa or send a letter to creative commons""",
    """all rights reserved no part of this publication book website may be reproduced stored in a retrieval system
    distributed or transmitted in any form or by any means electronic mechanical photocopying recording or otherwise
    without the prior written permission of the publisher copyright owner the names and trademarks may not be used in
    advertising or publicity pertaining to distribution of the software without specific written prior permission""",
)  # fmt: skip
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
_ITEM = re.compile(
    "|".join(
        rf"\b{re.escape(phrase)}\b" for phrase in sorted(MENU_PHRASES, key=len, reverse=True) if " " in phrase
    )
)
_LABELS = (
    MENU_WORDS
    | MENU_PHRASES
    | frozenset(["tweet", "like", "pin", "print", "email", "comment", "comments", "reply", "follow", "now"])
)
_NAMED = re.compile(r"[^\W\d_]+")


def is_page_notice(folded: str) -> bool:
    """Whether a folded text is a notice of a page or a mail, or a row of the labels of one."""
    if len(folded) > NOTICE_CHARACTERS:
        return False
    return _PAGE.search(folded) is not None or _is_row_of_labels(folded)


def is_licence_notice(folded: str) -> bool:
    """Whether a folded text is a piece of a licence, a line of copyright, or both."""
    if len(folded) > NOTICE_CHARACTERS or LICENCE_WORDS.isdisjoint(found := _WORD.findall(folded)):
        return "©" in folded and len(folded) <= NOTICE_CHARACTERS and _is_held(folded)
    if len(found) < _FEWEST_WORDS or not _is_stock(found):
        return _is_held(folded)
    return True


def _is_held(folded: str) -> bool:
    """Whether a text begins with who holds the rights, and nothing but labels or a licence follows."""
    rest, held = _COPYRIGHT.subn(" ", folded)
    found = _WORD.findall(rest)
    known = _LABELS | FUNCTION_WORDS | LICENCE_WORDS
    return bool(held) and (known.issuperset(found[:-1]) or _is_stock(found))  # the last word may be cut


def _is_row_of_labels(folded: str) -> bool:
    rest, items = _ITEM.subn(" ", folded)
    for word in _NAMED.findall(rest):
        if word in _LABELS:
            items += 1
        elif word not in FUNCTION_WORDS:
            return False
    return items >= _FEWEST_ITEMS


def _is_stock(found: list[str]) -> bool:
    """Whether most words stand in a licence between the same neighbours; the last may be cut."""
    runs = _runs()
    covered = [False] * len(found)
    for at in range(len(found) - _RUN + 1):
        if tuple(found[at : at + _RUN]) in runs:
            covered[at : at + _RUN] = [True] * _RUN
    if len(found) >= _RUN and not covered[-1] and covered[-2]:
        covered.pop()
    if len(found) >= _RUN and not covered[0] and covered[1]:
        covered = covered[1:]
    return len(covered) >= _RUN and sum(covered) >= STOCK_SHARE * len(covered)


@lru_cache(maxsize=1)
def _runs() -> frozenset[tuple[str, ...]]:
    texts = [text.split() for text in _STOCK]
    return frozenset(tuple(text[at : at + _RUN]) for text in texts for at in range(len(text) - _RUN + 1))
