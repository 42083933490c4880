"""Payload schemas by kind of entry: fields, soundness checks and readers.

====================================  =====================
kind                                  module
====================================  =====================
save, unreadable, discard             :mod:`.note`
search                                :mod:`.search`
feedback, observation, outcome        :mod:`.feedback`
judgment                              :mod:`.judgment`
learning                              :mod:`.learning`
erasure, erased                       :mod:`.erasure`
work, gate, record                    :mod:`.home`
forget, undo, accept, upgrade         none: no payload
====================================  =====================

A payload is declared once, as a `TypedDict`: its constructor writes it, `fields.struct` gives the Polars
schema for reading many, and the functions beside it read one.

A journal may have imported entries, entries of other versions and erased ones. An unusable entry must neither
stop a nightly job nor change the results of others. So each kind defines which of its entries are sound; the
others are set aside, counted and reported.
"""
