"""What a short process does not load, and that it is there for whoever asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
from slowwave.common.slim_imports import CONTRACT, TABLES, when_used
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
@pytest.mark.soak
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
@pytest.mark.soak
def test_whoever_asks_for_it_gets_it_whole():
    assert answer(BEGIN + OTHERS) == ["[]", "True", "Chart", "False"]


def test_modules_that_are_loaded_or_not_installed_stay_as_they_are():
    code = """
import json, sys
from slowwave.common.slim_imports import when_used
whole = json
with when_used("json", "no_such_module", "colorsys"):
    import colorsys as later
print(sys.modules["json"] is whole, "no_such_module" in sys.modules, "colorsys" in sys.modules)
print(later.rgb_to_hsv(0, 0, 0)[2], hasattr(later, "nothing"))
"""
    assert answer(code) == ["True", "False", "False", "0", "False"]


COMMAND = """
from slowwave.common.slim_imports import load_tables
load_tables()
import lancedb, sys
"""


@pytest.mark.slow
def test_a_command_begins_without_what_it_has_no_use_for():
    rest = "'pandas', 'overrides', 'lance_namespace_urllib3_client'"
    told = LOADED.format(rest)
    if sys.version_info < (3, 12):
        assert answer(f"import lancedb\n{told}") == ["True"]  # or nothing is left to do here
    pool = "import pyarrow as pa; print(pa.default_memory_pool().backend_name)"
    assert answer(f"{COMMAND}{told}\n{pool}") == ["False", "system"]


@pytest.mark.slow
def test_a_message_is_loaded_by_itself_and_is_the_one_that_others_get():
    code = f"""{COMMAND}
import lance_namespace, tempfile
with tempfile.TemporaryDirectory() as folder:
    listed = lancedb.connect(folder).list_tables()
print(listed.tables, sum(one.startswith("lance_namespace_urllib3_client") for one in sys.modules))
stood_in = lance_namespace.ListTablesResponse
from lance_namespace_urllib3_client.models import ListTablesResponse
print(type(listed) is ListTablesResponse, isinstance(listed, stood_in), isinstance(1, stood_in))
class Mine(stood_in): pass
print(issubclass(Mine, ListTablesResponse), issubclass(Mine, stood_in), "tables" in stood_in.model_fields)
from lance_namespace_urllib3_client import TableApi
print(isinstance(TableApi, type), lance_namespace.ListTablesRequest(limit=1).limit)
"""
    assert answer(code) == ["[]", "1", "True", "True", "False", "True", "True", "True", "True", "1"]


@pytest.mark.slow
def test_pyarrow_has_pandas_once_somebody_loads_it():
    pytest.importorskip("pandas")
    code = f"""{COMMAND}
from importlib.util import find_spec
import pyarrow as pa
before = pa.array([1.0, float("nan")]).null_count
print("pandas" in sys.modules, find_spec("pandas").name)
{{}}
import pandas as pd
print(pa.array(pd.Series([1.0, float("nan")])).null_count, before, len(pd.__path__))
print(len(pa.Table.from_pandas(pd.DataFrame({{{{"a": [1, 2]}}}}))))
"""
    for first in ("", "frame = pa.table({'a': [1]}).to_pandas()"):
        assert answer(code.format(first)) == ["False", "pandas", "1", "0", "1", "2"]


SEARCH = """
import sys
from slowwave.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
for one in sorted(sys.modules):
    print("loaded", one)
"""
UNASKED = (
    "lancedb.embeddings.open_clip",
    "lancedb.functions",
    "lancedb.materialized_view",
    "markdown_it",
    "rich.progress",
    "pandas",
    "overrides",
    "lance_namespace_urllib3_client.models.create_table_request",
    "semantic_text_splitter",
    "sqlalchemy.dialects.postgresql",
    "yaml",
    "slowwave.lifecycle.admission",
    "slowwave.lifecycle.past.events",
    "slowwave.lifecycle.ingest_pipeline",
    "slowwave.quality.admission.state_machine",
    "slowwave.quality.divergence.patterns",
    "slowwave.quality.gate",
    "slowwave.scoring.evaluation",
    "slowwave.search.time_travel",
    "slowwave.maintenance",
)


@pytest.mark.slow
def test_a_search_loads_no_more_than_it_asks(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))

    def loaded(*words: str) -> set[str]:
        command = [sys.executable, "-c", SEARCH, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return {line.split()[1] for line in done.stdout.splitlines() if line.startswith("loaded ")}

    loaded("init", str(tmp_path / "home"), "--model", "wordllama-256")
    beginning = {
        "importlib.metadata",
        "markdown_it",
        "pygments",
        "rich.traceback",
        "rich.progress",
        "pydantic",
    }
    assert not loaded("--version") & beginning
    assert not loaded("--help") & (
        beginning - {"importlib.metadata"}
    )  # which finds the commands of other rooms
    saved = loaded("save", "The deploy day is Thursday since the second of March, decided by the team.")
    assert {"slowwave.quality.gate", "slowwave.quality.divergence.patterns"} <= saved  # their names are right
    assert not loaded("search", "the deploy day") & set(UNASKED)


def test_stand_ins_of_a_class_may_be_in_annotations_and_are_it_when_they_are_used():
    code = """
import sys
from slowwave.common.slim_imports import classes_when_used
with classes_when_used("fractions"):
    from fractions import Fraction as later
    from typing import Optional
    told = Optional[later], later | int, int | later
print("fractions" in sys.modules, later(1, 2) + later(1, 2))
import fractions
print(isinstance(later(1), fractions.Fraction), isinstance(fractions.Fraction(1), later))
"""
    assert answer(code) == ["False", "1", "True", "True"]


@pytest.mark.slow
def test_a_table_that_is_written_to_has_what_was_left_out(tmp_path):
    code = f"""{COMMAND}
import pyarrow as pa
rows = pa.table({{"key": ["a"], "value": [1]}})
table = lancedb.connect({str(tmp_path)!r}).create_table("one", rows)
table.merge_insert("key").when_not_matched_insert_all().execute(pa.table({{"key": ["b"], "value": [2]}}))
table.add(rows)
print(table.count_rows(), table.embedding_functions)
from lancedb.embeddings import get_registry
print(get_registry().get("openai").__name__)
from lancedb.functions import FunctionVersion
print(isinstance(FunctionVersion, type))
"""
    assert answer(code) == ["3", "{}", "OpenAIEmbeddings", "True"]
