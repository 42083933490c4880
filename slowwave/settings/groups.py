"""Setting groups of the home: tables, journal, model, notes, server, nightly job."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from slowwave.settings.addresses import PageAddress, is_safe

NAMESPACE = r"^\w[\w\-./]*$"


class Group(BaseModel):
    """Group of settings: frozen, without unknown ones."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class StoreSettings(Group):
    """LanceDB tables: location, vector index, memory and old versions."""

    uri: str = Field(
        "",
        description="LanceDB database: a folder, relative to the home, or an s3:// URI. Empty: `lance` in"
        " the home",
    )
    storage_options: dict[str, str] = Field(
        default_factory=dict, description="Options of the object store, such as endpoint, region and keys"
    )
    ann_min_chunks: int = Field(
        20_000,
        ge=1_000,
        description="Minimum chunks in a namespace before the nightly job builds an IVF index. Smaller "
        "namespaces use exact search",
    )
    vector_index_recall: float = Field(
        0.99,
        ge=0.5,
        le=1.0,
        description="Target recall@10 of the IVF index against exact search. Higher: slower",
    )
    snapshot_mb: float = Field(
        1_024.0,
        ge=0.0,
        description="Memory budget (MB) for all snapshots. Beyond it, and with 0, searches read the "
        "slower table",
    )
    keep_versions_days: float = Field(
        7.0, ge=0.04, description="Days after which the nightly job deletes old versions of a table"
    )


class JournalSettings(Group):
    """The append-only journal of saves, searches and feedback."""

    url: str = Field("", description="SQLAlchemy URL of the journal. Empty: the SQLite file HOME/journal.db")
    durability: Literal["full", "normal"] = Field(
        "full",
        description="full: a committed event survives a power failure; normal: it survives a crash of the"
        " process only, and writes are faster. SQLite only",
    )
    log_searches: bool = Field(
        True,
        description="Write each search and its returned results to the journal. false: no feedback and no"
        " evaluation of searches",
    )


class EmbeddingSettings(Group):
    """The embedding model. It belongs to a store; `slowwave reembed` changes it."""

    model: str = Field(
        "bge-small-en-v1.5",
        min_length=1,
        description="Embedding model: bge-small-en-v1.5, wordllama-256, fastembed:NAME or "
        "lancedb:PROVIDER/NAME",
    )
    threads: int = Field(0, ge=0, le=256, description="CPU threads of the model. 0: one per core")
    batch_size: int = Field(
        1,
        ge=1,
        le=1_024,
        description="Texts per call of the model. Above 1, an int8 model scales the whole batch, so a "
        "text's vector depends on its neighbours",
    )


class EngineSettings(Group):
    """Engine of long work: embedding of many texts, backfills of feedback and evaluation."""

    kind: Literal["local", "ray"] = Field(
        "local",
        description="local: compute in this process; ray: on workers of a Ray cluster (pip install "
        "'.[distributed]')",
    )
    address: str = Field(
        "", description="HOST:PORT of a Ray cluster that this machine belongs to. Empty: start one here"
    )
    workers: int = Field(0, ge=0, le=10_000, description="Workers of a cluster started here. 0: one per CPU")
    texts: int = Field(
        64, ge=1, le=100_000, description="Texts per embedding task, rounded up to whole batches"
    )
    min_texts: int = Field(
        512, ge=1, description="Minimum texts for embedding on workers. Fewer: in this process"
    )
    fallback: bool = Field(
        False, description="If the cluster is unreachable or lost, compute in this process. false: fail"
    )

    @field_validator("address")
    @classmethod
    def _is_a_place(cls, address: str) -> str:
        if not re.fullmatch(r"(|[^\s/:]+:\d{1,5})", address):
            raise ValueError("give HOST:PORT, such as 10.0.0.5:6399, or nothing")
        return address


class ChunkSettings(Group):
    """Splitting of notes into chunks."""

    min_words: int = Field(
        100,
        ge=1,
        le=1_000,
        description="Minimum words of a chunk. From there on it ends at the next boundary of the text",
    )
    max_words: int = Field(
        150, ge=10, le=2_000, description="Maximum words of a chunk. Longer text starts a new chunk"
    )

    @model_validator(mode="after")
    def _ordered(self) -> ChunkSettings:
        if self.min_words > self.max_words:
            raise ValueError(f"chunks.min_words ({self.min_words}) is above max_words ({self.max_words})")
        return self


