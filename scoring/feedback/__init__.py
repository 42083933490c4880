"""Feedback and learning (rules 4, 5, 7 and 8): use, effectiveness, strength, promotion, learned terms.

Pure functions of events and of the state before them. Moments are arguments, and no clock is read.
Aggregating a range of days gives the same values as its days one by one, to the last bit.
"""
