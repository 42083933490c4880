"""A move of a home as the command makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slowwave.home.workspace import Workspace
from slowwave.maintenance.moving import running
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.settings import load


def move(home: Path, *to: str, only: Any = None, dry_run: bool = False) -> running.MoveResult:
    """Move a home, or a part of it, by a process of its own settings."""
    space = Workspace(load(home))
    try:
        return running.move(space, MoveTargets(space.settings, to, only), dry_run=dry_run)
    finally:
        space.close()
