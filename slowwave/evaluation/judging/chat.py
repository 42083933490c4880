"""Language-model judge behind an OpenAI-compatible chat completions API."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from slowwave.evaluation.judging.model import Grade, JudgeError, Pair
from slowwave.evaluation.judging.prompt import PROMPT_HASH, messages, read_answer

if TYPE_CHECKING:
    from openai import OpenAI

    from slowwave.settings import JudgeSettings

MAX_ANSWER = 300
"""Maximum tokens of an answer."""

_BYTES_PER_TOKEN = 2  # an estimate from above: English has about 4, Japanese 3
_OVERHEAD = 20  # tokens around the messages


class ChatJudge:
    """Judge that asks a language model, one pair per request, at temperature 0.

    The client retries transient failures (no connection, a timeout, 408, 409, 429, 5xx) with growing pauses,
    as often as the settings say.

    Args:
        settings: Model, address, credentials, retries.

    Raises:
        JudgeError: the settings name no model, the client is not installed, or the key is missing.
    """

    version = "1"
    remote = True
    batch = 1

    def __init__(self, settings: JudgeSettings) -> None:
        if not settings.model:
            raise JudgeError("judge.kind is openai and judge.model is empty. Set it to the name of a model.")
        self.name = f"openai:{settings.model}"
        self.model = settings.model
        self.prompt_hash = PROMPT_HASH
        self._client = _client(settings)

    def cost(self, pair: Pair) -> int:
        """Estimate the tokens of the request by its length, plus the longest answer."""
        size = sum(len(message["content"].encode(errors="replace")) for message in messages(pair))
        return size // _BYTES_PER_TOKEN + _OVERHEAD + MAX_ANSWER

    def grade(self, pairs: Sequence[Pair]) -> list[Grade]:
        """Return the grades of the pairs; a failed request or invalid answer has a problem instead."""
        return [self._grade(pair) for pair in pairs]

    def _grade(self, pair: Pair) -> Grade:
        import openai

        try:
            answer: Any = self._client.chat.completions.create(
                model=self.model,
                messages=messages(pair),  # type: ignore[arg-type]
                temperature=0,
                max_tokens=MAX_ANSWER,
            )
        except (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError) as error:
            raise JudgeError(
                f"The judge {self.name} refuses every request ({error.status_code}: {_reason(error)}). See "
                f"judge.model, judge.base_url and the variable that judge.credential_variable names."
            ) from error
        except openai.APITimeoutError:
            # The server may bill it all the same.
            return Grade(None, problem="no answer in time", tokens=self.cost(pair), answered=False)
        except openai.APIStatusError as error:
            unreachable = error.status_code >= 500 or error.status_code == 429
            return Grade(None, problem=f"{error.status_code}: {_reason(error)}", answered=not unreachable)
        except (openai.OpenAIError, ValueError) as error:
            return Grade(None, problem=_reason(error), answered=False)
        return _read(answer, self.cost(pair))


def _read(answer: Any, cost: int) -> Grade:  # noqa: ANN401 - whatever a server says
    """Parse the grade of a completion, whose form is unchecked."""
    used = getattr(getattr(answer, "usage", None), "total_tokens", None)
    tokens = used if isinstance(used, int) and used >= 0 else cost
    try:
        content = answer.choices[0].message.content
    except (AttributeError, IndexError, TypeError):
        return Grade(None, problem="the answer is no chat completion", tokens=tokens)
    if not isinstance(content, str):
        return Grade(None, problem="the answer is empty", tokens=tokens)
    return read_answer(content, tokens)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _client(settings: JudgeSettings) -> OpenAI:
    try:
        from openai import OpenAI
    except ImportError as error:
        raise JudgeError(
            f"judge.kind is openai and its client is missing ({error}): pip install '.[judge]' in its folder."
        ) from error
    credential = os.environ.get(settings.credential_variable, "")
    if not credential and not settings.base_url:
        raise JudgeError(
            f"The environment variable {settings.credential_variable} is empty, and judge.base_url is "
            f"not set. Put the API key into that variable, or set judge.base_url."
        )
    return OpenAI(
        api_key=credential or "none",  # local servers often need none
        base_url=settings.base_url or None,
        timeout=settings.timeout_seconds,
        max_retries=settings.retries,
    )
