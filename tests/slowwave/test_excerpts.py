"""Excerpts of long passages: what a reader of a list sees of a result."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from slowwave.views.excerpts import excerpt

LOG = """# Weekly meetings
## 2026-11-03
- Present: Ada, Ben, Chi. The minutes of last week were accepted without a change.
- The planer is due for a service; Ben calls the workshop about it.
- The compressor stays switched off over night from now on.
## 2026-11-17
- The party is on 18 December at Gasthof Krone.
- Everybody brings a small present.
"""
WORDS = st.text(st.sampled_from("abc deü.\n漢字?!"), max_size=400)


def test_an_excerpt_begins_where_the_words_of_the_question_are():
    shown = excerpt(LOG, "When is the party?", 120)
    assert shown.headings == ("Weekly meetings", "2026-11-17")
    assert shown.text.startswith("… - The party is on 18 December at Gasthof Krone.")


def test_a_short_text_is_whole_and_one_without_the_words_begins_at_its_beginning():
    assert excerpt("Two\nlines.", "When is the party?", 120) == ("Two lines.", ())
    assert (
        excerpt(LOG, "Who owns the boat?", 60).text
        == "# Weekly meetings ## 2026-11-03 - Present: Ada, Ben, Chi. Th …"
    )
    assert excerpt(LOG, "Who was present at the meetings?", 120).text.startswith("# Weekly meetings")


def test_an_excerpt_that_reaches_the_end_has_no_dots_there():
    assert (
        excerpt(LOG, "Who brings a present for everybody?", 120).text
        == "… - Everybody brings a small present."
    )


@example(" ??", "", 1)
@example("abc? abcd", "ab", 2)  # a word is cut
@given(WORDS, WORDS, st.integers(1, 80))
def test_an_excerpt_is_a_part_of_the_text(text, query, size):
    shown = excerpt(text, query, size).text
    assert shown.removeprefix("… ").removesuffix(" …").strip() in " ".join(text.split())
    assert len(shown) <= size + len("…  …")
