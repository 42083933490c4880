"""Watched folders of notes; their changes go into the journal."""
