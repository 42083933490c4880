"""How text is taken apart for the full-text index: the one configuration that every such index has.

Words are cut at what is no letter or digit, put into lower case, folded to ASCII and stemmed, and then the
stop words go. LanceDB compares these after stemming, so the list holds stems: `own` takes `owned` away too,
and a word that is not its own stem (`because`) would take nothing away. What is written without spaces, as
Chinese and Thai are, comes to the index in pieces (`slowwave.scoring.ranking.words`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from slowwave.errors import StoreError
from slowwave.scoring.ranking.words import as_asked

if TYPE_CHECKING:
    from lancedb.index import FTS

    from slowwave.store.tables import TableSpec

# LanceDB's English list, as far as its words are their own stems, without those of the first and second
# person: i, me, my, myself, we, our, you, your, yourself. In a memory they carry meaning: "my sister" and
# "the sister" are two people, and what the user asked for is told apart from what the assistant offered.
# With them nDCG@10 rises by .045 on BEAM and is what it was on LoCoMo.
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
    """What a full-text query needs of a store."""

    @property
    def specs(self) -> Mapping[str, TableSpec]:
        """What each table is."""

    def table(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table
        """An open table."""


def full_text(store: Tables, name: str, column: str, query: str) -> Any:  # noqa: ANN401 - LanceDB's query
    """Begin a full-text query; every one begins here (safeguard 4 of rule 5).

    It names its column: without one LanceDB searches all that are indexed. And the column is on the table's
    allow-list: LanceDB would search any other one, too, by a scan, without an index and without an error.

    Args:
        store: has the table.
        name: of the table.
        column: to be searched.
        query: words.

    Raises:
        StoreError: the column is not one that may be searched by text.
    """
    from lancedb.query import MatchQuery

    if column not in store.specs[name].full_text:
        raise StoreError(f"{name}.{column} is not searched by text. Columns that are: see its schema.")
    return store.table(name).search(MatchQuery(as_asked(query), column), query_type="fts")


def full_text_config() -> FTS:
    """The configuration of a full-text index."""
    from lancedb.index import FTS

    return FTS(
        language="English",
        stem=True,
        remove_stop_words=True,
        custom_stop_words=list(STOP_WORDS),  # instead of LanceDB's own
        ascii_folding=True,
    )


ATTEMPTS = 5  # at an index that other processes make at the same moment (count)


def full_text_columns(table: Any) -> set[str]:  # noqa: ANN401 - lancedb.Table
    """Columns of the table that have a full-text index."""
    return {
        column
        for index in table.list_indices()
        if index.index_type.upper() == "FTS"
        for column in index.columns
    }


def create_full_text_indexes(table: Any, spec: TableSpec, *, again: bool = False) -> None:  # noqa: ANN401
    """Give each allow-listed column of a `lancedb.Table` its full-text index.

    Those that have one are left alone, unless they are to be made `again`.
    """
    missing = set(spec.full_text) - (set() if again else full_text_columns(table))
    for column in sorted(missing):
        _create_full_text_index(table, column, again=again)


def _create_full_text_index(table: Any, column: str, *, again: bool) -> None:  # noqa: ANN401
    """Make the index, or find that another process has just made it: all of them make the same."""
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
        f"The full-text index of {column} could not be made: other processes keep changing the table. "
        f"Try again."
    )
