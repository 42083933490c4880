"""Pieces of words: which texts have them, and which they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.bm25 import COMMON, Bm25, WordIndex
from slowwave.scoring.ranking.word_pieces import MARK, needs_pieces, pieces, text_with_pieces
from slowwave.scoring.ranking.words import as_indexed, is_function_word

ENGLISH = [
    "The boiler needs water when the pressure falls below one and a half bar.",
    "API token rotation",
    "router password",
    "Zoë and the Müllers were at the café in Köln with my sister.",
    "def rotate(token): return token[1:] + token[:1]",
    "1600 Pennsylvania Avenue, NW 20500",
    "",
]
ELSEWHERE = [
    "Der Backup-Job auf dem NAS braucht etwa vierzig Minuten.",
    "Wo liegen die Schlüssel?",
    "Kombinin basıncı düşerse mavi musluktan su basmak gerekiyor.",
    "Τα κλειδιά του γκαράζ κρέμονται στον διάδρομο.",
    "Avaimet ovat naapurin luona kolmannessa kerroksessa.",
    "Ключи от гаража висят в коридоре.",
    "المفاتيح معلقة في الممر",
    "चाबियाँ गलियारे में टंगी हैं",
    "열쇠는 복도에 걸려 있어요",
    "Las llaves del garaje cuelgan en el pasillo.",
    "Cheile de la garaj sunt pe hol.",
    "A kulcsok a folyosón vannak, mert nem fértek el.",
    "Klucze wiszą na korytarzu.",
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_and_what_shows_no_language_has_no_pieces(text):
    assert not needs_pieces(text)
    assert text_with_pieces(text) == text


@pytest.mark.parametrize("text", ELSEWHERE)
def test_a_text_in_another_language_has_its_pieces_after_it(text):
    assert needs_pieces(text)
    assert text_with_pieces(text) == " ".join([text, *pieces(text)])
    assert text_with_pieces(text) != text


@pytest.mark.parametrize(
    "text", ["我们每个星期四用Kubernetes部署，Ogród Saski除外。", "แบตเตอรี่ของ Müller ใช้ได้สิบเอ็ดสัปดาห์"]
)
def test_a_script_without_spaces_is_cut_as_before(text):
    assert text_with_pieces(text) == as_indexed(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Häusern", ["^hau", "haus", "ause", "user", "sern"]),
        ("Haus", ["^hau", "haus"]),
        ("Straße", ["^str", "stra", "tras", "rass", "asse"]),
        ("ανθρώπου", ["^ανθ", "ανθρ", "νθρω", "θρωπ", "ρωπο", "ωπου"]),
        ("άνθρωπος", ["^ανθ", "ανθρ", "νθρω", "θρωπ", "ρωπο", "ωποσ"]),
        ("Işıklar", ["^isi", "isik", "sikl", "ikla", "klar"]),
        ("стройка", ["^стр", "стро", "трои", "роик", "оика"]),
        ("स्कूलों", ["^सकू", "सकूल", "कूलो", "ूलों"]),  # the index cuts at a virama
        ("Opa", []),  # short
        ("A320neo 20500", []),  # numbers
        ("星期四 แบตเตอรี่", []),
        ("snake_cases", ["^sna", "snak", "nake", "^cas", "case", "ases"]),
    ],
)
def test_pieces_by_hand(text, expected):
    marked = [f"{piece.replace('^', MARK)}{MARK}" for piece in expected]
    assert list(pieces(text)) == marked


@given(st.text())
def test_a_text_is_kept_and_its_pieces_come_after_it(text):
    own = as_indexed(text)
    indexed = text_with_pieces(text)
    assert indexed == own or indexed == " ".join([own, *pieces(text)])
    assert all(5 <= len(piece) <= 6 and piece.endswith(MARK) for piece in pieces(text))


@given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True)))
def test_a_text_of_english_function_words_has_no_pieces(others):
    shown = [word for word in ("the", "with", "these", "would", "and") if is_function_word(word)]
    assert not needs_pieces(" ".join([*others, *(shown * (len(others) + 1))]))


def test_a_piece_that_no_row_has_adds_nothing_to_the_bound():
    words = Bm25(WordIndex().appended([0, 1, 0], [0, 0, 1], 2), np.array([True, True]))
    assert words.scores([0, 7], 0, {7})[1] == words.scores([0])[1]
    assert words.scores([0, 7], 0)[1] > words.scores([0])[1]
    erased = Bm25(words.index, np.array([False, True]))
    assert erased.scores([0, 1], 0, {1})[1] == erased.scores([0])[1]


def test_a_piece_in_very_many_rows_is_left_out():
    count = 9 * COMMON
    rows = np.arange(count)
    terms = np.concatenate([np.zeros(count, int), np.ones(count // 8, int), np.full(count // 8 + 1, 2)])
    said = np.concatenate([rows, rows[: count // 8], rows[: count // 8 + 1]])
    words = Bm25(WordIndex().appended(terms, said, count), np.ones(count, dtype=bool))
    assert len(words.said([1, 2], 0)[0]) == 2
    assert len(words.said([1, 2], 0, {1, 2})[0]) == 1
    assert words.scores([0, 1, 2], 0, {1, 2})[0].tolist() == words.scores([0, 1])[0].tolist()


def test_scores_equal_a_sum_term_by_term_to_the_last_bit():
    random = np.random.default_rng(4)
    rows, terms = random.integers(0, 300, 4_000), random.zipf(1.4, 4_000) % 90
    index = WordIndex()
    for part in range(3):
        mine = rows % 3 == part
        index = index.appended(terms[mine], rows[mine] // 3, 100)
    alive = random.random(300) > 0.1
    words = Bm25(index, alive)
    asked = [1, 5, 5, 17, 2]
    by_hand = np.zeros(300)
    for term in words.said(asked)[0]:
        for block, place in term.places:
            at = block.rows[place]
            by_hand[at] += term.weight * words.shares(at, block.counts[place])
    assert words.scores(asked)[0].tolist() == np.where(alive, by_hand, 0.0).tolist()
