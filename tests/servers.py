"""Servers that tests start for themselves: PostgreSQL, and one that speaks S3."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType

import pytest

_BENCH = Path(__file__).parents[1] / "bench"


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, _BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # a dataclass looks for its own
    spec.loader.exec_module(module)
    return module


_s3 = _module("_s3")
Bucket, KEYS, free_port, until_listens = _s3.Bucket, _s3.KEYS, _s3.free_port, _s3.until_listens


def postgres() -> AbstractContextManager[str]:
    """A PostgreSQL of one's own; its value is the address of an empty database."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin")):
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    return _module("_postgres").server()


def s3() -> AbstractContextManager[Bucket]:
    """A process that speaks S3, with one bucket."""
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    return _s3.bucket()


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's variables without settings of a memory or of AWS, and with these."""
    ours = ("SLOWWAVE_", "AWS_", "DAGSTER_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return clean | variables
