"""Alerts: a warning in the log, and a message to a webhook if one is set."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

if TYPE_CHECKING:
    from slowwave.settings import Settings

LOG = logging.getLogger("slowwave.alerts")
TIMEOUT: Final = 10.0  # for the webhook to answer (seconds)
ATTEMPTS: Final = 2  # (count)
PAUSE = 1.0  # between attempts (seconds)
_SCHEMES: Final = ("http", "https")


class _NoRedirect(HTTPRedirectHandler):
    """Redirect handler that follows no redirect: a message goes to the configured address only."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401 - of no interest
        """Do not follow."""


def alert(
    settings: Settings, title: str, text: str, facts: Mapping[str, Any], *, timeout: float = TIMEOUT
) -> bool:  # fmt: skip
    """Log a warning and send it to the webhook of the settings; never raises because of the webhook.

    The message is JSON. ``text`` is title and text in one, as chat programs show it; ``title`` and ``facts``
    are for programs. A failure of the webhook is logged as an error.

    Args:
        title: Failure, in one line.
        text: Consequence, and what to do.
        facts: Details; values that JSON cannot represent become text.
        timeout: Per attempt (seconds).

    Returns:
        Whether the webhook accepted it.
    """
    details = ", ".join(f"{name}: {value}" for name, value in facts.items())
    LOG.warning("%s. %s%s", title, text, f" ({details})" if details else "")
    url = settings.alerts.webhook.strip()
    if not url:
        return False
    body = _message(title, text, facts)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE)
        try:
            _post(url, body, timeout)
        except (OSError, HTTPException, ValueError) as error:
            failure = error
        else:
            return True
    # The address may hold a secret: log its host only.
    LOG.error("The alert %r did not reach the webhook at %s: %s", title, _host(url), failure)
    return False


def _message(title: str, text: str, facts: Mapping[str, Any]) -> bytes:
    import orjson

    message = {"source": "slowwave", "title": title, "text": f"{title}\n{text}", "facts": dict(facts)}
    return orjson.dumps(message, default=str, option=orjson.OPT_NON_STR_KEYS)


def _post(url: str, body: bytes, timeout: float) -> None:
    if urlsplit(url).scheme.lower() not in _SCHEMES:
        raise ValueError("alerts.webhook must begin with http:// or https://")
    request = Request(  # noqa: S310 - the scheme was checked
        url, data=body, headers={"Content-Type": "application/json", "User-Agent": "slowwave"}, method="POST"
    )
    with build_opener(_NoRedirect).open(request, timeout=timeout):
        pass


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "nowhere"
    except ValueError:
        return "nowhere"
