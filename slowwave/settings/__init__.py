"""Every setting of Slowwave, in one tree: its default, its allowed range, its unit.

Values come from, strongest first: arguments, environment variables (``SLOWWAVE_EMBEDDING__MODEL=...``),
``slowwave.toml`` in the home folder, the defaults below. ``slowwave settings`` prints which one won.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import SettingsError as UnreadableVariableError

from slowwave.common.arguments import shown
from slowwave.errors import SettingsError
from slowwave.scoring.promised import require_rising
from slowwave.settings.finding import ENV_PREFIX, HOME_FOLDER, find_home

CONFIG_FILE = "slowwave.toml"
NAMESPACE = r"^\w[\w\-./]*$"
_SECRET = re.compile(r"secret|password|token|key", re.IGNORECASE)
_PASSWORD = re.compile(r"(://[^:/@]*:).*@")
COVERED = "***"
_DEEPEST = 8  # levels of a value that are shown (count); no setting has so many
_NO_SETTINGS = frozenset({f"{ENV_PREFIX}DEBUG"})  # variables that are read, and are no settings


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class StoreSettings(_Group):
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
    keep_versions_days: float = Field(
        7.0, ge=0.04, description="Days that old versions of the tables that nights write are kept"
    )


class JournalSettings(_Group):
    """The append-only journal of saves, searches and feedback."""

    url: str = Field("", description="SQLAlchemy URL; empty: SQLite file HOME/journal.db")
    durability: Literal["full", "normal"] = Field(
        "full", description="full: survives power loss; normal: survives a process crash (SQLite only)"
    )
    log_searches: bool = Field(True, description="Write every search and what it showed to the journal")


class EmbeddingSettings(_Group):
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


class ChunkSettings(_Group):
    """How a note is cut into retrievable pieces."""

    min_words: int = Field(100, ge=1, le=1_000, description="Words from which a chunk may end")
    max_words: int = Field(150, ge=10, le=2_000, description="Words after which a chunk must end")

    @model_validator(mode="after")
    def _ordered(self) -> ChunkSettings:
        if self.min_words > self.max_words:
            raise ValueError(f"chunks.min_words ({self.min_words}) is above max_words ({self.max_words})")
        return self


class NotesSettings(_Group):
    """Reading notes from a vault."""

    max_bytes: int = Field(
        2_000_000, ge=1_000, le=100_000_000, description="Bytes above which a note is quarantined unread"
    )
    max_retired_share: float = Field(
        0.5, gt=0, le=1, description="Share of a vault's notes that one scan may retire without being asked"
    )


class GateSettings(_Group):
    """The save gate (rule 1)."""

    mode: Literal["off", "warn", "enforce"] = Field(
        "warn",
        description="off: everything readable enters; warn: for `warn_days` the gate only records what it "
        "would refuse, then it enforces; enforce: at once",
    )
    warn_days: float = Field(
        14.0, ge=0, le=36_500, description="Days from its first use in which a gate of mode warn only warns"
    )
    score: Literal["applicable", "seeds"] = Field(
        "applicable",
        description="applicable: a text has to state something and only what applies to a note is scored; "
        "seeds: 50 characters, and six weighted parts of which each counts for every note",
    )
    min_characters: int | None = Field(
        None,
        ge=0,
        description="Characters of content below which a note is refused; unset: 50 for `seeds`, else any "
        "length",
    )
    min_quality: float = Field(
        0.40, ge=0, le=1, description="Content score (L2, 0 to 1) below which a note is refused"
    )
    echo_hours: float = Field(
        24.0, ge=0, le=8_760, description="Hours in which repeating what a search showed is an echo; 0: never"
    )


class ReconsolidationSettings(_Group):
    """What becomes of notes that say again, or say otherwise, what is known (rule 2)."""

    policy: Literal["off", "guarded", "literal"] = Field(
        "off",
        description="off: stored as they are; guarded: merged only if nothing differs, superseded only on "
        "the same subject; literal: by similarity alone",
    )
    neighbours: int = Field(3, ge=1, le=20, description="Most similar memories that are looked at (count)")
    duplicate: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Cosine above which a note is a duplicate; unset: the model's own",
    )
    merge: float | None = Field(
        None, ge=-1, le=1, description="Cosine from which notes are merged; unset: the model's own"
    )
    conflict: float | None = Field(
        None, ge=-1, le=1, description="Cosine from which notes may conflict; unset: the model's own"
    )

    @model_validator(mode="after")
    def _ordered(self) -> ReconsolidationSettings:
        require_rising(conflict=self.conflict, merge=self.merge, duplicate=self.duplicate)
        return self


class RankingSettings(_Group):
    """Candidates and ranking of one search (rule 3). What is unset is the policy file's, else the default."""

    candidates: int = Field(100, ge=1, le=10_000, description="Chunks fetched per channel (count)")
    policy_file: Path | None = Field(
        None,
        description="A policy that `slowwave tune` wrote, relative to the home; what it leaves out, and "
        "all where this is unset: the defaults and the model's own",
    )
    fusion: Literal["convex", "rrf"] | None = Field(
        None, description="How channel scores become one score; unset: convex"
    )
    vector_weight: float | None = Field(
        None, ge=0, le=1, description="Weight of the vector channel; unset: the embedding model's own"
    )
    rrf_k: int | None = Field(
        None, ge=1, le=1_000, description="Constant of reciprocal rank fusion; unset: 10"
    )
    mpab: bool | None = Field(
        None, description="Whether the other chunks of a memory add to its best one; unset: they do"
    )
    negative_feedback: bool | None = Field(
        None, description="Whether not-useful votes lower a score; unset: they do"
    )
    sparse_recall: bool | None = Field(
        None, description="Whether a short memory that is very near is given a place; unset: it is"
    )
    abstention_floor: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Signal below which a search shows nothing; 0: never; unset: the embedding model's own",
    )
    rerank_weight: float | None = Field(
        None, ge=0, le=1, description="Share of the cross-encoder in a score; unset: 0, which is off"
    )
    rerank_top: int | None = Field(
        None, ge=0, le=1_000, description="Best memories that the cross-encoder reads (count); unset: 20"
    )
    cosine_floor: float | None = Field(
        None, ge=-1, le=0.999, description="Cosine that counts as 0; unset: the embedding model's own"
    )
    title_weight: float | None = Field(
        None, ge=0, le=1, description="What a title adds that has all words of the query; unset: 0.1"
    )
    trigger_weight: float | None = Field(
        None, ge=0, le=1, description="What a trigger phrase adds that the query says whole; unset: 0.2"
    )
    neighbour_weight: float | None = Field(
        None, ge=0, le=1, description="Share that a memory gets of those before and after it; unset: 0.2"
    )
    mpab_coefficient: float | None = Field(
        None, ge=0, le=1, description="Coefficient of what the other chunks add; unset: 0.02"
    )
    mpab_cap: float | None = Field(
        None, ge=0, description="Most that the other chunks add; inf as in the seeds; unset: 0.005"
    )
    effectiveness_weight: float | None = Field(
        None, ge=0, le=0.3, description="Share of effectiveness in a score; unset: 0.3"
    )
    effectiveness_from: int | None = Field(
        None, ge=3, le=1_000_000, description="Data points from which effectiveness counts (count); unset: 3"
    )
    highly_effective: float | None = Field(
        None, ge=0, le=1, description="Effectiveness from which a result is flagged; unset: 0.8"
    )
    learned_cap: float | None = Field(
        None, ge=0, le=0.15, description="Most that learned triggers add to a score; unset: 0.15"
    )
    confidence_point: float | None = Field(
        None, ge=0, le=0.1, description="What one point of confidence adds to a score; unset: 0.01"
    )
    negative_step: float | None = Field(
        None, ge=0, le=0.1, description="Share of a score that a fresh not-useful vote takes; unset: 0.1"
    )
    negative_floor: float | None = Field(
        None, ge=0.3, le=1, description="Share that not-useful votes leave at least; unset: 0.3"
    )
    negative_half_life_days: float | None = Field(
        None, ge=0.001, le=100_000, description="Days after which a not-useful vote counts half; unset: 30"
    )
    sparse_chunks: int | None = Field(
        None, ge=0, le=1_000, description="Most chunks of a short memory (count); unset: 2"
    )
    sparse_top: int | None = Field(
        None,
        ge=0,
        le=100_000,
        description="Nearest chunks that are looked at for short memories, at least (count); unset: 20",
    )
    sparse_distance: float | None = Field(
        None,
        ge=0,
        le=2,
        description="Cosine distance up to which a short memory is very near; unset: the model's own",
    )
    sparse_keeps: int | None = Field(
        None, ge=3, le=1_000, description="First places that none takes for being short (count); unset: 5"
    )
    soft_from: float | None = Field(
        None, ge=0.5, le=1, description="Score from which one is squeezed toward 1; 1 cuts; unset: 0.9"
    )


