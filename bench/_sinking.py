"""One of many, and a file of many names, against right answers: what `attack.py` does with ratings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from _home import Home

from slowwave.evaluation.exchange import JsonLines, Options, import_logs
from slowwave.feedback.rows import FOLDED
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.scoring.feedback.effectiveness import effectiveness, fold_effectiveness
from slowwave.scoring.feedback.voices import REACH, company, heard, voices_by
from slowwave.scoring.ranking import Candidates, MemoryState, rank

if TYPE_CHECKING:
    from _needs import Wordings
    from attack import Asked, Caps, Target

SINKER, INVENTED = "sinker", "invented-"
NAMES = 60  # that an imported file gives its people (count)
SEEN = 100  # results that an attacker asks for (count)


def ask(home: Home, space: Workspace, who: str, text: str, limit: int) -> dict[str, str]:
    """The search that showed each memory, of one search."""
    memory = Memory(home.settings, namespace=home.namespace, principal=who, space=space)
    response = memory.search(text, limit=limit)
    return {one.memory_id: response.search_id for one in response}


def rate(
    home: Home, space: Workspace, who: str, search_id: str, memory_id: str, said: str = "helpful"
) -> None:
    """A rating."""
    memory = Memory(home.settings, namespace=home.namespace, principal=who, space=space)
    memory.feedback(search_id, memory_id, said)


def sink(home: Home, space: Workspace, targets: Sequence[Target], wordings: Wordings) -> None:
    """One person rates right answers down and his own notes up; a file says the same in sixty names."""
    lines = []
    for target in targets:
        for question in [*target.known, *target.known]:
            found = ask(home, space, SINKER, wordings(question), SEEN)
            mine = {home.memory[target.poisons[kind]] for kind in ("far", "near")}
            for said, those in (("unhelpful", home.answers(question)), ("helpful", mine)):
                for one in those & found.keys():
                    rate(home, space, SINKER, found[one], one, said)
                    lines += [
                        {"type": "feedback", "at": space.now().isoformat(), "search_id": found[one],
                         "memory_id": one, "rating": said, "principal": f"{INVENTED}{number}"}
                        for number in range(NAMES)
                    ]  # fmt: skip
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
        file.flush()
        form = JsonLines(home.namespace, lambda project: 0)
        options = Options(home.namespace, "2000-01-01", space.now().date() + timedelta(days=1))
        import_logs(space.journal, form, [file.name], options, lambda names: names)


def served(space: Workspace, caps: Caps, *others: str) -> dict[str, MemoryState]:
    """What ratings say of each memory: of the honest, and of those whose names begin so."""
    signals = space.store.read("usage_signals", columns=list(FOLDED))
    said = pl.any_horizontal(pl.col("principal").str.starts_with(one) for one in ("person-", *others))
    signals = signals.filter(said)
    if not caps.voices:
        signals = signals.with_columns(imported=pl.lit(value=False))
    explicit = signals.filter(pl.col("tier") != "implicit")
    folded = fold_effectiveness(
        signals, space.store.empty("effectiveness"), explicit.clear(), caps.feedback
    ).filter(pl.col("chunk_id").is_null())
    last = folded.sort("day").unique("memory_id", keep="last")
    there = voices_by(company(signals), "9999") if caps.voices else {}
    uses = signals.filter((pl.col("verdict") == "used") & (pl.col("weight") > 0))
    implicit = last.select("memory_id", "implicit_value", "implicit_weight")
    sums = heard(explicit, uses, implicit, there, caps.feedback)
    sums = sums.with_columns(effectiveness(sums, space.now(), caps.feedback))
    names = ("memory_id", "effectiveness", "feedback_count", "not_useful_at")
    return {
        memory: MemoryState(effectiveness=value, feedback_count=count, not_useful_at=tuple(against))
        for memory, value, count, against in sums.select(names).iter_rows()
    }


def without(candidates: Candidates, gone: frozenset[str]) -> Candidates:
    """The candidates without some memories."""
    kept = [at for at, one in enumerate(candidates.memory_ids) if one not in gone]
    columns = ("cosine", "bm25", "vector_rank", "bm25_rank", "ordinal", "chunk_count", "title", "coverage",
               "rerank")  # fmt: skip
    return replace(
        candidates,
        chunk_ids=[candidates.chunk_ids[at] for at in kept],
        memory_ids=[candidates.memory_ids[at] for at in kept],
        **{name: getattr(candidates, name)[kept] for name in columns},
    )


def sunk(
    asked: Sequence[Asked], every: frozenset[str], states: Mapping[str, MemoryState], space: Workspace
) -> dict[str, Any]:
    """Where the right answers stand among the two notes of who sinks them."""
    places, scores, above = list[int](), list[float](), list[bool]()
    for one in asked:
        if not one.poisons:
            continue
        mine = {one.poisons["far"], one.poisons["near"]}
        candidates = without(one.candidates, every - mine)
        here = {memory: states[memory] for memory in set(candidates.memory_ids) & states.keys()}
        results = rank(replace(candidates, states=here), space.policy, as_of=space.now(), limit=SEEN).results
        order = [result.memory_id for result in results]
        place = min((at for at, name in enumerate(order) if name in one.right), default=SEEN)
        places.append(place + 1)
        scores.append(results[place].score if place < len(results) else 0.0)
        above.append(bool(mine & set(order[:place])))
    return {
        "right: mean rank": f"{np.mean(places):.2f}", "first": f"{np.mean([one == 1 for one in places]):.0%}",
        "in 5": f"{np.mean([one <= 5 for one in places]):.0%}", "mean score": f"{np.mean(scores):.3f}",
        "his above it": f"{np.mean(above):.0%}",
    }  # fmt: skip


def sinking(
    asked: Sequence[Asked], every: frozenset[str], space: Workspace, readings: Mapping[str, Caps]
) -> list[dict[str, Any]]:
    """One of fifty and a file of sixty names against right answers, as written and as it ships.

    Raises:
        AssertionError: as it ships, one of them lowers a score by more than the reach of one voice.
    """
    rows = []
    ways = {"nobody": (), "one of fifty": (SINKER,), f"a file of {NAMES} names": (INVENTED,),
            "both": (SINKER, INVENTED)}  # fmt: skip
    for reading, caps in readings.items():
        clean = served(space, caps)
        for way, names in ways.items():
            told = served(space, caps, *names)
            if caps.voices and len(names) == 1:
                within_reach(asked, clean, told, space)
            rows.append({"attack": way, "reading": reading, **sunk(asked, every, told, space)})
    return rows


def within_reach(
    asked: Sequence[Asked],
    before: Mapping[str, MemoryState],
    after: Mapping[str, MemoryState],
    space: Workspace,
) -> None:
    """Every score of every question is where it was, up to the reach of one voice."""
    for one in asked:
        marks = list[dict[str, float]]()
        for states in (before, after):
            here = {memory: states[memory] for memory in set(one.candidates.memory_ids) & states.keys()}
            found = rank(replace(one.candidates, states=here), space.policy, as_of=space.now(), limit=1_000)
            marks.append({result.memory_id: result.score for result in found.results})
        both = marks[0].keys() & marks[1].keys()
        worst = max((abs(marks[0][name] - marks[1][name]) for name in both), default=0.0)
        assert worst <= REACH + 1e-9, f"{one.text!r}: a score moved by {worst:.3f}, more than {REACH}"
