"""Putting Slowwave into the configuration files of assistants, and taking it out again.

:mod:`clients` says who they are and where their files are, :mod:`entries` what is written, :mod:`json_text` and
:mod:`toml_text` how it gets into a text without touching the rest, :mod:`hooks` the same of hooks,
:mod:`files` reads and writes. :mod:`transcript` and :mod:`statements` say what a session's hook keeps.
"""
