"""Save gate, reconsolidation, divergence guard and learning gate, as pure functions."""
