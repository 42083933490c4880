"""Chunks: exact slices, bounded sizes, heading paths, and the text that is indexed."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slowwave.notes.chunking import CONTEXT_CHARACTERS, OVERSIZE, Chunk, Chunker, indexed_text, size


def words(count, word="word"):
    return " ".join([word] * count)


MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "# One",
                "## Two",
                "   ### Three #",
                "```python",
                "```",
                "~~~~",
                "# not a heading in code",
                "- item",
                "1. ```",
                "> quoted",
                "| a | b |",
                "",
                "",
                "<!-- note -->",
                "[1]: https://example.org",
                "字" * 70,
                "x" * 70,
                "🏽e\u0301 \u00a0\u2028",
            ]
        ),
        st.text(max_size=60),
    ),
    max_size=40,
).map("\n".join)


@settings(max_examples=100, deadline=None)
@given(content=MARKDOWN, low=st.integers(1, 12), spread=st.integers(0, 12))
@example(content="e" + "\u0301" * 2000, low=3, spread=2)
@example(content="\x1c\x1fa\x85b", low=1, spread=0)
def test_chunks_are_exact_ordered_and_bounded(content, low, spread):
    chunker = Chunker(low, low + spread)
    chunks = chunker.split(content)
    assert chunks == chunker.split(content)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    position = 0
    for chunk in chunks:
        assert content[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        # Nothing but white space between chunks, and no overlap.
        assert not content[position : chunk.start].strip()
        assert chunk.start >= position
        assert size(chunk.text) <= OVERSIZE * (low + spread)
        position = chunk.end
    assert not content[position:].strip()


@pytest.mark.parametrize("content", ["", " ", "\n\n\t \n"])
def test_blank_content_has_no_chunks(content):
    assert Chunker().split(content) == []


def test_short_content_is_one_chunk_without_outer_white_space():
    assert Chunker().split("\n\nA thought.\n") == [Chunk(0, 2, 12, "A thought.", ())]


@pytest.mark.parametrize("bounds", [(0, 10), (20, 10), (-1, -1)])
def test_bounds_that_make_no_sense_are_refused(bounds):
    with pytest.raises(ValueError, match="1 <= min_words <= max_words"):
        Chunker(*bounds)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("one two  three\n", 3), ("字" * 60, 10), ("x" * 600, 100), ("a b c d", 4)],
)
def test_size_counts_words_but_at_least_a_sixth_of_the_characters(text, expected):
    assert size(text) == expected


def test_chunks_carry_the_heading_path_of_their_body():
    content = (
        f"{words(30, 'first')}\n\n# Guide\n\n{words(30, 'intro')}\n\n"
        f"## Install\n\n### Linux\n\n{words(30, 'apt')}\n\n## Use\n\n{words(30, 'run')}\n\n"
        f"# Notes\n\n{words(30, 'end')}"
    )
    chunks = Chunker(25, 40).split(content)
    assert [(chunk.text.split()[-1], chunk.headings) for chunk in chunks] == [
        ("first", ()),
        ("intro", ("Guide",)),
        ("apt", ("Guide", "Install", "Linux")),
        ("run", ("Guide", "Use")),
        ("end", ("Notes",)),
    ]
    assert chunks[2].text.startswith("## Install\n\n### Linux\n\napt")


def test_a_chunk_takes_the_path_of_its_first_body_line_not_of_its_last():
    chunk, *rest = Chunker(50, 60).split(f"# A\n\n## B\n\n{words(10)}\n\n## C\n\n{words(10)}")
    assert rest == []
    assert chunk.headings == ("A", "B")


def test_a_heading_inside_a_long_section_reaches_every_piece_of_it():
    chunks = Chunker(10, 20).split(f"# A\n\n## B\n\n{words(100)}")
    assert len(chunks) > 3
    assert {chunk.headings for chunk in chunks} == {("A", "B")}


def test_a_small_last_chunk_joins_the_one_before():
    content = f"{words(60)}.\n\n# Links\n\n{words(5)}"
    assert [size(chunk.text) for chunk in Chunker(40, 60).split(content)] == [67]


def test_a_small_last_chunk_stays_when_the_result_would_be_too_large():
    content = f"{words(60)}.\n\n# Links\n\n{words(15)}"
    assert [size(chunk.text) for chunk in Chunker(40, 60).split(content)] == [60, 17]


def test_a_heading_alone_joins_what_it_introduces():
    content = f"# A\n\n{words(95)}\n\n## PARAMETERS\n\n### -Name\n\n{words(148)}"
    chunks = Chunker(100, 150).split(content)
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["# A", "## PARAMETERS"]
    assert chunks[1].headings == ("A", "PARAMETERS", "-Name")


@pytest.mark.parametrize(
    ("title", "headings", "text", "expected"),
    [
        ("", [], "body", "body"),
        ("Guide", [], "body", "Guide\nbody"),
        ("Guide", ["Guide", "Install"], "body", "Guide › Install\nbody"),
        ("Guide", ["GUIDE"], "body", "Guide\nbody"),
        ("", ["A", "B"], "body", "A › B\nbody"),
        ("Guide", ["Guide", "Install", "Linux"], "### Linux\n\nbody", "Guide › Install\n### Linux\n\nbody"),
        ("T", ["A", "B"], "# A\n## `B`\nbody", "T\n# A\n## `B`\nbody"),
        ("", ["A"], "# A\nbody", "# A\nbody"),
        ("two\nlines ", [" x  y ", ""], "body", "two lines › x y\nbody"),
    ],
)
def test_indexed_text_puts_title_and_path_in_front(title, headings, text, expected):
    assert indexed_text(title, headings, text) == expected


@given(title=st.text(max_size=300), headings=st.lists(st.text(max_size=200), max_size=4), text=st.text())
@example(title="T" * 500, headings=["H"], text="body")
def test_the_context_is_one_short_line_and_the_text_is_untouched(title, headings, text):
    indexed = indexed_text(title, headings, text)
    assert indexed.endswith(text)
    context = indexed.removesuffix(text)
    assert len(context) <= CONTEXT_CHARACTERS + 1
    assert context == "" or context.index("\n") == len(context) - 1


@pytest.mark.parametrize("unit", ["x", "字", "a b ", "word\n", "> "])
def test_time_grows_with_the_length_not_its_square(unit):
    content = (unit * 100_000)[:100_000]
    started = time.process_time()
    chunks = Chunker().split(content)
    assert time.process_time() - started < 3
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(content.split())


def test_long_notes_are_cut_at_headings_first():
    section = "## Part {}\n\n" + words(60, "text") + "\n\n"
    content = "# Book\n\n" + "".join(section.format(number) for number in range(200))
    chunks = Chunker(50, 80).split(content)
    assert [chunk.headings for chunk in chunks] == [("Book", f"Part {number}") for number in range(200)]
