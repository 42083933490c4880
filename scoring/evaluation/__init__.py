"""Evaluation (rule 6): metrics, comparison, separation by a signal, channel attribution."""

from slowwave.scoring.evaluation.agreement import Agreement, agreement
from slowwave.scoring.evaluation.attribution import ChannelContribution, attribution, contributions
from slowwave.scoring.evaluation.click_judgments import SelectionPolicy, click_judgments
from slowwave.scoring.evaluation.comparison import Comparison, MeanInterval, compare, mean_interval
from slowwave.scoring.evaluation.cycles import Cycle, CyclePlan, SearchDay, counted_questions, plan_cycles
from slowwave.scoring.evaluation.evaluate import evaluate
from slowwave.scoring.evaluation.interleaving import Interleaved, credit, preference, team_draft
from slowwave.scoring.evaluation.judgments import Judgments, resolve
from slowwave.scoring.evaluation.sampling import worth_judging
from slowwave.scoring.evaluation.separation import AnswerRate, answer_rate, auroc
from slowwave.scoring.measures import MEASURES, Measure

__all__ = [
    "MEASURES",
    "Agreement",
    "AnswerRate",
    "ChannelContribution",
    "Comparison",
    "Cycle",
    "CyclePlan",
    "Interleaved",
    "Judgments",
    "MeanInterval",
    "Measure",
    "SearchDay",
    "SelectionPolicy",
    "agreement",
    "answer_rate",
    "attribution",
    "auroc",
    "click_judgments",
    "compare",
    "contributions",
    "counted_questions",
    "credit",
    "evaluate",
    "mean_interval",
    "plan_cycles",
    "preference",
    "resolve",
    "team_draft",
    "worth_judging",
]  # fmt: skip
