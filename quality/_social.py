"""Social words that state nothing: greetings, thanks, assent, hesitation, test texts.

A text of only these and function words has nothing to remember. Words that a fact may be about (days,
numbers, places) are excluded.
"""

from __future__ import annotations

from slowwave.quality._lexicons import ROOM, folded
from slowwave.scoring.wordlists import lines

_GREETED = folded("greeted")

SOCIAL_WORDS = _GREETED | folded("social")

CARRYING = folded("carrying")
"""Social words that count next to another content word, if the text has no greeting or thanks."""

GREETINGS = _GREETED | {"you", "your"}

CONTENT_TOO = frozenset({"man"})
"""Function words of one language that are content words in another."""

SOCIAL_PHRASES = lines(ROOM, "social_phrases")
"""Social phrases in scripts without spaces; longer ones match first."""

SUBJECTS = folded("subjects")
"""Subjects of short statements (first and third person pronouns) and negations: with one content word they
make a statement."""

LEFT_OUT = frozenset({"has", "had", "have", "got", "is", "was", "owns", "wants", "needs"})
"""Verbs that begin a note with an omitted subject: "Has a dog", "Got married"."""
