"""Shapes of identifiers in a question, as patterns (rule 3.11)."""

from __future__ import annotations

import re

from slowwave.scoring.lazy_pattern import lazy_pattern
from slowwave.scoring.ranking.amounts import YEAR
from slowwave.scoring.ranking.identifier_nouns import (
    BETWEEN_LISTED,
    JOINED_KIND,
    KIND,
    NUMBER_WORD,
    PLACE,
    PRODUCT,
)
from slowwave.scoring.ranking.regrouping import COUNTRY_CODE

NO_MORE = r"(?![\w-]|[.,:]\d)"
TOKEN = lazy_pattern(r"(?<![A-Za-z0-9])(#?)([A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*)(?![A-Za-z0-9])")
OF_KIND = lazy_pattern(
    rf"(?:(?<![\w-])(?<!zip\s)(?<!post\s)(?<!postal\s)(?P<kind>(?:{KIND})s?|\w+nummer)|(?P<joined>{JOINED_KIND}))"
    rf"(?P<number>[\s.]{{0,2}}(?<!\w){NUMBER_WORD}\.?)?(?P<mark>[\s:.]{{0,2}}#)?[\s:]*"
    r"(?P<digits>(?<!\d)\d{2,})(?![A-Za-z0-9-]|[.,:]\d)(?(joined)|(?!\w))",
    re.IGNORECASE,
)
OF_PLACE = lazy_pattern(
    rf"(?<![\w-])(?P<kind>\w*(?:raum|zimmer|platz)|{PLACE})(?:\s{NUMBER_WORD}\.?)?[\s:#]*"
    rf"(?-i:(?!\d[dgkx]{NO_MORE}))(?P<text>(?-i:[A-Z]?)(?:[a-z][-.]?\d{{1,4}}(?:[-.]\d{{1,4}})?|\d{{1,4}}-?[a-z]"
    rf"|\d{{1,2}}\.\d{{2,3}}|\d{{1,3}}-\d{{1,3}}))(?![A-Za-z0-9-]|[.,:]\d)",
    re.IGNORECASE,
)
NUMBERED = lazy_pattern(rf"(?<![\w-])(?:no|nr|núm|num)\.\s?(\d{{3,}}){NO_MORE}", re.IGNORECASE)
SPACED = lazy_pattern(
    rf"(?<![\w-])(?!(?:THE|IN|OF|AND|OR|AT|BY|FOR|TO)\s)([A-Z]{{2,6}})\s#?(?!{YEAR}\b)(\d{{3,}}){NO_MORE}"
)
OF_YEAR = lazy_pattern(rf"(?<![\w-])([A-Za-z]{{2,5}})[ -](20\d\d)[ /-](\d{{3,6}}){NO_MORE}")
OF_YEAR_SLASHED = lazy_pattern(rf"(?<![\w-])([A-Z]{{1,5}})-?(20\d\d)/(\d{{3,6}}){NO_MORE}")
"""Number of an invoice: F-2026/091."""
SPACED_MIXED = lazy_pattern(r"(?<![\w-])([A-Z]{1,6})\s(\d{2,}[A-Z]+\d[A-Z0-9]*)(?![\w-])")
PLATE = lazy_pattern(rf"(?<![\w-])([A-Z]{{1,3}})-([A-Z]{{1,2}})\s(\d{{2,4}}){NO_MORE}")
LOWER = lazy_pattern(rf"(?<![\w-])([a-z]{{2,5}})\s#?(?!{YEAR}\b)(\d{{3,}}){NO_MORE}")
VERSION_OF_PRODUCT = lazy_pattern(
    rf"(?<![\w.-])({PRODUCT}|(?:(?<=[a-z,;] )|^(?=\S+ \S+\W*$))(?-i:[A-Z][a-z]+[A-Za-z]*(?:\.js)?))"
    r"(?:\s(?:version|release))?[\s-]?v?(\d+\.\d+(?:\.\d+)*)(?!\w|\.\d)",
    re.IGNORECASE,
)
VERSION = lazy_pattern(
    r"(?<![\w.-])(?:(?:version|release|firmware|ver\.?|rev\.?)\s+v?|v)(\d+(?:\.\d+)+)"
    r"(?:[-.]?(rc|alpha|beta|pre|dev)[-.]?(\d+))?(?![\w]|\.\d)",
    re.IGNORECASE,
)
DOTTED = lazy_pattern(r"(?<![\w.-])(\d+(?:\.\d+){2,})(?![\w]|\.\d)")
SPELLED = lazy_pattern(
    r"(?<!\w)(?:code|reference|ref|pnr|voucher|coupon|sku|confirmation|serial)(?:\s(?:number|no|code|is))?\W{1,2}"
    r"((?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,12})(?![\w-])"
)  # fmt: skip
NAMED_HASH = lazy_pattern(
    r"(?<!\w)(?:commit|hash|digest|sha|checksum|revision)\W{1,2}([0-9a-f]{7,64})(?![\w-])"
    r"|(?<![\w:])((?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})(?![\w:])",
    re.IGNORECASE,
)
GROUPED = lazy_pattern(r"(?<![\w.,+-])(\(?\+?\d{1,5}\)?(?:[ /-]\(?\d{2,8}\)?){1,7})(?![\w:/-]|[.,]\w)")
INTERNATIONAL = lazy_pattern(
    rf"(?<![\w+])(?<!\d[ ./-])(?:\+{COUNTRY_CODE}(?:[ ./-]?\(0\))?((?:[ ./()-]{{0,2}}\d){{6,12}})"
    rf"|00{COUNTRY_CODE}((?:[ ./()-]{{0,2}}\d){{8,12}}))(?![\w:/-]|[.,]\w)"
)
REGISTERED = lazy_pattern(
    r"(?<![\w.])10\.\d{4,9}/(?-i:[^\s?\"<>,;()]*[A-Za-z0-9])"  # a DOI
    r"|(?<=arxiv[: ])\d{4}\.\d{4,5}(?:v\d+)?(?!\w)"
    r"|(?<![\w:])(?=\S*::|(?:[0-9a-f]+:){7})[0-9a-f]{1,4}(?:::?[0-9a-f]{1,4}){2,7}(?![\w:])"  # IPv6
    r"|(?<![\w:])\d{1,2}:\d\d-[a-z]{2}-\d{3,6}(?:-[a-z]{2,4})?(?![\w-])"  # a docket: 1:21-cv-04567
    r"|(?<![\w-])(?:\d{1,4}|[IVX]{1,5})\s(?-i:[CFKLOSTUW]|Js|KLs|Ls|Ds|Cs|OWi|Ca|Sa|AS|BvR|BvL|[IVX]*ZR|ZB|StR|AZR)"
    r"\s\d{1,5}/\d\d(?![\w/])"  # a German court's file: 5 O 123/22
    r"|(?<![\w-])(?-i:[A-Z]{2}\d\d\s[A-Z]{3})(?![\w-])"  # a British plate
    r"|(?:(?<=error )|(?<=error code )|(?<=fault )|(?<=fault code )|(?<=fehler )|(?<=fehlercode ))"
    r"(?-i:[A-Z]{1,2}-?\d{1,3})(?![\w-])",
    re.IGNORECASE,
)
"""Identifiers that a register or a device gives."""
NAMED_NUMBER = lazy_pattern(
    r"(?<!\w)(?:flight|flug|flüge|vol|vuelo|voo)\s(?:number\s|no\.?\s)?(?P<flight>(?-i:[A-Z]{2}|[A-Z]\d|\d[A-Z])\s?\d{2,4})(?![\w-])"
    r"|(?<!\w)(?:plates?|registration|car|van|kennzeichen|matrícula|immatriculation|targa|placa)\W{1,2}(?:number\s|no\.?\s|is\s)?"
    r"(?P<plate>(?-i:[A-Z]{1,3}[ -]\d{2,4}[ -][A-Z]{1,3}|\d{4}\s[A-Z]{3}))(?![\w-])",
    re.IGNORECASE,
)
"""Numbers behind the noun that makes them one: a flight in any year, a plate with letters at its end."""
LEADING = r"(?:[A-Za-z]{2}\d\d)?\d{0,3}[\W_]{0,2}"  # of an account, a country
HEX = lazy_pattern(r"[0-9a-f]+", re.IGNORECASE)
PRICE = lazy_pattern(r"^\d+\.(?:\d0|\d5|99)$")
STARTS_IN_LETTER = lazy_pattern(r"[a-z]+\d")
UUID = lazy_pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
TAIL = lazy_pattern(r"(?<=\d)(?:-(?![A-Z]+(?!\w))(?:[^\W\d_]{4,}|[A-ZÄÖÜ][^\W\d_]{2,}))+(?![\w-]*\d)(?!\w)")
"""Words behind an identifier, as in INC-4821-Problem and CVE-2024-31497-Lücke."""
LINK = lazy_pattern(
    r"://\S+/(?:browse/(?P<code>[A-Z]{2,10})-(?P<number>\d{1,7})"
    r"|(?P<kind>issue|pull|merge_request|ticket|order|invoice|case)s?/(?P<digits>\d{2,8}))(?![\w/-])"
)
"""Link to an entry of a tracker."""
KIND_AND_YEAR = lazy_pattern(
    rf"(?<![\w-])(?:{KIND})s?[\s.]{{0,2}}(?:{NUMBER_WORD}\.?)?[\s:#]*(20\d\d)[/-](\d{{3,6}}){NO_MORE}",
    re.IGNORECASE,
)
CONTINUED = lazy_pattern(rf"(?:{BETWEEN_LISTED})(\d{{2,}}){NO_MORE}", re.IGNORECASE)
