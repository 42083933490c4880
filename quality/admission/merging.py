"""One text with what another adds to it (rule 2.2, merge)."""

from __future__ import annotations


def merge_lines(content: str, addition: str) -> tuple[str, tuple[str, ...]]:
    """The content with the lines of `addition` that it lacks, and these lines (rule 2.2, merge)."""
    present = {line.strip() for line in content.split("\n")}
    fresh = []
    for line in addition.split("\n"):
        bare = line.strip()
        if bare and bare not in present:
            present.add(bare)
            fresh.append(line.rstrip())
    return ("\n".join([content.rstrip("\n"), *fresh]) if fresh else content), tuple(fresh)
