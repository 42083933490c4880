"""Tables of the journal.

`seq` only grows, and `ordered_at` with it: the moment of an entry among all others, whatever the machine's
clock says. The payload is the last column: SQLite then reads the others from a row's first page without
touching the overflow pages of a long payload.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text, text

from slowwave.journal.entry import FEEDBACK_KINDS, SOURCE_KINDS

SCHEMA_VERSION = 3

metadata = MetaData()

# Literal, not bound: a database uses a partial index only for a query that repeats its condition.
IS_ABOUT_A_SOURCE = text(f"kind IN ({', '.join(repr(kind) for kind in SOURCE_KINDS)})")
IS_FEEDBACK = text(f"kind IN ({', '.join(repr(kind) for kind in FEEDBACK_KINDS)})")
IS_OF_A_PROJECT = text("kind = 'search' AND origin <> ''")

entries = Table(
    "journal_entries",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("event_id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("occurred_at", BigInteger, nullable=False),
    Column("ordered_at", BigInteger, nullable=False, server_default="0"),
    Column("day", Text, nullable=False),
    Column("principal", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
)

# Covers `days()` and finds the rows of `read()` without opening them.
Index("journal_entries_by_day", entries.c.kind, entries.c.day, entries.c.namespace, entries.c.seq)

# The order in which `latest_sources()` walks the versions of each source, without opening or sorting them.
SOURCE_INDEX = Index(
    "journal_entries_by_order",
    entries.c.namespace,
    entries.c.origin,
    entries.c.subject,
    entries.c.ordered_at.desc(),
    entries.c.seq.desc(),
    entries.c.kind,
    sqlite_where=IS_ABOUT_A_SOURCE,
)

# Feedback on a search or a project, and the searches of a project.
FEEDBACK_INDEXES = (
    Index(
        "journal_entries_by_feedback",
        entries.c.namespace,
        entries.c.subject,
        entries.c.seq,
        sqlite_where=IS_FEEDBACK,
    ),
    Index(
        "journal_entries_by_project",
        entries.c.namespace,
        entries.c.origin,
        entries.c.occurred_at,
        sqlite_where=IS_OF_A_PROJECT,
    ),
)


def know_postgresql() -> None:
    """Set the indexes' conditions for PostgreSQL too; loading its dialect takes 0.03 s."""
    for index in (SOURCE_INDEX, *FEEDBACK_INDEXES):
        index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]


sources = Table(
    "journal_sources",
    metadata,
    Column("namespace", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("uri", Text, nullable=False),
    Column("added_at", BigInteger, nullable=False),
    Column("principal", Text, nullable=False),
)

meta = Table(
    "journal_meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
