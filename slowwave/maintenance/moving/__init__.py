"""Moves of a home's tables and journal to other places, and back."""
