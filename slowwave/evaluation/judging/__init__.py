"""Judgments of query-memory pairs by people and judges (rules 6.1, 6.2).

Each is one journal entry. Importing this package loads nothing else.
"""

from slowwave.evaluation.judging.model import Grade, Judge, JudgeError, JudgmentError, Pair, identity

__all__ = ["Grade", "Judge", "JudgeError", "JudgmentError", "Pair", "identity"]
