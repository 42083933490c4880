"""Reasons why a decision no longer holds."""

CHANGED, FORGOTTEN, REORDERED = "changed", "forgotten", "reordered"
"""A text changed, a memory was forgotten, an older note came late."""
UNDONE_BY_HAND, ACCEPTED = "undo", "accepted"
"""A person undid or accepted it."""
