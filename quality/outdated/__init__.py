"""Outdated values: an older and a newer text that give one attribute two values (rule 3.12)."""
