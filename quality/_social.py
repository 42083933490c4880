"""Words of talk that states nothing, in large languages: greetings, thanks, assent, hesitation, test texts.

A text of these words and of function words alone has nothing in it to remember. Words that a fact may be
about (names of days, numbers, places) are not here.
"""

from __future__ import annotations

from slowwave.quality._lexicons import ROOM, folded
from slowwave.scoring.wordlists import lines

_GREETED = folded("greeted")

SOCIAL_WORDS = _GREETED | folded("social")

CARRYING = folded("carrying")
"""Those of them that carry something beside another word of content, where nobody is greeted or thanked."""

GREETINGS = _GREETED | {"you", "your"}

CONTENT_TOO = frozenset({"man"})
"""A function word of one language that is a word of content in another."""

SOCIAL_PHRASES = lines(ROOM, "social_phrases")
"""The same in scripts that put no spaces between words; the longer ones are looked for first."""

SUBJECTS = folded("subjects")
"""Who a short statement is about (pronouns of the first and third person), and negations: with one word of
content they state something."""

LEFT_OUT = frozenset({"has", "had", "have", "got", "is", "was", "owns", "wants", "needs"})
"""Verbs that begin a note about somebody who is not named in it: "Has a dog", "Got married"."""
