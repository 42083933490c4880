"""Configuration of assistants: add Slowwave to their files, and remove it.

:mod:`clients` has their names and files, :mod:`entries` what is written. :mod:`documents` inserts it into a
text without touching the rest, :mod:`hooks` does the same for hooks. :mod:`plan` combines them, and
:mod:`files` reads and writes. :mod:`transcript` and :mod:`statements` select what a hook saves of a session.
"""
