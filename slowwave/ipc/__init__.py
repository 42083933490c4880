"""A running memory, and asking it instead of starting one: of the standard library alone.

A short command spends nearly all of its time on loading libraries, the model and the tables. `slowwave up`
has them loaded. What is here decides whether a command is for it, and brings the question and the answer.
"""
