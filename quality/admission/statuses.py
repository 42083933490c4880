"""States of memories and of quarantined notes, and the names of both kinds of duplicates."""

DEFAULT_SENSITIVITY = "internal"
LIVE, MERGED, SUPERSEDED, RETIRED = "live", "merged", "superseded", "retired"
HELD, RESOLVED, DISCARDED = "held", "resolved", "discarded"
EXACT_DUPLICATE = "exact_duplicate"
NEAR_DUPLICATE = "near_duplicate"
