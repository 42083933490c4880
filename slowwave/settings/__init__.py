"""Settings of Slowwave in one tree, each with default, range and unit.

Values come from, strongest first: arguments, environment variables (``SLOWWAVE_EMBEDDING__MODEL=...``),
``slowwave.toml`` in the home, the defaults. ``slowwave settings`` shows the origin of each.
"""

from slowwave.settings.display import InForce, in_force
from slowwave.settings.groups import (
    EmbeddingSettings,
    McpToken,
    NotesSettings,
    OAuthGrant,
    OAuthSettings,
    Rights,
)
from slowwave.settings.loading import has_home, load, require_home, require_named_home
from slowwave.settings.rules import EvaluationSettings, JudgeSettings
from slowwave.settings.tree import CONFIG_FILE, Settings

__all__ = [
    "CONFIG_FILE", "EmbeddingSettings", "EvaluationSettings", "InForce", "JudgeSettings", "McpToken",
    "NotesSettings", "OAuthGrant", "OAuthSettings", "Rights", "Settings", "has_home", "in_force", "load",
    "require_home", "require_named_home",
]  # fmt: skip
