"""Tokens for the page of a home, and a browser without a screen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from slowwave.serving.tokens import add_token
from slowwave.settings import load

_KEY = re.compile(r'name="csrf" value="([^"]+)"')
_UNDO = re.compile(r'name="undo" value="([^"]+)"')
TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there."
THURSDAY = TUESDAY.replace("Tuesday", "Thursday")
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
CHANGED = "It is changed by Ruaridh."
TOKENS = (
    ("claude", "ada", "assistant"),
    ("ida", "ada", "person"),
    ("bob", "bob", "person"),
    ("eve", "ada", "reader"),
)


def tokens_of(home: Path, model: str) -> dict[str, str]:
    """Settings of a home with a token each for an assistant and two people; the tokens by their names."""
    home.mkdir(exist_ok=True)
    (home / "slowwave.toml").write_text(f'namespace = "ada"\n[embedding]\nmodel = "{model}"\n')
    return {name: add_token(load(home), space, name, rights=rights) for name, space, rights in TOKENS}


@dataclass
class Visitor:
    """A browser."""

    client: Any
    offered: str = ""  # key of the last undo that a page offered

    def get(self, path: str, **more: Any) -> Any:
        """A page."""
        answer = self.client.get(path, **more)
        if offered := _UNDO.search(answer.text):
            self.offered = offered[1]
        return answer

    def text(self, path: str) -> str:
        """What a page has, where it is one."""
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.status_code, words(answer.text))
        return answer.text

    def words(self, path: str) -> str:
        """What a page says."""
        return words(self.text(path))

    def key(self) -> str:
        """The key that is in every form of this session."""
        found = _KEY.search(self.get("/nowhere").text)
        assert found
        return unescape(found[1])

    def post(self, path: str, **form: str) -> Any:
        """Send a form of this session."""
        return self.client.post(path, data={"csrf": self.key(), **form})

    def done(self, path: str, **form: str) -> str:
        """The same where it is to succeed; what the page says that one is then sent to."""
        answer = self.post(path, **form)
        assert answer.status_code == 303, (path, answer.status_code, words(answer.text))
        return self.words(answer.headers["location"].partition("#")[0])

    def undone(self, **form: str) -> str:
        """Take back the last bulk action; what the page says then."""
        return self.done("/memories/act", undo=self.offered, back="/memories", **form)

    def refused(self, path: str, status: int, **form: str) -> str:
        """The same where it is to fail; what the page says."""
        answer = self.post(path, **form)
        assert answer.status_code == status, (path, answer.status_code, words(answer.text))
        return words(answer.text)


def words(page: str) -> str:
    """What a page says, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
