"""Texts that a memory should not store, by kind and length, in several scripts; and short real notes.

Half of it is the words that they are made of, so it is a long file.
"""

# ruff: noqa: E501 - sentences and word lists

from __future__ import annotations

import base64
import random
from collections.abc import Callable

SCRIPTS = ("latin", "german", "cyrillic", "greek", "arabic", "chinese", "japanese")

_FILLER = {
    "latin": (
        "This is some text that is here to fill the space.",
        "More text will be added here later when there is something to say.",
        "The following section contains content that goes in this section.",
        "There are many things that could be said about this topic.",
        "It is important to note that this is an important point to note.",
        "In general, things are the way they are for various reasons.",
        "This paragraph exists so that the page looks complete.",
        "As you can see, this sentence does not really say anything at all.",
        "Please replace this placeholder with the actual content.",
        "Some words follow other words until the paragraph is long enough.",
        "At the end of the day it is what it is, and that is all there is to it.",
        "Your text goes here, and so does some more of your text.",
        "We will talk about this and that and other things as well.",
        "Here is another line which is only there to make it longer.",
        "Basically, the thing about it is that it is a thing like any other thing.",
        "Details to be added. More information coming soon.",
    ),
    "german": (
        "Dies ist ein Text, der nur dazu da ist, den Platz zu füllen.",
        "Hier steht später der eigentliche Inhalt.",
        "Dieser Absatz ist ein Platzhalter und hat keinen Inhalt.",
        "Es gibt viele Dinge, die man zu diesem Thema sagen könnte.",
        "Wie man sieht, sagt dieser Satz eigentlich nichts.",
        "Weitere Informationen folgen in Kürze an dieser Stelle.",
    ),
    "cyrillic": (
        "Это просто текст, который нужен, чтобы заполнить место.",
        "Здесь будет размещено содержание, когда оно появится.",
        "Этот абзац является заполнителем и ничего не означает.",
        "Об этом можно сказать многое, и многое уже сказано.",
        "Как видно, это предложение ничего не говорит.",
        "Дополнительная информация будет добавлена позже.",
    ),
    "greek": (
        "Αυτό είναι ένα κείμενο που υπάρχει για να γεμίσει τον χώρο.",
        "Εδώ θα μπει το περιεχόμενο όταν υπάρξει.",
        "Αυτή η παράγραφος είναι προσωρινή και δεν λέει τίποτα.",
        "Περισσότερες πληροφορίες θα προστεθούν αργότερα.",
        "Υπάρχουν πολλά πράγματα που θα μπορούσε να πει κανείς.",
    ),
    "arabic": (
        "هذا نص موجود هنا فقط لملء المساحة.",
        "سيتم إضافة المحتوى هنا لاحقا.",
        "هذه الفقرة نص بديل ولا تعني شيئا.",
        "هناك أشياء كثيرة يمكن أن تقال عن هذا الموضوع.",
        "المزيد من المعلومات سوف يأتي قريبا.",
    ),
    "chinese": (
        "这是一段用来填充空间的文字。",
        "这里以后会添加更多的内容。",
        "这个段落只是占位文本，没有任何意义。",
        "关于这个话题有很多事情可以说。",
        "更多信息即将推出，请稍后再来查看。",
    ),
    "japanese": (
        "これはスペースを埋めるためのテキストです。",
        "ここに後で内容が追加されます。",
        "この段落はダミーテキストで、特に意味はありません。",
        "このことについては、いろいろなことが言えます。",
        "詳しい情報は近日中に追加される予定です。",
    ),
}
_FUNCTION = {
    "latin": "the of and to in that it is was for on with as by at from but or not this which be are have had "
    "has an they you we she he his her their its if then than so would could there when what who",
    "german": "der die das und in zu den von mit sich des auf für ist im dem nicht ein eine als auch es an "
    "werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über",
    "cyrillic": "и в не на я что тот быть с а весь это как она по но они к у ты из мы за вы так же от сказать "
    "для вот кто да если бы или только",
    "greek": "και να το της του η με για τα την από που είναι στο θα ο τον των σε δεν τη οι στην μια ότι τους "
    "ως αυτό ήταν μας αλλά",
    "arabic": "في من على أن إلى هذا التي كان لا ما عن هذه مع الذي هو أو هي بين كل لم قد ذلك بعد عند كما لكن حتى "
    "ثم إذا",
    "chinese": "的 是 了 在 和 就 都 而 及 与 着 或 一个 没有 我们 你们 他们 这个 那个 因为 所以 但是 如果",
    "japanese": "の は が を に で と も から まで より など です ます した して いる ある こと もの それ これ",
}  # fmt: skip
_WORDS = {
    "latin": "apple river quantum sofa bright marble engine whisper copper valley pencil thunder gentle basket "
    "orbit candle velvet harbor fossil mirror puzzle rocket saddle tunnel willow zebra anchor blanket cactus "
    "dolphin ember falcon garlic hammer island jacket kettle lantern meadow needle oyster pepper quiver "
    "ribbon silver timber umbrella violin walnut yogurt abstract determine happily institute jumping "
    "magnetic nobody obviously parliament running statue telescope unlikely vivid wonderful yesterday",
    "german": "Apfel Fluss Lampe schnell Garten laufen Kupfer Fenster Brücke traurig Wolke Hammer singen Stein "
    "Kerze Vogel grün Tisch Nadel Strasse Becher Donner Spiegel Wiese kochen Anker Decke Feder Insel Jacke",
    "cyrillic": "яблоко река лампа быстро сад бежать медь окно мост грустный облако молоток петь камень свеча "
    "птица зелёный стол игла улица кружка гром зеркало луг варить якорь одеяло перо остров куртка телескоп",
    "greek": "μήλο ποτάμι λάμπα γρήγορα κήπος τρέχω χαλκός παράθυρο γέφυρα λυπημένος σύννεφο σφυρί τραγουδώ "
    "πέτρα κερί πουλί πράσινο τραπέζι βελόνα δρόμος κούπα βροντή καθρέφτης λιβάδι άγκυρα κουβέρτα φτερό νησί",
    "arabic": "تفاحة نهر مصباح سريع حديقة يركض نحاس نافذة جسر حزين سحابة مطرقة يغني حجر شمعة طائر أخضر طاولة "
    "إبرة شارع كوب رعد مرآة مرج مرساة بطانية ريشة جزيرة سترة منظار",
}
_LETTERS = {
    "latin": "abcdefghijklmnopqrstuvwxyz",
    "german": "abcdefghijklmnopqrstuvwxyzäöüß",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
}
_KEYS = {
    "latin": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "german": ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
    "cyrillic": ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    "greek": ("ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),
    "arabic": ("ضصثقفغعهخحجد", "شسيبلاتنمكط", "ئءؤرلاىةوزظ"),
}
_MENUS = {
    "latin": "Home|About us|Contact|News|Products|Services|Blog|Careers|Login|Register|Privacy policy|Terms of use|"
    "Cookie settings|FAQ|Support|Help|Sitemap|Search|Press|Partners|Events|Gallery|Downloads|My account|Cart|"
    "Shipping & returns|Store locator|Newsletter|Follow us|Back to "
    "top|Next|Previous|Share|Accessibility|Imprint",
    "german": "Startseite|Über uns|Kontakt|Aktuelles|Produkte|Leistungen|Impressum|Datenschutz|AGB|Karriere|"
    "Anmelden|Warenkorb|Suche|Hilfe|Presse|Newsletter|Nach oben|Downloads",
    "cyrillic": "Главная|О нас|Контакты|Новости|Продукты|Услуги|Вход|Регистрация|Корзина|Поиск|Помощь|Вакансии|"
    "Карта сайта|Политика конфиденциальности|Наверх",
    "greek": "Αρχική|Σχετικά|Επικοινωνία|Νέα|Προϊόντα|Υπηρεσίες|Σύνδεση|Εγγραφή|Αναζήτηση|Βοήθεια|"
    "Όροι χρήσης|Πολιτική απορρήτου",
    "arabic": "الرئيسية|من نحن|اتصل بنا|الأخبار|المنتجات|الخدمات|تسجيل الدخول|بحث|مساعدة|سياسة الخصوصية|"
    "الشروط والأحكام|خريطة الموقع",
    "chinese": "首页|关于我们|联系我们|新闻|产品|服务|登录|注册|搜索|帮助|隐私政策|使用条款|网站地图|返回顶部|购物车",
    "japanese": "ホーム|会社概要|お問い合わせ|ニュース|製品|サービス|ログイン|会員登録|検索|ヘルプ|"
    "プライバシーポリシー|利用規約|サイトマップ|ページトップへ",
}  # fmt: skip
_LOREM = """
    lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et
    dolore magna aliqua ut enim ad minim veniam quis nostrud exercitation ullamco laboris nisi ut
    aliquip ex ea commodo consequat duis aute irure dolor in reprehenderit in voluptate velit esse
    cillum dolore eu fugiat nulla pariatur excepteur sint occaecat cupidatat non proident sunt in culpa
    qui officia deserunt mollit anim id est laborum vivamus vestibulum ante primis faucibus orci luctus
    ultrices posuere cubilia curae pellentesque habitant morbi tristique senectus netus malesuada fames
    ac turpis egestas mauris blandit aliquet elit eget tincidunt nibh pulvinar a proin eget tortor risus
    nulla porttitor accumsan curabitur arcu erat id imperdiet
    """.split()
_LICENCES = (
    """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation
the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and
to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of
the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO
THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE.
""",
    """Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in
compliance with the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
Unless required by applicable law or agreed to in writing, software distributed under the License is distributed
on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for
the specific language governing permissions and limitations under the License.
""",
    """"Derivative Works" shall mean any work, whether in Source or Object form, that is based on (or derived from)
the Work and for which the editorial revisions, annotations, elaborations, or other modifications represent, as a
whole, an original work of authorship. Subject to the terms and conditions of this License, each Contributor
hereby grants to You a perpetual, worldwide, non-exclusive, no-charge, royalty-free, irrevocable copyright license
to reproduce, prepare Derivative Works of, publicly display, publicly perform, sublicense, and distribute the Work
and such Derivative Works in Source or Object form.
""",
    """Redistribution and use in source and binary forms, with or without modification, are permitted provided that
the following conditions are met: 1. Redistributions of source code must retain the above copyright notice, this
list of conditions and the following disclaimer. 2. Redistributions in binary form must reproduce the above
copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials
provided with the distribution. IN NO EVENT SHALL THE COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT,
INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY.
""",
    """This program is free software: you can redistribute it and/or modify it under the terms of the GNU General
Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option)
any later version. This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY;
without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General
Public License for more details. You should have received a copy of the GNU General Public License along with this
program. If not, see <https://www.gnu.org/licenses/>.
""",
    """All rights reserved. No part of this publication may be reproduced, distributed, or transmitted in any form
or by any means without the prior written permission of the publisher. The names and trademarks may not be used in
advertising or publicity pertaining to distribution of the software without specific, written prior permission.
""",
)
_EVENTS = (
    "connection from {ip} accepted", "request GET /api/v1/items/{n} 200 {n}ms", "cache miss key=user:{n}",
    "worker {n} heartbeat ok", "retrying in {n} seconds", "job {hex} finished status=done took={n}ms",
    "failed to open /var/lib/app/{hex}.tmp: no such file", "gc pause={n}ms heap={n}MB", "session {hex} closed",
)  # fmt: skip
_SOURCES = {
    "latin": (
        "The pump was serviced in March and runs at half speed since then.",
        "Ishbel keeps the spare keys in the blue tin above the workbench.",
        "Our meeting with the council moved to Thursday because the hall is closed for repairs this week.",
    ),
    "german": (
        "Der Pegel am alten Hafen misst seit Montag sechs Zentimeter zu viel.",
        "Die Rechnung geht bis Ende des Monats an die Buchhaltung in Bremen.",
    ),
    "cyrillic": (
        "Насос проверили в марте, с тех пор он работает вполсилы.",
        "Запасные ключи лежат в синей коробке над верстаком.",
    ),
    "greek": ("Η αντλία ελέγχθηκε τον Μάρτιο και δουλεύει στη μισή ισχύ.", "Το κλειδί είναι στο μπλε κουτί."),
    "arabic": (
        "تم فحص المضخة في مارس وهي تعمل بنصف طاقتها منذ ذلك الحين.",
        "المفاتيح الاحتياطية في الصندوق الأزرق.",
    ),
    "chinese": ("水泵三月份检修过，之后一直以半速运行。", "备用钥匙放在工作台上方的蓝色盒子里。"),
    "japanese": (
        "ポンプは三月に点検され、それ以来半分の速度で動いている。",
        "予備の鍵は作業台の上の青い缶に入っている。",
    ),
}


def _grow(length: int, piece: Callable[[], str], joint: str = " ") -> str:
    parts, size = [], 0
    while size < length:
        parts.append(piece())
        size += len(parts[-1]) + len(joint)
    return joint.join(parts)[:length]


def _sentences(rng: random.Random, length: int, word: Callable[[], str]) -> str:
    def sentence() -> str:
        words = [word() for _ in range(rng.randint(5, 14))]
        return " ".join(words).capitalize() + rng.choice(".....!?")

    if rng.random() < 0.5:
        return _grow(length, word)
    return _grow(length, sentence, rng.choice((" ", " ", "\n\n")))


def filler(rng: random.Random, length: int, script: str) -> str:
    """Sentences that say nothing."""
    return _grow(length, lambda: rng.choice(_FILLER[script]), rng.choice((" ", "\n", "\n\n")))


def function_words(rng: random.Random, length: int, script: str) -> str:
    """Function words in random order."""
    words = _FUNCTION[script].split()
    if script in ("chinese", "japanese"):
        return _grow(length, lambda: rng.choice(words), "")
    return _sentences(rng, length, lambda: rng.choice(words))


def random_words(rng: random.Random, length: int, script: str) -> str:
    """Dictionary words in random order."""
    words = _WORDS[script].split()
    return _sentences(rng, length, lambda: rng.choice(words))


def random_letters(rng: random.Random, length: int, script: str) -> str:
    """Random letters cut into words, random ideographs, or any printable characters."""
    if script in ("chinese", "japanese"):
        return _grow(
            length, lambda: chr(rng.randrange(0x4E00, 0x9FA5)) + ("，" if rng.random() < 0.1 else ""), ""
        )
    if script == "latin" and rng.random() < 0.4:
        return _grow(length, lambda: chr(rng.randrange(33, 127)) + (" " if rng.random() < 0.1 else ""), "")
    letters = _LETTERS[script]
    return _sentences(rng, length, lambda: "".join(rng.choices(letters, k=rng.randint(2, 11))))


def mashing(rng: random.Random, length: int, script: str) -> str:
    """Fingers on a keyboard: runs along a row, the same chunks again, the home row."""
    rows = _KEYS[script]

    def run() -> str:
        row = rng.choice(rows)
        start, size = rng.randrange(len(row) - 3), rng.randint(3, 7)
        return row[start : start + size][:: rng.choice((1, 1, -1))]

    def home() -> str:
        return "".join(rng.choices(rows[1], k=rng.randint(4, 11)))

    def chunks() -> str:
        return run()[:3] * rng.randint(1, 3)

    style = rng.choice((run, home, chunks))
    return _grow(length, style, rng.choice((" ", "", " ", ";")))


def lorem(rng: random.Random, length: int, script: str) -> str:
    """Lorem ipsum, as it stands or shuffled."""
    if rng.random() < 0.4:
        words = iter(_LOREM * (length // 100 + 1))
        return _grow(length, lambda: next(words)).capitalize()
    return _sentences(rng, length, lambda: rng.choice(_LOREM))


def navigation(rng: random.Random, length: int, script: str) -> str:
    """Menus, link lists and breadcrumbs of a web page."""
    items = _MENUS[script].split("|")
    rng.shuffle(items)
    style = rng.randrange(4)
    if style == 0:
        return _grow(length, lambda: rng.choice(items), rng.choice((" | ", " · ", " • ", " / ")))
    if style == 1:
        return _grow(length, lambda: f"- [{rng.choice(items)}](/{rng.choice(_WORDS['latin'].split())})", "\n")
    if style == 2:
        return _grow(length, lambda: " › ".join(rng.sample(items, rng.randint(2, 5))), "\n")
    return _grow(length, lambda: rng.choice(items), "\n")


def licence(rng: random.Random, length: int, script: str) -> str:
    """Licence notices, whole or from the middle."""
    text = "".join(rng.sample(_LICENCES, len(_LICENCES)))
    names = ("the Ada Authors", "Example Corp.", "Jane Doe")
    head = f"Copyright (c) {rng.randint(1998, 2026)} {rng.choice(names)}\n\n" if rng.random() < 0.5 else ""
    start = rng.choice((0, 0, rng.randrange(600)))
    return (head + (text * (length // len(text) + 2))[start:])[:length]


def log(rng: random.Random, length: int, script: str) -> str:
    """Lines of a log."""
    style = rng.randrange(4)

    def event() -> str:
        address = ".".join(str(rng.randrange(256)) for _ in range(4))
        template = rng.choice(_EVENTS)
        return template.format(n=rng.randrange(9999), ip=address, hex=f"{rng.getrandbits(32):08x}")

    def line() -> str:
        clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        day, level = (
            f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            rng.choice(("INFO", "DEBUG", "WARN", "ERROR")),
        )
        if style == 0:
            return f"{day}T{clock}.{rng.randrange(1000):03}Z {level} [worker-{rng.randrange(9)}] {event()}"
        if style == 1:
            return f"{rng.choice(('Jan', 'May', 'Oct'))} {rng.randint(1, 28):2} {clock} host app[{rng.randrange(9999)}]: {event()}"
        if style == 2:
            return f'10.0.{rng.randrange(9)}.{rng.randrange(256)} - - [12/May/2026:{clock} +0000] "GET /{event().split()[0]} HTTP/1.1" 200 {rng.randrange(9999)}'
        return f"[{day} {clock}] {level.lower()}: {event()}"

    return _grow(length, line, "\n")


def blob(rng: random.Random, length: int, script: str) -> str:
    """Base64 and hexadecimal data: in lines, in one piece, as a dump."""
    data = rng.randbytes(length)
    style = rng.randrange(5)
    encoded = base64.b64encode(data).decode() if style < 3 else data.hex()
    if style == 0:
        encoded = "data:image/png;base64," + encoded
    if style in (1, 3):
        width = rng.choice((64, 76))
        encoded = "\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))
    if style == 4:
        encoded = data.hex(" ", rng.choice((1, 2, 4)))
    return encoded[:length]


def repeated(rng: random.Random, length: int, script: str) -> str:
    """One sentence or one paragraph again and again, or as much of one as fits in three times."""
    pool = list(_SOURCES[script])
    unit = rng.choice(pool)
    if len(unit) > length // 3:
        cut = unit[: length // 3]
        unit = cut.rsplit(" ", 1)[0] if " " in unit else cut
    if length >= 1000 and rng.random() < 0.5:
        unit = " ".join(pool)
    return _grow(length, lambda: unit, rng.choice((" ", "\n", "\n\n")))


ALPHABETS = ("latin", "german", "cyrillic", "greek", "arabic")
KINDS: dict[str, tuple[Callable[[random.Random, int, str], str], tuple[str, ...]]] = {
    "filler": (filler, SCRIPTS),
    "function words": (function_words, SCRIPTS),
    "random words": (random_words, ALPHABETS),
    "random letters": (random_letters, SCRIPTS),
    "keyboard mashing": (mashing, ALPHABETS),
    "lorem ipsum": (lorem, ("latin",)),
    "navigation": (navigation, SCRIPTS),
    "licence": (licence, ("latin",)),
    "log": (log, ("latin",)),
    "base64 and hex": (blob, ("latin",)),
    "repeated": (repeated, SCRIPTS),
}

NOTES = (
    "Насос на причале в Строноэ меняли 14 марта: старый давал 40 литров в минуту вместо 65. Новый стоит на "
    "гарантии до 2028 года, бумаги у Ольги в красной папке.",
    "Встреча с Петровым перенесена на четверг, 10:30. Он просит смету на ремонт крыши и хочет видеть два "
    "варианта: металл и черепицу. Бюджет — не больше 900 тысяч.",
    "Рецепт бабушкиного борща: свёклу запечь целиком, капусту класть за десять минут до конца, чеснок с "
    "салом растереть и добавить уже в тарелку. Хватает на шестерых.",
    "اتصل سامي اليوم وقال إن شحنة الزيت ستتأخر أسبوعا بسبب إضراب الميناء في الإسكندرية. يجب إبلاغ العميل قبل "
    "يوم الأحد وتعديل الفاتورة رقم 4471.",
    "كلمة مرور الشبكة في المكتب الجديد مكتوبة على ظهر الموجه. الطابعة تعمل فقط مع ورق A4، والحبر الأسود ينفد "
    "كل ثلاثة أسابيع تقريبا.",
    "周三和李工去看了三号机房，空调漏水，已经报修。备件要等到下周五才到，在那之前把两台服务器挪到二楼，温度不要超过二十六度。",
    "妈妈的药：早饭后吃一片降压药，晚上睡前半片。下次复查是九月十二日上午，带上医保卡和上次的化验单，停车场在医院东门。",
    "京都の旅行は十一月の第二週に決めた。旅館は二条駅から歩いて五分、夕食は付かない。紅葉が早ければ嵐山を先に回り、雨なら博物館に行く。",
    "पानी की टंकी रविवार को साफ़ करवानी है। रमेश ने कहा कि मोटर की आवाज़ ज़्यादा हो गई है, शायद बेयरिंग "
    "बदलनी पड़ेगी। खर्च लगभग दो हज़ार रुपये होगा।",
    "बैठक में तय हुआ कि नया स्कूल भवन अप्रैल तक पूरा होगा। ठेकेदार को तीस प्रतिशत अग्रिम मिल चुका है; बाकी "
    "रकम दीवारें खड़ी होने के बाद दी जाएगी।",
    "ประชุมวันจันทร์ตกลงว่าจะย้ายเซิร์ฟเวอร์ไปเชียงใหม่ภายในเดือนมีนาคม คุณสมชายรับผิดชอบเรื่องสัญญาเช่า ค่าใช้จ่ายไม่เกินสองแสนบาท",
    "Το ραντεβού με τον λογιστή είναι στις 14 Μαΐου στις έντεκα. Να πάρω μαζί τα τιμολόγια του 2025 και τη "
    "βεβαίωση από τον δήμο για το υπόγειο.",
)
"""Short notes as people write them, in Russian, Arabic, Chinese, Japanese, Hindi, Thai and Greek."""
