"""Memory lifecycle: save gate, reconsolidation, quarantine, forgetting and correction."""
