"""Identifiers that exist nowhere: how often a search says so, and how often it says so wrongly.

    python bench/unknown.py [--data FOLDER ...] [--model NAME] [--count 300]

A home of notes of its own mentions an identifier in each note: tickets, invoices, orders, customers,
versions, commits, digests, serial numbers, hosts and vulnerabilities. Made-up identifiers of the same shapes
are asked for in questions, a third of them one character away from one that exists. Identifiers that exist
are asked for as they are written, and in another spelling. Each folder of ``--data`` is a collection in BEIR
form (LoCoMo), whose questions name no identifier that is missing.

``named`` is the share of questions after which something is said to be missing: to be 1 for the made-up ones
and 0 for all others. ``abstained`` is the trivial baseline: the search returns nothing.
"""

from __future__ import annotations

import random
import string
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from _data import labelled, space_of
from _report import bench, existing_folder, options, positive, report

import slowwave
from slowwave.settings import load
from slowwave.tuning import opened
from slowwave.views.terminal import bars

SHAPES = (
    "ticket",
    "invoice",
    "order",
    "customer",
    "version",
    "commit",
    "serial",
    "host",
    "vulnerability",
    "hash",
)
TEMPLATES = {
    "ticket": ("{} began with an expired certificate on the {}.", "What caused {}?"),
    "invoice": ("Invoice {} for the {} was paid after a reminder.", "Was invoice {} paid?"),
    "order": ("Order {} of a new {} was sent to the wrong address.", "Where was order {} sent?"),
    "customer": (
        "Customer {} wants letters on paper about the {}.",
        "How do we write to customer {}?",
    ),
    "version": ("Release {} repairs the import of the {}.", "What did we repair in {}?"),
    "commit": ("Commit {} takes the race out of the {}.", "What does commit {} change?"),
    "serial": ("The {1} with the serial number {0} went back to the maker.", "What became of {}?"),
    "host": ("The host {} runs the {} and is restarted on Mondays.", "When is {} restarted?"),
    "vulnerability": ("{} does not concern the {}, says the maker.", "Are we hit by {}?"),
    "hash": ("The image with the digest {} has the {} of last winter.", "What is in the image {}?"),
}
THINGS = (
    "mail gateway", "tide gauge", "billing service", "harbour crane", "weather station", "backup server",
    "ferry schedule", "radio mast", "login page", "pump house",
)  # fmt: skip
PREFIXES = ("INC", "OPS", "BUG", "HELP", "NET")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, nargs="*", default=[], help="folders of collections")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--cache", type=Path, help="keep the embedded collections here, for the next time")
    parser.add_argument("--count", type=positive, default=300, help="identifiers of each kind")
    arguments = parser.parse_args(argv)
    rows = measure(arguments.model, arguments.count)
    for folder in arguments.data:
        collection = labelled(folder)
        with bars(), opened(collection, arguments.model, cache=arguments.cache) as spaces:
            asked = [
                (spaces[space_of(query)], str(query["text"]))
                for query in collection.queries
                if space_of(query) in spaces
            ]
            rows.append(row(f"{folder.name}, all questions", asked))
    report("unknown", rows, note=f"{arguments.count} identifiers of each kind; {arguments.model}")


def measure(model: str, count: int) -> list[dict[str, Any]]:
    """Ask a home of notes for identifiers that it has, and for others."""
    sample = random.Random(0)
    existing = list(made(sample, count))
    taken = {identifier for _, identifier in existing}
    others: list[tuple[str, str]] = []
    tries = 0
    while len(others) < count:
        shape, near = existing[len(others)]
        tries += 1
        identifier = changed(sample, near) if tries % 3 == 0 else one(sample, shape)
        # A version of an existing series, or what another one begins with, is no unknown identifier.
        if not any(identifier in other or other in identifier for other in taken):
            taken.add(identifier)
            others.append((shape, identifier))
    with tempfile.TemporaryDirectory() as folder:
        groups: dict[str, Any] = {"embedding": {"model": model}, "gate": {"mode": "off"}}
        with slowwave.Memory(load(Path(folder), **groups), namespace="default") as memory:
            memory.save_many([
                {"content": TEMPLATES[shape][0].format(text, sample.choice(THINGS)), "key": f"note {at}"}
                for at, (shape, text) in enumerate(existing)
            ])  # fmt: skip
            asked = {
                "made up": others,
                "existing, as written": existing,
                "existing, spelled otherwise": [(shape, respelled(text)) for shape, text in existing],
            }
            return [
                row(kind, [(memory, TEMPLATES[shape][1].format(text)) for shape, text in some])
                for kind, some in asked.items()
            ]


def row(kind: str, asked: Sequence[tuple[slowwave.Memory, str]]) -> dict[str, Any]:
    """Search for each question."""
    found = [memory.search(question, limit=5, log=False) for memory, question in asked]
    named = sum(bool(response.unknown) for response in found)
    return {
        "questions": kind,
        "count": len(found),
        "named": round(named / len(found), 4),
        "abstained": round(sum(response.abstained for response in found) / len(found), 4),
        "named_count": named,
    }


def made(sample: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Identifiers of each shape in turn, none twice."""
    seen: set[str] = set()
    while len(seen) < count:
        shape = SHAPES[len(seen) % len(SHAPES)]
        identifier = one(sample, shape)
        if identifier not in seen:
            seen.add(identifier)
            yield shape, identifier


def one(sample: random.Random, shape: str) -> str:
    """An identifier of a shape."""
    digits = sample.randint
    if shape == "ticket":
        return f"{sample.choice(PREFIXES)}-{digits(10, 99_999)}"
    if shape == "invoice":
        return str(digits(2_101, 9_999))
    if shape == "order":
        return f"ORD{digits(10_000, 99_999)}"
    if shape == "customer":
        return str(digits(10_001, 99_999))
    if shape == "version":
        return f"v{digits(0, 9)}.{digits(0, 30)}.{digits(0, 30)}"
    if shape == "host":
        return (
            f"{sample.choice(('srv', 'db', 'edge'))}-{sample.choice(('eu', 'us', 'lab'))}-{digits(1, 99):02}"
        )
    if shape == "vulnerability":
        return f"CVE-{digits(2015, 2026)}-{digits(1_000, 60_000)}"
    if shape == "serial":
        letters = "".join(sample.choices(string.ascii_uppercase, k=2))
        return f"{letters}{digits(100, 999)}{sample.choice(string.ascii_uppercase)}{digits(10, 99)}"
    size = 7 if shape == "commit" else 64
    return "".join([sample.choice("123456789"), "e", *sample.choices("0123456789abcdef", k=size - 2)])


def changed(sample: random.Random, identifier: str) -> str:
    """An identifier with another last digit, or letter of a hash."""
    options_ = set(string.digits) - {identifier[-1]}
    return identifier[:-1] + sample.choice(sorted(options_))


def respelled(identifier: str) -> str:
    """The identifier in lower or upper case, without its hyphens or with a space for the last."""
    if identifier.startswith("v"):
        return f"version {identifier[1:]}"
    head, hyphen, last = identifier.rpartition("-")
    if hyphen:
        return f"{head} {last}" if head.isupper() else f"{head}_{last}".upper()
    return identifier.lower() if identifier.lower() != identifier else identifier.upper()


if __name__ == "__main__":
    main()
