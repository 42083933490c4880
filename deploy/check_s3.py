"""Ask an S3 server what tables need of it: of several that create one object at once, one may succeed.

It reads SLOWWAVE_STORE__URI and SLOWWAVE_STORE__STORAGE_OPTIONS, and leaves nothing in the bucket. Exit code
1: put no memory there, since of two that write at once one could be lost.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

from obstore.exceptions import AlreadyExistsError
from obstore.store import from_url

WRITERS = 8  # at once
ROUNDS = 10


def winners(store, key: str) -> int:  # noqa: ANN001 - any of obstore's
    """How many of several writers were told that they had created an object."""

    def create(number: int) -> bool:
        try:
            store.put(key, b"%d" % number, mode="create")
        except AlreadyExistsError:
            return False
        return True

    with ThreadPoolExecutor(WRITERS) as pool:
        return sum(pool.map(create, range(WRITERS)))


def main() -> int:
    """Try some objects; 0 where each was created once."""
    uri = os.environ["SLOWWAVE_STORE__URI"]
    options = json.loads(os.environ.get("SLOWWAVE_STORE__STORAGE_OPTIONS") or "{}")
    store = from_url(uri, config={k: v for k, v in options.items() if k != "allow_http"},
                     client_options={"allow_http": options.get("allow_http") == "true"})  # fmt: skip
    counts = []
    for _ in range(ROUNDS):
        key = f"check-{uuid.uuid4().hex}"
        try:
            counts.append(winners(store, key))
        finally:
            store.delete(key)
    if set(counts) != {1}:
        print(
            f"{uri}: of {WRITERS} writers at once {max(counts)} made the same object. Use another S3 server."
        )
        return 1
    print(f"{uri}: {ROUNDS} objects, each created once by {WRITERS} writers at once.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
