"""Trusted sources of a namespace: the save gate lets their notes in, and keeps its reasons beside them.

A person sets the rule and can end it. Both are events of the journal, so past days are judged as they were.
Unreadable notes, bad namespaces and unknown sensitivities are refused all the same.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.errors import ArgumentError
from slowwave.journal import Entry
from slowwave.journal.entry import EVERYBODY, GATE
from slowwave.journal.kinds.home import Gate
from slowwave.quality.gate_policy import source_name

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant
    from slowwave.quality.gate_policy import Trusted

TRUST, UNTRUST = "trust", "untrust"
_FORMS = ("vault:", "user:")
_LISTED = 10  # sources that an error names (count)


def trusted_sources(tenant: Tenant) -> list[Trusted]:
    """Return the sources that are trusted now, the newest rule first."""
    tenant.space.look_at_gate()
    rules = [
        rule
        for rule in tenant.space.gate_policy.trusted
        if rule.namespace == tenant.namespace and rule.until is None
    ]
    return sorted(rules, key=lambda rule: rule.since, reverse=True)


def known_sources(tenant: Tenant) -> set[str]:
    """Return the sources that notes of the namespace came from, and its watched vaults."""
    columns = ["origin", "principal"]
    rows = tenant.store.scan("memories", tenant.mine("true"), columns=columns).unique()
    held = tenant.store.read("quarantine", tenant.mine("true"), columns=["revision"])["revision"]
    entries = tenant.journal.entries({ids.event_of(revision) for revision in held})
    named = [*rows.iter_rows(), *((entry.origin, entry.principal) for entry in entries.values())]
    vaults = (vault.name for vault in tenant.journal.sources() if vault.namespace == tenant.namespace)
    return {source_name(*pair) for pair in named} | {source_name(name, "") for name in vaults}


def require_known(tenant: Tenant, source: str) -> None:
    """Require that a note or a vault of the namespace has a source.

    Raises:
        ArgumentError: None has it; names near ones, or all.
    """
    source, known = source.strip(), known_sources(tenant)
    if source in known or not source.startswith(_FORMS):  # `trust` refuses another form
        return
    near = get_close_matches(source, known, 3) or sorted(known)[:_LISTED]
    names = f"Known: {', '.join(near)}. " if near else ""
    raise ArgumentError(
        f"No note of namespace {tenant.namespace!r} is from {source!r}, so nothing was changed. {names}"
        f"Pass --yes to trust it before its first note."
    )


def trust(tenant: Tenant, source: str, *, why: str = "") -> bool:
    """Let in all further notes of a source; return whether that is new.

    Args:
        tenant: Namespace of the notes, and the person.
        source: ``vault:NAME`` or ``user:NAME``.
        why: Reason; it is recorded.

    Raises:
        ArgumentError: The source has another form.
    """
    return _set(tenant, source, why, trusted=True)


def untrust(tenant: Tenant, source: str, *, why: str = "") -> bool:
    """Judge a source's further notes again. Arguments, result and errors are as of `trust`."""
    return _set(tenant, source, why, trusted=False)


def _set(tenant: Tenant, source: str, why: str, *, trusted: bool) -> bool:
    source = source.strip()
    if not source.startswith(_FORMS) or source in _FORMS or not source.isprintable():
        raise ArgumentError(f"source = {source!r}: write vault:NAME or user:NAME.")
    space = tenant.space
    with space.writing():
        if trusted == any(rule.source == source for rule in trusted_sources(tenant)):
            return False
        payload = Gate(of=tenant.namespace, source=source, trusted=trusted)
        action = TRUST if trusted else UNTRUST
        entry = Entry(
            ids.new_event_id(), GATE, EVERYBODY, action, space.now(), tenant.principal,
            payload=payload | (Gate(why=why) if why else {}),
        )  # fmt: skip
        space.journal.append([entry])
        space.look_at_gate()
    return True
