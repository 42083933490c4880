"""Notes and readers of the tests of searches."""

from __future__ import annotations

DEPLOY = "The deploy day is Thursday since the second of March, decided by the whole team."
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."
LONG = "\n\n".join(
    f"## Part {number}\n\n"
    + f"Gauge number {number} hangs under pier {number} and reports every six minutes. " * 12
    for number in range(4)
)
FERRY = "The ferry to the island leaves at seven in the morning and comes back before the dark."


def found(response) -> list[str]:
    return [result.memory_id for result in response]


def sources(response) -> set[str]:
    return {result.source for result in response}


def payload(memory, response) -> dict:
    return memory.journal.get(response.search_id).payload


def rows_of(result, source: str) -> list:
    return [row for row in result.explanation.contributions if row.source == source]
