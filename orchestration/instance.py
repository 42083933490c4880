"""Where the Dagster instance of a home is, and how it is set up."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.errors import SettingsError, SlowwaveError

if TYPE_CHECKING:
    from slowwave.settings import Settings

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
_WAIT_S = 10
"""For the database to answer (seconds), where its address does not say for how long."""
URL_VARIABLE = "DAGSTER_POSTGRES_URL"
"""Variable that has the address of Dagster's database: its file names it, and has no password."""
_ON_POSTGRES = f"""\
storage:
  postgres:
    postgres_url: {{env: {URL_VARIABLE}}}
"""


def dagster_home(settings: Settings) -> Path:
    """Folder of the home's Dagster instance, made when it is not there and as the settings have it.

    The address of its database, if it has one, is in this process's environment from now on.

    Args:
        settings: of the home.

    Raises:
        SettingsError: Dagster's storage is to be in a database, and what that needs is not installed, or it
            is no PostgreSQL.
        SlowwaveError: that database does not let anybody in.
    """
    folder = settings.home / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "dagster.yaml"
    before = config.read_text() if config.exists() else ""
    written = before or _DAGSTER_YAML
    if _NUX not in written:  # by a version that did not say it
        written = f"{written.rstrip()}\n{_NUX} {{enabled: false}}\n"
    if settings.night.dagster_url:
        os.environ[URL_VARIABLE] = _for_dagster(settings.night.dagster_url)
        _require_answer(os.environ[URL_VARIABLE], settings.night.dagster_url)
        if _ON_POSTGRES not in written:
            written = f"{written.rstrip()}\n{_ON_POSTGRES}"
    else:
        written = written.replace(_ON_POSTGRES, "")
    if written != before:
        config.write_text(written)
    return folder


def _for_dagster(address: str) -> str:
    """The address as Dagster's driver wants it."""
    import sqlalchemy as sa
    from sqlalchemy.exc import ArgumentError

    if find_spec("dagster_postgres") is None:
        raise SettingsError(
            "night.dagster_url puts Dagster's storage into PostgreSQL, which needs dagster-postgres. "
            "Run: pip install '.[server]' in Slowwave's folder."
        )
    try:
        url = sa.make_url(address)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.get_backend_name() != "postgresql":
        raise SettingsError(
            "night.dagster_url is no address of PostgreSQL. Write for instance "
            "postgresql://user:password@host/dagster, as a variable SLOWWAVE_NIGHT__DAGSTER_URL."
        )
    # By its name: what Dagster writes is for this driver, and SQLAlchemy's own choice is another one.
    return url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)


def _require_answer(address: str, given: str) -> None:
    """See that the database lets us in, before Dagster tries for long and fails with a traceback.

    Args:
        address: as Dagster's driver wants it.
        given: the same, as the settings say it.

    Raises:
        SlowwaveError: it does not.
    """
    import sqlalchemy as sa
    from sqlalchemy.pool import NullPool

    from slowwave.settings.shown import covered

    url = sa.make_url(address)
    waits = {} if "connect_timeout" in url.query else {"connect_timeout": _WAIT_S}
    try:
        with sa.create_engine(url, poolclass=NullPool, connect_args=waits).connect():
            pass
    except sa.exc.DBAPIError as error:
        said = str(covered(str(error.orig).strip())).splitlines() or [type(error.orig).__name__]
        raise SlowwaveError(
            f"night.dagster_url is {covered(given)}, and PostgreSQL does not let the night in there: "
            f"{said[0].rstrip('.')}. See that it runs at that address, that the database is there "
            f"(deploy/databases.sql makes it), and that user and password are right (PGPASSWORD, or a file "
            f"that PGPASSFILE names)."
        ) from None


def end_killed(folder: Path) -> list[str]:
    """Close Dagster's records of runs whose process was killed, so that they hold nothing up; their ids.

    Args:
        folder: of the instance, as `dagster_home` gives it.
    """
    if not (folder / "history").exists() and not os.environ.get(URL_VARIABLE):
        return []  # nothing ever ran
    import dagster as dg

    from slowwave.assets.run_process import end_dead_runs

    with dg.DagsterInstance.from_config(str(folder)) as instance:
        return end_dead_runs(instance)
