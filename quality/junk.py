"""Text that nobody meant to remember: tool output, restated boot files (rule 1).

Each kind is a named reason of its own. Text is judged line by line and by the share of it that looks like
the kind: a note that quotes a log or a prompt to say something about it is a note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

TOOL_OUTPUT = "tool_output"
BOOT_FILE = "boot_file"

# Share of a text's characters that stand in lines of output, from which on it is output. One with an
# explanation of at least so many characters beside it is a note, unless next to nothing else is in it.
OUTPUT_SHARE = 0.7
EXPLAINED_SHARE = 0.9
EXPLANATION_CHARACTERS = 100
OUTPUT_LINES = 3
OUTPUT_CHARACTERS = 120  # one line of a dump is enough if it is as long as this
ALMOST_NO_PROSE = 40  # characters of prose outside of fences up to which what is inside counts
DUMP_ROWS = 5  # lines with the same number of tabs or commas that make a dump of a table

BOOT_POINTS = 3
INSTRUCTION_LINES = 3  # lines of orders to an assistant that make one signal


_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)"
_TIME = r"\d\d:\d\d:\d\d"
_DAY = r"\d{4}[-/.]\d\d[-/.]\d\d"

# What only a program writes: counted wherever it stands.
_OUTPUT = {
    "terminal colours": r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,2}(?:;\d{1,3})*m\S",
    "timestamped log": rf"^\s*[\[(<]?{_DAY}[T ]+{_TIME}(?:[.,]\d+|Z|[+-]\d\d:?\d\d|[\])>]|\s+\["
    rf"|\s+\S+\s*[=:]|.*\b{_LEVEL}\b)",
    "clock log": rf"^\s*[\[(]?{_TIME}(?:[.,]\d{{3,}}|[\])]?\s+(?:\[|{_LEVEL}\b))",
    "level log": rf"^\s*(?:\[{_LEVEL}\s*\]|{_LEVEL}:[\w.]+:|(?:ts|time|level|lvl)=\S+\s+\w+=)",
    "system log": rf"^[A-Z][a-z]{{2}}\s+\d+ {_TIME} \S+ [\w./-]+(?:\[\d+\])?:",
    "access log": r"^\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:|^[\w.-]+\s+\| .*",
    "stack trace": (
        r"^\s*Traceback \(most recent call last\)|^\s*File \"[^\"]+\", line \d+"
        r"|^\s+at [\w$.<>/\[\] ]+\(.*\)\s*$"
        r"|^\s+at .+:\d+:\d+\)?\s*$|^Caused by: |^\s*\.{3} \d+ more\s*$|^(?:\w+\.)*\w+(?:Error"
        r"|Exception)(?:: .*)?$"
        r"|^goroutine \d+ \[|^thread '.*' panicked at|^\s+\d+:\s+0x[0-9a-f]+|^\s*[~^]+\s*$"
    ),
    "tests": (
        r"^\S+::\S+\s+(?:PASSED|FAILED|SKIPPED|ERROR|XFAIL)|^(?:PASSED|FAILED|ERROR|SKIPPED) \S+(?:::|\.\w+)"
        r"|^={3,}.*={3,}$|^_{3,} .+ _{3,}$|^\S+\.\w+ [.FEsxX]+\s+\[\s*\d+%\]|^E\s{2,}\S"
        r"|^platform \w+ -- Python"
        r"|^(?:collected|collecting) \d+ items?|^rootdir: |^plugins: "
        r"|^\s*--- (?:PASS|FAIL|SKIP): |^=== RUN\s|^(?:ok|FAIL)\s+\S+\s+[\d.]+s$|^(?:not )?ok \d+ "
        r"|^test \S+ \.\.\. (?:ok|FAILED|ignored)|^test result: |^(?:Tests|Test Suites|Snapshots|Time):\s+\d"
        r"|^\s*[✓✔✗✘×] .+\(\d+(?:\.\d+)? ?m?s\)|^(?:PASS|FAIL) \S+\.\w+"
    ),
    "build": (
        r"^\s*(?:Compiling|Downloaded|Downloading|Checking|Fresh|Installing|Building"
        r"|Updating) [\w.-]+ v?\(?\d"
        r"|^\s*Finished .* target\(s\) in|^(?:Collecting|Requirement already satisfied:?"
        r"|Using cached|Installing"
        r" collected packages:|Successfully (?:installed|built)|Downloading) [\w.-]+[^ ]*(?:[ ,<>=~!(].*)?$"
        r"|^npm (?:WARN|ERR!|notice|warn|error)|^added \d+ packages|^make(?:\[\d+\])?: |^Step \d+/\d+ : "
        r"|^#\d+ (?:\[|DONE|CACHED|sha256|\d+\.\d+)|^ ?--->|^\[\s*\d+(?:%|/\d+)\]|^\s+(?:CC|LD|AR|CXX)\s+\S+$"
        r"|^(?:Get|Hit|Ign):\d+ http|^(?:Unpacking|Setting up|Selecting previously|Preparing to unpack) \S+"
        r"|^\S+:\d+(?::\d+)?:? (?:error|warning|note|fatal error|E\d+|F\d+|W\d+)\b|^\s*--> \S+:\d+:\d+"
        r"|^> [\w@/.-]+ (?:build|test|lint|start)\b|^\s*Running `.*`$"
    ),
    "requests": (
        r"^[<>] ?HTTP/\d|^HTTP/\d(?:\.\d)? \d{3}|^[<>]? ?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+ HTTP/"
        r"|^[<>] [A-Za-z-]+: |^\* (?:Connected to|Trying|TLSv|ALPN|Host|SSL|IPv|Closing connection"
        r"|Connection #)"
        r"|^(?i:content-(?:type|length|encoding)|cache-control|etag|set-cookie|user-agent"
        r"|transfer-encoding|vary"
        r"|accept(?:-[a-z]+)?|x-[a-z-]+|last-modified|strict-transport-security): \S"
    ),
    "file list": r"^[dlcbps-][rwxsStT-]{9}[.+@]?\s+\d+\s|^total \d+[KMGk]?$"
    r"|^[dl-][arhsl-]{4,5}\s+\d+[/.]\d+[/.]\d+\s",
    "listings": (
        r"^\d+(?:\.\d+)?[KMGT]?\t\S+$|^ \S.* \|\s+(?:\d+ [+-]*|Bin .*)$|^ \d+ files? changed, "
        r"|^[\w./-]+\.\w+:\d+:|^\s*\d+ \| |^\s+\|(?: +\^+.*)?$|^commit [0-9a-f]{40}|^Author: .+ <.+@.+>$"
    ),
    "hex dump": r"^\s*(?:0x)?[0-9a-fA-F]{6,16}:?\s+(?:[0-9a-fA-F]{2,8} +){4,}",
    "tool calls": (
        r"^\s*</?(?:tool_call|tool_calls|tool_result|tool_use|tool_response|function_calls?|function_results?"
        r"|invoke|parameter|stdout|stderr|output)(?:\s[^>]*)?>"
        r"|^\s*[{\[].*\"(?:tool_use_id|tool_call_id|tool_calls|tool_name|tool_input|stdout|stderr"
        r"|exit_code)\"\s*:"
        r"|^\s*\"(?:tool_use_id|tool_call_id|tool_calls|tool_name|tool_input|stdout|stderr|exit_code)\"\s*:"
        r"|^(?i:(?:tool|function) (?:call|result|output|use|response)|action input"
        r"|observation)\s*(?:\(.*\))?:"
        r"|^(?:Exit code|Wall time|Process exited with code|Chunk ID|Original token count):? "
    ),
}  # fmt: skip
# What people write into fences too (commands to type, a configuration, a patch): counted outside of them.
_OUTSIDE = {
    "shell": (
        r"^\s*(?:\$|❯|➜|%) \S|^\s*(?:\(\S+\) )?[\w.-]+@[\w.-]+[:~ ][^$#%>]*[$#%>]( |$)"
        r"|^PS (?:[A-Z]:\\|/)[^>]*>"
        r"|^[A-Z]:\\[^>]*>|^>>> \S"
    ),
    "JSON": (
        r"^\s*[\[\]{}]+,?\s*$|^\s*\"[^\"]+\"\s*:\s*\S|^\s*\"[^\"]*\",?\s*$|^\s*\{\s*\".+\}\s*,?\s*$"
        r"|^\s*\[\s*[\"{].+\]\s*,?\s*$|^\s*-?\d+(?:\.\d+)?,\s*$"
    ),
    "patch": (
        r"^diff --git |^index [0-9a-f]{7,}\.\.[0-9a-f]{7,}|^(?:---|\+\+\+) (?:[ab]/|/dev/null)"
        r"|^@@ -\d+(?:,\d+)? \+"
        r"|^(?:rename|copy) (?:from|to) |^(?:new|deleted) file mode |^similarity index "
    ),
    "environment": r"^(?:export |declare -x )?[A-Z_][A-Z0-9_]+=\S*$|^\S+\s{2,}v?\d+(?:\.\w+)+\s*$",
    "paths": r"^(?:\.{0,2}/)?(?:[\w.@+-]+/)+[\w.@+-]*$",
    "columns": r"^\S+(?: \S+)*(?:\s{2,}\S+(?: \S+)?){3,}\s*$",
}  # fmt: skip

_FENCES = ("```", "~~~")

_Flags = npt.NDArray[np.bool_]
_Sizes = npt.NDArray[np.int64]


def junk_reasons(notes: pl.DataFrame) -> pl.Series:
    """Why each note is junk, as a list of reason names (empty: it is not). Shape (n,).

    Args:
        notes: columns source, title, content.
    """
    return pl.Series("reasons", reasons_of_junk(notes), dtype=pl.List(pl.String))


def reasons_of_junk(notes: pl.DataFrame) -> list[list[str]]:
    """`junk_reasons` as plain lists."""
    lines = _lines(notes)
    alike, signalled = _finding([_ANY_OUTPUT, _ANY_SIGNAL], lines.text)
    found = (
        (TOOL_OUTPUT, _tool_output(lines, alike)),
        (BOOT_FILE, _boot_file(lines, signalled, notes["source"])),
    )
    reasons: list[list[str]] = [[] for _ in lines.ends]
    for name, rows in found:
        for row in rows:
            reasons[row].append(name)
    return reasons


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of all notes that say something, one note after the other; fences are left out.

    Attributes:
        text: the lines.
        sizes: characters of each, trimmed.
        fenced: whether it stands between fences.
        ends: for each note the place after its last line.
    """

    text: list[str]
    sizes: _Sizes
    fenced: _Flags
    ends: list[int]

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Each note that has lines: its row, the place of its first line, and the one after its last."""
        start = 0
        for row, end in enumerate(self.ends):
            if end > start:
                yield row, start, end
            start = end


def _lines(notes: pl.DataFrame) -> _Lines:
    text: list[str] = []
    sizes: list[int] = []
    fenced: list[bool] = []
    ends: list[int] = []
    for content in notes["content"]:
        inside = False
        for line in (content or "").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
            said = line.strip()
            if said.startswith(_FENCES):
                inside = not inside
            elif said:
                text.append(line)
                sizes.append(len(said))
                fenced.append(inside)
        ends.append(len(text))
    return _Lines(text, np.array(sizes, np.int64), np.array(fenced, bool), ends)


def _finding(patterns: list[pl.Expr], lines: list[str]) -> list[_Flags]:
    """Which lines each of the patterns finds something in; in this thread, for the sake of one note."""
    found = pl.Series("line", lines, dtype=pl.String).to_frame().select_seq(patterns)
    return [hits.to_numpy() for hits in found.get_columns()]


def _flags(notes: pl.DataFrame, rows: list[int]) -> pl.Series:
    hits = np.zeros(notes.height, dtype=bool)
    hits[rows] = True
    return pl.Series(hits, dtype=pl.Boolean)


def _finds(name: str, *patterns: str) -> pl.Expr:
    # An expression is made once: a pattern of some kilobytes takes longer to hand over than to look for.
    return pl.col("line").str.contains("|".join(f"(?:{pattern})" for pattern in patterns)).alias(name)


# -- tool output -----------------------------------------------------------------------------------

_ANYWHERE = _finds("anywhere", *_OUTPUT.values())
_ANY_OUTPUT = _finds("output", *_OUTPUT.values(), *_OUTSIDE.values())
# Words in a row, or a line in a script that puts no spaces between them.
_SENTENCE = _finds(
    "sentence",
    r"(?:[\p{L}\p{M}'’-]{2,}[,;:]? ){4,}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]{10,}",
)
_FRAME = re.compile(r"\s*File \"[^\"]+\", line \d")
_INDENTED = re.compile(r"\s{2,}\S")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d")
_HEADING = re.compile(r"\s*#{1,6} ")


def tool_output(notes: pl.DataFrame) -> pl.Series:
    """Whether each note is mostly the output of programs: logs, traces, transcripts, dumps. Shape (n,).

    Measured as the share of characters in lines that look like it. Lines inside of fences count only where
    there is almost no prose beside them.

    Args:
        notes: column content.
    """
    lines = _lines(notes)
    return _flags(notes, _tool_output(lines, *_finding([_ANY_OUTPUT], lines.text)))


def _tool_output(lines: _Lines, alike: _Flags) -> list[int]:
    """Rows of the notes that are tool output; `alike` are the lines that look like it."""
    return [
        row
        for row, start, end in lines.spans()
        if _is_output(
            lines.text[start:end], lines.sizes[start:end], lines.fenced[start:end], alike[start:end]
        )
    ]


def _is_output(text: list[str], sizes: _Sizes, inside: _Flags, alike: _Flags) -> bool:
    """Whether one note is output, by its lines: their sizes, if they are fenced, if they look like output."""
    framed, around = _mask(_under_a_frame(text), alike), _mask(_in_context(text), alike)
    output = alike | framed | around
    if max(_share(output, sizes), _share(output[~inside], sizes[~inside])) < OUTPUT_SHARE:
        return False  # the cheap question first: it is the answer for nearly every note
    prose = ~output & ~inside
    prose[prose] = [not _HEADING.match(text[place]) for place in np.flatnonzero(prose)]
    counted = ~inside
    if sizes[prose].sum() < ALMOST_NO_PROSE:
        counted[:] = True
        if inside.any():  # what people write into fences too does not count there
            output &= ~inside | framed | _finding([_ANYWHERE], text)[0]
    hits = sizes[output & counted]
    share = _share(output[counted], sizes[counted])
    if share < OUTPUT_SHARE or not (len(hits) >= OUTPUT_LINES or hits.max() >= OUTPUT_CHARACTERS):
        return False
    if share >= EXPLAINED_SHARE:
        return True
    (said,) = _finding([_SENTENCE], [text[place] for place in np.flatnonzero(prose)])
    return bool(sizes[prose][said].sum() < EXPLANATION_CHARACTERS)


def _mask(places: list[int], like: _Flags) -> _Flags:
    mask = np.zeros_like(like)
    mask[places] = True
    return mask


def _share(chosen: _Flags, sizes: _Sizes) -> float:
    return float(sizes[chosen].sum() / max(sizes.sum(), 1))


def _in_context(lines: list[str]) -> list[int]:
    """Places of the lines that are output, outside of fences, for what stands around them."""
    return [*_in_patch(lines), *_in_table(lines, "\t", 2), *_in_table(lines, ",", 3)]


def _under_a_frame(lines: list[str]) -> list[int]:
    """The line of code that a Python trace shows under each frame."""
    return [
        place
        for place, (above, line) in enumerate(pairwise(lines), 1)
        if 'File "' in above and _FRAME.match(above) and _INDENTED.match(line)
    ]


def _in_patch(lines: list[str]) -> list[int]:
    """Added, removed and unchanged lines, from the first hunk on."""
    first = next((at for at, line in enumerate(lines) if line[0] == "@" and _HUNK.match(line)), len(lines))
    return [at for at in range(first, len(lines)) if lines[at][0] in "+-\t "]


def _in_table(lines: list[str], separator: str, least: int) -> list[int]:
    """Rows of a dump: the same number of separators in `DUMP_ROWS` lines or more.

    Commas with a space after them are punctuation, and Markdown tables are made by people.
    """
    counts = {
        at: count
        for at, line in enumerate(lines)
        if (count := line.count(separator)) >= least
        and ", " not in line
        and not line.lstrip().startswith("|")
    }
    if len(counts) < DUMP_ROWS:
        return []
    often = Counter(counts.values())
    return [at for at, count in counts.items() if often[count] >= DUMP_ROWS]


# -- boot files ------------------------------------------------------------------------------------

# Files that tools read at the start of a session; the second ones are names of ordinary notes as well.
_BOOT_NAMES = (
    r"(?:^|[/\\])(?:AGENTS(?:\.override)?|CLAUDE(?:\.local)?|GEMINI|CONVENTIONS|QWEN|WARP)\.md\Z"
    r"|(?i:(?:^|[/\\])(?:\.cursorrules|\.windsurfrules|\.clinerules|\.goosehints|copilot-instructions\.md"
    r"|\.cursor[/\\]rules[/\\][^/\\]+))\Z"
)
_LIKELY_NAMES = (
    r"(?:^|[/\\])(?:MEMORY|SOUL|IDENTITY|BOOTSTRAP|BOOT|HEARTBEAT|TOOLS|USER|AGENT|SYSTEM)\.md\Z"
    r"|(?i:(?:^|[/\\])[^/\\]*system[-_ ]?prompt[^/\\]*)\Z"
)
_MARKS = r"^[\s>*_#•\-]*(?:\d+[.)]\s+)?[*_]*"  # of a list, a heading or emphasis, before what a line says

# points, what a line of it says. Lines only: inside a sentence these words are spoken about.
_SIGNALS: dict[str, tuple[int, str]] = {
    "persona": (
        1,
        _MARKS + r"(?:You are|You're|Act as|You will act as) (?:an?|the|now)?\s?.{0,60}\b"
        r"(?i:assistant|agent|chatbot|language model|LLM|AI|copilot|pair programmer)\b"
        r"|" + _MARKS + r"You are (?:ChatGPT|Claude|Gemini|Codex|Copilot|Cursor|Grok|Llama|Qwen|Hermes)\b"
        r"|" + _MARKS + r"You(?:'re not a chatbot| wake up fresh)"
        r"|" + _MARKS + r"(?:Du bist|Sie sind) .{0,40}(?:Assistent|KI\b|Agent)"
        r"|" + _MARKS + r"(?:Tu es|Vous êtes) .{0,40}(?:assistant|agent|IA\b)"
        r"|" + _MARKS + r"(?:Eres|Usted es) .{0,40}(?:asistente|agente|IA\b)"
        r"|" + _MARKS + r"(?:Você é) .{0,40}(?:assistente|agente|IA\b)"
        r"|" + _MARKS + r"Ты .{0,40}(?:ассистент|помощник)"
        r"|" + _MARKS + r"(?:你是|您是).{0,30}(?:助手|助理|模型|智能体)"
        r"|" + _MARKS + r"あなたは.{0,40}(?:アシスタント|エージェント|AI)",
    ),
    "self": (1, _MARKS + r"(?:As an AI\b|As a large language model|I am an AI\b|I'm an AI\b"
    r"|Als KI\b|作为一个?(?:AI|人工智能))"),
    "answers": (
        1,
        _MARKS + r"(?:When|If|Before|After|While) (?:you are |you're )?(?:respond|answer|reply"
        r"|the user|a user|asked|"
        r"users ask|you respond|you answer|(?:writ|edit|us)ing tools|working (?:with|in|on) (?:this"
        r"|the) (?:repo|code))",
    ),
    "tags": (
        2,
        r"^\s*</?(?:system|system[-_](?:prompt|reminder|instructions?)|instructions|persona"
        r"|custom_instructions"
        r"|user_(?:info|rules|preferences)|project_instructions|tool_guidelines|claude_info)(?:\s[^>]*)?>"
        r"|<\|(?:im_start|start_header_id)\|>\s*system|<<SYS>>|^\s*\[SYSTEM\]|^\s*###? ?System:",
    ),
    "headings": (
        1,
        r"^\s*#{1,6} .*(?i:AGENTS\.md|CLAUDE\.md|GEMINI\.md|SOUL\.md|system prompt|cursor rules"
        r"|copilot instructions"
        r"|\byour (?:role|task|tools|memory|workspace|identity)\b|instructions for (?:the )?(?:AI"
        r"|agents?|assistants?)"
        r"|(?:every|first|new) session|session start|core truths|who you are|tone and style"
        r"|response (?:style|format|guidelines)"
        r"|(?:agent|assistant|AI) (?:guidelines|instructions|rules|behaviou?r)|safety guidelines|red lines)",
    ),
    "guidance": (
        2,
        _MARKS + r"(?:This file (?:provides|contains) (?:guidance|instructions|context|rules) (?:to|for) "
        r"|You have access to (?:the following|a set of|these) (?:tools|functions)"
        r"|Knowledge cutoff:|(?:IMPORTANT: )?[Tt]his context may or may not be relevant"
        r"|Your (?:knowledge|training) (?:cutoff|data)|You (?:must|should) (?:always"
        r"|never) (?:reveal|mention|refuse)"
        r"|(?:Do not|Don't|Never) (?:reveal|disclose|share) (?:these|this|the"
        r"|your) (?:system )?(?:prompt|instructions)"
        r"|(?:\w+ (?:session|run|start):[*_]* )?"
        r"(?:Read|First,? read) `?(?:SOUL|USER|MEMORY|AGENTS|CLAUDE|IDENTITY)\.md)",
    ),
}  # fmt: skip
_ORDER = (
    _MARKS + r"(?:(?:IMPORTANT|CRITICAL|NOTE):? )?[*_]*(?:Always|Never|Do not|Don't|DO NOT|NEVER|ALWAYS|MUST|"
    r"You (?:must|should|may|can|will|have|are|do)|Your \w+|Avoid|Prefer|Respond|Answer"
    r"|Keep (?:your|responses)"
    r"|Be (?:concise|helpful|honest|direct|brief|polite)|Use (?:the|your)|Ask (?:the user|before"
    r"|clarifying))\b"
)


_SAID = {name: _finds(name, pattern) for name, (_, pattern) in _SIGNALS.items()}
_ANY_SIGNAL = _finds("signal", *(pattern for _, pattern in _SIGNALS.values()))
_ORDERS = _finds("orders", _ORDER)
_BOOT_NAME, _LIKELY_NAME = re.compile(_BOOT_NAMES), re.compile(_LIKELY_NAMES)


def boot_file(notes: pl.DataFrame) -> pl.Series:
    """Whether each note restates a boot file or a system prompt. Shape (n,).

    Several signals have to come together (`BOOT_POINTS`): the name of the file it came from, and lines that
    address an assistant. A prompt in a fence with a text about it does not count.

    Args:
        notes: columns source, title, content.
    """
    lines = _lines(notes)
    (signalled,) = _finding([_ANY_SIGNAL], lines.text)
    return _flags(notes, _boot_file(lines, signalled, notes["source"]))


def _boot_file(lines: _Lines, signalled: _Flags, sources: pl.Series) -> list[int]:
    """Rows of the notes that are boot files; `signalled` are the lines with any of the signals."""
    names = [_points_of_name(source or "") for source in sources]
    found = [row for row, points in enumerate(names) if points >= BOOT_POINTS]
    for row, start, end in lines.spans():
        points = names[row]
        # Orders are one point and the rest has to come from signals or the name.
        if points >= BOOT_POINTS or (points < BOOT_POINTS - 1 and not signalled[start:end].any()):
            continue
        inside = lines.fenced[start:end]
        outside = lines.sizes[start:end][~inside].sum()
        counted = ~inside if outside >= EXPLANATION_CHARACTERS else np.ones_like(inside)
        text = [lines.text[start + place] for place in np.flatnonzero(counted)]
        said = pl.DataFrame({"line": text}, {"line": pl.String}).select(*_SAID.values(), _ORDERS)
        points += sum(worth * bool(said[name].any()) for name, (worth, _) in _SIGNALS.items())
        if points + (said["orders"].sum() >= INSTRUCTION_LINES) >= BOOT_POINTS:
            found.append(row)
    return found


def _points_of_name(source: str) -> int:
    name = source.split("#", 1)[0]
    if _BOOT_NAME.search(name):
        return BOOT_POINTS
    return BOOT_POINTS - 1 if _LIKELY_NAME.search(name) else 0
