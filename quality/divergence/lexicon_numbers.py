"""Number words, units, months and weekdays."""

from __future__ import annotations

from decimal import Decimal

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
seventeen eighteen nineteen"
)
CARDINALS = {word: value for value, word in enumerate(_ONES.split())}
CARDINALS |= {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
CARDINALS |= {"dozen": 12, "hundred": 100, "twice": 2, "thrice": 3}
SCALES = {
    "thousand": 10**3, "k": 10**3, "million": 10**6, "mio": 10**6, "mn": 10**6,
    "billion": 10**9, "bn": 10**9, "trillion": 10**12,
}  # fmt: skip
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth \
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), 1)} | {"thirtieth": 30}

_MONTHS = "january february march april may june july august september october november december"
MONTHS = {word: value for value, word in enumerate(_MONTHS.split(), 1)}
MONTHS |= {word[:3]: value for word, value in MONTHS.items()} | {"sept": 9}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY_KEYS = {day: day for day in _WEEKDAYS} | {f"{day}s": day for day in _WEEKDAYS}
WEEKDAY_KEYS |= {"tue": "tuesday", "tues": "tuesday"}
WEEKDAY_KEYS |= dict.fromkeys(("thu", "thur", "thurs"), "thursday")


def _units() -> dict[str, tuple[str, Decimal]]:
    """Map units as written (folded) to base unit and factor; certain conversions only."""
    table = {
        "m": "m 1,metre 1,metres 1,meter 1,meters 1,mm .001,"
        "millimetre .001,millimetres .001,millimeters .001,"
        "cm .01,centimetre .01,centimetres .01,centimeters .01,km 1000,kilometre 1000,kilometres 1000,"
        "kilometer 1000,kilometers 1000,μm .000001,nm .000000001",
        "g": "g 1,gram 1,grams 1,mg .001,kg 1000,kilo 1000,kilos 1000,kilogram 1000,kilograms 1000",
        "s": "s 1,sec 1,secs 1,second 1,seconds 1,ms .001,millisecond .001,milliseconds .001,μs .000001,"
        "min 60,mins 60,minute 60,minutes 60,h 3600,hr 3600,hrs 3600,hour 3600,hours 3600",
        "l": "l 1,litre 1,litres 1,liter 1,liters 1,ml .001,cl .01",
        "hz": "hz 1,khz 1000,mhz 1000000,ghz 1000000000",
        "%": "% 1,percent 1,pct 1",
        "v": "v 1,volt 1,volts 1,kv 1000",
        "usd": "$ 1,usd 1,dollar 1,dollars 1",
        "eur": "€ 1,eur 1,euro 1,euros 1",
        "gbp": "£ 1,gbp 1,pound 1,pounds 1",
        "jpy": "¥ 1,jpy 1,yen 1",
        "°c": "°c 1,celsius 1",
        "°f": "°f 1,fahrenheit 1",
        "foot": "ft 1,foot 1,feet 1",
        "mile": "mi 1,mile 1,miles 1",
        "inch": "inch 1,inches 1",
        "lb": "lb 1,lbs 1",
    }
    alone = ("kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "kbit", "mbit", "gbit", "w", "kw",
             "mw", "gw", "kwh", "mwh", "wh", "mah", "ma", "px", "fps", "rpm", "db", "bar", "pa", "kpa",
             "hpa", "kph", "mph", "km/h", "m/s", "dpi", "ppm", "°")  # fmt: skip
    # A megabyte is 1,000 or 1,024 kilobytes, so data sizes are not converted.
    units = {unit: (unit, Decimal(1)) for unit in alone}
    for base, members in table.items():
        for member in members.split(","):
            name, factor = member.split()
            units[name] = (base, Decimal(factor))
    return units


UNITS = _units()
