"""Loading of the configured judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.evaluation.judging.model import Judge, JudgeError

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def load_judge(space: Workspace) -> Judge:
    """Return the configured judge; models are loaded with the first pair.

    Raises:
        JudgeError: off, or not set up.
        ModelError: files of the bundled cross-encoder are missing.
    """
    settings = space.settings.judge
    if settings.kind == "off":
        raise JudgeError('The judge is off. Set judge.kind to "default" or "openai".')
    if settings.kind == "openai":
        from slowwave.evaluation.judging.chat import ChatJudge

        return ChatJudge(settings)
    from slowwave.evaluation.judging.default_judge import WordsAndModel

    return WordsAndModel(space.reranker)
