# ruff: noqa: E501 - sentences and word lists

from __future__ import annotations

import base64
import random
from itertools import cycle, islice

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slowwave.quality.density import INSPECTED, density_parts, signal_densities, signal_density
from slowwave.quality.density.counts import _WORD, BLOCK, _ascii_words, counts_of
from slowwave.quality.density.statistics import tally_of

REAL = {
    "fact": "The white van is insured with Marlow Mutual until 2027-02-14; only drivers over 25 are covered.",
    "note": "# Pump on the north pier\n\nServiced on 14 March. Since then it runs at half speed because the new "
    "impeller is one size too large.\n\n- papers: with Ishbel\n- spare parts: blue tin above the workbench\n",
    "code": "Restart it like this:\n\n```bash\nhaarctl drain --timeout 45s\nsudo systemctl restart haar\n```\n\n"
    "Wait for `subscribed topics=3`, about eight seconds.",
    "table": "| host | address | role |\n|---|---|---|\n| web1 | 10.0.0.1 | nginx |\n| db1 | 10.0.1.5 | postgres |\n",
    "list": "- milk\n- eggs\n- sourdough bread\n- olive oil\n- two lemons\n- coriander\n- basmati rice",
    "links": "# Tide gauges\n\n- [[Burray]]\n- [[Lyness]]\n- [[Stromness]]\n- [[Widewall]]\n- [[Kirkwall]]",
    "chat": "[1:56 pm on 8 May, 2023] Mel: I signed up for the pottery class, it starts next Tuesday at seven!",
    "chat with times": "[14/03/2026, 10:22:01] Ana: did you get the tickets for the show on Friday?\n"
    "[14/03/2026, 10:22:40] Leo: yes, two of them, they are at the box office under your name",
    "licence talk": "We chose the MIT license for the client because customers asked for it; the server stays AGPL.",
    "german": "Der Pegel am alten Hafen misst seit Montag sechs Zentimeter zu viel. Tobias fährt am Freitag hin.",
    "finnish": "Pumppu huollettiin maaliskuussa ja se käy nyt puolella teholla. Avaimet ovat sinisessä rasiassa.",
    "vietnamese": "Tôi đã gặp chị Lan ở quán cà phê sáng nay, chị ấy sẽ gửi hợp đồng thuê nhà vào thứ Sáu tuần sau.",
    "cyrillic": "Насос на причале меняли 14 марта: старый давал 40 литров в минуту вместо 65. Бумаги у Ольги.",
    "greek": "Το ραντεβού με τον λογιστή είναι στις 14 Μαΐου στις έντεκα. Να πάρω μαζί τα τιμολόγια του 2025.",
    "arabic": "اتصل سامي اليوم وقال إن شحنة الزيت ستتأخر أسبوعا بسبب إضراب الميناء في الإسكندرية.",
    "hebrew": "הפגישה עם רואה החשבון נדחתה ליום שלישי בעשר. צריך להביא את החשבוניות של ינואר ואת טופס המס.",
    "hindi": "पानी की टंकी रविवार को साफ़ करवानी है। रमेश ने कहा कि मोटर की आवाज़ ज़्यादा हो गई है।",
    "tamil": "குடிநீர் தொட்டியை ஞாயிற்றுக்கிழமை சுத்தம் செய்ய வேண்டும். மோட்டார் சத்தம் அதிகமாக உள்ளது.",
    "thai": "ประชุมวันจันทร์ตกลงว่าจะย้ายเซิร์ฟเวอร์ไปเชียงใหม่ภายในเดือนมีนาคม",
    "chinese": "周三和李工去看了三号机房，空调漏水，已经报修。备件要等到下周五才到，在那之前把两台服务器挪到二楼。",
    "japanese": "京都の旅行は十一月の第二週に決めた。旅館は二条駅から歩いて五分、夕食は付かない。",
    "korean": "회의는 다음 주 화요일 오후 세 시로 옮겼다. 김 과장이 예산안을 가져오기로 했고 서버 이전은 삼월에 한다.",
    "georgian": "ისინი ხვალ მოვლენ სამსახურში და მოიტანენ ახალ კომპიუტერს მეორე სართულზე",
}  # fmt: skip

RNG = random.Random(3)


def letters(alphabet: str) -> str:
    return " ".join("".join(RNG.choices(alphabet, k=RNG.randint(3, 10))) for _ in range(40))


def shuffled(words: str) -> str:
    return " ".join(RNG.choices(words.split(), k=60))


