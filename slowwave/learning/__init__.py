"""Learning from selections behind a gate (rule 5): proposals, evidence, approval, rollback."""
