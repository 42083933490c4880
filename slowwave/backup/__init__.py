"""Backups of a home: made while it is in use, verified, and restored into an empty home.

Importing this package loads nothing else.
"""
