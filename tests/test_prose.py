"""Prose of the project: citations resolve, docstrings begin with a name, and words mean one thing.

Fast and without any of the product's imports: `make check` runs it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = [
    file
    for package in ("slowwave", "scoring", "quality", "assets", "orchestration")
    for file in sorted((ROOT / package).rglob("*.py"))
    if not any(parent.is_symlink() for parent in file.parents)
]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES += [ROOT / "examples" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
RULES = (ROOT / "docs" / "reference" / "rules.md").read_text()
SAFEGUARDS = 10
LONGEST = 15
"""Words of a first sentence, at most."""

_NOMINAL = re.compile(r"^(What|Which|Who|Whose|Whom|How|Where|When|Why|That|As|So|By|If)\b")
_SENTENCE = re.compile(r"(?<=[.:;!?])\s|\n\n")
_RULE = re.compile(
    r"\brules? ((?:\d(?:\.\d+)?)(?:(?:, | and | or | to |, and )\d(?:\.\d+)?)*)(?![\d%])", re.IGNORECASE
)
_SAFEGUARD = re.compile(r"\bsafeguards? (\d+)", re.IGNORECASE)
_DECISION = re.compile(r"\bdecisions? (\d{1,2})(?!\d|[.,]\d| ?%)\b")
_PAGE = re.compile(r"\bdocs/[\w/.-]+\.md\b")
_CODE = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL)

BANNED = {
    r"\bfor(?:etell|etells|etold)\b": "predict",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\banew\b": "again, or: recreate",
    r"\bvoices?\b": "user, or: vote",
    r"\bcrowds?\b": "users",
    r"\bwhat (?:becomes|became) of\b": "the outcome of",
    r"\bgone for good\b": "erased",
    r"\bwhole or not at all\b": "atomic",
    r"\bof before\b": "previous",
    r"\bas ever\b": "as before",
    r"\bthe running memory\b": "the server",
    r"\bwho listens\b": "the server",
    r"\b(?:is|are|was|were) told\b": "name the actor and the verb: report, return, log",
    r"\btak(?:es|en|ing) in\b": "ingest, apply, process",
    r"\bby night\b": "the nightly job",
    r"\bthe rooms?\b": "package, layer",
    r"\bkept out\b": "quarantined",
    r"\bwithout each of its parts\b": "ablation",
    r"\bknowing that there is no answer\b": "abstention",
}
"""Words of the former dialect (regular expressions), and what docs/reference/glossary.md says instead."""


def docstrings(file: Path) -> Iterator[tuple[int, str, str]]:
    """Line, name and text of each docstring of a module."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), getattr(node, "name", file.stem), text


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    return " ".join(_SENTENCE.split(text.strip(), maxsplit=1)[0].split())


def breaks_first_sentence(text: str) -> bool:
    """Whether a docstring begins with a nominal clause or a long sentence."""
    first = first_sentence(text)
    return bool(_NOMINAL.match(first)) or len(first.split()) > LONGEST


def unresolved(text: str) -> list[str]:
    """Citations of a text that lead nowhere: rules, safeguards, decisions, pages."""
    missing = [
        f"rule {number}"
        for cited in _RULE.findall(text)
        for number in re.findall(r"\d(?:\.\d+)?", cited)
        if not re.search(rf"^##+ Rule {re.escape(number)}:", RULES, re.MULTILINE)
    ]
    missing += [f"safeguard {n}" for n in _SAFEGUARD.findall(text) if not 1 <= int(n) <= SAFEGUARDS]
    folder = ROOT / "docs" / "decisions"
    missing += [
        f"decision {n}" for n in _DECISION.findall(text) if not list(folder.glob(f"{int(n):04d}-*.md"))
    ]
    return missing + [page for page in _PAGE.findall(text) if not (ROOT / page).exists()]


def banned(text: str) -> list[str]:
    """Words of a text that the glossary replaces, with what to say instead."""
    prose = _CODE.sub(" ", text)
    return [
        f"{match[0]!r}: {instead}"
        for pattern, instead in BANNED.items()
        for match in re.finditer(pattern, prose, re.IGNORECASE)
    ]


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", PRODUCT, ids=name_of)
def test_docstrings_begin_with_what_a_reader_looks_for(file: Path) -> None:
    assert [
        f"{line} {name}: {first_sentence(text)}"
        for line, name, text in docstrings(file)
        if breaks_first_sentence(text)
    ] == []


@pytest.mark.parametrize("file", [*PRODUCT, *PAGES], ids=name_of)
def test_citations_resolve(file: Path) -> None:
    assert unresolved(file.read_text()) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != GLOSSARY], ids=name_of)
def test_pages_have_no_word_of_the_former_dialect(page: Path) -> None:
    assert banned(page.read_text()) == []


@pytest.mark.parametrize("file", PRODUCT, ids=name_of)
def test_docstrings_have_no_word_of_the_former_dialect(file: Path) -> None:
    assert [(line, name, words) for line, name, text in docstrings(file) if (words := banned(text))] == []


def test_every_rule_and_safeguard_has_a_heading() -> None:
    numbers = re.findall(r"^##+ Rule (\d(?:\.\d+)?):", RULES, re.MULTILINE)
    assert {str(number) for number in range(1, 9)} <= set(numbers)
    assert {f"5.{number}" for number in range(1, SAFEGUARDS + 1)} <= set(numbers)
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("What a night came to.", True),
        ("Return the rows.", False),
        ("Whether a note is junk.", False),
        (" ".join(["word"] * 16) + ".", True),
        ("One: " + " ".join(["word"] * 20), False),
    ],
)
def test_the_check_of_first_sentences_can_fail(text: str, broken: bool) -> None:
    assert breaks_first_sentence(text) is broken


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("See rule 4.3, and rules 5 and 9.9.", ["rule 9.9"]),
        ("Safeguard 11 and safeguard 10.", ["safeguard 11"]),
        ("As in decision 99; decision 1 has it.", ["decision 99"]),
        ("docs/nowhere.md", ["docs/nowhere.md"]),
    ],
)
def test_the_check_of_citations_can_fail(text: str, missing: list[str]) -> None:
    assert unresolved(text) == missing


def test_the_check_of_words_can_fail() -> None:
    assert banned("The crowd is mended.") == ["'mended': fix", "'crowd': users"]
    assert banned("The `crowd`.\n\n```\ncrowd\n```\n") == []
