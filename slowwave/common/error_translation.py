"""Translation of library and system errors for a person, at each call's boundary.

Every public call, tool and command runs inside :func:`boundary`. It knows whether the call has appended
anything to the journal, so an error can say so.
"""

from __future__ import annotations

import errno
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from slowwave.common.arguments import check
from slowwave.common.object_stores import advice_of
from slowwave.common.passwords import without_passwords
from slowwave.errors import (
    ArgumentError,
    EngineError,
    JournalConflictError,
    JournalEntryError,
    JournalError,
    ModelError,
    SlowwaveError,
    StoreError,
    TakenInLaterError,
)

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

_JOURNALLED: ContextVar[list[int] | None] = ContextVar("slowwave_journalled", default=None)
_MAX_STORE_CHARACTERS = 200  # of an object store's error, from its end, where the cause is
_MAX_CHARACTERS = 300  # of a library's own message in an error
_LIBRARIES = frozenset({"lance", "lancedb", "pyarrow", "sqlalchemy", "sqlite3", "duckdb", "psycopg"})
_LANCE = re.compile(
    r"lance|arrow error|object.?store|table '[^']*' was not found|os error \d+", re.IGNORECASE
)
_OBJECT_STORE = re.compile(
    r"""(?:store: "|Generic )(?:S3|GCS|MicrosoftAzure)\b.*?((?:https?|s3|gs|az)://[^\s?)]+)"""
)
_OS_ERROR = re.compile(r"os error (\d+)", re.IGNORECASE)
_NOISE = re.compile(r",? ?/\S*\.rs:\d+:\d+.*|\(Background on this error at:.*", re.DOTALL)

_ADVICE: tuple[tuple[frozenset[int], tuple[str, ...], str], ...] = (
    (
        frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT}),
        ("no space", "disk is full", "file too large", "quota"),
        "The disk is full, or a file size limit is reached: free some space and try again",
    ),
    (
        frozenset({errno.EROFS, errno.EACCES, errno.EPERM}),
        ("read-only", "readonly", "permission denied", "not permitted"),
        "Permission denied: check the owner of the home and its files, and how its disk is mounted",
    ),
    (
        frozenset({errno.EMFILE, errno.ENFILE}),
        ("too many open files",),
        "The limit of open files is too low: raise it (ulimit -n 1024) and try again",
    ),
    (
        frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST}),
        ("not a directory", "is a directory"),
        "A file is in place of a folder, or the reverse: give another path",
    ),
    (frozenset({errno.ENAMETOOLONG}), ("name too long",), "Give a shorter path"),
    (
        frozenset({errno.ENOENT}),
        ("not found", "no such file"),
        "Run `slowwave doctor` to see what is missing",
    ),
    (frozenset({errno.EINVAL}), (), "Give another path or value"),
)


def journalled(acts: int) -> None:
    """Count events of the current call that are in the journal; called by the journal."""
    if (count := _JOURNALLED.get()) is not None:
        count[0] += acts


@contextmanager
def boundary(*, own: bool = False) -> Iterator[None]:
    """Translate errors of storage and system libraries that leave this block.

    Args:
        own: Count events of this block only, not those of an outer call; for each request of a server.

    Raises:
        TakenInLaterError: The tables could not be written, but the event is in the journal.
        StoreError: They could not be read or written, and no event is in the journal.
    """
    outer = _JOURNALLED.get()
    count = [0] if own or outer is None else outer
    token = _JOURNALLED.set(count)
    try:
        yield
    except BaseException as error:
        translated = message_of(error, count[0])
        if translated is error or translated is None:
            raise
        raise translated from error
    finally:
        _JOURNALLED.reset(token)


def message_of(error: BaseException, acts: int) -> BaseException | None:
    """Return the error for a person; None for a bug of the program itself.

    Args:
        error: As raised.
        acts: Events of the call that are in the journal (count).
    """
    if isinstance(error, ArgumentError | TakenInLaterError | JournalEntryError | JournalConflictError):
        return error
    if isinstance(error, SlowwaveError):
        # These failed after the event was written. Faults of the event itself are raised before.
        if acts and isinstance(error, StoreError | JournalError | ModelError | EngineError):
            return TakenInLaterError(f"{sentence(str(error))} {_later(acts)}")
        return error
    if not _is_foreign(error):
        return None
    message = _message(error)
    if acts:
        return TakenInLaterError(f"{message} {_later(acts)}")
    return StoreError(f"{message} Nothing was written to the journal.")


class PanicError(RuntimeError):
    """Error for a panic in a library."""


def is_panic(error: BaseException) -> bool:
    """Whether the error is a panic of a Rust library (which is no `Exception`)."""
    return type(error).__name__ == "PanicException"


def without_panic(error: BaseException) -> BaseException:
    """Convert a panic to an ordinary exception; other errors stay."""
    return PanicError(f"A library panicked: {error}") if is_panic(error) else error


def _is_foreign(error: BaseException) -> bool:
    """Whether the error comes from the system or a storage library."""
    if is_panic(error) or isinstance(error, PanicError):
        return True
    if isinstance(error, OSError):
        return not isinstance(error, BrokenPipeError)
    if type(error).__module__.partition(".")[0].lstrip("_") in _LIBRARIES:
        return True
    return type(error) in (RuntimeError, ValueError) and bool(_LANCE.search(str(error)))


def _message(error: BaseException) -> str:
    text = " ".join(_NOISE.sub("", str(getattr(error, "orig", None) or error)).split())
    if (store := _OBJECT_STORE.search(text)) is not None:
        details = without_passwords(text[store.start() :])
        advice = advice_of(details) or "it refused the request"
        return (
            f"The tables in the object store ({without_passwords(store.group(1))}): {advice}. Check "
            f"store.uri and store.storage_options, or the variables SLOWWAVE_STORE__URI and AWS_…. "
            f"({details[-_MAX_STORE_CHARACTERS:]})"
        )
    text = text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
    code = error.errno if isinstance(error, OSError) else None
    if code is None and (named := _OS_ERROR.search(str(error))):
        code = int(named.group(1))
    for codes, marks, advice in _ADVICE:
        if code in codes or any(mark in text.lower() for mark in marks):
            return f"{sentence(text or os.strerror(code or 0))} {advice}."
    return f"{sentence(text or type(error).__name__)} Run `slowwave doctor` to find the cause."


def sentence(words: str) -> str:
    """Add a full stop if the text has no end mark."""
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _later(acts: int) -> str:
    if acts == 1:
        return "The event is in the journal: `slowwave night` applies it."
    return f"{acts:,} events are in the journal: `slowwave night` applies them."


def api_call(call: Callable[P, R]) -> Callable[P, R]:
    """Wrap a call with argument checks and the boundary."""
    signature = inspect.signature(call)

    @functools.wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return call(*args, **kwargs)  # Python's own message for surplus or unknown arguments
        with boundary():
            check(call, bound.arguments)
            return call(*args, **kwargs)

    return checked


def api_calls(cls: C) -> C:
    """Wrap every public method and the constructor of a class with :func:`api_call`."""
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, api_call(member))
    return cls
