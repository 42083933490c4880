"""Boilerplate: code scaffolds, blank templates, instructions about a missing text.

Every line has to match as a whole, so one line with content is enough to pass.
"""

# ruff: noqa: E501 - patterns

from __future__ import annotations

import re

MAX_LINES = 1_000
"""Maximum length of a checked text (characters); a longer one has content somewhere, or statistics."""
MAX_LINE_CHARACTERS = 400
"""Maximum length of a line (characters)."""

# A line of code without content: it opens, closes, imports or declares.
_SCAFFOLD = re.compile(
    r"[\s(){}\[\];,:]+|\(\) => \{\}|\.\.\.|pass|return(?: (?:null|none|true|false|self|this|err|\w{1,2}|[01]))?;?|break|continue|(?:end[ ;]*)+|fi|done|esac|else|try|finally|do|then|begin|todo!?\(?\)?;?"
    r"|(?:from [\w.]+ )?import (?:\{[^}]*\}|\([^)]*\)?|[\w.*]+(?: as \w+)?)(?:, *(?:\{[^}]*\}|[\w.*]+(?: as \w+)?))*(?: from ['\"][^'\"]+['\"])?;?"
    r"|import ['\"][^'\"]+['\"];?|#\s*include\s*[<\"][^>\"]+[>\"]|(?:pub )?use [\w:{}, *]+;|using (?:namespace )?[\w.]+;|export \* from ['\"][^'\"]+['\"];?|['\"]use client['\"];?|namespace [\w\\.]+;|package [\w.]+;?"
    r"|(?:const|let|var) [\w{}, ]+ = require\([^)]*\);?|require(?:_relative)? ['\"][^'\"]+['\"]|<\?php|\?>|['\"]use strict['\"];?|#pragma once"
    r"|(?:async )?def \w+\([\w*, ]*\)(?: -> \w+)?:|class \w+(?:\([\w., ]*\))?:?\s*\{?\}?"
    r"|(?:export |default |async |public |private |protected |static |final |abstract |override |void |int |fn |func |fun |function |sub |pub |def |class |interface |struct |enum |impl |trait |module |namespace |object |extends |implements )+"
    r"[\w.$<>]*\s*(?:\([^()]*\)|extends \w+|implements \w+)?\s*(?:->\s*[\w<>()]+)?\s*[:{;]?\s*(?:pass|return;?|\.\.\.)?\s*\}?;?"
    r"|(?:if|elif|else if|while|for|switch|catch|except|with|unless|when)\b\s*\(?(?:true|false|1|err|e|error|Exception|[\w.]+ as \w+)?\)?\s*(?:as \w+)?\s*[:{]"
    r"|\}\s*else\s*\{|\}?\s*(?:catch|finally)\s*(?:\([^()]*\))?\s*\{?|if __name__ == ['\"]__main__['\"]:|int main\([^()]*\)\s*\{?|return 0;"
    r"|(?:it|test|describe)\(['\"][^'\"]*['\"], *(?:async )?(?:\(\) *=>|function *\(\)) *\{\s*\}?\)?;?|@\w+(?:\(\))?|#\[[\w()]+\]"
    r"|</?[\w!-]+(?:\s[^<>]*)?/?>(?:\s*</?[\w-]+(?:\s[^<>]*)?/?>)*|<!doctype[^>]*>|#!\s*/\S+(?: \w+)?|#\s*-\*-.*-\*-|(?://|#|/\*|--)\s*(?:eslint|prettier|pylint|noqa|type: ignore|istanbul|ts-ignore|@ts|nolint|region|endregion|vim:|coding|todo\b\W*$|fixme\b\W*$)[^\n]*"
    r"|(?:console\.(?:log|error|debug)|print(?:ln|f)?|echo|puts|System\.out\.println|fmt\.Println|alert|dd|var_dump)!?\s*\(?\s*(?:['\"](?:here|test|hi|hello(?:,? world)?!?|debug|foo|ok|done|x|\d*)['\"]|x|foo|\d+)?\s*\)?;?"
    r"|(?:self\.)?\w{1,3} = (?:self\.)?\w{1,3}|(?:const|let|var|int|auto) \w{1,3} = \d+;?|select (?:1|\*)(?: from (?:table|users|dual|t|foo|my_?table))?;?|\w{1,3}\+\+;|\* ?\{ ?(?:margin|padding|box-sizing)[^{}]*\}",
    re.IGNORECASE,
)
_CODE = re.compile(r"[(){}\[\];<>=#@/*\n]|\bfrom \S+ import\b|\bimport \w+(?:\.| as )\w")
# A blank in brackets, and the words around blanks.
_SLOT = re.compile(
    r"\[[^\[\]\n]{2,60}\]|\{\{?[^{}\n]{1,60}\}\}?|<[A-Za-z][^<>\n]{1,60}>|\$\{?\w+\}?|_{3,}|\.{4,}"
)
_AROUND = frozenset(
    """
    dear hi hello human user assistant system question answer context input output name date title subject
    from to re regards best sincerely signature thanks thank you your for the a an of is it at on and will i
    we am
    """.split()
)
_WORD = re.compile(r"\w+")
# An empty field, or placeholder text of a page.
_BLANK = re.compile(
    r"(?:[-*+#>\d.)\s]|\[ ?[xX]?\])*(?:[^\W\d_][^:\n]{0,40}:|[-*_=~.#\s]*)"
    r"|\W*(?:insert|enter|type|write|add|put|place|click (?:here )?to (?:add|edit|enter))(?: (?:your|some|the|a|an|any|more|in))* "
    r"(?:text|content|title|subtitle|description|details?|notes?|name|caption|heading|body|summary|something|message|comment)s?(?: (?:here|below|goes here|in this box))*\W*"
    r"|\W*(?:some |your |sample |example |dummy |placeholder |default )*(?:text|content|description|heading|title|subtitle|paragraph|item|entry|note|memory|data|document|image|section)s?(?: (?:goes|go|comes?|to be (?:added|written|done)|coming|here|soon|later|\d+|one|two|three|entry|item|number|for|testing|only|purposes?))+\W*"
    r"|\W*(?:heading|title|subtitle|untitled(?: \w+)?(?: \(?\d+\)?)?|new (?:note|document|page|file|folder|item|entry|memory)(?: \(?\d+\)?)?|tbd|tba|tbc|n/?a|none|null|nil|undefined|empty|blank|draft)\W*"
    r"|\W*(?:(?:todo|fixme|tbd|wip|xxx|note to self)\W*)+(?:(?:write|finish|complete|fill|do|add|fix|update|check|clean|review|remember|look|come|get|revisit)?(?: (?:this|that|it|in|me|up|at|to|back|later|soon|some|more|stuff|things?|section|part|here|next|again|sometime|the rest|everything|details?|content|text|out))*)?\W*"
    r"|\W*(?:this is )?(?:just )?(?:(?:a|an|another|my|the|first|second|third) )*(?:test|testing|sample|dummy|example|temp|demo)(?: (?:a|an|test|memory|note|entry|message|text|input|post|item|save|only|number|one|two|three|again|please|ignore|delete|do|not|can|be|deleted|ignored|removed|will|should|later|me|this|it|\d+))*(?:\W+(?:please|ignore|delete|can|be|deleted|ignored|disregard|this|it|me|safely|to))*\W*",
    re.IGNORECASE,
)
# An instruction about a missing text: "Summarize the following text in three points:".
_TEXTS = (
    r"(?:texts?|passages?|paragraphs?|articles?|sentences?|conversations?|reviews?|documents?|stor(?:y|ies)|transcripts?|emails?"
    r"|responses?|questions?|code|snippets?|inputs?|excerpts?|comments?|tweets?|messages?|dialogues?|contexts?|information)"
)
_TASK = re.compile(
    r"\W*(?:(?:please|kindly|now|your task is to|you will|the task is to)\W+)*"
    r"(?:summari[sz]e|translate|classify|rewrite|rephrase|rate|extract|analy[sz]e|answer|proofread|paraphrase|correct|explain|continue|read|use|review"
    r"|generate|write|complete|label|convert|improve|simplify|shorten|expand|evaluate|compare|identify|describe|format|edit|score|rank|reply|respond)\b"
    rf"[^.!?:\n]{{0,60}}?\b(?:(?:following|provided|given) {_TEXTS}|{_TEXTS} (?:below|above|delimited|enclosed|that follows))\b"
    r"[^:\n]{0,240}:?\W*",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    rf"\W*(?:(?:given|based on|using(?: only)?|considering) (?:(?:only|the|this) )*(?:(?:following|above|provided) {_TEXTS}|{_TEXTS} (?:below|above)|conversation so far)"
    rf"|you (?:will be|are) (?:given|shown|provided with) (?:a|an|some|several|the following|two|three|multiple) {_TEXTS})\b[^:\n]{{0,300}}:?\W*",
    re.IGNORECASE,
)
_OVERRIDE = re.compile(
    r"\W*(?:\w+\W+){0,4}?(?:ignore|disregard|forget|override|bypass|discard)\b.{0,30}\b(?:(?:previous|prior|earlier|above|preceding|safety|all|any|your|other)\W+){1,4}"
    r"(?:\w+\W+){0,2}?(?:instructions?|prompts?|rules?|guidelines?|directions?|orders?|programming|constraints?|safeguards?|restrictions?)\b"
    r"|\W*(?:\w+\W+){0,4}?forget everything (?:you|that|above|i)\b|.{0,40}\b(?:reveal|print|show|output|repeat|leak|expose|disclose) (?:me )?(?:your|the (?:hidden|system|secret)) (?:hidden |entire |full |initial |original |secret |exact |system )*(?:prompt|instructions|rules)\b",
    re.IGNORECASE | re.DOTALL,
)
_PARTICULAR = re.compile(r"\d|(?<=[^.!?:\n\W] )(?!DAN\b)[A-Z][a-z]{2,}")
_NAMED = re.compile(r"(?<=[^.!?:\n\W] )[A-Z][a-z]{2,}|\d{2,}|[\"“'`]\w")


