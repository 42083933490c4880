"""Judgments: how well a memory answers a query, by people and by judges (rules 6.1, 6.2).

Each is one line in the journal. Importing this package loads nothing else.
"""

from slowwave.evaluation.judging.model import Grade, Judge, JudgeError, JudgmentError, Pair, identity

__all__ = ["Grade", "Judge", "JudgeError", "JudgmentError", "Pair", "identity"]
