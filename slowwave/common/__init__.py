"""Utilities shared by all packages: ids, arguments, error translation, progress."""
