"""What a short process does not load, and that it is there for whoever asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
from slowwave.common.imports import CONTRACT, TABLES, when_used
with when_used(*CONTRACT, *TABLES):
    import lancedb, great_expectations
"""
LOADED = "import sys; print(any(one.startswith(({}))  for one in sys.modules))"


def answer(code: str) -> list[str]:
    """What a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_libraries_come_without_what_nobody_here_uses():
    rest = "'scipy.stats._distn', 'altair.vegalite', 'lance_namespace_urllib3_client.api.'"
    told = LOADED.format(rest)
    assert answer(f"import lancedb, great_expectations\n{told}") == ["True"]  # or nothing is left to do here
    assert answer(f"{BEGIN}{told}") == ["False"]


OTHERS = """
import importlib, threading
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as kept
failed = []
threading.excepthook = lambda what: failed.append(repr(what.exc_value))
asked = [f"from scipy.stats import {name}" for name in ("norm", "linregress", "t")]
threads = [threading.Thread(target=exec, args=[one, {}]) for one in asked]
[one.start() for one in threads]; [one.join() for one in threads]
for code in ("import altair.vegalite; altair.Chart", "from scipy.stats import *; norm",
             "import scipy.stats.distributions; scipy.stats.norm",
             "import altair; dir(altair).index('Chart')",
             "import lance_namespace_urllib3_client as c; c.TableApi, c.models.CreateTableRequest",
             "import lance_namespace_urllib3_client as c; c.__version__"):
    exec(code, {})
import altair, scipy.stats
importlib.reload(altair)
print(failed, kept.stats.norm is scipy.stats.norm, kept.alt.Chart.__name__, hasattr(kept.stats, "nothing"))
"""


@pytest.mark.slow
def test_whoever_asks_for_it_gets_it_whole():
    assert answer(BEGIN + OTHERS) == ["[]", "True", "Chart", "False"]


def test_modules_that_are_loaded_or_not_installed_stay_as_they_are():
    code = """
import json, sys
from slowwave.common.imports import when_used
whole = json
with when_used("json", "no_such_module", "colorsys"):
    import colorsys as later
print(sys.modules["json"] is whole, "no_such_module" in sys.modules, "colorsys" in sys.modules)
print(later.rgb_to_hsv(0, 0, 0)[2], hasattr(later, "nothing"))
"""
    assert answer(code) == ["True", "False", "False", "0", "False"]
