"""Dagster component that adds a Slowwave memory to a project's ``defs.yaml``."""

from __future__ import annotations

import re
from pathlib import Path

import dagster as dg
from pydantic import Field, field_validator

from slowwave.assets.resources import SlowwaveResource
from slowwave.common.home_discovery import locate_home
from slowwave.settings.groups import NAMESPACE

_LAST_HOUR = 23


class SlowwaveMemory(dg.Component, dg.Model, dg.Resolvable):
    """A Slowwave memory: its assets, checks, jobs, schedules and sensors, over one home.

    A relative path starts at the folder of the project (that of its ``pyproject.toml``).
    """

    home: str = Field(
        default="",
        description="Data directory of the memory. Empty: SLOWWAVE_HOME, else .slowwave in the project.",
        examples=[".slowwave"],
    )
    namespace: str = Field(
        default="",
        description="Namespace that the vault belongs to. Empty: that of the home's settings.",
        examples=["handbook"],
    )
    vault: str = Field(
        default="",
        description="Folder of notes that the memory watches. Empty: the vaults that the home watches.",
        examples=["notes"],
    )
    hour: int | None = Field(
        default=None,
        description="Hour of the nightly job (0 to 23, UTC). Empty: night.hour of the home's settings.",
        examples=[4],
    )

    # Validators instead of field constraints: those would also refuse "{{ env.HOUR }}".

    @field_validator("namespace")
    @classmethod
    def _check_namespace(cls, namespace: str) -> str:
        if namespace and not re.search(NAMESPACE, namespace):
            raise ValueError(f"{namespace!r} is not a valid namespace. Use letters, digits and - _ . /")
        return namespace

    @field_validator("hour")
    @classmethod
    def _check_hour(cls, hour: int | None) -> int | None:
        if hour is not None and not 0 <= hour <= _LAST_HOUR:
            raise ValueError(f"{hour} is not a valid hour. Use 0 to {_LAST_HOUR} (UTC)")
        return hour

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """Return what lists of components show beside the name."""
        return dg.ComponentTypeSpec(
            description="A memory for AI assistants: notes and feedback of each day, in LanceDB tables.",
            tags=["slowwave", "lancedb", "memory"],
        )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Build the definitions of the memory.

        Raises:
            SettingsError: The settings of the home have a value that is not allowed.
        """
        # Imported here: listing components needs no assets.
        from slowwave.assets.partitions import home_first_day
        from slowwave.orchestration.definitions import definitions

        folder = context.project_root
        home = _in(folder, self.home) if self.home else locate_home(folder, default=False).home
        resource = SlowwaveResource(
            home=str(home),
            namespace=self.namespace,
            vault=str(_in(folder, self.vault)) if self.vault else "",
            hour=-1 if self.hour is None else self.hour,
        )
        first_day = home_first_day(resource.settings())
        return definitions(resource.model_copy(update={"first_day": first_day}))


def _in(folder: Path, path: str) -> Path:
    """Return `path` as an absolute path; a relative one starts at `folder`."""
    return (folder / Path(path).expanduser()).resolve()