class McpToken(_Group):
    """A bearer token of the MCP server: what it opens, and in whose name."""

    token_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="SHA-256 of the token in hex; the token itself is kept nowhere"
    )
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(description="The one namespace that it opens")
    principal: str = Field(min_length=1, description="Who acts with it, recorded with every act")


class McpSettings(_Group):
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


class FeedbackSettings(_Group):
    """What use teaches (rule 4)."""

    used_ratio: float = Field(
        0.30, ge=0, le=1, description="Share of a memory's words in an answer above which it was used"
    )
    half_life_days: float = Field(90.0, gt=0, description="Days after which a vote counts half")
    prior_weight: float = Field(2.0, ge=1, description="Votes that the neutral beginning is worth")
    implicit_weight: float = Field(
        0.25, ge=0, le=1, description="Votes that one used or ignored result is worth"
    )
    implicit_cap: float = Field(
        1.0, ge=0, le=1, description="Votes that all implicit evidence on a memory is worth, at most"
    )
    principal_votes: int = Field(
        5, ge=1, le=100, description="Votes of one principal on one memory that count, the newest (count)"
    )
    verdicts_per_day: int = Field(
        5, ge=1, description="Verdicts of one principal on a memory and day that move its strength (count)"
    )
    important_at: int = Field(
        5, ge=1, description="Useful votes from which a normal memory becomes important (count)"
    )
    critical_at: int = Field(
        10, ge=1, description="Useful votes from which an important memory becomes critical (count)"
    )
    promotions: int = Field(
        3, ge=0, le=3, description="Promotions that a namespace may have in `promotion_hours` (count)"
    )
    promotion_hours: float = Field(8.0, ge=8, description="Hours that this limit is about")

    @model_validator(mode="after")
    def _ordered(self) -> FeedbackSettings:
        require_rising(important_at=self.important_at, critical_at=self.critical_at)
        return self


