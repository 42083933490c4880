"""Tokenisation for the full-text index: the one configuration of every such index.

Text is split at every character that is no letter or digit, lower-cased, folded to ASCII and stemmed; then
stop words are removed. LanceDB compares stop words after stemming, so the list has stems: `own` removes
`owned` too, and a word that is not its own stem (`because`) would remove nothing. Scripts without spaces,
such as Chinese and Thai, are split before (`slowwave.scoring.ranking.words`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from slowwave.errors import StoreError
from slowwave.scoring.ranking.words import as_asked

if TYPE_CHECKING:
    from lancedb.index import FTS

    from slowwave.store.tables import TableSpec

# LanceDB's English list, restricted to words that are their own stems, without those of the first and second
# person: i, me, my, myself, we, our, you, your, yourself. In a memory they carry meaning: "my sister" and
# "the sister" differ, and so do requests of the user and offers of the assistant. Indexing them raises
# nDCG@10 by 0.045 on BEAM and leaves it unchanged on LoCoMo.
_STEMS = """
a about after again against ain all am an and are aren as at be been below between both but by can couldn
d did didn do doesn don down each few for from further had hadn has hasn have haven he her here herself
him himself his how if in into is isn it itself just ll m ma mightn more most mustn needn no nor not now o
of off on or other out over own re s same shan she should shouldn so some such t than that the their them
then there these they this those through to too under until up ve was wasn were weren what when where
which while who whom will with won wouldn y
"""
STOP_WORDS = tuple(_STEMS.split())


class Tables(Protocol):
    """Store interface of a full-text query."""

    @property
    def specs(self) -> Mapping[str, TableSpec]:
        """Declaration of each table."""

    def table(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table
        """Return an open table."""


def full_text(store: Tables, name: str, column: str, query: str, *, every_word: bool = False) -> Any:  # noqa: ANN401 - LanceDB's query
    """Begin a full-text query; every one begins here (safeguard 4 of rule 5).

    It names its column: without one LanceDB searches all indexed columns. The column must be on the table's
    allow-list: LanceDB would scan any other one without an index and without an error.

    Args:
        store: Has the table.
        name: Of the table.
        column: Column to search.
        query: Words.
        every_word: Find only rows with all of the words.

    Raises:
        StoreError: The column is not on the allow-list.
    """
    from lancedb.query import FullTextOperator, MatchQuery

    if column not in store.specs[name].full_text:
        raise StoreError(f"{name}.{column} is not on the full-text allow-list of its table.")
    operator = FullTextOperator.AND if every_word else FullTextOperator.OR
    return store.table(name).search(MatchQuery(as_asked(query), column, operator=operator), query_type="fts")


def full_text_config() -> FTS:
    """Return the configuration of a full-text index."""
    from lancedb.index import FTS

    return FTS(
        language="English",
        stem=True,
        remove_stop_words=True,
        custom_stop_words=list(STOP_WORDS),  # instead of LanceDB's own
        ascii_folding=True,
    )


ATTEMPTS = 5  # to create an index while other processes do so (count)


def full_text_columns(table: Any) -> set[str]:  # noqa: ANN401 - lancedb.Table
    """Return the columns of a table that have a full-text index."""
    return {
        column
        for index in table.list_indices()
        if index.index_type.upper() == "FTS"
        for column in index.columns
    }


def create_full_text_indexes(table: Any, spec: TableSpec, *, again: bool = False) -> None:  # noqa: ANN401
    """Create the full-text index of each allow-listed column of a `lancedb.Table`.

    Existing ones are kept, unless `again` recreates them.
    """
    existing: set[str] = set() if again or not spec.full_text else full_text_columns(table)
    for column in sorted(set(spec.full_text) - existing):
        _create_full_text_index(table, column, again=again)


def _create_full_text_index(table: Any, column: str, *, again: bool) -> None:  # noqa: ANN401
    """Create an index, or accept that of another process: all create the same."""
    for _ in range(ATTEMPTS):
        try:
            table.create_index(column, config=full_text_config(), replace=True)
        except RuntimeError as error:
            if "commit conflict" not in str(error):
                raise
            if not again and column in full_text_columns(table):
                return
        else:
            return
    raise StoreError(
        f"Cannot create the full-text index of {column}: other processes keep changing the table. Try again."
    )
