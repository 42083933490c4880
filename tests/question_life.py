"""A home in which results of questions are rated, and what its searches give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from feedback_days import at
from key_life import TEXTS, KeyLife
from prepared import kept
from warehouse_rows import put

from slowwave.memory import Memory
from slowwave.scoring.feedback.learned import RATINGS, Measured
from slowwave.search.results import Result
from slowwave.store import Store

QUESTION = "when do we deploy, and where do the release notes go?"
NEAR = "where do the release notes go when we deploy?"
FAR = "how far does the radar on the mast see?"


def saved(memory: Memory, *more: str) -> KeyLife:
    """Save five notes on the first of March, and further ones under the key ``relay``."""
    made = KeyLife(memory)
    for key in TEXTS:
        made.save(key)
    for text in more:
        made.save("relay", text)
    return made


def begun(open_memory: Callable[..., Memory], home: Path) -> KeyLife:
    """A home of these five notes."""
    kept("five notes", home, lambda: saved(open_memory(path=home)).memory.close())
    return KeyLife(open_memory(path=home))


def begun_and_rated(open_memory: Callable[..., Memory], home: Path) -> KeyLife:
    """A home whose question was rated on the fifth of March: one result was no help and another was."""

    def make() -> None:
        life = begun(open_memory, home)
        rate(life, QUESTION, 5, deploy="unhelpful", ferry="helpful")
        life.fold(1, 5)
        life.memory.close()

    kept("five notes, two ratings", home, make)
    life = KeyLife(open_memory(path=home))
    life.memory.principal = "ann"
    _ = life.space.store  # open, as after a night: to open it takes a second of its clock
    return life


def rate(life: KeyLife, asked: str, day: int, /, *, by: str = "ann", **ratings: str) -> str:
    """Search on a day of March, rate results by their keys, and return the id of the search."""
    life.moment, life.memory.principal = at(day), by
    found = life.memory.search(asked)
    for key, rating in ratings.items():
        life.memory.feedback(found.search_id, life.id(key), rating)
    return found.search_id


def answer(life: KeyLife, asked: str, **more: Any) -> dict[str, Any]:
    """All that a search gives, but its id and how long it took."""
    found = life.memory.search(asked, log=False, **more).to_dict()
    del found["search_id"], found["timings"]
    return found


def at_noon(life: KeyLife, day: int, asked: str, **more: Any) -> dict[str, Any]:
    """The same at noon of a day of March."""
    life.moment = at(day)
    return answer(life, asked, **more)


def result(life: KeyLife, asked: str, key: str) -> Result:
    """A result with its explanation."""
    found = {one.memory_id: one for one in life.memory.search(asked, explain=True, log=False)}
    return found[life.id(key)]


def effective(life: KeyLife, asked: str, key: str) -> float:
    """Effectiveness of a memory that counts for a question; 0.5 is neutral."""
    explained = result(life, asked, key).explanation
    assert explained is not None
    return explained.effectiveness_score


def put_effect(
    store: Store, day: str, namespace: str = "ada", *, kind: Measured = RATINGS, after: float = 0.2,
    questions: int = 30, searches: int = 30, rated: bool = False, moved: bool = True,
) -> None:  # fmt: skip
    """Write the figures of judged searches of a day: 0.5 without feedback, `after` with it."""
    put(store, "learned_effect", [
        {"effect_id": f"{namespace}:{kind}:{day}:{at}:{rated}", "day": day, "namespace": namespace,
         "search_id": f"{day}-{at}", "query_id": f"{day}-q{at % questions}", "moved": moved, "live": moved,
         "kind": kind, "mrr_5": 0.5, "mrr_5_learned": after, "ndcg_10": 0.5, "ndcg_10_learned": after,
         "rated": rated}
        for at in range(searches)
    ])  # fmt: skip
