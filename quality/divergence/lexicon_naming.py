"""Words by which a number is told to name a thing or to be a value."""

from __future__ import annotations

from typing import Final

_VERBS = """
    a abre are arrive arrives be became become becomes been begin beginnt begins belong belongs board
    boards bring brings burn burns came can carries carry change changed changes charge charges cierra
    close closes come comes consume consumes contain contains cost costs could cover covers coûte cuesta
    dauert depart departs did do dock docks does draw draws drive drives dure earn earns end endet ends
    es est está expire expires ferme finishes fit fits fue fährt gehört get gets give gives go goes got
    haben had handle handles has hat have hold holds is ist keep keeps kosten kostet last lasts lay
    leave leaves lie liegt lies listen listens live lives look looks läuft make makes may measure
    measures meet meets move moved moves must need needs ont open opens ouvre part pay pays pull pulls
    reach reaches read reads rent rents require requires return returns rise rises run runs sale
    schließt seat seats sell sells send sends serve serves shall ship ships should show shows sind sit
    sits sleep sleeps son sont stand stands start starts stay stays steht stood stop stops support
    supports take takes tarda teach teaches tiene turn turns use uses want wants war waren was weigh
    weighs went werden were will wird work works would était öffnet
"""
_BEFORE_A_VALUE = """
    ab about above after all almost already also am an and approximately around as at auf before bei
    below beneath beside between bis but by circa con dans das de dem den der des die down du during
    each ein eine either el en ever every exactly for from für hasta how im in into its just la las le
    least les less los maximum minimum mit more most near nearly next no noch not now nur off on once
    only onto or other our out over par para past per plus por pour roughly same seit since some still
    sur than that the their then these this those through till to total two um un una under une until up
    upon via von when where which while with within without yet zu à
"""
VERBS: Final = frozenset(_VERBS.split())
"""Verbs of statements about a thing; with them its name is over."""

BEFORE_A_VALUE: Final = frozenset(_BEFORE_A_VALUE.split())
"""Words before a number that make no name of it, beside verbs."""

CUES: Final = (
    "since", "as of", "as from", "from", "starting", "starting on", "starting from", "starting in",
    "starting with", "effective", "effective from", "effective on", "until", "till", "by", "before", "after",
    "updated", "updated on", "seit", "ab", "bis", "dès", "depuis", "jusqu'au", "desde", "hasta",
    "a partir de", "a partir del",
)  # fmt: skip
"""Words before a date that says since when or until when a statement holds."""

THE: Final = (
    "the", "our", "this", "that", "my", "your", "his", "her", "their", "last", "next", "early", "late", "mid",
    "der", "die", "das", "dem", "den", "le", "la", "les", "el",
)  # fmt: skip
GOVERNING: Final = ("of", "for", "von", "für", "de", "du", "para", "pour", "del")
"""Words before a noun and its number that make them a name behind the verb, too: the rent of flat 8."""

MARKS: Final = ("#", "№", "no.", "nr.", "nos.", "n°", "nº")
"""Marks of numbers that are names."""

PRONOUNS: Final = (
    "i", "we", "you", "he", "she", "it", "they", "there", "one", "everybody", "everyone", "somebody",
    "someone", "nobody", "who", "i'm", "we're", "it's", "ich", "wir", "er", "sie", "es", "man", "je", "nous",
    "il", "elle", "yo", "nosotros", "ella",
)  # fmt: skip
"""Words that are what a statement is about, so that no number beside them names it."""