class NotesSettings(Group):
    """Reading notes from a vault."""

    max_bytes: int = Field(
        2_000_000,
        ge=1_000,
        le=100_000_000,
        description="Maximum bytes of a note. A larger file is quarantined unread",
    )
    max_retired_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Maximum share of a vault's notes that one scan may forget because their files are "
        "gone. Above it the scan forgets none and reports it. `--delete-missing` overrides it",
    )


Rights = Literal["reader", "assistant", "person"]
"""Rights: read only; also the assistant's tools; also everything that people do in the web UI."""


class McpToken(Group):
    """A bearer token of the MCP server: its namespace, user and rights."""

    token_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="SHA-256 of the token in hex. The token itself is not stored"
    )
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(
        description="The one namespace that the token opens"
    )
    principal: str = Field(min_length=1, description="User recorded with every event of the token")
    rights: Rights = Field(
        "assistant",
        description="reader: read only; assistant: all MCP tools; person: also everything that people do "
        "in the web UI",
    )
    name: str = Field("", max_length=100, description="Label in lists of tokens. Empty: the principal")
    expires: datetime | None = Field(
        None, description="Time from which the token is refused (UTC without an offset). Unset: never"
    )

    @field_validator("expires")
    @classmethod
    def _with_an_offset(cls, value: datetime | None) -> datetime | None:
        return value if value is None or value.tzinfo is not None else value.replace(tzinfo=UTC)

    @property
    def label(self) -> str:
        """Label in lists."""
        return self.name or self.principal

    def expired(self, now: datetime) -> bool:
        """Whether the token is no longer accepted."""
        return self.expires is not None and now >= self.expires


class OAuthGrant(Group):
    """Namespace and rights that a claim of an access token opens."""

    claim: str = Field(
        min_length=1,
        description="Name of a claim in the access token. A dot names a nested claim: realm_access.roles",
    )
    value: str = Field(min_length=1, description="Required value of the claim, or a member of its list")
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(
        description="The one namespace that the grant opens"
    )
    rights: Rights = Field("reader", description="Rights in that namespace: reader, assistant or person")


Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
]  # fmt: skip
"""Signature algorithms with a public key; with a shared secret, a verifier could forge tokens."""


class OAuthSettings(Group):
    """Access tokens of an OpenID provider (OAuth 2.1, as a resource server)."""

    issuer: str = Field(
        "", description="URL of the OpenID provider, equal to `iss` of its tokens. Empty: OAuth is off"
    )
    resource: str = Field("", description="URL of this server for clients: https://HOST/mcp")
    audience: str = Field("", description="Required `aud` of a token. Empty: `resource`")
    jwks_url: str = Field("", description="URL of the provider's public keys. Empty: taken from its metadata")
    algorithms: tuple[Algorithm, ...] = Field(
        ("RS256", "ES256"), min_length=1, description="Accepted signature algorithms"
    )
    leeway_seconds: float = Field(
        30.0, ge=0, le=300, description="Accepted clock difference to the provider in seconds"
    )
    principal: str = Field(
        "sub",
        min_length=1,
        description="Claim that identifies the user. The provider must never reassign its value to "
        "someone else",
    )
    scopes: bool = Field(
        True,
        description="Require the scope memory:read or memory:write in a token. false: the provider does "
        "not know them",
    )
    grants: tuple[OAuthGrant, ...] = Field(
        (), description="Which claims open which namespace. The first grant whose claim matches decides"
    )

    @field_validator("issuer", "resource", "jwks_url")
    @classmethod
    def _is_safe(cls, value: str) -> str:
        if value and not is_safe(value):
            raise ValueError("it must be an https:// address (http:// for this machine only)")
        if value and ("#" in value or urlsplit(value).username is not None):
            raise ValueError("the address must not have a fragment or a user name")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.issuer and not self.resource:  # no grants is valid: then nobody has access
            raise ValueError("mcp.oauth has an issuer but no resource. Set mcp.oauth.resource")
        if not self.issuer and (self.resource or self.grants or self.audience or self.jwks_url):
            raise ValueError("mcp.oauth has no issuer. Set mcp.oauth.issuer")
        return self


