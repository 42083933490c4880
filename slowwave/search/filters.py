"""Which memories a search may show; the namespace is never left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC
from typing import TYPE_CHECKING

from slowwave.common.arguments import known_word, moment
from slowwave.common.search_request import LABELS, MOMENT, SEARCH_ARGUMENTS, SearchFilters
from slowwave.errors import SlowwaveError
from slowwave.feedback.tiers import tier_filter
from slowwave.home.visibility import open_where
from slowwave.quality.admission.types import LIVE, SUPERSEDED
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.store import one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from lancedb.table import Table


class Filters(SearchFilters):
    """Filters of a search as conditions on rows; the namespace is never left out."""

    __slots__ = ()

    @classmethod
    def of(cls, **given: object) -> Filters:
        """Filters from the arguments of a search: one text stands for a list of one.

        Raises:
            SlowwaveError: a value has the wrong type.
        """
        found = cls(**{name: _checked(name, value) for name, value in given.items()})  # type: ignore[arg-type]
        if found.since is not None and found.until is not None and found.since >= found.until:
            raise SlowwaveError(
                f"since = {found.since} is not before until = {found.until}: nothing can match."
            )
        return found

    def __str__(self) -> str:
        """What is asked of a memory, for people."""
        asked = [f"{name} {', '.join(values)}" for name in _LABELS if (values := getattr(self, name))]
        asked += [f"tag {', '.join(self.tags)}"] if self.tags else []
        asked += [f"source {self.source}…"] if self.source else []
        asked += [f"since {self.since:%F}"] if self.since else []
        asked += [f"until {self.until:%F}"] if self.until else []
        return " and ".join(asked) or "no filter"

    def refuse_unknown(self, namespace: str, opened: Callable[[], Table]) -> None:
        """See that every label is one that there is: one that nobody knows can match nothing.

        Args:
            namespace: the tenant.
            opened: gives ``chunks`` or ``memories``; only words that are not among the known ones are looked
                up.

        Raises:
            ArgumentError: a label is unknown; says which, and what there is.
        """
        for name, column in _LABELS.items():
            known = KNOWN_WORDS[column]
            for word in getattr(self, name):
                mine = within(namespace)
                if word in known or (table := opened()).count_rows(f"{mine} AND {column} = {quote(word)}"):
                    continue
                rows = (
                    table.search().where(f"{mine} AND {open_where()}").select([column]).limit(None).to_arrow()
                )
                known_word(name, word, known | set(rows.column(column).to_pylist()))

    @property
    def statuses(self) -> list[str]:
        """Which memories are looked at."""
        return [LIVE, SUPERSEDED] if self.superseded else [LIVE]

    def where(
        self, namespace: str, promoted: Mapping[str, str] | None = None, heirs: Collection[str] = ()
    ) -> str:
        """The condition on ``chunks`` (or ``memories``), in SQL that LanceDB and Polars understand alike.

        Args:
            namespace: the tenant.
            promoted: memories of it that use has promoted, with their tier.
            heirs: memories that absorbed one of the source.
        """
        parts = [within(namespace)]
        parts.append(one_of("status", self.statuses) if self.superseded else f"status = {quote(LIVE)}")
        if self.memory_type:
            parts.append(one_of("memory_type", self.memory_type))
        if self.tier:
            parts.append(tier_filter(self.tier, promoted or {}))
        if self.sensitivity:
            parts.append(one_of("sensitivity", self.sensitivity))
        else:
            parts.append(open_where())
        if self.tags:
            wanted = "|".join(re.escape(tag.strip().lower()) for tag in self.tags)
            # Of a pattern without the plus LanceDB makes a LIKE, in which a backslash is no character.
            parts.append(f"regexp_like({_TAGS}, {quote(f'{_MARK}+(?:{wanted}){_MARK}')})")
        if self.source:
            mine = f"starts_with(source, {quote(self.source)})"
            parts.append(f"({mine} OR {one_of('memory_id', heirs)})" if heirs else mine)
        for sign, bound in ((">=", self.since), ("<", self.until)):
            if bound is not None:
                at = bound.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
                parts.append(f"created_at {sign} CAST({quote(at)} AS TIMESTAMP)")
        return " AND ".join(parts)


_LABELS = {"memory_type": "memory_type", "tier": "importance_tier", "sensitivity": "sensitivity"}
_MARK = "\x1f"  # on both sides of each tag
_TAGS = f"concat('{_MARK}', lower(array_to_string(tags, '{_MARK}')), '{_MARK}')"


def _checked(name: str, value: object) -> object:
    kind = SEARCH_ARGUMENTS[name].kind if name in SEARCH_ARGUMENTS else None
    if kind == LABELS:
        texts = (value,) if isinstance(value, str) else value
        if not isinstance(texts, list | tuple | set | frozenset) or not all(
            isinstance(one, str) and "\0" not in one for one in texts
        ):
            raise SlowwaveError(f"{name} = {value!r}: give a text or a list of texts.")
        return tuple(dict.fromkeys(one.strip().lower() for one in texts if one))
    if kind == MOMENT and value is not None:
        return moment(name, value)
    if kind is str and (not isinstance(value, str) or "\0" in value):
        raise SlowwaveError(f"source = {value!r}: give the text that sources begin with.")
    return value
