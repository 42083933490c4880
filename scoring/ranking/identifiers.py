"""Identifiers in a question: tickets, customer numbers, versions, codes (rule 3.11).

A vector places INC-4821 beside every other incident, so characters decide: a text mentions an identifier in a
usual spelling (INC 4821, inc-4821, INC4821, #4821), or not at all.

The shape of a token decides, in the order of `_FINDERS`. Dates, times, amounts, units, years, short ordinals
and names that are used as words (COVID-19) identify nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter

from slowwave.scoring.ranking.amounts import AMOUNTS, IS_YEAR, MAX_YEAR, UNIT
from slowwave.scoring.ranking.identifier_nouns import (
    COUNTED,
    PRODUCTS,
    ROOMS,
    SEATED,
    group_of,
    is_code,
    is_foreign_function,
    may_be_code,
    singular,
)
from slowwave.scoring.ranking.identifier_shapes import (
    CONTINUED,
    DOTTED,
    GROUPED,
    HEX,
    INTERNATIONAL,
    KIND_AND_YEAR,
    LEADING,
    LINK,
    LOWER,
    NAMED_HASH,
    NAMED_NUMBER,
    NUMBERED,
    OF_KIND,
    OF_PLACE,
    OF_YEAR,
    OF_YEAR_SLASHED,
    PLATE,
    PRICE,
    REGISTERED,
    SPACED,
    SPACED_MIXED,
    SPELLED,
    STARTS_IN_LETTER,
    TAIL,
    TOKEN,
    UUID,
    VERSION,
    VERSION_OF_PRODUCT,
)
from slowwave.scoring.ranking.mentions import (
    Identifier,
    in_one_form,
    numbered,
    plain_text,
    segmented,
    version,
)
from slowwave.scoring.ranking.regrouping import RUNS, accounts, regrouped
from slowwave.scoring.wordlists import words

MAX_IDENTIFIERS = 8
"""Maximum identifiers of one question (count)."""

LONG = 5
"""Minimum digits of a number that is an identifier by itself (count)."""
PNR = 6
"""Letters and digits of a booking (count)."""
_COMMON = frozenset(words("slowwave.scoring", "identifier_common"))
_MEASURES = frozenset(words("slowwave.scoring", "identifier_measures"))
_BEFORE_VERBS = frozenset(words("slowwave.scoring", "identifier_verbs"))


def identifiers(question: str) -> tuple[Identifier, ...]:
    """Return the identifiers of a question in order, each once.

    Args:
        question: Text of any script; only ASCII letters and digits make an identifier.
    """
    return tuple(identifier for identifier in possible_identifiers(question) if not identifier.alike)


def possible_identifiers(question: str) -> tuple[Identifier, ...]:
    """Return the identifiers of a question, and tokens that may be some.

    The latter are identifiers if a text has one `alike`, such as OPS-12 for "ops 771".
    """
    return _identifiers(question) if _may_have(question) else ()


def _may_have(question: str) -> bool:
    """Whether a question has a digit, or names a code or a hash without one."""
    return any(map(str.isdigit, question)) or bool(SPELLED.search(question) or NAMED_HASH.search(question))


@lru_cache(maxsize=256)
def _identifiers(question: str) -> tuple[Identifier, ...]:
    shown, text = in_one_form(question), plain_text(question)
    if text.isascii() and text.isupper() and text.count(" ") > 1:  # capitals say nothing there
        text = text.lower()
    text = TAIL.sub(lambda match: " " * len(match[0]), text)
    found: dict[int, Identifier] = {}
    for finder in _FINDERS:
        for start, end, identifier in finder(text):
            if start in found:  # in the list of another
                continue
            found[start] = replace(identifier, text=" ".join(shown[start:end].split()))
            found |= _continued(found[start], end, text)
            text = text[:start] + " " * (end - start) + text[end:]
        if finder is _numbers:
            text = AMOUNTS.sub(lambda match: " " * len(match[0]), text)
    by_text: dict[str, Identifier] = {}
    for _, identifier in sorted(found.items(), key=itemgetter(0)):
        by_text.setdefault(identifier.text.lower(), identifier)
    return tuple(by_text.values())[:MAX_IDENTIFIERS]


def _continued(first: Identifier, end: int, text: str) -> dict[int, Identifier]:
    """Return the other numbers of a list (INC-4821/4822), by place."""
    found: dict[int, Identifier] = {}
    digits = re.search(r"\d+$", first.text)
    while (first.code or first.kind) and digits and (match := CONTINUED.match(text, end)):
        if len(match[1]) != len(digits[0]) or IS_YEAR.fullmatch(match[1]) or UNIT.match(text, match.end()):
            break
        written = f"{first.text[: digits.start()]}{match[1]}"
        found[match.start(1)] = numbered(
            written, match[1], code=first.code, kind=first.kind, alike=first.alike
        )
        end = match.end()
    return found


Found = Iterator[tuple[int, int, Identifier]]


def _links(text: str) -> Found:
    for match in LINK.finditer(text):
        name = "code" if match["code"] else "digits"
        end = match.end("number" if match["code"] else name)
        shown, digits = text[match.start(name) : end], match["number"] or match["digits"]
        noun = {"pull": "pr", "merge_request": "pr"}.get(match["kind"], match["kind"] or "")
        yield match.start(name), end, numbered(shown, digits, code=match["code"] or "", kind=noun)


def _registered(text: str) -> Found:
    for match in REGISTERED.finditer(text):
        parts = "[a-z0-9]+" if ":" in match[0] else "[a-z]+|[0-9]+"  # groups of IPv6 are whole
        yield *match.span(), segmented(match[0], re.findall(parts, match[0].lower()))
    for match in NAMED_NUMBER.finditer(text):
        name = match.lastgroup or ""
        yield *match.span(name), segmented(match[name], re.findall("[a-z]+|[0-9]+", match[name].lower()))


def _versions(text: str) -> Found:
    for match in VERSION.finditer(text):
        yield *match.span(), version(match[0], match[1], before=match[2] or "", at=match[3] or "")
    for match in DOTTED.finditer(text):
        groups = match[1].split(".")
        is_grouped = min(map(len, groups[1:])) >= 3 or (len(groups[0]) > 1 and len(groups[1]) >= 3)
        if regrouped("".join(groups)) and is_grouped:  # no version has such parts
            if not (groups[-1] == "000" or UNIT.match(text, match.end())):
                yield *match.span(), segmented(match[0], groups)
        elif not AMOUNTS.fullmatch(match[0]):
            yield *match.span(), version(match[0], match[1])


def _products(text: str) -> Found:
    for match in VERSION_OF_PRODUCT.finditer(text):
        name = match[1].lower()
        if name not in PRODUCTS and (
            PRICE.search(match[2]) or is_foreign_function(_word_before(text, match))
        ):
            continue  # Menü 12.50
        if name not in _MEASURES and group_of(name) is None and not UNIT.match(text, match.end()):
            names = PRODUCTS.get(name, (name,)) if match[2].count(".") == 1 else ()
            yield *match.span(), version(match[0], match[2], names)


def _places(text: str) -> Found:
    for match in OF_PLACE.finditer(text):
        runs = re.findall(r"[a-z]+|\d+", match["text"].lower())
        if "." in match["text"] and match["text"][0].isdigit():
            floor, room = runs
            noun = match["kind"].lower()
            is_room = group_of(noun) == ROOMS or noun.endswith(("raum", "zimmer"))
            price = len(room) == 2 and not (is_room and len(floor) == 1)
            if not (price or UNIT.match(text, match.end())):
                yield *match.span(), version(match[0], match["text"])
        else:
            yield *match.span(), segmented(match[0], runs, padded=True)


def _kinds(text: str) -> Found:
    for match in OF_KIND.finditer(text):
        digits, noun = match["digits"], (match["kind"] or match["joined"]).lower()
        sure, group = match["mark"] or match["number"] or "nummer" in noun, group_of(noun)
        least = 2 if group in COUNTED else 3
        plural = noun.endswith("s") and group_of(noun.removesuffix("s")) == group
        if plural and len(digits) >= LONG - 1 and not digits.endswith("00"):
            plural = not CONTINUED.match(text, match.end())  # invoices 4471 and 4472
        if not sure and (len(digits) < least or plural or group == SEATED or IS_YEAR.fullmatch(digits)):
            continue
        if sure or not (_word_before(text, match) in _BEFORE_VERBS or UNIT.match(text, match.end())):
            yield *match.span(), numbered(match[0], digits, kind=singular(noun))


def _word_before(text: str, match: re.Match[str]) -> str:
    """Return the word before a match in lower case; empty without one."""
    *_, previous = ["", *text[max(0, match.start() - 40) : match.start()].lower().split()]
    return previous


def _numbers(text: str) -> Found:
    for match in NUMBERED.finditer(text):
        if not UNIT.match(text, match.end()):
            yield *match.span(), numbered(match[0], match[1], kind="number")


def _hashes(text: str) -> Found:
    for match in NAMED_HASH.finditer(text):
        group = match.lastindex or 1
        yield *match.span(group), segmented(match[group], _split(match[group].replace(".", "-")))


def _grouped(text: str) -> Found:
    """Find numbers written in groups, as of an account, a phone or a card."""
    for start, end in accounts(text):
        yield start, end, segmented(text[start:end], text[start:end].lower().split())
        text = text[:start] + " " * (end - start) + text[end:]
    for match in INTERNATIONAL.finditer(text):
        groups = re.findall(r"\d+", match[1] or match[2])
        groups = [groups[0].lstrip("0"), *groups[1:]] if groups[0].strip("0") else groups[1:]
        yield *match.span(), segmented(match[0], groups, leading=LEADING)
        text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    for match in GROUPED.finditer(text):
        groups = re.findall(r"\d+", match[0])
        if match[0].lstrip("(")[0] == "+":  # a text may have another prefix
            groups = groups[1:]
        elif groups[0][0] == "0":
            groups[0] = groups[0].lstrip("0") or "0"
        pairs = match[0][0] == "0" and len(groups) >= 4  # 06 12 34 56 99
        if sum(map(len, groups)) >= 9 and (pairs or max(map(len, groups)) >= 4):
            yield *match.span(), segmented(match[0], groups, leading=LEADING)
        elif [len(group) for group in groups] == [4, 4] and not any(
            IS_YEAR.fullmatch(group) or group.endswith("00") for group in groups
        ):
            yield *match.span(), segmented(match[0], groups)


def _of_year(text: str) -> Found:
    for match in OF_YEAR.finditer(text):
        if match[1].isupper() or is_code(match[1].lower()):
            yield *match.span(), segmented(match[0], [group.lower() for group in match.groups()])
    for match in OF_YEAR_SLASHED.finditer(text):
        yield *match.span(), segmented(match[0], [group.lower() for group in match.groups()])
    for match in KIND_AND_YEAR.finditer(text):
        yield match.start(1), match.end(), segmented(text[match.start(1) : match.end()], [*match.groups()])


def _spaced(text: str) -> Found:
    for match in SPACED.finditer(text):
        if f"{match[1]}-{match[2]}".lower() not in _COMMON:
            yield *match.span(), numbered(match[0], match[2], code=match[1])
    for pattern in (SPACED_MIXED, PLATE):
        for match in pattern.finditer(text):
            yield *match.span(), segmented(match[0], [group.lower() for group in match.groups()])
    for match in LOWER.finditer(text):
        code, digits = match.groups()
        if is_code(code):
            yield *match.span(), numbered(match[0], digits, code=code)
        elif len(digits) < LONG and may_be_code(code) and code not in _MEASURES:
            alike = rf"(?<![A-Za-z0-9]){code.upper()}[- #_]{{0,2}}\d{{2,}}"
            yield *match.span(), numbered(match[0], digits, code=code, alike=alike)


def _spelled(text: str) -> Found:
    for match in SPELLED.finditer(text):
        yield match.start(1), match.end(1), segmented(match[1], [match[1].lower()])


def _tokens(text: str) -> Found:
    for match in TOKEN.finditer(text):
        start = match.start(2)
        for piece in re.finditer(r"[^./]+", match[2]):
            mark = "#" if match[1] and not piece.start() else ""
            if identifier := _of_token(mark, piece[0]):
                yield start + piece.start() - len(mark), start + piece.end(), identifier


def _of_token(mark: str, token: str) -> Identifier | None:
    """Return the identifier that a token of letters, digits, hyphens and underscores is, if any."""
    lower, segments = token.lower(), _split(token)
    if not any(map(str.isdigit, token)) or not segments or lower.replace("_", "-") in _COMMON:
        return None
    if token.isdigit():
        wanted = len(token) >= 3 if mark else len(token) >= LONG and not token.endswith("000")
        return numbered(f"{mark}{token}", token) if wanted else None
    if len(segments) > 1:
        return segmented(token, segments) if UUID.fullmatch(token) else _joined(token, segments)
    runs = RUNS.findall(lower)
    if len(runs) == 2 and runs[1].isdigit():
        year = IS_YEAR.fullmatch(runs[1]) is not None
        if len(runs[1]) >= 3 and not (year and len(runs[0]) > 3) and len(runs[0]) <= 10:
            return numbered(token, runs[1], code=runs[0])
        return None
    return segmented(token, segments) if _is_mixed(token) else None


def _split(token: str) -> list[str]:
    return [segment for segment in re.split("[-_:]", token.lower()) if segment]


def _joined(token: str, segments: list[str]) -> Identifier | None:
    """Return the identifier that segments joined by hyphens are, if any."""
    first, last = segments[0], segments[-1]
    if all(map(str.isdigit, segments)):
        years = len(segments) == 2 and first[0] != "0" != last[0] and int(first) < int(last) <= MAX_YEAR
        return segmented(token, segments) if sum(map(len, segments)) >= 7 and not years else None
    capitals = [part for part in re.split("[-_]", token) if part.isalpha() and part.isupper()]
    if len(segments) == 2 and first.isalpha() and last.isdigit():
        year = IS_YEAR.fullmatch(last) is not None
        long = len(last) >= 3 and not (year and not capitals)
        if long or last[0] == "0" or (capitals and len(first) > 1):
            return numbered(token, last, code=first)
        return None
    if len(first) > 3 and first.isdigit() and token.isupper() and not IS_YEAR.fullmatch(first):  # 6205-2RS
        return segmented(token, segments)
    mixed = any(map(_is_mixed, segments))
    if first.isdigit() and not token.isupper():  # 5-year-old
        return segmented(token, segments) if mixed else None
    is_key = token.isupper() and len(token) > 7 and any(STARTS_IN_LETTER.match(part) for part in segments)
    if last.isdigit() or capitals or is_key or mixed:
        digits = sum(map(str.isdigit, token))
        return segmented(token, segments) if digits >= 2 or len(segments) > 2 else None
    return None


def _is_mixed(token: str) -> bool:
    """Whether letters and digits of a token alternate as in a code."""
    runs = RUNS.findall(token.lower())
    digits = sum(len(run) for run in runs if run.isdigit())
    letters = [run for run in runs if run.isalpha()]
    if not digits or not letters:
        return False
    if len(runs) == 2:  # 4821b; a unit was no token
        return runs[0].isdigit() and digits >= 3 and (len(runs[1]) <= 2 or not token.islower())
    if HEX.fullmatch(token) and len(token) >= 4:
        return len(token) > 5 or letters != ["e"]  # 1e10
    if len(token) == PNR and len(runs) > 2 and token.isupper():
        return True
    return len(token) >= 5 and digits >= 2 and (not token.islower() or max(map(len, letters)) < 4)


_FINDERS = (
    _links,
    _registered,
    _hashes,
    _of_year,
    _places,
    _products,
    _versions,
    _grouped,
    _kinds,
    _numbers,
    _spaced,
    _spelled,
    _tokens,
)


def sentence(unknown: tuple[str, ...]) -> str:
    """Return the sentence that no memory mentions these; empty without any."""
    before = ", ".join(unknown[:-1])
    return f"Nothing here mentions {before}{' or ' if before else ''}{unknown[-1]}." if unknown else ""
