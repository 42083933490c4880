"""Dagster instance of a home: its folder, ``dagster.yaml`` and the ``.env`` that points Dagster to it.

``python -m slowwave.orchestration.instance`` creates all three for the current folder. Dagster's commands
read ``.env`` there before they look for an instance. So ``dagster dev`` and ``dg dev`` use that of `slowwave
ui`.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.common.home_discovery import DAGSTER_FOLDER, ENV_PREFIX, locate_home
from slowwave.errors import SettingsError, SlowwaveError

if TYPE_CHECKING:
    from slowwave.settings import Settings

_DAGSTER_YAML = """\
# Dagster instance of this Slowwave home.
telemetry: {enabled: false}
nux: {enabled: false}   # no invitation to Dagster's newsletter
concurrency:
  runs: {max_concurrent_runs: 2}
  pools: {default_limit: 1, granularity: op}   # for a project's own assets; Slowwave has a lock
run_monitoring: {enabled: true, free_slots_after_run_end_seconds: 30}
run_retries: {enabled: true, max_retries: 2, retry_on_asset_or_op_failure: false}
"""

PYTHON_LOGS = """\
python_logs:
  dagster_handler_config:
    handlers:
      slowwave: {class: slowwave.orchestration.run_logging.RunLogHandler}  # a line on stderr for each run
"""
_PREVIOUS_HANDLER = "slowwave.orchestration.said.Handler"  # in homes of earlier versions
_HANDLER = "slowwave.orchestration.run_logging.RunLogHandler"
_NUX = "nux:"
_WAIT_S = 10
"""Connection time-out of the database (seconds), if its address sets none."""
URL_VARIABLE = "DAGSTER_POSTGRES_URL"
"""Variable with the address of Dagster's database; ``dagster.yaml`` has its name, not the password."""
_ON_POSTGRES = f"""\
storage:
  postgres:
    postgres_url: {{env: {URL_VARIABLE}}}
"""


def dagster_home(settings: Settings) -> Path:
    """Create the folder of the home's Dagster instance with its ``dagster.yaml``, and return it.

    Puts the address of its database, if any, into this process's environment.

    Args:
        settings: `night.dagster_url` puts Dagster's storage into PostgreSQL.

    Raises:
        SettingsError: `night.dagster_url` is no PostgreSQL address, or dagster-postgres is not installed.
        SlowwaveError: The database refuses the connection.
    """
    folder = settings.home / DAGSTER_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "dagster.yaml"
    before = config.read_text() if config.exists() else ""
    written = (before or _DAGSTER_YAML).replace(_PREVIOUS_HANDLER, _HANDLER)
    if "python_logs:" not in written:
        written = f"{written.rstrip()}\n{PYTHON_LOGS}"
    if _NUX not in written:  # written by a version without this line
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
    """Return the address in the form of Dagster's driver."""
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
            "night.dagster_url is not a PostgreSQL address. Use for example "
            "postgresql://user:password@host/dagster, as a variable SLOWWAVE_NIGHT__DAGSTER_URL."
        )
    # Explicit driver: Dagster's SQL is for this one, SQLAlchemy's default is another.
    return url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)


def _require_answer(address: str, shown: str) -> None:
    """Check that the database accepts a connection, to replace Dagster's long retry and traceback.

    Args:
        address: In the form of Dagster's driver.
        shown: As in the settings.

    Raises:
        SlowwaveError: It refuses.
    """
    import sqlalchemy as sa
    from sqlalchemy.pool import NullPool

    from slowwave.settings.display import covered

    url = sa.make_url(address)
    waits = {} if "connect_timeout" in url.query else {"connect_timeout": _WAIT_S}
    try:
        with sa.create_engine(url, poolclass=NullPool, connect_args=waits).connect():
            pass
    except sa.exc.DBAPIError as error:
        lines = str(covered(str(error.orig).strip())).splitlines() or [type(error.orig).__name__]
        raise SlowwaveError(
            f"night.dagster_url is {covered(shown)}, and PostgreSQL refuses the connection: "
            f"{lines[0].rstrip('.')}. Check that it runs at that address, that the database exists "
            f"(deploy/databases.sql creates it), and that user and password are correct (PGPASSWORD, or a "
            f"file that PGPASSFILE names)."
        ) from None


