"""The maths of quality (rule 6): metrics of a run, comparison of two, separation by a signal."""

from scoring.evaluation.comparison import Comparison, MeanInterval, compare, mean_interval
from scoring.evaluation.evaluate import MEASURES, evaluate
from scoring.evaluation.measure import Measure, parse_measure
from scoring.evaluation.separation import AnswerRate, answer_rate, auroc

__all__ = [
    "MEASURES", "AnswerRate", "Comparison", "MeanInterval", "Measure", "answer_rate", "auroc", "compare",
    "evaluate", "mean_interval", "parse_measure",
]  # fmt: skip