def is_boilerplate(text: str, *, titled: bool) -> bool:
    """Whether a short text is a form without content.

    Args:
        text: content of a note.
        titled: whether a person or an assistant set a title: then an import line may be the content.
    """
    lines = _lines(text)
    return _is_blank(lines) or _is_bare_instruction(text, lines) or (not titled and _is_scaffold(text, lines))


def _is_scaffold(text: str, lines: list[str]) -> bool:
    """Whether every line of a text is scaffolding code without content."""
    return bool(lines) and _CODE.search(text) is not None and all(map(_SCAFFOLD.fullmatch, lines))


def _is_blank(lines: list[str]) -> bool:
    """Whether a text is an empty form: blanks, fields without values, sample texts."""
    return bool(lines) and all(map(_is_unfilled, lines))


def _is_bare_instruction(text: str, lines: list[str]) -> bool:
    """Whether a text instructs a model about something that is missing."""
    if not lines:
        return False
    if _OVERRIDE.match(lines[0]) is not None:
        return not _PARTICULAR.search(text)
    task = _TASK.fullmatch(lines[0]) or _GIVEN.fullmatch(lines[0])
    return task is not None and len(lines) == 1 and not _NAMED.search(lines[0])


def _lines(text: str) -> list[str]:
    """Return the lines with single spaces; none for a text that is too long."""
    if len(text) > MAX_LINES or (len(text) > MAX_LINE_CHARACTERS and _is_long_line(text)):
        return []
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return list(filter(None, lines)) if max(map(len, lines)) <= MAX_LINE_CHARACTERS else []


def _is_long_line(text: str) -> bool:
    """Whether a text surely is one line that is too long: a fast check for most.

    A printable text has no white space but spaces.
    """
    return text.isprintable() and len(text) - text.count(" ") > MAX_LINE_CHARACTERS


def _is_unfilled(line: str) -> bool:
    if _BLANK.fullmatch(line):
        return True
    rest = _SLOT.sub(" ", line)
    return rest != line and all(word[0] in _AROUND for word in _WORD.finditer(rest.casefold()))
