"""Folders of notes that are watched: what changed in them goes into the journal."""
