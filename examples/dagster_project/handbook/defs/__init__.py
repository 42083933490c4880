"""Definitions of the project, one file or folder each."""
