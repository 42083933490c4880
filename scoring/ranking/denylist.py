"""Words that teach nothing (rule 5.1): they are in any question, any code, any memory of an assistant."""

from __future__ import annotations

from slowwave.scoring.lists import words

_ROOM = "slowwave.scoring"
_ENGLISH = words(_ROOM, "denied_english")
_CODE = words(_ROOM, "denied_code")
_MEMORY = words(_ROOM, "denied_memory")

DENYLIST = frozenset({*_ENGLISH, *_CODE, *_MEMORY})
"""Words in lower case; a word with the stem of one of them is denied, too."""
