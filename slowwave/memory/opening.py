"""Opening of a memory by the path of its home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slowwave.common.error_translation import api_call
from slowwave.memory.curating import Memory
from slowwave.settings import load, require_home, require_named_home


@api_call
def open_memory(
    path: Path | str | None = None,
    *,
    namespace: str,
    principal: str = "application",
    create: bool | None = None,
    **settings: Any,  # noqa: ANN401 - groups of settings
) -> Memory:
    """Open a memory; a missing home that `path` or the variable names is created.

    Args:
        path: home folder; default: ``SLOWWAVE_HOME``, else the nearest ``.slowwave`` upwards, else the
            default home that ``slowwave init`` remembered.
        namespace: the tenant, always required.
        principal: user recorded with every event.
        create: True: create a missing home, also a ``.slowwave`` in the current folder; False: require one.
        **settings: groups of settings to override, for instance ``embedding={"model": "wordllama-256"}``.

    Raises:
        SettingsError: a setting has an invalid value, or there is no home to open.
        ModelError: the home belongs to another embedding model.
    """
    loaded = load(path, **settings)
    if create is False:
        require_home(loaded)
    elif create is None and path is None:
        require_named_home(loaded)
    return Memory(loaded, namespace=namespace, principal=principal)
