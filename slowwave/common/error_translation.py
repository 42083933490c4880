"""Where calls come in and errors go out: what a library or the system says becomes an error for a person.

Every public call, every tool and every command runs inside :func:`boundary`. It knows whether the call has
put anything into the journal, so an error can say so.
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
_LAST_WORDS = 200  # characters of an object store's, whose cause stands at their end
_MOST_WORDS = 300  # characters of a library's own words in an error
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
        "The disk is full, or a limit of the size of files is reached: free some space and try again",
    ),
    (
        frozenset({errno.EROFS, errno.EACCES, errno.EPERM}),
        ("read-only", "readonly", "permission denied", "not permitted"),
        "It may not be read or written: check who owns the home and its files, and how its disk is mounted",
    ),
    (
        frozenset({errno.EMFILE, errno.ENFILE}),
        ("too many open files",),
        "Too few files may be open at once: raise the limit (ulimit -n 1024) and try again",
    ),
    (
        frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST}),
        ("not a directory", "is a directory"),
        "A file is where a folder should be, or the other way round: give another path",
    ),
    (frozenset({errno.ENAMETOOLONG}), ("name too long",), "Give a shorter path"),
    (frozenset({errno.ENOENT}), ("not found", "no such file"), "`slowwave doctor` says what is missing"),
    (frozenset({errno.EINVAL}), (), "Give another path or value"),
)


def journalled(acts: int) -> None:
    """Note that acts of the present call are in the journal; the journal says so."""
    if (count := _JOURNALLED.get()) is not None:
        count[0] += acts


@contextmanager
def boundary(*, own: bool = False) -> Iterator[None]:
    """Errors of the store's and the system's libraries leave this block as errors for people.

    Args:
        own: this is a call of its own, as each request of a server is: what was put into the journal around
            it is not its.

    Raises:
        TakenInLaterError: the tables could not be written, and what was to be done is in the journal.
        StoreError: they could not be read or written, and it is not.
    """
    outer = _JOURNALLED.get()
    count = [0] if own or outer is None else outer
    token = _JOURNALLED.set(count)
    try:
        yield
    except BaseException as error:
        told = message_of(error, count[0])
        if told is error or told is None:
            raise
        raise told from error
    finally:
        _JOURNALLED.reset(token)


def message_of(error: BaseException, acts: int) -> BaseException | None:
    """The error for a person that says what happened; None for a fault of the program itself.

    Args:
        error: as it was raised.
        acts: of the call that are in the journal (count).
    """
    if isinstance(error, ArgumentError | TakenInLaterError | JournalEntryError | JournalConflictError):
        return error
    if isinstance(error, SlowwaveError):
        # Raised by what failed after the act was written; what was wrong with the act was said before.
        if acts and isinstance(error, StoreError | JournalError | ModelError | EngineError):
            return TakenInLaterError(f"{sentence(str(error))} {_later(acts)}")
        return error
    if not _is_foreign(error):
        return None
    words = _words(error)
    if acts:
        return TakenInLaterError(f"{words} {_later(acts)}")
    return StoreError(f"{words} Nothing of this was written to the journal.")


class PanicError(RuntimeError):
    """A library gave up in the middle of its work."""


def is_panic(error: BaseException) -> bool:
    """Whether a library that is written in Rust gave up (it raises no `Exception` then)."""
    return type(error).__name__ == "PanicException"


def without_panic(error: BaseException) -> BaseException:
    """The error that a library raised, as one that can be caught like others where it is a panic."""
    return PanicError(f"A library gave up: {error}") if is_panic(error) else error


def _is_foreign(error: BaseException) -> bool:
    """Whether it comes from the system or from a library that keeps data."""
    if is_panic(error) or isinstance(error, PanicError):
        return True
    if isinstance(error, OSError):
        return not isinstance(error, BrokenPipeError)
    if type(error).__module__.partition(".")[0].lstrip("_") in _LIBRARIES:
        return True
    return type(error) in (RuntimeError, ValueError) and bool(_LANCE.search(str(error)))


def _words(error: BaseException) -> str:
    said = " ".join(_NOISE.sub("", str(getattr(error, "orig", None) or error)).split())
    if (store := _OBJECT_STORE.search(said)) is not None:
        theirs = without_passwords(said[store.start() :])
        told = advice_of(theirs) or "it does not do what it is asked"
        return (
            f"The tables in the object store ({without_passwords(store.group(1))}): {told}. Where they are "
            f"is said by store.uri and store.storage_options, or by SLOWWAVE_STORE__URI and AWS_… variables. "
            f"({theirs[-_LAST_WORDS:]})"
        )
    said = said if len(said) <= _MOST_WORDS else f"{said[:_MOST_WORDS]}…"
    code = error.errno if isinstance(error, OSError) else None
    if code is None and (named := _OS_ERROR.search(str(error))):
        code = int(named.group(1))
    for codes, marks, advice in _ADVICE:
        if code in codes or any(mark in said.lower() for mark in marks):
            return f"{sentence(said or os.strerror(code or 0))} {advice}."
    return f"{sentence(said or type(error).__name__)} `slowwave doctor` looks for what is wrong."


def sentence(words: str) -> str:
    """Words that end as a sentence does, before others follow."""
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _later(acts: int) -> str:
    if acts == 1:
        return "It is in the journal: `slowwave night` takes it in."
    return f"{acts:,} acts are in the journal: `slowwave night` takes them in."


def api_call(call: Callable[P, R]) -> Callable[P, R]:
    """The call with its arguments checked, inside the boundary."""
    signature = inspect.signature(call)

    @functools.wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return call(*args, **kwargs)  # Python's own words for arguments that are too many or not known
        with boundary():
            check(call, bound.arguments)
            return call(*args, **kwargs)

    return checked


def api_calls(cls: C) -> C:
    """Make every public method of a class, and its making, a :func:`public` call."""
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, api_call(member))
    return cls
