from __future__ import annotations

import random

import pytest

from slowwave.quality.density.letter_pairs import likeness

WORDS = (
    "krzysztof brzęczyszczykiewicz lives in łękołody", "tmux zsh nvim fzf ripgrep jq yq direnv mise",
    "kubectl rollout restart deploy pgbouncer xrdp nvcc", "wode shouji mima zai lanse hezi li",
    "pump põhjapoolsel kail hooldati märtsis", "насос на північному пірсі відремонтували у березні",
    "το ραντεβού με τον λογιστή είναι στις έντεκα",
)  # fmt: skip


@pytest.mark.parametrize("text", WORDS)
def test_words_names_and_commands_are_like_words(text: str) -> None:
    found = likeness(text.split())
    assert found is not None
    assert found > -0.55


@pytest.mark.parametrize("alphabet", ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя"])
def test_random_letters_are_not(alphabet: str) -> None:
    rng = random.Random(0)
    texts = [["".join(rng.choices(alphabet, k=7)) for _ in range(8)] for _ in range(200)]
    found = [likeness(words) for words in texts]
    assert sum(value is not None and value < -0.75 for value in found) >= 190


@pytest.mark.parametrize(
    "text",
    ["", "a pump", "水泵三月份检修过之后一直以半速运行", "தமிழ் மொழி", "\ud800" * 40],
)
def test_few_letters_and_other_scripts_are_not_judged(text: str) -> None:
    assert likeness(text.split()) is None
