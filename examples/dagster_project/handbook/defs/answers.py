"""Report of what the memory answers to the questions that new colleagues ask."""

from pathlib import Path

import dagster as dg

import slowwave

HOME = Path(__file__).parents[2] / ".slowwave"
QUESTIONS = (
    "When is the bakery closed?",
    "Which flour goes into the sourdough?",
    "Who has the key to the cold store?",
)


@dg.asset(deps=["search_index"], group_name="reports")
def answers() -> dg.MaterializeResult[None]:
    """Title of the first result for each question."""
    with slowwave.open(HOME, namespace="handbook", principal="report") as memory:
        titles = {
            question: next((result.title for result in memory.search(question, limit=1)), "nothing")
            for question in QUESTIONS
        }
    return dg.MaterializeResult(metadata=titles)
