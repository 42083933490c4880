"""Putting Slowwave into the configuration files of assistants, and taking it out again.

:mod:`clients` says who they are and where their files are, :mod:`entries` what is written, :mod:`documents`
how it gets into a text without touching the rest, :mod:`hooks` the same of hooks; :mod:`plan` puts that
together, and :mod:`files` reads and writes. :mod:`transcript` and :mod:`statements` say what a hook keeps of
a session.
"""
