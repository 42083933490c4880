"""Divergence guard: differences between two texts with similar vectors (rule 2.3).

Loading its word lists and patterns costs as much as a tenth of a search, and a search needs none of them. So
import its modules where they are used.
"""
