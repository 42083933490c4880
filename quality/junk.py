"""Text that nobody meant to remember: tool output, restated boot files, the memory's own echo (rule 1).

Each kind is a named reason of its own. Text is judged line by line and by the share of it that looks like
the kind: a note that quotes a log or a prompt to say something about it is a note.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import polars as pl

TOOL_OUTPUT = "tool_output"
BOOT_FILE = "boot_file"
ECHO = "echo"

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

ECHO_SHARE = 0.8
ECHO_WINDOW = timedelta(hours=24)
SHINGLE_WORDS = 5

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

_FENCE = r"^\s*(?:```|~~~)"
_HEADING = r"^\s*#{1,6} "


def junk_reasons(notes: pl.DataFrame) -> pl.Series:
    """Why each note is junk, as a list of reason names (empty: it is not). Shape (n,).

    Args:
        notes: columns source, title, content.
    """
    found = {TOOL_OUTPUT: tool_output(notes), BOOT_FILE: boot_file(notes)}
    named = [
        pl.when(hits).then(pl.lit(name)).otherwise(pl.lit(None, dtype=pl.String))
        for name, hits in found.items()
    ]
    return notes.select(reasons=pl.concat_list(named).list.drop_nulls())["reasons"]


def _lines(notes: pl.DataFrame) -> pl.DataFrame:
    """The lines that say something: row, line, size (characters, trimmed), fenced; fences left out."""
    content = pl.col("content").fill_null("").str.replace_all("\r\n?", "\n")
    return (
        notes.select(row=pl.int_range(pl.len()), line=content.str.split("\n"))
        .explode("line")
        .with_columns(fence=pl.col("line").str.contains(_FENCE))
        .with_columns(fenced=pl.col("fence").cum_sum().over("row") % 2 == 1)
        .with_columns(size=pl.col("line").str.strip_chars().str.len_chars())
        .filter(~pl.col("fence") & (pl.col("size") > 0))
        .drop("fence")
    )


def _flags(notes: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    hits = np.zeros(notes.height, dtype=bool)
    hits[rows["row"].to_numpy()] = True
    return pl.Series(hits, dtype=pl.Boolean)


# -- tool output -----------------------------------------------------------------------------------


def tool_output(notes: pl.DataFrame) -> pl.Series:
    """Whether each note is mostly the output of programs: logs, traces, transcripts, dumps. Shape (n,).

    Measured as the share of characters in lines that look like it. Lines inside of fences count only where
    there is almost no prose beside them.

    Args:
        notes: column content.
    """
    lines = _lines(notes)
    anywhere = _any_of(_OUTPUT) | _under_a_frame()
    outside = _any_of(_OUTSIDE) | _in_patch() | _in_table("\t", 2) | _in_table(",", 3)
    lines = (
        lines.with_columns(output=anywhere | (~pl.col("fenced") & outside))
        .with_columns(prose=~pl.col("output") & ~pl.col("fenced") & ~pl.col("line").str.contains(_HEADING))
        .with_columns(beside=_sum("prose").over("row"))
        .filter(~pl.col("fenced") | (pl.col("beside") < ALMOST_NO_PROSE))
    )
    measured = lines.group_by("row").agg(
        output=_sum("output"),
        size=pl.col("size").sum(),
        lines=pl.col("output").sum(),
        longest=pl.col("size").filter("output").max().fill_null(0),
        explanation=pl.col("size").filter(pl.col("prose") & _sentence()).sum(),
    )
    share = pl.col("output") / pl.col("size")
    explained = pl.col("explanation") >= EXPLANATION_CHARACTERS
    enough = (pl.col("lines") >= OUTPUT_LINES) | (pl.col("longest") >= OUTPUT_CHARACTERS)
    wanted = pl.when(explained).then(EXPLAINED_SHARE).otherwise(OUTPUT_SHARE)
    return _flags(notes, measured.filter(enough & (share >= wanted)))


def _any_of(patterns: dict[str, str]) -> pl.Expr:
    return pl.col("line").str.contains("|".join(f"(?:{pattern})" for pattern in patterns.values()))


def _sum(flag: str) -> pl.Expr:
    return (pl.col("size") * pl.col(flag)).sum()


def _sentence() -> pl.Expr:
    """Words in a row, or a line in a script that puts no spaces between them."""
    words = (
        r"(?:[\p{L}\p{M}'’-]{2,}[,;:]? ){4,}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]{10,}"
    )
    return pl.col("line").str.contains(words)


def _under_a_frame() -> pl.Expr:
    """The line of code that a Python trace shows under each frame."""
    frame = pl.col("line").str.contains(r"^\s*File \"[^\"]+\", line \d+").shift(1, fill_value=False)
    return (frame & pl.col("line").str.contains(r"^\s{2,}\S")).over("row")


def _in_patch() -> pl.Expr:
    """Added, removed and unchanged lines, from the first hunk on."""
    hunks = pl.col("line").str.contains(r"^@@ -\d+(?:,\d+)? \+\d+").cum_sum().over("row")
    return (hunks > 0) & pl.col("line").str.contains(r"^[+\-\t ]")


def _in_table(separator: str, least: int) -> pl.Expr:
    """Rows of a dump: the same number of separators in `DUMP_ROWS` lines or more.

    Commas with a space after them are punctuation, and Markdown tables are made by people.
    """
    line = pl.col("line")
    count = line.str.count_matches(separator, literal=True)
    dump = (count >= least) & ~line.str.contains(", ", literal=True) & ~line.str.contains(r"^\s*\|")
    return dump & (dump.sum().over("row", count) >= DUMP_ROWS)


# -- boot files ------------------------------------------------------------------------------------

# Files that tools read at the start of a session; the second ones are names of ordinary notes as well.
_BOOT_NAMES = (
    r"(?:^|[/\\])(?:AGENTS(?:\.override)?|CLAUDE(?:\.local)?|GEMINI|CONVENTIONS|QWEN|WARP)\.md$"
    r"|(?i:(?:^|[/\\])(?:\.cursorrules|\.windsurfrules|\.clinerules|\.goosehints|copilot-instructions\.md"
    r"|\.cursor[/\\]rules[/\\][^/\\]+))$"
)
_LIKELY_NAMES = (
    r"(?:^|[/\\])(?:MEMORY|SOUL|IDENTITY|BOOTSTRAP|BOOT|HEARTBEAT|TOOLS|USER|AGENT|SYSTEM)\.md$"
    r"|(?i:(?:^|[/\\])[^/\\]*system[-_ ]?prompt[^/\\]*)$"
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


def boot_file(notes: pl.DataFrame) -> pl.Series:
    """Whether each note restates a boot file or a system prompt. Shape (n,).

    Several signals have to come together (`BOOT_POINTS`): the name of the file it came from, and lines that
    address an assistant. A prompt in a fence with a text about it does not count.

    Args:
        notes: columns source, title, content.
    """
    name = pl.col("source").fill_null("").str.split("#").list.first()
    points = notes.select(
        row=pl.int_range(pl.len()),
        named=pl.when(name.str.contains(_BOOT_NAMES))
        .then(BOOT_POINTS)
        .when(name.str.contains(_LIKELY_NAMES))
        .then(BOOT_POINTS - 1)
        .otherwise(0),
    )
    lines = _lines(notes)
    outside = (pl.col("size") * ~pl.col("fenced")).sum().over("row")
    signals = (
        lines.filter(~pl.col("fenced") | (outside < EXPLANATION_CHARACTERS))
        .group_by("row")
        .agg(
            pl.sum_horizontal(
                *(
                    worth * pl.col("line").str.contains(pattern).any().cast(pl.Int32)
                    for worth, pattern in _SIGNALS.values()
                ),
                (pl.col("line").str.contains(_ORDER).sum() >= INSTRUCTION_LINES).cast(pl.Int32),
            ).alias("said")
        )
    )
    scored = points.join(signals, on="row", how="left").with_columns(pl.col("said").fill_null(0))
    return _flags(notes, scored.filter(pl.col("named") + pl.col("said") >= BOOT_POINTS))


# -- echoes ----------------------------------------------------------------------------------------

# A character of a script without spaces is a word of its own, so shingles are of characters there.
_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[{_ALONE}]|[\p{{L}}\p{{N}}\p{{M}}--[{_ALONE}]]+"
_MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so that no bit of a word's hash is lost


def echoes(
    notes: pl.DataFrame,
    served: pl.DataFrame,
    *,
    window: timedelta = ECHO_WINDOW,
    share: float = ECHO_SHARE,
) -> pl.DataFrame:
    """Notes that say what the memory itself said shortly before: recall fed back (rule 1).

    A note is an echo if at least `share` of its distinct 5-word shingles (words without case and marks;
    characters in scripts without spaces; the whole text if it is shorter) stand in passages that were
    served to its namespace in [occurred_at - window, occurred_at). Passages of the same memory are left
    out: saving one's own note again is an update.

    Args:
        notes: namespace, memory_id, content, occurred_at; one row per memory.
        served: namespace, memory_id, text, search_id, shown_at; one row per passage shown.
        window: how long before a note a passage counts.
        share: the least share, over 0 and up to 1.

    Returns:
        memory_id; echo_of: of the memories that said some of it last, the one that says most of it;
        search_id: its last showing. In order of memory_id, whatever the order of the rows given.
    """
    # In order of time a showing is a number, and the window before a note is a range of numbers.
    shown = served.sort("shown_at", "search_id", "memory_id").with_columns(
        pl.col("text").rank("dense").alias("text_id"), show=pl.int_range(pl.len())
    )
    times = shown["shown_at"].dt.epoch("us").to_numpy()
    ends = notes["occurred_at"].dt.epoch("us").to_numpy()
    said = notes.select("namespace", "memory_id", row=pl.int_range(pl.len())).with_columns(
        since=pl.Series(np.searchsorted(times, ends - window // timedelta(microseconds=1)), dtype=pl.Int64),
        until=pl.Series(np.searchsorted(times, ends), dtype=pl.Int64),
    )
    ids = pl.concat([notes["memory_id"], served["memory_id"]]).unique().sort().to_frame().with_row_index("id")
    said = said.join(ids, on="memory_id", how="left", maintain_order="left", nulls_equal=True)
    shown = shown.join(ids, on="memory_id", how="left", maintain_order="left", nulls_equal=True)

    shingles = _in_namespace(_shingles(notes["content"]).join(said, on="row"))
    total = shingles.group_by("row").len("total")
    heard = _heard(shown, shingles["key"])
    last = _last_showing(shingles, _with_another(heard), by=["key"])
    own = pl.col("served") == pl.col("id")
    hits = last.with_columns(
        show=pl.when(own).then("another_show").otherwise("show"),
        served=pl.when(own).then("another").otherwise("served"),
    ).filter(pl.col("show") >= pl.col("since"))
    echoed = hits.group_by("row").len("found").join(total, on="row")
    hits = hits.join(echoed.filter(pl.col("found") >= share * pl.col("total") - 1e-9), on="row", how="semi")
    # How much of the note each of these memories says: with all its showings, also those before the last.
    pairs = hits.select("row", "since", "until", "key").join(hits.select("row", "served").unique(), on="row")
    return (
        _last_showing(pairs, heard, by=["key", "served"])
        .filter(pl.col("show") >= pl.col("since"))
        .group_by("row", "served")
        .agg(covered=pl.len(), show=pl.col("show").max())
        .sort("covered", "show", descending=True)
        .unique("row", keep="first", maintain_order=True)
        .join(said.select("row", "memory_id"), on="row")
        .join(shown.select("show", "search_id", echo_of="memory_id"), on="show")
        .sort("memory_id", "row")
        .select("memory_id", "echo_of", "search_id")
    )


def _in_namespace(shingles: pl.DataFrame) -> pl.DataFrame:
    """Shingle and namespace as one key, so that namespaces never meet."""
    mixed = pl.struct("namespace", "shingle").hash(seed=1)
    return shingles.with_columns(key=mixed).drop("namespace", "shingle")


def _heard(shown: pl.DataFrame, wanted: pl.Series) -> pl.DataFrame:
    """Every showing of every wanted shingle: key, show, served (number of the memory)."""
    texts = (
        shown.select("namespace", "text_id", "text")
        .unique(["namespace", "text_id"])
        .sort("text_id", "namespace")
    )
    numbered = texts.select("namespace", "text_id", row=pl.int_range(pl.len()))
    keys = _in_namespace(_shingles(texts["text"]).join(numbered, on="row"))
    return (
        keys.join(wanted.unique().to_frame(), on="key", how="semi")
        .join(numbered.select("row", "namespace"), on="row")
        .join(shown.select("namespace", "text_id", "show", served="id"), on=["namespace", "text_id"])
        .select("key", "show", "served")
    )


def _with_another(heard: pl.DataFrame) -> pl.DataFrame:
    """Beside each showing of a shingle the last one before it of another memory: another, another_show."""
    ordered = heard.sort("key", "show")
    first = (pl.col("key") != pl.col("key").shift(1)).fill_null(True)
    turn = first | (pl.col("served") != pl.col("served").shift(1))
    at = pl.int_range(pl.len())
    marked = ordered.select(
        began=pl.when(first).then(at).forward_fill(), turned=pl.when(turn).then(at).forward_fill()
    )
    before = marked.select(
        row=pl.when(pl.col("turned") > pl.col("began")).then(pl.col("turned") - 1).otherwise(None)
    )["row"]
    return ordered.with_columns(
        another=ordered["served"].gather(before), another_show=ordered["show"].gather(before)
    )


def _last_showing(shingles: pl.DataFrame, heard: pl.DataFrame, *, by: list[str]) -> pl.DataFrame:
    """The last showing of each shingle before the note; none: nulls."""
    return shingles.sort("until").join_asof(
        heard.sort("show"), left_on="until", right_on="show", by=by, allow_exact_matches=False,
        check_sortedness=False,
    )  # fmt: skip


def _shingles(texts: pl.Series) -> pl.DataFrame:
    """Distinct shingles of each text as 64-bit hashes: row, shingle."""
    words = (
        pl.DataFrame({"text": texts.cast(pl.String)})
        .select(
            row=pl.int_range(pl.len()),
            word=pl.col("text").fill_null("").str.normalize("NFKC").str.to_lowercase().str.extract_all(_WORD),
        )
        .filter(pl.col("word").list.len() > 0)
        .explode("word")
    )
    rows, hashes = words["row"].to_numpy(), words["word"].hash(seed=0).to_numpy()
    with np.errstate(over="ignore"):
        # A text shorter than a shingle is hashed over what there is, with its length.
        mixed = np.zeros(len(rows), dtype=np.uint64)
        length = np.zeros(len(rows), dtype=np.uint64)
        for offset in range(min(SHINGLE_WORDS, len(rows))):
            same = np.zeros(len(rows), dtype=bool)
            same[: len(rows) - offset] = rows[: len(rows) - offset] == rows[offset:]
            step = np.zeros(len(rows), dtype=np.uint64)
            step[: len(rows) - offset] = hashes[offset:]
            mixed = np.where(same, mixed * np.uint64(_MULTIPLIER) + step, mixed)
            length += same
        mixed += length
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = rows[1:] != rows[:-1]
    whole = (length == SHINGLE_WORDS) | begins
    return pl.DataFrame(
        {"row": rows[whole], "shingle": mixed[whole]}, schema={"row": pl.Int64, "shingle": pl.UInt64}
    ).unique()
