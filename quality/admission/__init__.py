"""Admission of sound notes: duplicates (L3 of the save gate) and reconsolidation (rules 1 and 2)."""