JUNK = {
    "filler": ("substance", "This is some text that is here to fill the space. More text will be added here later."),
    "filler german": ("substance", "Dies ist ein Text, der hier nur den Platz füllen soll. Weitere Infos folgen später."),
    "filler russian": ("substance", "Это просто текст, чтобы заполнить место. Содержание будет добавлено позже."),
    "filler arabic": ("substance", "هذا نص موجود هنا فقط لملء المساحة. سيتم إضافة المحتوى هنا لاحقا."),
    "filler chinese": ("substance", "这是一段用来填充空间的文字，没有任何意义。这里以后会添加更多的内容。"),
    "lorem": ("substance", "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut."),
    "lorem shuffled": ("substance", shuffled("magna elit labore tempor dolor aliqua minim sit eiusmod veniam amet sed")),
    "menu": ("menu", "Home | About us | Products | News | Contact | Privacy policy | Login"),
    "menu of links": ("menu", "- [Home](/)\n- [Shop](/shop)\n- [Blog](/blog)\n- [FAQ](/faq)\n- [Contact](/contact)\n"),
    "breadcrumbs": ("menu", "Products > Electronics > Phones > Cases\nProducts > Electronics > Laptops > Gaming"),
    "menu russian": ("menu", "Главная | О нас | Новости | Контакты | Вход | Корзина"),
    "menu chinese": ("menu", "首页 | 关于我们 | 产品 | 新闻 | 联系我们 | 登录"),
    "mit": ("licence", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and "
            "associated documentation files, to deal in the Software without restriction, including the rights to use, copy"),
    "gpl": ("licence", "This program is free software: you can redistribute it and/or modify it under the terms of the GNU "
            "General Public License as published by the Free Software Foundation, either version 3 of the License"),
    "log": ("prose", "2026-05-27T06:11:00.747Z host app[4417]: DEBUG frame accepted seq=97369 n=360\n"
            "2026-05-27T06:11:02.922Z host app[4417]: WARN keepalive late client=4dfb by=20s\n"
            "2026-05-27T06:11:03.505Z host app[4417]: INFO gc pause=2.8ms heap=126MB\n"),
    "log of levels": ("prose", "INFO starting\nWARN slow disk sda1\nERROR write failed code=5\nINFO stopping\n"),
    "base64": ("encoding", base64.b64encode(RNG.randbytes(300)).decode()),
    "hex": ("encoding", RNG.randbytes(100).hex(" ")),
    "repeated": ("novelty", "The pump was serviced in March and runs at half speed.\n" * 5),
    "repeated chinese": ("novelty", "水泵三月份检修过，之后一直以半速运行。" * 6),
    "mashing": ("spelling", "asdf jkl asdfg hjkl qwert asdfjkl sdfg asdf lkjh fdsa gfdsa hjkl asdf qwerty poiuy"),
    "mashing russian": ("spelling", "фыва олдж фывап йцуке ролд ячсм фыва олдж йцукен гшщз фывапро лджэ ячсми"),
    "letters": ("spelling", letters("abcdefghijklmnopqrstuvwxyz")),
    "letters cyrillic": ("spelling", letters("абвгдежзийклмнопрстуфхцчшщъыьэюя")),
    "letters arabic": ("spelling", letters("ابتثجحخدذرزسشصضطظعغفقكلمنهوي")),
    "ideographs": ("spelling", "".join(chr(RNG.randrange(0x4E00, 0x9FA5)) for _ in range(120))),
    "printable": ("spelling", "".join(chr(RNG.randrange(33, 127)) for _ in range(300))),
    "function words": ("syntax", shuffled("the of and to in that it is was for on with as by at from but or not")),
    "function words russian": ("syntax", shuffled("и в не на что тот с а как это по но к из за так от для вот")),
    "function words chinese": ("syntax", "的是了在和就都而及与着或我们你们他们这那因为所以但是如果" * 3),
    "random words": ("syntax", shuffled("apple river quantum marble engine whisper copper valley pencil thunder gentle basket "
                     "candle velvet harbor fossil mirror puzzle rocket saddle tunnel willow anchor blanket cactus")),
    "rulers": ("spelling", "-" * 40 + "=" * 40),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_real_texts_are_dense(name):
    assert signal_density(REAL[name]) >= 0.6, density_parts(REAL[name])


@pytest.mark.parametrize("name", JUNK)
def test_junk_is_not_and_the_part_says_why(name):
    part, text = JUNK[name]
    assert signal_density(text) <= 0.2, density_parts(text)
    assert density_parts(text)[part] <= 0.4


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0\u3000", "\u2028"])
def test_a_text_of_nothing_has_no_density(text):
    assert signal_density(text) == 0.0
    assert set(density_parts(text).values()) == {0.0}


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec=None), max_size=300))
@example("\ud800")
@example("\0" * 60)
@example("a\udfff b" * 30)
@example("İ ß ﬃ ǰ" * 20)
@example("| " * 100)
@example("[](" * 100)
def test_any_string_has_a_density_and_always_the_same(text):
    found = signal_density(text)
    assert 0.0 <= found <= 1.0
    assert found == signal_density(text)
    assert all(0.0 <= part <= 1.0 for part in density_parts(text).values())


