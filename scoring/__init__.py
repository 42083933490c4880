"""Pure functions of ranking, feedback and evaluation.

They depend on data and `as_of` only: no store, no clock.
"""
