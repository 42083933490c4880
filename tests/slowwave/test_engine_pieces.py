"""What is handed to an engine travels: work and pieces are pickled, and come to what one process comes to."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import servers

from slowwave.embedding.distributed import DistributedEmbedder
from slowwave.engine import LocalEngine
from slowwave.errors import SettingsError, TakenInLaterError
from slowwave.feedback import parallel_aggregation
from slowwave.memory import Memory
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.settings import EmbeddingSettings, load
from slowwave.settings.groups import EngineSettings


class Travelling:
    """An engine whose workers get copies, as those of other machines do."""

    spreads = True

    def __init__(self) -> None:
        self.pieces = 0

    def map(self, work: Callable[[Any], Any], pieces: Iterable[Any]) -> Iterator[Any]:
        for piece in pieces:
            self.pieces += 1
            there, given = pickle.loads(pickle.dumps((work, piece)))
            yield pickle.loads(pickle.dumps(there(given)))

    def close(self) -> None:
        """There is nothing to let go of."""


def counted(signals: pl.DataFrame, known: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """A rule as the folds of feedback are: it looks at one namespace at a time."""
    assert isinstance(policy, FeedbackPolicy)
    before = known.group_by("namespace").agg(pl.col("value").sum().alias("before"))
    return signals.group_by("namespace").len().join(before, on="namespace", how="left").sort("namespace")


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_namespaces_are_folded_piece_by_piece_as_all_at_once(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(parallel_aggregation, "ROWS", rows)
    names = [f"n{at % 5}" for at in range(23)]
    signals = pl.DataFrame({"namespace": names, "at": range(23)})
    known = pl.DataFrame({"namespace": names[:9], "value": range(9)})
    engine = Travelling()

    apart = parallel_aggregation.by_namespace(engine, counted, [signals, known], FeedbackPolicy())
    together = parallel_aggregation.by_namespace(LocalEngine(), counted, [signals, known], FeedbackPolicy())

    assert apart.equals(together)
    assert engine.pieces == {1: 5, 3: 5, 7: 3, 100: 0}[rows]


@pytest.mark.parametrize("least", [1, 41])
def test_texts_get_the_vectors_that_one_process_gives_them(fast_embedder: Any, least: int) -> None:
    settings, engine = EmbeddingSettings(model="wordllama-256"), Travelling()
    texts = [f"The gauge {at} of the harbour " + "reads the tide " * (at % 7) for at in range(40)] + ["  "]
    spread = DistributedEmbedder(
        fast_embedder, settings, EngineSettings(kind="ray", texts=1, min_texts=least), engine
    )
    done: list[int] = []

    assert np.array_equal(spread.embed_documents(texts, done.append), fast_embedder.embed_documents(texts))
    assert sum(done) >= 40
    assert engine.pieces == (1 if least == 1 else 0)


@pytest.mark.skipif(find_spec("ray") is None, reason="the extra distributed is not installed")
def test_a_save_whose_workers_cannot_be_reached_says_that_it_is_in_the_journal(home: Path) -> None:
    engine = {"kind": "ray", "address": f"127.0.0.1:{servers.free_port()}", "min_texts": 1}
    text = "The weir at the mill is opened by hand when the river stands above two metres."
    with Memory(load(home, embedding={"model": "wordllama-256"}, engine=engine), namespace="ada") as memory:
        with pytest.raises(
            TakenInLaterError, match=r"No Ray cluster answers at .* The event is in the journal"
        ):
            memory.save(text)
        assert memory.journal.read(kinds=["save"]).height == 1


@pytest.mark.parametrize("address", ["nonsense", "ray://10.0.0.5:6399", "a b:1"])
def test_an_address_that_is_none_says_what_to_give(home: Path, address: str) -> None:
    with pytest.raises(SettingsError, match=r"engine\.address = .*HOST:PORT, such as"):
        load(home, engine={"address": address})