@given(st.sampled_from(sorted(REAL)))
def test_the_density_is_the_product_of_its_parts(name):
    product = 1.0
    for part in density_parts(REAL[name]).values():
        product *= part
    assert signal_density(REAL[name]) == pytest.approx(product)


def test_junk_at_the_end_of_a_long_text_is_seen():
    # Both halves are longer than what is inspected in one piece.
    words = "".join(chr(RNG.randrange(97, 123)) for _ in range(500))
    real = " ".join(islice(cycle(REAL.values()), 400))
    tail = (words + " ") * (len(real) // len(words))
    assert len(real) > INSPECTED
    assert density_parts(tail + tail)["novelty"] < 0.1


def test_what_is_inspected_does_not_grow_with_the_text():
    text = REAL["note"] * 2_000
    longer = text + "\n" + text
    assert len(text) > 2 * INSPECTED
    assert signal_density(longer) == pytest.approx(signal_density(text), abs=0.05)


def test_saying_a_text_again_makes_it_less_dense():
    once = REAL["note"]
    scores = [signal_density("\n".join([once] * times)) for times in (1, 2, 4)]
    assert scores[0] > scores[1] >= scores[2]
    assert scores[2] == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "The user asked for shorter answers.", "The meeting moved to Thursday.", "She started a new job last week.",
        "The issue was solved by restarting the server.", "The test data is in the second file.",
        "tmux zsh nvim fzf ripgrep jq yq direnv mise", "kettle lime removal vinegar overnight soak rinse twice",
        "red green blue yellow purple orange black white pink", "Wir waren am Ende alle bei Ishbel im Garten.",
        "1. All Hosts All Users\n1. Current Host All Users\n1. All Hosts Current User\n1. Current Host Current User",
        "Η Ελένη μένει στον Πειραιά με τους γονείς της.",
    ],
)  # fmt: skip
def test_a_terse_or_plain_fact_is_dense(text):
    assert signal_density(text) >= 0.6


@pytest.mark.parametrize(
    "text",
    [
        "A lot of work has been done and there is still a lot to do.",
        "The user and the assistant had a conversation about various topics.",
        "Es gibt noch einiges zu tun und wir bleiben dran.", "the pump the pump pier the pump pier the pier pump",
        "του η την στο από μας μας της στην τον στο μας", "qwv zkfj xxgpd bnrtq vjkh wpzs lqmc",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA",
    ],
)  # fmt: skip
def test_short_junk_is_not_dense(text):
    assert signal_density(text) < 0.4


@settings(max_examples=300)
@given(st.text(st.sampled_from("abyz''09_-. \n\t\x1f\x7f"), max_size=60))
@example("'tis rock'n'roll '' ''a b' c''d '")
def test_the_words_of_ascii_text_are_those_of_any_text(text):
    assert _ascii_words(text) == _WORD.findall(text)


_PIECES = st.text(st.sampled_from("etaonqwé' 12.|>-\n\t\udc80日"), max_size=60)
_SEVERAL = st.lists(
    st.one_of(_PIECES, st.sampled_from(sorted(REAL.values())), st.text(max_size=40)), max_size=12
)


@settings(max_examples=150, deadline=None)
@given(_SEVERAL)
@example(["", "qwerty", "", " "])
@example(["é"] * (BLOCK + 1))
def test_a_batch_and_its_single_texts_have_the_same_density(texts):
    assert signal_densities(texts) == [signal_density(text) for text in texts]


@settings(max_examples=150, deadline=None)
@given(_SEVERAL)
def test_a_batch_and_its_single_texts_have_the_same_counts(texts):
    for text, counts in zip(texts, counts_of(texts), strict=True):
        (alone,) = counts_of([text])
        assert [str(value) for value in counts] == [str(value) for value in alone]


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(max_codepoint=127), max_size=80))
def test_counts_of_ascii_text_are_those_of_any_text(text):
    (counts,) = counts_of([text])
    assert counts.ascii is not None
    assert counts.ascii.letters == tally_of(counts.letters)
    assert counts.ascii.solid == tally_of(counts.solid)
    assert counts.ascii.digits == sum(map(str.isdecimal, text))
    assert counts.ascii.marks == sum(map(counts.folded.count, ".,!?;:'\""))
    assert counts.lengths == sum(map(len, counts.words))
    assert counts.squares == sum(len(word) ** 2 for word in counts.words)


def test_keyboard_steps_are_counted_within_each_text():
    (one, two) = counts_of(["as qw", "sd z"])
    assert one.keys == (3, 2, 2)  # a-s and q-w are next keys, s-q is another row
    assert two.keys == (2, 1, 1)
