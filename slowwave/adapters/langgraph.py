"""LangGraph adapter: a `BaseStore` whose items are memories of one namespace.

An item is a memory. Its source consists of the item's namespace and key, each part percent-encoded, under
``langgraph/``. So no tuple can name anything outside, and a tuple is no tenant. The memory's text is that of
the item's value, so that all searches find it; the value itself is in the memory's metadata.
"""

from __future__ import annotations

from slowwave.adapters.needed import require
from slowwave.common.arguments import limit_of

require("langchain", "langgraph")

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

import orjson
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from slowwave.adapters.matching import fits, matches
from slowwave.adapters.saving import save
from slowwave.common import ids
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.home.tenant import Saved
from slowwave.home.visibility import Viewer, open_where
from slowwave.memory import Memory
from slowwave.store import one_of
from slowwave.store import quote as sql
from slowwave.views.gate_text import reason_lines

ROOT: Final = "langgraph/"
_KEY: Final = ":"  # prefix of a key; encoded parts do not contain it
_VALUE: Final = "langgraph"  # key in a memory's metadata
_COLUMNS: Final = ["memory_id", "source", "metadata", "created_at", "updated_at"]
_MAX_FILTERED: Final = 500  # results that a filtered search checks, best first (count)
_MAX_QUERY: Final = limit_of("query").characters


class RefusedError(SlowwaveError):
    """Item refused by the save gate; its key keeps the previous value."""


