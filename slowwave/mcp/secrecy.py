"""What is marked secret is not handed to an assistant, whoever asks for it.

A search never finds it (it would have to be asked for by name, which the tools do not offer); here it is kept
from being read by its id.
"""

from __future__ import annotations

from collections.abc import Collection

from slowwave.errors import SlowwaveError
from slowwave.memory import Memory


def secret_ones(memory: Memory, memory_ids: Collection[str]) -> set[str]:
    """Those of these memories that are secret.

    A note that was never let in is among no memories: until it is, its labels are not trusted to be harmless.
    """
    from slowwave.store import one_of

    wanted = {one for one in memory_ids if one}
    rows = memory.store.read(
        "memories", memory._mine(one_of("memory_id", wanted)), columns=["memory_id", "sensitivity"]
    )
    return wanted - set(rows.filter(rows["sensitivity"] != "secret")["memory_id"])


def refuse(memory_id: str, secret: Collection[str]) -> None:
    """Raise when the memory is one of the secret ones.

    Raises:
        SlowwaveError: it is.
    """
    if memory_id in secret:
        raise SlowwaveError(
            f"Memory {memory_id} is secret, or was never let in, and is not shown over MCP. "
            f"`slowwave history {memory_id}` shows it to a person."
        )