class McpSettings(Group):
    """The MCP server over HTTP."""

    tokens: tuple[McpToken, ...] = Field((), description="Bearer tokens. `slowwave mcp token` creates one")
    oauth: OAuthSettings = OAuthSettings()
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Host names that clients may use, besides the loopback ones"
    )
    max_request_bytes: int = Field(
        1_000_000,
        ge=10_000,
        le=100_000_000,
        description="Maximum bytes of a request. A larger one gets status 413",
    )
    max_concurrent_requests: int = Field(
        16, ge=1, le=1_000, description="Maximum running and waiting requests per token. More get status 429"
    )
    request_timeout_seconds: float = Field(
        20.0, gt=0, le=3_600, description="Maximum seconds for a request to arrive completely"
    )
    work_seconds: float = Field(
        60.0, gt=0, le=3_600, description="Maximum seconds of work per network call, then it is cancelled"
    )
    max_pending_connections: int = Field(
        64, ge=1, le=10_000, description="Maximum connections whose request has not arrived completely"
    )

    @model_validator(mode="after")
    def _distinct(self) -> McpSettings:
        if len({token.token_sha256 for token in self.tokens}) < len(self.tokens):
            raise ValueError("two of mcp.tokens are the same token; it can open one namespace only")
        return self


class PageSettings(Group):
    """The web UI of the memory."""

    https: bool = Field(
        False,
        description="Users reach the web UI over TLS, behind a proxy. Its cookie is then sent over TLS only",
    )
    session_hours: float = Field(
        12.0, gt=0, le=720, description="Hours without a request after which a user must sign in again"
    )
    url: PageAddress = Field(
        "", description="URL of the web UI in a browser, for links from the Dagster UI. Empty: no links"
    )


class TelemetrySettings(Group):
    """Logs and metrics. Traces and metrics over OTLP have the standard variables (OTEL_…)."""

    logs: Literal["plain", "json"] = Field(
        "plain",
        description="Format of log lines. json also writes one line for each search, save, feedback event"
        " and asset",
    )
    metrics_port: int = Field(0, ge=0, le=65_535, description="Port of /metrics for Prometheus. 0: none")
    metrics_host: str = Field(
        "127.0.0.1", min_length=1, description="Address that /metrics listens on. The endpoint needs no token"
    )


class AlertSettings(Group):
    """Alerts on failures and regressions."""

    webhook: str = Field(
        "", description="URL that gets a JSON message when a run fails or learning is rolled back"
    )


class BackupSettings(Group):
    """Backups of the home: location, encryption and retention. Without `uri` none is made."""

    uri: str = Field(
        "",
        description="Where backups are stored: a folder, relative to the home, or an s3:// URI. Empty: no"
        " backups",
    )
    storage_options: dict[str, str] = Field(
        default_factory=dict,
        description="Options of the object store of the backups. Empty: `store.storage_options`",
    )
    key_file: str = Field(
        "", description="File with the encryption key of the backups. Empty: backups are not encrypted"
    )
    keep: int = Field(0, ge=0, le=100_000, description="Number of newest backups to keep. 0: all")
    forget_erased: bool = Field(
        False,
        description="After an erasure, the next backup deletes all earlier ones, which still have the text",
    )
    hour: int = Field(4, ge=0, le=23, description="Hour (UTC) of the scheduled backup")
    stale_days: float = Field(
        2.0, gt=0, le=3_650, description="Days without a backup after which doctor and the asset check warn"
    )


class NightSettings(Group):
    """The nightly job."""

    first_day: str = Field(
        "2024-01-01",
        pattern=r"^\d{4}-\d{2}-\d{2}$",
        description="First day (UTC) that can have a partition, from the first event on",
    )
    hour: int = Field(
        2, ge=0, le=23, description="Hour (UTC) at which the schedule processes the previous day"
    )
    vault_poll_seconds: int = Field(
        60, ge=30, le=86_400, description="Seconds between two checks of the vaults by the sensor"
    )
    owner: str = Field(
        "team:operators",
        pattern=r"^(team:[A-Za-z0-9_.-]+|[^@\s]+@[^@\s]+\.[^@\s]+)$",
        description="Owner of the assets in the Dagster UI: a mail address, or team:NAME",
    )

    ui_url: PageAddress = Field(
        "", description="URL of the Dagster UI in a browser, for links from the web UI. Empty: no links"
    )
    dagster_url: str = Field(
        "",
        description="PostgreSQL URL for Dagster's runs and schedules (postgresql://...). Empty: SQLite "
        "files in HOME/dagster",
    )

    @field_validator("first_day")
    @classmethod
    def _is_a_day(cls, value: str) -> str:
        date.fromisoformat(value)
        return value
