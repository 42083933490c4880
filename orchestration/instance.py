"""Where the Dagster instance of a home is, and how it is set up."""

from __future__ import annotations

from pathlib import Path

_DAGSTER_YAML = """\
# Dagster instance of this Slowwave home.
telemetry: {enabled: false}
nux: {enabled: false}   # no invitation to Dagster's newsletter
concurrency:
  runs: {max_concurrent_runs: 2}
  pools: {default_limit: 1, granularity: op}   # one writer per shared table
run_monitoring: {enabled: true, free_slots_after_run_end_seconds: 30}
run_retries: {enabled: true, max_retries: 2, retry_on_asset_or_op_failure: false}
"""

_NUX = "nux:"


def dagster_home(home: Path) -> Path:
    """Folder of the home's Dagster instance, made when it is not there."""
    folder = home / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "dagster.yaml"
    if not config.exists():
        config.write_text(_DAGSTER_YAML)
    elif _NUX not in (written := config.read_text()):  # by a version that did not say it
        config.write_text(f"{written.rstrip()}\n{_NUX} {{enabled: false}}\n")
    return folder
