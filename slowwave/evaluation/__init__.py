"""Evaluation of search quality (rule 6): journal and tables joined with the scoring rules."""
