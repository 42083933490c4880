"""Words that teach nothing (rule 5.1): they are in any question, any code, any memory of an assistant."""

from __future__ import annotations

from slowwave.scoring.lists import words

_LISTS = ("denied_english", "denied_code", "denied_memory")
DENYLIST = frozenset(word for name in _LISTS for word in words("slowwave.scoring", name))
"""Words in lower case; a word with the stem of one of them is denied, too."""
