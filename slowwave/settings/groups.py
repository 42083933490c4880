"""Settings of what a home is made of: tables, journal, model, notes, the server, the night."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

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
        20_000,
        ge=1_000,
        description="Chunks from which the night parts the vectors of a namespace's snapshot file, and gives "
        "a table in which a namespace is searched (beyond store.snapshot_mb) a vector index; below: exact "
        "search",
    )
    vector_index_recall: float = Field(
        0.99,
        ge=0.5,
        le=1.0,
        description="Share of the ten nearest that has to be found (recall@10 against exact search): a "
        "search visits as many partitions as that takes",
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

    @field_validator("address")
    @classmethod
    def _is_a_place(cls, address: str) -> str:
        if not re.fullmatch(r"(|[^\s/:]+:\d{1,5})", address):
            raise ValueError("give HOST:PORT, such as 10.0.0.5:6399, or nothing")
        return address


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


Rights = Literal["reader", "assistant", "person"]
"""What somebody may do: look; also what an assistant's tools do; on the memory's page all that people do."""


class McpToken(Group):
    """A bearer token of the MCP server: what it opens, and in whose name."""

    token_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="SHA-256 of the token in hex; the token itself is kept nowhere"
    )
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(description="The one namespace that it opens")
    principal: str = Field(min_length=1, description="Who acts with it, recorded with every act")
    rights: Rights = Field(
        "assistant",
        description="reader: looks and changes nothing; assistant: what tools can do; person: on the "
        "memory's page also all that people do",
    )
    name: str = Field(
        "", max_length=100, description="What it is called where tokens are listed; empty: principal"
    )
    expires: datetime | None = Field(
        None, description="Moment from which it is refused (without an offset: UTC); none: it does not expire"
    )

    @field_validator("expires")
    @classmethod
    def _with_an_offset(cls, value: datetime | None) -> datetime | None:
        return value if value is None or value.tzinfo is not None else value.replace(tzinfo=UTC)

    @property
    def label(self) -> str:
        """What it is called."""
        return self.name or self.principal

    def expired(self, now: datetime) -> bool:
        """Whether it opens nothing any more."""
        return self.expires is not None and now >= self.expires


class OAuthGrant(Group):
    """What a claim of an access token opens."""

    claim: str = Field(
        min_length=1,
        description="Name of the claim; with dots, a claim inside another one: realm_access.roles",
    )
    value: str = Field(min_length=1, description="What it has to be, or to have in its list")
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(
        description="The one namespace that is opened"
    )
    rights: Rights = Field("reader", description="What may be done there: reader, assistant or person")


Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
]  # fmt: skip
"""Ways to sign that have a public key; with a shared secret whoever checks a token could make one."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def is_safe(url: str) -> bool:
    """Whether what comes from an address is from there: over TLS, or from this machine."""
    parts = urlsplit(url)
    near = parts.scheme == "http" and parts.hostname in _LOOPBACK
    return bool(parts.hostname) and (parts.scheme == "https" or near)


class OAuthSettings(Group):
    """Access tokens of an OpenID provider (OAuth 2.1, as a resource server)."""

    issuer: str = Field(
        "", description="URL of the provider, as its tokens say it (iss); empty: none is asked"
    )
    resource: str = Field("", description="URL by which clients reach this server: https://HOST/mcp")
    audience: str = Field("", description="What tokens for it have to say (aud); empty: the resource")
    jwks_url: str = Field("", description="Where the provider's keys are; empty: its metadata says so")
    algorithms: tuple[Algorithm, ...] = Field(
        ("RS256", "ES256"), min_length=1, description="Signatures that are taken"
    )
    leeway_seconds: float = Field(
        30.0, ge=0, le=300, description="Seconds that clocks of the provider and of this machine may differ"
    )
    principal: str = Field(
        "sub", min_length=1, description="Claim that says who acts; the provider has to keep it to one person"
    )
    scopes: bool = Field(
        True,
        description="The provider knows memory:read and memory:write, and a token has to have one of them",
    )
    grants: tuple[OAuthGrant, ...] = Field(
        (), description="What opens which namespace; the first whose claim is there decides"
    )

    @field_validator("issuer", "resource", "jwks_url")
    @classmethod
    def _is_safe(cls, value: str) -> str:
        if value and not is_safe(value):
            raise ValueError("it has to be an https:// address (http:// for this machine alone)")
        if value and ("#" in value or urlsplit(value).username is not None):
            raise ValueError("an address with a fragment, or with a name in it, is not taken")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.issuer and not self.resource:  # without grants nobody comes in: the last one may be taken out
            raise ValueError("mcp.oauth needs resource with its issuer: what is opened?")
        if not self.issuer and (self.resource or self.grants or self.audience or self.jwks_url):
            raise ValueError("mcp.oauth has no issuer: whose tokens are to be taken?")
        return self


class McpSettings(Group):
    """The MCP server over HTTP."""

    tokens: tuple[McpToken, ...] = Field((), description="Bearer tokens; `slowwave mcp token` makes one")
    oauth: OAuthSettings = OAuthSettings()
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
    work_seconds: float = Field(
        60.0, gt=0, le=3_600, description="Seconds after which the work of a call over a network is ended"
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


class TelemetrySettings(Group):
    """What those see who watch; traces and metrics over OTLP have the standard variables (OTEL_…)."""

    logs: Literal["plain", "json"] = Field(
        "plain", description="json: log lines are JSON, with a line for each search, save, feedback and asset"
    )
    metrics_port: int = Field(
        0, ge=0, le=65_535, description="Port of the servers' metrics for Prometheus (/metrics); 0: none"
    )
    metrics_host: str = Field(
        "127.0.0.1", min_length=1, description="Address that /metrics listens on; it asks for no token"
    )


class AlertSettings(Group):
    """Who is told that something went wrong."""

    webhook: str = Field(
        "",
        description="URL that gets a JSON message when a run fails or learning is rolled back; empty: none",
    )


class BackupSettings(Group):
    """Where backups of the home go, and how long they stay; without a place none is made by itself."""

    uri: str = Field("", description="Folder (relative to the home) or s3:// URI of the backups; empty: none")
    storage_options: dict[str, str] = Field(
        default_factory=dict,
        description="Options of their object store; empty: those of the tables (store.storage_options)",
    )
    key_file: str = Field(
        "", description="File with the key that encrypts them; empty: they are not encrypted"
    )
    keep: int = Field(0, ge=0, le=100_000, description="How many of the newest stay (count); 0: all of them")
    forget_erased: bool = Field(
        False,
        description="After an erasure, take away the backups that were made before it with the next one",
    )
    hour: int = Field(4, ge=0, le=23, description="Hour (UTC) at which the schedule makes one")
    stale_days: float = Field(
        2.0, gt=0, le=3_650, description="Days without a backup after which doctor and the check say so"
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

    dagster_url: str = Field(
        "",
        description="Address of a PostgreSQL database for Dagster's runs and schedules (postgresql://...); "
        "empty: SQLite files in HOME/dagster",
    )

    @field_validator("first_day")
    @classmethod
    def _is_a_day(cls, value: str) -> str:
        date.fromisoformat(value)
        return value
