"""What the payload of an entry holds, by the kind of its act: fields, what makes it sound, how it is read.

====================================  =====================
kind                                  module
====================================  =====================
save, unreadable                      :mod:`.note`
search                                :mod:`.search`
feedback, observation, outcome        :mod:`.feedback`
judgment                              :mod:`.judgment`
learning                              :mod:`.learning`
erasure, erased                       :mod:`.erasure`
work, gate, record                    :mod:`.home`
forget, undo, accept, upgrade         none: the entry says it
====================================  =====================

A payload is declared once, as a `TypedDict`: its constructor writes it, `fields.struct` gives what Polars
reads many of them by, and the functions beside it read one.

Anything may stand in a journal: what was imported, what another version wrote, what was erased. One act that
cannot be used must not stop a night, nor change what others come to, so each kind says which of its acts are
sound; the others are set aside, counted and told.
"""
