"""The maths of use (rule 4): what was used, how well it served, how firmly it is set, its promotions.

Everything here is a function of acts and of the state before them. Moments are given, no clock is read; a
fold over a range of days gives what the same days give one by one, to the last bit.
"""
