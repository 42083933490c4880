"""Settings of what a home is made of: tables, journal, model, notes, the server, the night."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

NAMESPACE = r"^\w[\w\-./]*$"


class Group(BaseModel):
    """A group of settings: frozen, and without any that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class StoreSettings(Group):
    """Where the LanceDB tables live and how they are kept in order."""

    uri: str = Field("", description="Folder (relative to the home) or s3:// URI of the tables; empty: lance")
    storage_options: dict[str, str] = Field(
        default_factory=dict, description="Options of the object store (endpoint, region, keys, ...)"
    )
    vector_index_from: int = Field(
        20_000, ge=1_000, description="Chunks from which a vector index is built (below: exact search)"
    )
    vector_index_recall: float = Field(
        0.99, ge=0.5, le=1.0, description="Recall@10 against exact search that the vector index must reach"
    )
    snapshot_mb: float = Field(
        1_024.0,
        ge=0.0,
        description="Memory that the chunks of all searched namespaces may take (MB); beyond it, and with 0, "
        "their table is searched",
    )
    keep_versions_days: float = Field(
        7.0, ge=0.04, description="Days that old versions of the tables that nights write are kept"
    )


class JournalSettings(Group):
    """The append-only journal of saves, searches and feedback."""

    url: str = Field("", description="SQLAlchemy URL; empty: SQLite file HOME/journal.db")
    durability: Literal["full", "normal"] = Field(
        "full", description="full: survives power loss; normal: survives a process crash (SQLite only)"
    )
    log_searches: bool = Field(True, description="Write every search and what it showed to the journal")


class EmbeddingSettings(Group):
    """The embedding model; it belongs to a store and is changed with `slowwave reembed`."""

    model: str = Field(
        "bge-small-en-v1.5",
        min_length=1,
        description="bge-small-en-v1.5, wordllama-256, fastembed:NAME or lancedb:PROVIDER/NAME",
    )
    threads: int = Field(0, ge=0, le=256, description="Threads of the model; 0: one per core")
    batch_size: int = Field(
        1,
        ge=1,
        le=1_024,
        description="Texts per model call; an int8 model scales a whole batch, so only with 1 is a text's "
        "vector always the same",
    )


class EngineSettings(Group):
    """Where long work is computed: embedding of many texts, backfills of feedback and evaluation."""

    kind: Literal["local", "ray"] = Field(
        "local",
        description="local: this process; ray: workers of a Ray cluster (pip install '.[distributed]')",
    )
    address: str = Field(
        "",
        pattern=r"^(|[^\s/:]+:\d{1,5})$",
        description="HOST:PORT of a Ray cluster that this machine is part of; empty: one is started on this "
        "machine for as long as it is needed",
    )
    workers: int = Field(
        0,
        ge=0,
        le=10_000,
        description="Workers of a cluster that is started here; 0: one per CPU. Of an address all CPUs work",
    )
    texts: int = Field(
        64,
        ge=1,
        le=100_000,
        description="Texts of a piece of embedding, rounded up to whole calls of the model",
    )
    least_texts: int = Field(
        512, ge=1, description="Texts from which an embedding is handed to workers; fewer are this process's"
    )
    fallback: bool = Field(
        False, description="Where the cluster cannot be reached or is lost, compute here instead of failing"
    )


class ChunkSettings(Group):
    """How a note is cut into retrievable pieces."""

    min_words: int = Field(100, ge=1, le=1_000, description="Words from which a chunk may end")
    max_words: int = Field(150, ge=10, le=2_000, description="Words after which a chunk must end")

    @model_validator(mode="after")
    def _ordered(self) -> ChunkSettings:
        if self.min_words > self.max_words:
            raise ValueError(f"chunks.min_words ({self.min_words}) is above max_words ({self.max_words})")
        return self


class NotesSettings(Group):
    """Reading notes from a vault."""

    max_bytes: int = Field(
        2_000_000, ge=1_000, le=100_000_000, description="Bytes above which a note is quarantined unread"
    )
    max_retired_share: float = Field(
        0.5, gt=0, le=1, description="Share of a vault's notes that one scan may retire without being asked"
    )


class McpToken(Group):
    """A bearer token of the MCP server: what it opens, and in whose name."""

    token_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="SHA-256 of the token in hex; the token itself is kept nowhere"
    )
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(description="The one namespace that it opens")
    principal: str = Field(min_length=1, description="Who acts with it, recorded with every act")
    rights: Literal["assistant", "person"] = Field(
        "assistant", description="What it may do on the memory's page: what tools can, or all that people do"
    )


class McpSettings(Group):
    """The MCP server over HTTP."""

    tokens: tuple[McpToken, ...] = Field((), description="Bearer tokens; `slowwave mcp token` makes one")
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Names that clients reach the server by, beside those of this machine's loopback"
    )
    max_request_bytes: int = Field(
        1_000_000, ge=10_000, le=100_000_000, description="Bytes above which a request is refused (413)"
    )
    requests: int = Field(
        16, ge=1, le=1_000, description="Requests with one token, in work or waiting; more get 429 (count)"
    )
    request_seconds: float = Field(
        20.0, gt=0, le=3_600, description="Seconds in which a request has to arrive whole"
    )
    half_sent: int = Field(
        64, ge=1, le=10_000, description="Connections that may wait for a request or its rest (count)"
    )

    @model_validator(mode="after")
    def _distinct(self) -> McpSettings:
        if len({one.token_sha256 for one in self.tokens}) < len(self.tokens):
            raise ValueError("two of mcp.tokens are the same token; it can open one namespace only")
        return self


class PageSettings(Group):
    """The memory's own page."""

    https: bool = Field(
        False, description="People reach it over TLS (behind a proxy): its cookie is only sent over that"
    )
    session_hours: float = Field(
        12.0, gt=0, le=720, description="Hours without a request after which one has to sign in again"
    )


class AlertSettings(Group):
    """Who is told that something went wrong."""

    webhook: str = Field(
        "",
        description="URL that gets a JSON message when a run fails or learning is rolled back; empty: none",
    )


class NightSettings(Group):
    """The nightly job."""

    first_day: str = Field(
        "2024-01-01",
        pattern=r"^\d{4}-\d{2}-\d{2}$",
        description="First day (UTC) that can have a partition; those of the web page begin with the "
        "first act since",
    )
    hour: int = Field(
        2, ge=0, le=23, description="Hour (UTC) at which the schedule runs yesterday's partition"
    )
    vault_poll_seconds: int = Field(
        60, ge=30, le=86_400, description="Seconds between two looks of the sensor at the watched vaults"
    )
    owner: str = Field(
        "team:operators",
        pattern=r"^(team:[A-Za-z0-9_.-]+|[^@\s]+@[^@\s]+\.[^@\s]+)$",
        description="Who answers for the nights, as Dagster's page shows it: a mail address, or team:NAME",
    )

    @field_validator("first_day")
    @classmethod
    def _is_a_day(cls, value: str) -> str:
        date.fromisoformat(value)
        return value
