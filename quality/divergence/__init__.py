"""The divergence guard: what two texts say differently, where their vectors say they are alike (rule 2.3).

Its word lists and patterns cost as much as a tenth of a search, which asks for none of them: import its
modules where they are used.
"""
