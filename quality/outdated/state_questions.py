"""Questions whether a value holds: is the rent 780 euros? (rule 3.12)."""

from __future__ import annotations

import re
from typing import Final

OF_STATE: Final = re.compile(
    r"""\W*(?:(?:is|are|am|does|do|ist|sind|bin|hat|es|está|est|è)\b(?!\ you\b)
    | (?:beträgt|wohnt|wohnen|lebt|arbeitet|arbeiten|zahlen|gilt|liegt|heißt|nutzen|verwenden)\b
    | (?:vive|trabaja|sigue|tiene|usamos|pagamos|habite|travaille|mora|trabalha)\b
    | (?:el|la|los|las|mi|nuestr[oa]|le|les|mon|ma|notre|l')\b[^?]*
      \b(?:es|está|son|vive|trabaja|est|sont|habite|travaille)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginning of a question whether a value holds."""