def close_runs(folder: Path, group: int | None = None) -> list[str]:
    """Close Dagster's records of runs that have no process, or soon none. Return their ids.

    Open records would block later runs.

    Args:
        folder: Of the instance, from `dagster_home`.
        group: Id of a process group that is about to end: mark its runs as canceling. None: close the records
            of runs whose process was killed.
    """
    if not (folder / "history").exists() and not os.environ.get(URL_VARIABLE):  # no run ever began
        return []
    import dagster as dg

    from slowwave.assets.run_process import cancel_runs, end_dead_runs

    with dg.DagsterInstance.from_config(str(folder)) as instance:
        return end_dead_runs(instance) if group is None else cancel_runs(instance, group)


_ENV_FILE = ".env"
_ENV_HEADER = "# Instance that `dagster dev` and `dg dev` use. `make instance` writes these lines."
_HOME_VARIABLE = f"{ENV_PREFIX}HOME"
_OWN_LINES = re.compile(rf"{re.escape(_ENV_HEADER)}\n(?:{_HOME_VARIABLE}=.*\n)?(?:DAGSTER_HOME=.*\n)?")
_NOT_IN_ENV_FILE = set("\"'\\${}\r\n")
"""Characters of a path that ``.env`` would misread."""


def env_file(existing: str, home: Path) -> str:
    """Return the text of a ``.env`` that names the instance of `home`.

    Lines that the user wrote stay. If one of them sets ``DAGSTER_HOME``, nothing is added. Where the variable
    SLOWWAVE_HOME is set, Dagster takes the instance of that home instead.

    Args:
        existing: Text of the file as it is; empty if there is none.
        home: Home to use where SLOWWAVE_HOME is not set.

    Raises:
        SlowwaveError: The path has a character that ``.env`` cannot have.
    """
    kept = _OWN_LINES.sub("", existing)
    if _sets("DAGSTER_HOME", kept):
        return kept
    if odd := sorted(_NOT_IN_ENV_FILE & set(str(home))):
        raise SlowwaveError(
            f"Cannot name {home} in {_ENV_FILE}: its path has {' '.join(map(repr, odd))}. "
            f"Set DAGSTER_HOME={home / 'dagster'} yourself before you start `dagster dev`."
        )
    lines = [_ENV_HEADER, f'DAGSTER_HOME="${{{_HOME_VARIABLE}}}/dagster"']
    if not _sets(_HOME_VARIABLE, kept):
        lines.insert(1, f'{_HOME_VARIABLE}="${{{_HOME_VARIABLE}:-{home}}}"')
    end = "" if not kept or kept.endswith("\n") else "\n"
    return "\n".join([f"{kept}{end}{lines[0]}", *lines[1:], ""])


def _sets(variable: str, text: str) -> bool:
    return re.search(rf"^\s*(?:export\s+)?{variable}\s*=", text, re.MULTILINE) is not None


def write_env_file(folder: Path) -> None:
    """Write the ``.env`` of `folder`, and create the instance that it names if missing.

    Args:
        folder: Folder in which `dagster dev` is typed: a checkout.

    Raises:
        SlowwaveError: The settings are not allowed, or Dagster's database does not answer.
    """
    from dotenv import dotenv_values

    from slowwave.settings import load

    home = _home_without_variable(folder)
    file = folder / _ENV_FILE
    existing = file.read_text() if file.exists() else ""
    written = env_file(existing, home)
    if written != existing:
        file.write_text(written)
    if _ENV_HEADER not in written:
        return  # the instance is the user's
    for each in {home, Path(dotenv_values(file)[_HOME_VARIABLE] or home).expanduser()}:
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
        dagster_home(load(each))


def _home_without_variable(folder: Path) -> Path:
    """Return the home of `folder` without SLOWWAVE_HOME: the file outlives the shell that sets it."""
    named = os.environ.pop(_HOME_VARIABLE, None)
    try:
        return locate_home(folder, default=False).home
    finally:
        if named is not None:
            os.environ[_HOME_VARIABLE] = named


def main() -> None:
    """Write ``.env`` and the instance for the current folder."""
    try:
        write_env_file(Path.cwd())
        sys.stdout.write(f"{_ENV_FILE} names the Dagster instance of {_home_without_variable(Path.cwd())}\n")
    except SlowwaveError as error:
        sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