class SlowwaveStore(BaseStore):
    """LangGraph store on a memory.

    Args:
        memory: open.
        fields: paths of a value whose texts are searchable; None: all its texts.
        refused: handling of an item that the save gate refuses: `raise` an error, or `keep` releases it
            unchanged, as a person does with ``slowwave quarantine release``.
    """

    supports_ttl = False

    def __init__(
        self,
        memory: Memory,
        *,
        fields: Sequence[str] | None = None,
        refused: Literal["raise", "keep"] = "raise",
    ) -> None:
        self._memory, self._fields, self._refused = memory, fields, refused

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run several operations; later calls see what was put.

        Raises:
            RefusedError: an item was refused; all others were saved.
            ProtectedError: only a person may replace or forget the note of an item's key; nothing was put.
            NotImplementedError: an item has a time to live, which memories do not support.
        """
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                if op.ttl is not None:
                    raise NotImplementedError("Memories have no time to live (ttl). Delete the item instead.")
                puts[op.namespace, op.key] = op
                results.append(None)
            else:
                results.append(self._answer(op))
        self._put(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run :meth:`batch` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _answer(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ArgumentError(f"{type(op).__name__} is no operation of a store.")

    # -- reading ---------------------------------------------------------------------------------

    def _rows(self, condition: str) -> list[tuple[str, Item, bool]]:
        """Return existing, non-secret items: memory id, item, and whether it is searchable."""
        where = f"({condition}) AND status <> 'retired' AND content_hash IS NOT NULL AND {open_where()}"
        memory = self._memory
        rows = memory.store.read("memories", memory.tenant.mine(where), columns=_COLUMNS)
        return [item for row in rows.iter_rows() if (item := _item(*row)) is not None]

    def _get(self, op: GetOp) -> Item | None:
        name = ids.memory_id(self._memory.namespace, source_of(op.namespace, op.key))
        for _, item, _ in self._rows(one_of("memory_id", [name])):
            return item
        return None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        last = op.offset + op.limit
        prefix = source_of(op.namespace_prefix)
        if not op.query:
            items = [item for _, item, _ in self._rows(f"starts_with(source, {sql(prefix)})")]
            items.sort(key=lambda item: item.updated_at)
            return [_search_item(item, None) for item in items if fits(item.value, op.filter)][
                op.offset : last
            ]
        limit = _MAX_FILTERED if op.filter or len(op.namespace_prefix) else last
        query = op.query[:_MAX_QUERY]
        response = self._memory.search(query, limit=max(limit, last), source=prefix)
        existing = {
            name: item
            for name, item, indexed in self._rows(
                one_of("memory_id", [result.memory_id for result in response])
            )
            if indexed and source_of(item.namespace, item.key).startswith(prefix)
        }
        best = [
            (existing[result.memory_id], result.score) for result in response if result.memory_id in existing
        ]
        return [_search_item(item, score) for item, score in best if fits(item.value, op.filter)][
            op.offset : last
        ]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        namespaces = {item.namespace for _, item, _ in self._rows(f"starts_with(source, {sql(ROOT)})")}
        conditions: tuple[MatchCondition, ...] = op.match_conditions or ()
        selected = {
            namespace
            for namespace in namespaces
            if all(matches(condition, namespace) for condition in conditions)
        }
        if op.max_depth is not None:
            selected = {namespace[: op.max_depth] for namespace in selected}
        return sorted(selected)[op.offset : op.offset + op.limit]

    # -- writing ---------------------------------------------------------------------------------

    def _put(self, ops: Sequence[PutOp]) -> None:
        notes = [self._note(op) for op in ops if op.value is not None]
        self._delete([op for op in ops if op.value is None])
        saved = save(self._memory, notes) if notes else []
        refused = [
            (note, outcome) for note, outcome in zip(notes, saved, strict=True) if not self._accepted(outcome)
        ]
        if refused:
            note, outcome = refused[0]
            more = f" ({len(refused) - 1} more were refused, too.)" if len(refused) > 1 else ""
            namespace, key = item_of(note["key"])
            raise RefusedError(
                f"The save gate refused {key!r} of {namespace}: {'; '.join(reason_lines(outcome.reasons))}. "
                f"The note is in quarantine as {outcome.memory_id}; the key keeps its previous value. Put "
                f"whole sentences, or "
                f'open the store with refused="keep".{more}'
            )

    def _accepted(self, saved: Saved) -> bool:
        """Whether an item was saved.

        Duplicates of another key are released, and with `keep` refused items, too.
        """
        if saved.status != "quarantined":
            return True
        if saved.duplicate_of and saved.decision_id:
            self._memory.undo(saved.decision_id)
            return True
        if self._refused == "keep":
            return self._memory.release(saved.memory_id).status != "quarantined"
        return False

    def _delete(self, ops: Sequence[PutOp]) -> None:
        names = {ids.memory_id(self._memory.namespace, source_of(op.namespace, op.key)) for op in ops}
        if names:
            for name, _, _ in self._rows(one_of("memory_id", sorted(names))):
                self._memory.forget(name, viewer=Viewer.ASSISTANT)

    def _note(self, op: PutOp) -> dict[str, Any]:
        """Return the note of an item."""
        value = dict(op.value or {})
        texts = _texts(value, op.index or self._fields)
        indexed = op.index is not False
        return {
            "content": "\n".join(texts),
            "title": op.key if op.key.strip() else "",
            "key": source_of(op.namespace, op.key),
            "metadata": {_VALUE: {"value": value} if indexed else {"value": value, "indexed": False}},
        }


def source_of(namespace: Sequence[str], key: str | None = None) -> str:
    """Return the source of an item; without a key the source prefix of a namespace."""
    below = ROOT + "".join(f"{_encoded(part)}/" for part in namespace)
    return below if key is None else f"{below}{_KEY}{_encoded(key)}"


def item_of(source: str) -> tuple[tuple[str, ...], str]:
    """Return namespace and key of a source."""
    *parts, key = source.removeprefix(ROOT).split("/")
    return tuple(unquote(part) for part in parts), unquote(key.removeprefix(_KEY))


def _encoded(part: str) -> str:
    try:
        return quote(part, safe="").replace(".", "%2E")
    except UnicodeEncodeError:
        raise ArgumentError(f"{part!a} has lone surrogates, which a key cannot have.") from None


def _item(
    name: str, source: str, metadata: str, created_at: datetime, updated_at: datetime
) -> tuple[str, Item, bool] | None:
    """Return a memory as an item; None if it is none, such as after another save under its key."""
    stored = orjson.loads(metadata or "{}").get(_VALUE)
    if not source.startswith(ROOT) or not isinstance(stored, Mapping) or "value" not in stored:
        return None
    namespace, key = item_of(source)
    item = Item(
        value=stored["value"], key=key, namespace=namespace, created_at=created_at, updated_at=updated_at
    )
    return name, item, bool(stored.get("indexed", True))


def _search_item(item: Item, score: float | None) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _texts(value: Mapping[str, Any], fields: Sequence[str] | None) -> list[str]:
    """Return the texts of an item: those at the paths, or all with their names."""
    if fields is not None and (named := [text for path in fields for text in _at(value, path)]):
        return named
    leaves = list(_leaves(value, ""))
    only = [text for _, text in leaves if isinstance(text, str) and text.strip()]
    if len(only) == 1 and len(leaves) == 1:
        return only
    return [f"{name}: {text}" for name, text in leaves] or ["{}"]


def _at(value: Mapping[str, Any], path: str) -> list[str]:
    if path == "$":
        return [f"{name}: {text}" for name, text in _leaves(value, "")]
    return [text_ for text_ in get_text_at_path(value, tokenize_path(path)) if text_.strip()]


def _leaves(value: Any, name: str) -> Iterable[tuple[str, Any]]:
    """Yield the leaves of a value with their paths."""
    if isinstance(value, Mapping):
        for part, child in value.items():
            yield from _leaves(child, f"{name}.{part}" if name else str(part))
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _leaves(child, name)
    else:
        yield name, value
