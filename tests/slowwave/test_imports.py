"""What a short process does not load, and that it is there for whoever asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PREPARED = "from slowwave.common.imports import CONTRACT, TABLES, when_used; when_used(*CONTRACT, *TABLES); "
LOADED = "import sys; print(any(one.startswith(({}))  for one in sys.modules))"


def answer(code: str) -> list[str]:
    """What a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_libraries_come_without_what_nobody_here_uses():
    rest = "'scipy.stats._distn', 'altair.vegalite', 'lance_namespace_urllib3_client.api.'"
    unprepared = "import lancedb, great_expectations; " + LOADED.format(rest)
    assert answer(unprepared) == ["True"]  # or there is nothing left to do here
    assert answer(PREPARED + unprepared) == ["False"]


@pytest.mark.slow
def test_whoever_asks_for_it_gets_it_whole():
    code = (
        "import lancedb, great_expectations, scipy.stats as first; from scipy import stats; "
        "from scipy.stats import norm; import altair; import lance_namespace_urllib3_client as client; "
        "print(first is stats, norm.ppf(0.5), altair.Chart.__name__, client.TableApi.__name__, "
        "hasattr(stats, 'nothing'), hasattr(altair, 'nothing'))"
    )
    assert answer(PREPARED + code) == ["True", "0.0", "Chart", "TableApi", "False", "False"]


def test_modules_that_are_loaded_or_not_installed_stay_as_they_are():
    code = (
        "import json, sys; from slowwave.common.imports import when_used; whole = json; "
        "when_used('json', 'no_such_module'); "
        "print(sys.modules['json'] is whole, 'no_such_module' in sys.modules)"
    )
    assert answer(code) == ["True", "False"]