class EvaluationSettings(_Group):
    """How good the memory is (rule 6)."""

    shadow: bool = Field(
        True, description="Try other rankings on what searches considered; off: only what was shown counts"
    )
    shadow_policies: dict[str, Path] = Field(
        default_factory=dict,
        description="Your own among them: name = file that `slowwave tune` wrote, relative to the home",
    )
    ablations: bool = Field(
        True, description="Also try the ranking in force without each channel and stage, and baselines"
    )
    margin: float = Field(
        0.02, ge=0, le=1, description="Difference of a metric (0 to 1) that does not matter"
    )
    cycle_searches: int = Field(
        100, ge=100, description="Distinct queries with a relevant judgment that a cycle needs (count)"
    )
    cycle_days: int = Field(14, ge=14, description="Days that a cycle takes at least")
    interleave: Path | None = Field(
        None,
        description="A policy whose results searches show in turn with those of the one in force; a file, "
        "relative to the home",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_it_was_called(cls, given: Any) -> Any:  # noqa: ANN401 - not validated yet
        """`shadow` was the mapping of one's own policies, before it was the switch."""
        if isinstance(given, dict) and isinstance(given.get("shadow"), dict):
            both = {**given["shadow"], **given.get("shadow_policies", {})}
            return {**given, "shadow": True, "shadow_policies": both}
        return given


class JudgeSettings(_Group):
    """Who grades results, beside people and use (rule 6.2)."""

    kind: Literal["off", "default", "openai"] = Field(
        "default",
        description="off; default: words and the bundled cross-encoder; openai: a model behind base_url",
    )
    pairs: int = Field(
        25, ge=0, le=100_000, description="Pairs of query and memory that are judged of a day and namespace"
    )
    anchors: int = Field(
        20, ge=0, le=1_000, description="Pairs that are judged again in every cycle, to see the judge drift"
    )
    model: str = Field("", description="Of kind openai: the model's name")
    base_url: str = Field(
        "", description="Of kind openai: address of the API; empty: the client's own default"
    )
    credential_variable: str = Field(
        "OPENAI_API_KEY", description="Environment variable that holds the key of the API"
    )
    timeout_seconds: float = Field(60.0, gt=0, le=3_600, description="Seconds that one answer may take")
    retries: int = Field(3, ge=0, le=20, description="Times that a failed request is sent again")
    budget: int = Field(
        500_000, ge=0, description="Tokens, read and written, that one run may use; then it stops (count)"
    )
    agreement: float = Field(
        0.80, ge=0.80, le=1, description="Agreement with labels by hand from which a judge's grades count"
    )


class LearningSettings(_Group):
    """What selections teach (rule 5), and the gate before it (rule 6.7)."""

    enabled: bool = Field(
        False, description="Propose what could be learned; applied is nothing before the gate is open"
    )
    excluded_ranks: int = Field(3, ge=3, description="Best ranks of which a selection teaches nothing")
    events: int = Field(3, ge=0, le=3, description="Learning events of a memory in `window_hours` (count)")
    window_hours: float = Field(8.0, ge=8, description="Hours that this limit is about")
    coefficient: float = Field(
        0.7, ge=0, le=0.7, description="Share of `ranking.learned_cap` that a full match is worth"
    )
    terms_per_selection: int = Field(3, ge=1, le=3, description="Terms that one selection teaches (count)")
    terms_per_memory: int = Field(8, ge=1, le=8, description="Learned terms of a memory (count)")
    ttl_days: float = Field(30.0, gt=0, le=30, description="Days until a term has faded to nothing")
    eligible_hours: float = Field(72.0, ge=72, description="Age from which a memory may learn (hours)")
    least_queries: int = Field(
        2, ge=2, description="Distinct questions that must have taught a term before it counts (count)"
    )
    least_principals: int = Field(
        1, ge=1, description="Distinct people who must have; 2 or more where people do not trust each other"
    )
    frequent_share: float = Field(
        0.1, gt=0, le=0.1, description="Share of the memories that have a word, above which it is no term"
    )
    frequent_from: int = Field(
        5, ge=1, le=5, description="Memories that must have a word before that share counts (count)"
    )
    preference: Literal["question", "rare"] = Field(
        "rare", description="Which words of a question are taught first: in its order, or rare ones"
    )
    known_first: bool = Field(
        True, description="Whether words that the memory is already learning come before new ones"
    )
    cycles: int = Field(2, ge=2, description="Closed cycles before the gate opens (count)")
    cycle_queries: int = Field(200, ge=200, description="Distinct evaluated queries of these (count)")
    cycle_days: int = Field(28, ge=28, description="Days of these cycles")
    shadow_days: float = Field(7.0, ge=7, description="Days of proposals before any is applied")
    noise: float = Field(0.05, gt=0, le=0.05, description="Share of noisy terms that closes the gate")
    noise_terms: int = Field(
        5, ge=5, description="Terms with a verdict below which the share says nothing (count)"
    )
    loss: float = Field(0.02, ge=0, le=0.02, description="Relative loss of MRR@5 that closes the gate")
    quality_queries: int = Field(
        20, ge=20, description="Queries below which the would-be effect says nothing (count)"
    )
    interleave: float = Field(
        0.25, ge=0, le=1,
        description="Share of the searches that learning changes which show both rankings in turn",
    )  # fmt: skip


class AlertSettings(_Group):
    """Who is told that something went wrong."""

    webhook: str = Field(
        "",
        description="URL that gets a JSON message when a run fails or learning is rolled back; empty: none",
    )


class NightSettings(_Group):
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

    @field_validator("first_day")
    @classmethod
    def _is_a_day(cls, value: str) -> str:
        date.fromisoformat(value)
        return value


class Settings(BaseSettings):
    """The whole tree. Frozen: a changed setting is a new object."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, validate_default=True
    )

    home: Path = Field(Path(HOME_FOLDER), description="Folder of the store, the journal and the web page")
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(
        "default", description="Namespace (tenant) that the command line uses when none is given"
    )
    store: StoreSettings = StoreSettings()
    journal: JournalSettings = JournalSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    chunks: ChunkSettings = ChunkSettings()
    notes: NotesSettings = NotesSettings()
    gate: GateSettings = GateSettings()
    reconsolidation: ReconsolidationSettings = ReconsolidationSettings()
    ranking: RankingSettings = RankingSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    judge: JudgeSettings = JudgeSettings()
    learning: LearningSettings = LearningSettings()
    alerts: AlertSettings = AlertSettings()
    night: NightSettings = NightSettings()
    mcp: McpSettings = McpSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then environment, then the TOML file of the home folder."""
        home = Path(init_settings().get("home", HOME_FOLDER))
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, home / CONFIG_FILE)

    @property
    def store_uri(self) -> str:
        """URI of the LanceDB database."""
        if "://" in self.store.uri:
            return self.store.uri
        return str(self.in_home(Path(self.store.uri or "lance")))

    def in_home(self, path: Path) -> Path:
        """A path that a setting names: a relative one is relative to the home."""
        return self.home / path.expanduser()

    @property
    def journal_file(self) -> Path:
        """The journal's SQLite file, in use when ``journal.url`` is empty."""
        return self.home / "journal.db"


