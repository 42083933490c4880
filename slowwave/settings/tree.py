"""Root of the settings tree."""

from __future__ import annotations

import os
import re
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from slowwave.common.home_discovery import ENV_PREFIX, HOME_FOLDER
from slowwave.settings.deprecated import ARGUMENTS, ENVIRONMENT, with_current_names
from slowwave.settings.groups import (
    NAMESPACE,
    AlertSettings,
    BackupSettings,
    ChunkSettings,
    EmbeddingSettings,
    EngineSettings,
    JournalSettings,
    McpSettings,
    NightSettings,
    NotesSettings,
    PageSettings,
    StoreSettings,
    TelemetrySettings,
)
from slowwave.settings.rules import (
    EvaluationSettings,
    FeedbackSettings,
    GateSettings,
    JudgeSettings,
    LearningSettings,
    RankingSettings,
    ReconsolidationSettings,
    SearchKeySettings,
)

CONFIG_FILE = "slowwave.toml"
SECRET = re.compile(r"secret|password|token|key(?!s(?![a-z])|_weight)", re.IGNORECASE)
"""Pattern of settings whose values are masked; it spares those of search keys."""
COVERED = "***"
MAX_ENVIRONMENTS: Final = 16
"""Maximum sets of variables whose settings are kept (count)."""


class Settings(BaseSettings):
    """Root of the settings. Frozen: a changed setting is a new object."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, validate_default=True
    )

    home: Path = Field(
        Path(HOME_FOLDER), description="Data directory: settings, journal, tables and files of the web UI"
    )
    namespace: Annotated[str, Field(pattern=NAMESPACE)] = Field(
        "default", description="Namespace (tenant) of a command that names none"
    )
    store: StoreSettings = StoreSettings()
    journal: JournalSettings = JournalSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    engine: EngineSettings = EngineSettings()
    chunks: ChunkSettings = ChunkSettings()
    notes: NotesSettings = NotesSettings()
    gate: GateSettings = GateSettings()
    reconsolidation: ReconsolidationSettings = ReconsolidationSettings()
    ranking: RankingSettings = RankingSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    judge: JudgeSettings = JudgeSettings()
    learning: LearningSettings = LearningSettings()
    search_keys: SearchKeySettings = SearchKeySettings()
    alerts: AlertSettings = AlertSettings()
    night: NightSettings = NightSettings()
    backup: BackupSettings = BackupSettings()
    mcp: McpSettings = McpSettings()
    page: PageSettings = PageSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources by priority: arguments, environment, the TOML file of the home."""
        file = Path(init_settings().get("home", HOME_FOLDER)) / CONFIG_FILE
        sources = (
            (ARGUMENTS, init_settings),
            (ENVIRONMENT, partial(_of_environment, env_settings)),
            (str(file), TomlConfigSettingsSource(settings_cls, file)),
        )
        return tuple(
            InitSettingsSource(settings_cls, with_current_names(source(), place)) for place, source in sources
        )

    @property
    def store_uri(self) -> str:
        """URI of the LanceDB database."""
        if "://" in self.store.uri:
            return self.store.uri
        return str(self.in_home(Path(self.store.uri or "lance")))

    def in_home(self, path: Path) -> Path:
        """Resolve a path of a setting; relative ones start at the home."""
        return self.home / path.expanduser()

    @property
    def journal_file(self) -> Path:
        """SQLite file of the journal, used if ``journal.url`` is empty."""
        return self.home / "journal.db"


_ENVIRONMENTS: Final = dict[tuple[tuple[str, str], ...], dict[str, Any]]()


def _of_environment(source: PydanticBaseSettingsSource) -> dict[str, Any]:
    """Return the settings of the environment, which is read again when a variable changes.

    Pydantic compares each setting with each variable, which takes most of the time of loading.
    """
    named = (name for name in os.environ if name.upper().startswith(ENV_PREFIX))
    given = tuple(sorted((name, os.environ[name]) for name in named))
    if given not in _ENVIRONMENTS:
        if len(_ENVIRONMENTS) >= MAX_ENVIRONMENTS:
            _ENVIRONMENTS.clear()
        _ENVIRONMENTS[given] = source()
    return deepcopy(_ENVIRONMENTS[given])
