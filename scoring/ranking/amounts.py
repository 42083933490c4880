"""Amounts, dates, times and years in a question, which identify nothing (rule 3.11)."""

from __future__ import annotations

import re
from typing import Final

from slowwave.scoring.lazy_pattern import lazy_pattern

UNIT_WORDS: Final = (
    r"(?:%|‰|°|[$€£¥₹]|usd|eur|gbp|chf|million|billion|thousand|mio|mrd|seconds?|minutes?|hours?|days?|weeks?|"
    r"months?|years?|dollars?|euros?|pounds?|cents?|percent|prozent|people|persons?|times|miles?|meters?|"
    r"metres?|feet|foot|inch|inches|kilometers?|grams?|kilos?|liters?|litres?|degrees?|points?|steps?|words?|"
    r"pages?|lines?|rows?|chunks?|users?|requests?|calories|characters?|tokens?|guests?|stars?|km|kg|gb|mb|ghz|"
    r"kwh)"
)
"""Pattern of a unit that is no other word, either."""
UNITS: Final = (
    rf"(?:(?:st|nd|rd|th|s|d|w|y|b|v|a|ma|p|x|us|c|f|am)|\s?(?:{UNIT_WORDS}|k|m|bn|h|hr|hrs|hz|khz|mhz|kb|tb|pb|"
    r"kib|mib|gib|[kmg]bps|[kmg]bits?|bit|bits|bytes?|g|mg|mcg|lbs?|oz|cm|mm|nm|ft|mi|mph|kmh|kph|l|ml|cl|kv|mv|kw|mwh|mah|px|pt|"
    r"fps|dpi|ms|ns|sec|secs|min|mins|pm|deg|cal|kcal|rpm|db|ppm|bpm))"
)
"""Pattern of a unit behind a number; one that may be another word (4 a, 4 am) only without a space."""
_CURRENCIES: Final = r"(?:usd|eur|gbp|chf|jpy|cad|aud|sek|nok|dkk|pln|czk|inr|brl|mxn|cny|euros?|dollars?)"
_COSTS: Final = (
    r"(?:price|rent|costs?|paid|pays?|salary|budget|mileage|income|turnover|preis|miete|kosten|kostet|gehalt|umsatz|"
    r"kilometerstand|prix|loyer|coûte|salaire|precio|alquiler|cuesta|sueldo|preço|aluguel|custa|salário)"
)
MAX_YEAR: Final = 2_100
YEAR: Final = r"(?:1[5-9]\d\d|20[0-3]\d|2050|2100)"
IS_YEAR: Final = lazy_pattern(r"19\d\d|20[0-3]\d")
UNIT: Final = lazy_pattern(rf"{UNITS}(?!\w)|\s?[个個件人条條名円元年月日天次つ枚台回張张份通]", re.IGNORECASE)
AMOUNTS: Final = lazy_pattern(
    r"\S+://\S+|\S+@\S+"  # addresses
    r"|[$€£¥₹]\s?\d[\d.,]*\w*"
    r"|(?<!\w)(?:gmt|utc)\s?[+-]\d{1,2}(?::\d\d)?(?!\w)"
    r"|#(?=\d*[a-f])[0-9a-f]{6}(?!\w)"  # a colour
    r"|(?<!\w)(?:zip|post|postal|plz|postcode)(?:\scode)?\s\d{4,6}(?!\w)"
    r"|(?<![\w-])\d{5}(?=\s(?-i:[A-Z][a-z]))"  # 10115 Berlin
    r"|(?<!\w)m\d{1,2}\s?[x×]\s?\d{1,3}(?!\w)"  # screws
    rf"|(?<!\w){_CURRENCIES}\s?\d[\d.,]*(?!\w)"
    rf"|(?<!\w){_COSTS}(?:\s(?:is|was|of|about|around|only|ist|war|von|est|de|es|era|é)){{0,2}}\s\d{{4,6}}(?![\w-])"
    r"|(?<![\w-])\d{2,5}(?:\s?[x×]\s?\d{2,5}){1,2}[a-z]{0,2}(?![\w-])"  # sizes
    r"|(?<!\w)\d{1,2}[hu]\d\d(?!\w)"
    r"|(?<![\w-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w-])"
    r"|(?<![\w.-])(?:19|20)\d\d[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:t[\d:.]+z?)?(?![\w-])"
    r"|(?<![\w.-])(?:0?[1-9]|[12]\d|3[01])[-/.](?:0?[1-9]|[12]\d|3[01])[-/.](?:19|20)?\d\d(?![\w.-])"
    r"|(?<![\w-])(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![\w-])"
    r"|(?<![\w-])(?:(?:19|20)\d\d-?[qwh]\d{1,2}|[qwh]\d{1,2}-?(?:19|20)\d\d|fy-?\d{2,4})(?![\w-])"
    rf"|(?<![\w-]){YEAR}s?(?:\s?[-/]\s?(?:{YEAR}|\d\d))?(?![\w-]|\.\d)"
    r"|(?<!\w)\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m)?(?!\w)"
    rf"|(?<![\w.-])\d+(?:[.,]\d+)?{UNITS}(?!\w)"
    r"|(?<![\w.-])\d+[.,]\d+(?![\w-]|\.\d)",
    re.IGNORECASE,
)