def load(home: Path | str | None = None, **overrides: Any) -> Settings:  # noqa: ANN401 - any setting
    """Settings in force for `home` (found with :func:`find_home` when not given).

    Raises:
        SettingsError: a value is not allowed; the message names it and the allowed range.
    """
    import tomllib

    where = Path(home).expanduser().resolve() if home is not None else find_home()
    _refuse_unknown_variables()
    try:
        return Settings(home=where, **overrides)
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None
    except UnreadableVariableError as error:
        raise SettingsError(f"{error}: a list or mapping in a variable has to be JSON.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{where / CONFIG_FILE} is not valid TOML: {error}. Mend that line.") from None
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{where / CONFIG_FILE} is not UTF-8 (byte {error.start}). Save it again in that encoding."
        ) from None


def _refuse_unknown_variables() -> None:
    """A misspelt variable would be left out without a word."""
    known = {_variable((name,)) for name in Settings.model_fields}
    for name in os.environ:
        upper = name.upper()
        if not upper.startswith(ENV_PREFIX) or upper.startswith(f"{ENV_PREFIX}TEST_"):
            continue
        if upper not in _NO_SETTINGS and upper.split("__")[0] not in known:
            raise SettingsError(_no_setting(name, known, upper.split("__")[0]))


def _no_setting(name: str, known: Iterable[str], wrong: str = "") -> str:
    """That there is no such setting, and which one is meant."""
    near = get_close_matches(wrong or name, sorted(known), n=1, cutoff=0.5)
    meant = f" Did you mean {near[0]}{name[len(wrong) :] if wrong else ''}?" if near else ""
    return f"{name} is not a setting.{meant} `slowwave settings` lists all of them."


