"""Deprecated names of the Python API: they work, and name their replacement in a warning."""

from __future__ import annotations

import pytest

TEXT = "The battery of the northern gauge lasts eleven weeks in winter."


def test_previous_names_work_and_warn(memory):
    saved = memory.save(TEXT)
    memory.forget(saved.memory_id)
    with pytest.warns(DeprecationWarning, match="Use Memory.unforget"):
        assert memory.remember(saved.memory_id) is True
    with pytest.warns(DeprecationWarning, match="Use Memory.plan_erasure"):
        planned = memory.to_erase(saved.memory_id)
    assert planned.memories == memory.plan_erasure(saved.memory_id).memories
    with pytest.warns(DeprecationWarning, match="Use Memory.gate_preview"):
        assert memory.would_refuse().equals(memory.gate_preview())
    with pytest.warns(DeprecationWarning, match="Use preview_rollback"):
        tried = memory.learning.would_take_back("everything")
    assert type(tried) is type(memory.learning.preview_rollback("everything"))
    with pytest.warns(DeprecationWarning, match="Use Memory.execute_erasure"):
        erased = memory.erase_planned(planned)
    assert saved.memory_id in erased.memories
