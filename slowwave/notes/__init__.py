"""Readers of notes: Markdown with YAML front matter, plain text and JSON lines.

A note that cannot be read is a `NoteError` with a reason, or a `NoteFailure` where notes are read in bulk.
Nothing is guessed or dropped.
"""
