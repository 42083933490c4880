"""What becomes of a memory: it is let in, merged, superseded, kept apart, forgotten, and taken back."""
