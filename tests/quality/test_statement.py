from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.statement import is_drummed, only_asks, states_something

FACTS = """
Only Ada may open the vault.
Close the archive at six unless it is Friday.
Andrew does not currently have any pets.
User prefers tabs over spaces in Python code.
we deploy on Thursdays at 14:00 now
prefers tabs over spaces
API key rotation: every 90 days
Bo's birthday: 3 May
wifi: hunter2
PIN 4711
I'm vegan
My name is Bo
No pets.
A man is dancing.
git push --force-with-lease
kubectl rollout restart deploy/api
https://wiki.example/rota
bo@example.com
Ich bin Vegetarier
Vivo en Madrid
Я веган
قطتي اسمها لولو
저는 채식주의자입니다
我吃素
妈妈生日五月三日
WiFi密码：hunter2
東京に住んでいる
ผมแพ้ถั่ว
""".strip().splitlines()

TALK = """
ok
lol
x
...
👍
12345
asdf
qwerty uiop
fghjk dfghj
xxxxxx
TODO
thanks!
test test
testing 123
foo bar
hello there
let me know
Yes, sure.
sounds good to me
great, talk to you later!
I don't know
I agree
danke schön
merci beaucoup
muchas gracias
спасибо большое
شكرا جزيلا
네 알겠습니다
好的
收到，谢谢
测试测试
ありがとうございます
了解です
ขอบคุณครับ
""".strip().splitlines()


@pytest.mark.parametrize("text", FACTS)
def test_a_short_fact_states_something(text):
    assert states_something(text)


@pytest.mark.parametrize("text", TALK)
def test_talk_and_tests_state_nothing_whatever_the_title(text):
    assert not states_something(text)


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("How do I reset a Bosch dishwasher?", True),
        ("How do I reset it? It is a Bosch SMV4.", False),
        ("Is version 3.5 out? And *what* is new in it?**", True),
        ("“When do we deploy?”", True),
        ("怎么重置洗碗机？", True),
        ("我住在里斯本。怎么重置洗碗机？", False),
        ("We deploy on Thursday.\nIs that right?", False),
        ("Was it Mr. Smith?", False),  # in doubt it says something
        ("We deploy on Thursday", False),
        ("?", True),
        ("", False),
    ],
)
def test_a_text_that_only_asks(text, only):
    assert only_asks(text) is only


@pytest.mark.parametrize("text", [None, "", " \n", "\u200b", "!?", "---"])
def test_no_text_states_nothing_under_any_title(text):
    assert not states_something(text)
    assert not states_something(text, title="When the team of the north pier deploys")


def test_under_a_title_a_value_is_enough_and_talk_is_not():
    assert not states_something("3 May")
    assert states_something("3 May", title="Bo's birthday")
    assert states_something("Thursday", title="Deploy day")
    for talk in ("ok", "thanks!", "asdf", "好的", "let me know"):
        assert not states_something(talk, title="When the team of the north pier deploys"), talk


@given(st.sampled_from([*FACTS, *TALK]) | st.text(max_size=60), st.text(max_size=20))
def test_a_title_never_takes_a_statement_away(text, title):
    assert states_something(text, title=title) >= states_something(text)


@pytest.mark.parametrize(
    "word", ["aaaa", "asdf", "qwerty", "lkj", "dfgdfg", "hjkl", "йцук", "xyxyxy", "sdfgh"]
)
def test_drummed_words(word):
    assert is_drummed(word)


@pytest.mark.parametrize("word", ["tree", "root", "mama", "water", "nginx", "html", "strength", "Ada", "a1"])
def test_words_are_no_drumming(word):
    assert not is_drummed(word)