def _names(model: type[BaseModel] | None = None, path: tuple[str, ...] = ()) -> list[str]:
    """Names of all settings and groups."""
    found = []
    for name, field in (model or Settings).model_fields.items():
        found.append(".".join((*path, name)))
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, _Group):
            found += _names(kind, (*path, name))
    return found


def require_home(settings: Settings) -> Settings:
    """The settings, if their home is there.

    Raises:
        SettingsError: it is not; says how to make one.
    """
    if not settings.home.is_dir():
        raise SettingsError(
            f"There is no home at {settings.home}. `slowwave ingest FOLDER` or `slowwave init` makes one; "
            f"`slowwave --home FOLDER` names another."
        )
    return settings


def _explain(error: ValidationError) -> str:
    lines = []
    for fault in error.errors():
        name = ".".join(str(part) for part in fault["loc"]) or "settings"
        if fault["type"] == "extra_forbidden":
            lines.append(_no_setting(name, _names()))
        else:
            named = next((part for part in reversed(fault["loc"]) if isinstance(part, str)), "")
            given = COVERED if _SECRET.search(named) else shown(_covered(fault["input"]))
            lines.append(f"{name} = {given}: {fault['msg']}.")
    return "\n".join(lines)


def _covered(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any setting
    """A value as plain data with its secrets covered, fit for a screen."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {
            key: COVERED if _SECRET.search(str(key)) else _covered(part, depth + 1)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_covered(part, depth + 1) for part in value]
    return _PASSWORD.sub(r"\1***@", value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class InForce:
    """One setting as it is in force."""

    name: str
    value: Any
    origin: str
    description: str

    @property
    def shown(self) -> Any:  # noqa: ANN401 - any setting
        """The value with its secrets covered, fit for a screen."""
        return _covered(self.value)


def _variable(path: tuple[str, ...]) -> str:
    return ENV_PREFIX + "__".join(path).upper()


def _same(value: object, given: object) -> bool:
    """Whether a value is what was given, as text, number, list or mapping."""
    if isinstance(value, dict | tuple):
        return True
    if isinstance(value, bool):
        return str(given).lower() in {str(value).lower(), str(int(value))}
    if isinstance(value, Path):
        path = Path(str(given))
        return value in (path, path.expanduser().resolve())
    if isinstance(value, int | float):
        return float(value) == float(str(given))
    return str(value) == str(given)


def in_force(settings: Settings) -> list[InForce]:
    """Each setting with its value, where the value comes from, and what it means."""
    toml = TomlConfigSettingsSource(Settings, settings.home / CONFIG_FILE)()
    rows: list[InForce] = []

    def origin(path: tuple[str, ...], value: object, default: object) -> str:
        variable = _variable(path)
        node: Any = toml
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        given = {name.upper(): text for name, text in os.environ.items()}.get(variable)
        if given is not None and _same(value, given):
            return variable
        if node is not None and _same(value, node):
            return CONFIG_FILE
        return "default" if value == default else "argument"

    def walk(model: BaseModel, path: tuple[str, ...]) -> None:
        for name, field in type(model).model_fields.items():
            value = getattr(model, name)
            if isinstance(value, _Group):
                walk(value, (*path, name))
                continue
            default = field.get_default(call_default_factory=True, validated_data={})
            here = (*path, name)
            rows.append(InForce(".".join(here), value, origin(here, value, default), field.description or ""))

    walk(settings, ())
    return rows
