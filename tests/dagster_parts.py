"""Sensors and schedules by name, as the code location of a home has them."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from slowwave.orchestration import alerts, jobs, sensors
from slowwave.settings import load


def sensor(name: str, home: Path | None = None) -> dg.SensorDefinition:
    """The sensor of this name."""
    settings = load(home)
    return next(one for one in (*sensors.sensors(settings), *alerts.sensors(settings)) if one.name == name)


def schedule(name: str, home: Path | None = None) -> dg.ScheduleDefinition:
    """The schedule of this name."""
    return next(one for one in jobs.schedules(load(home)) if one.name == name)
