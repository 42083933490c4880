"""The maths of quality (rule 6): metrics of a run, comparison of two, separation by a signal, attribution."""

from scoring.evaluation.agreement import Agreement, agreement
from scoring.evaluation.attribution import Contribution, attribution, contributions
from scoring.evaluation.comparison import Comparison, MeanInterval, compare, mean_interval
from scoring.evaluation.evaluate import MEASURES, evaluate
from scoring.evaluation.measure import Measure, parse_measure
from scoring.evaluation.selections import SelectionPolicy, selections
from scoring.evaluation.separation import AnswerRate, answer_rate, auroc

__all__ = [
    "MEASURES", "Agreement", "AnswerRate", "Comparison", "Contribution", "MeanInterval", "Measure",
    "SelectionPolicy", "agreement", "answer_rate", "attribution", "auroc", "compare", "contributions",
    "evaluate", "mean_interval", "parse_measure", "selections",
]  # fmt: skip
