"""Regular expressions for lines of tool output, boot files and prompts.

They work in Polars and Python: no lookahead or lookbehind.
"""

# ruff: noqa: E501 - patterns

from __future__ import annotations

_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)"
_TIME = r"\d\d:\d\d:\d\d"
_DAY = r"\d{4}[-/.]\d\d[-/.]\d\d"

_ENTRY = r"[\w.@+-]+[/*@]?"
_FILES = (
    rf"^(?:{_ENTRY}(?: {{2,}}|\t))*[\w-]+\.(?:md|py|txt|json|ya?ml|toml|jsx?|tsx?|rs|go|c|h|cpp|java|rb|sh|lock|cfg|ini"
    rf"|csv|html?|css|sql|pdf|png|jpe?g|zip|gz|log)(?:(?: {{2,}}|\t){_ENTRY})+\s*$"
)

# Lines that only programs write; counted anywhere.
OUTPUT = {
    "terminal colours": r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,2}(?:;\d{1,3})*m\S",
    "timestamped log": rf"^\s*[\[(<]?{_DAY}[T ]+{_TIME}(?:[.,]\d+|Z|[+-]\d\d:?\d\d|[\])>]|\s+\["
    rf"|\s+\S+\s*[=:]|.*\b{_LEVEL}\b)",
    "clock log": rf"^\s*[\[(]?{_TIME}(?:[.,]\d{{3,}}|[\])]?\s+(?:\[|{_LEVEL}\b))",
    "level log": rf"^\s*(?:\[{_LEVEL}\s*\]|{_LEVEL}:[\w.]+:|(?:ts|time|level|lvl)=\S+\s+\w+=)",
    "system log": rf"^[A-Z][a-z]{{2}}\s+\d+ {_TIME} \S+ [\w./-]+(?:\[\d+\])?:",
    "access log": r"^\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:|^[\w.-]+[-_]\d+\s+\| .*",
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
    "names of files": _FILES,
    "listings": (
        r"^\d+(?:\.\d+)?[KMGT]?\t\S+$|^ \S.* \|\s+(?:\d+ [+-]*|Bin .*)$|^ \d+ files? changed, "
        r"|^[\w./-]+\.\w+:\d+:|^\s*\d+ \| |^\s+\|(?: +\^+.*)?$|^commit [0-9a-f]{40}|^Author: .+ <.+@.+>$"
    ),
    "git": (
        r"^(?:On branch|HEAD detached (?:at|from)) \S+$|^Your branch (?:is (?:up to date|ahead|behind)"
        r"|and '\S+' have)"
        r"|^(?:Changes (?:not staged for commit|to be committed)|Untracked files|Unmerged paths):"
        r"|^\s+\((?:use|commit or|fix conflicts) |^\s+(?:modified|new file|deleted|renamed|copied"
        r"|both (?:modified|added)"
        r"|typechange):\s+\S|^no changes added to commit|^nothing (?:added )?to commit\b"
        r"|^(?:Switched to|Already on) (?:a new )?branch '|^Already up[ -]to[ -]date\.$|^Fast-forward$"
        r"|^Updating [0-9a-f]{7,}\.\.[0-9a-f]{7,}|^Date:\s+[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:"
        r"|^(?:Merge|merge): [0-9a-f]{7,} "
        r"|^(?:[MADRCU][ MADU]|[ ][MADRCU]|\?\?|!!) \S*[./]\S*(?: -> \S+)?$"
        r"|^(?:remote: )?(?:Enumerating|Counting|Compressing|Writing|Receiving|Resolving)"
        r" (?:objects|deltas): |^remote: Total \d"
        r"|^\s+[+ ]?(?:[0-9a-f]{7,}\.{2,3}[0-9a-f]{7,}|\* \[new (?:branch|tag)\])\s+\S+\s+->"
        r"|^fatal: (?:not a git repository|pathspec |refusing to merge)|^Deleted branch \S+ \(was |^\[\S+ (?:\(root-commit\) )?[0-9a-f]{7,}\] "
    ),
    "git's lines": (
        r"^\*? ?(?:\d{1,6}[a-f]|[a-f]{1,6}\d)[0-9a-f]{2,8} (?:\(.*\) )?\S|^(?:To|From) \S+[:/]\S+\.?\S*$"
        r"|^(?:remote|hint|fatal): "
    ),
    "network": r"^PING \S+ \(|^\d+ bytes from \S+: |^--- \S+ ping statistics|^\d+ packets transmitted, ",
    "verdicts": (
        r"^Found \d+ errors? in \d+ files? \(|^Success: no issues found in |^All checks passed!$"
        r"|^\d+ (?:passed|failed|error|errors|skipped)(?:, \d+ \w+)* in \d+(?:\.\d+)?s"
        r"|^(?:-?bash|zsh|sh|dash|fish|ksh|env|[a-z]+): (?:line \d+: )?(?:[^:]+: )?(?:command not found"
        r"|No such file or directory|Permission denied|cannot access .+|not found)$"
    ),
    "processes": (
        r"^Filesystem\s+(?:Size|1K-blocks)\s|^\S+\s+(?:[\d.]+[KMGT]?\s+){3}\d+%\s+/|^\s*(?:PID|USER)\s.*\bC(?:MD"
        r"|OMMAND)$|^\s*(?:[a-z]\S*\s+)?\d+\s+\S+\s+(?:\S+\s+)?\d+:\d\d(?::\d\d)? \S"
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
# Lines that people write inside fences, too (commands, configuration, patches); counted outside of fences.
OUTSIDE = {
    "shell": (
        r"^\s*(?:\$|❯|➜|%) \S|^\s*(?:\(\S+\) )?[\w.-]+@[\w.-]+[:~ ][^$#%>]*[$#%>]( |$)"
        r"|^PS (?:[A-Z]:\\|/)[^>]*>"
        r"|^[A-Z]:\\[^>]*>|^>>> \S"
    ),
    "JSON": (
        r"^\s*[\[\]{}]+,?\s*$|^\s*\"[^\"]+\"\s*:\s*\S|^\s*\"[^\"]*\",\s*$|^\s*\"[^\"\s]*\"\s*$|^\s*\{\s*\".+\}\s*,?\s*$"
        r"|^\s*\[\s*[\"{].+\]\s*,?\s*$|^\s*-?\d+(?:\.\d+)?,\s*$"
    ),
    "patch": (
        r"^diff --git |^index [0-9a-f]{7,}\.\.[0-9a-f]{7,}|^(?:---|\+\+\+) (?:[ab]/|/dev/null)"
        r"|^@@ -\d+(?:,\d+)? \+"
        r"|^(?:rename|copy) (?:from|to) |^(?:new|deleted) file mode |^similarity index "
    ),
    "environment": r"^(?:export |declare -x )?[A-Z_][A-Z0-9_]+=\S*$|^\S+\s{2,}v?\d+(?:\.\w+)+\s*$",
    "paths": r"^(?:\.{0,2}/)?(?:[\w.@+-]+/)+[\w.@+-]*$",
}  # fmt: skip

# One line of these is enough to be output: nobody writes one as a note.
SURE = (
    OUTPUT["git"], OUTPUT["network"], OUTPUT["verdicts"], OUTPUT["names of files"],
    r"^\s*</?(?:tool_calls?|tool_result|tool_use|tool_response|function_calls?|function_results?)(?:\s[^>]*)?>",
    r"^\s*\{.*\"(?:tool_use_id|tool_call_id|tool_calls|tool_name|tool_input|exit_code)\"\s*:",
    rf"^\s*[\[(<]?{_DAY}[T ]+{_TIME}.*(?:\b{_LEVEL}\b|\b(?:trace|debug|info|warn|warning|error|fatal)[:\]])",
    rf"^\s*{_LEVEL}:[\w.]+:", rf"^[A-Z][a-z]{{2}}\s+\d+ {_TIME} \S+ [\w./-]+\[\d+\]:",
    r"^\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:", r"^\s*Traceback \(most recent call last\)", r"^npm (?:WARN|ERR!) ",
    r"^[A-Z][A-Z %/-]+(?:\s{2,}[A-Z][A-Z %/-]*){2,}$",
)  # fmt: skip

# Files that tools read at the start of a session; LIKELY_NAMES are also names of ordinary notes.
BOOT_NAMES = (
    r"(?:^|[/\\])(?:AGENTS(?:\.override)?|CLAUDE(?:\.local)?|GEMINI|CONVENTIONS|QWEN|WARP)\.md\Z"
    r"|(?i:(?:^|[/\\])(?:\.cursorrules|\.windsurfrules|\.clinerules|\.goosehints|copilot-instructions\.md"
    r"|\.cursor[/\\]rules[/\\][^/\\]+))\Z"
)
LIKELY_NAMES = (
    r"(?:^|[/\\])(?:MEMORY|SOUL|IDENTITY|BOOTSTRAP|BOOT|HEARTBEAT|TOOLS|USER|AGENT|SYSTEM)\.md\Z"
    r"|(?i:(?:^|[/\\])[^/\\]*system[-_ ]?prompt[^/\\]*)\Z"
)
_MARKS = (
    r"^[\s>*_#•\-]*(?:\d+[.)]\s+)?[*_]*"  # marks of a list, heading or emphasis before the text of a line
)

# Points and pattern. Line beginnings only: inside a sentence these words are a topic.
SIGNALS: dict[str, tuple[int, str]] = {
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
    "tools": (3, r"^\s*namespace functions \{\s*$|^\s*type \w+ = \(_: \{\s*$"),
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
# Openings of prompts. A note with one as its first line is a prompt; `role` needs an order, too.
OPENINGS = {
    "prompt": (
        r"^(?i:\W*(?:system(?: prompt| message)?|instructions?|developer)\W*[:>]\W*)?(?:"
        r"(?i:You are|You're|Act as|You will act as|Behave as) (?i:now )?(?i:an?|the|my|our) (?:[\w'’-]+,? ){0,5}"
        r"(?i:assistants?|chatbot|chat bot|language model|LLM|AI agent|AI model|coding agent|copilot"
        r"|pair programmer|support bot)(?:\W*$|[,.:;!—–-]| (?i:that|who|whose|for|named|called|made|trained|developed"
        r"|designed|created|with|built|speciali[sz]ed|working|helping|powered|in|at|of|and|to)\b)"
        r"|(?:You are|You're) (?:ChatGPT|Claude|Gemini|Codex|Copilot|Cursor|Grok|Llama|Qwen|Hermes|Cline|Devin"
        r"|Aider)\b"
        r"|As an? (?:AI|artificial intelligence)(?: language)?(?: model| assistant|,)|As a large language model"
        r"|I(?: am|'m) an AI (?:language model|assistant)"
        r"|(?i:(?:In this environment,? )?you have access to (?:the following|a set of|these|various) "
        r"(?:tools?|functions?))"
        r"|Du bist .{0,40}(?:Assistent|KI\b|Chatbot)|Sie sind .{0,40}(?:Assistent|KI\b|Chatbot)"
        r"|(?:Tu es|Vous êtes) .{0,40}(?:assistant|IA\b|chatbot)"
        r"|(?:Eres|Usted es) .{0,40}(?:asistente|IA\b)|(?:Você é|Tu és) .{0,40}(?:assistente|IA\b)"
        r"|(?:Sei|Tu sei) un.{0,40}assistente|(?:Je bent|U bent) een .{0,40}(?:assistent|chatbot)"
        r"|Ты .{0,40}(?:ассистент|помощник)|Вы .{0,40}(?:ассистент|помощник)"
        r"|(?:你是|您是|你現在是|你现在是).{0,30}(?:助手|助理|语言模型|智能体|机器人)"
        r"|あなたは.{0,40}(?:アシスタント|エージェント|AI)|당신은 .{0,30}(?:어시스턴트|비서|AI)"
        r"|คุณคือ.{0,30}(?:ผู้ช่วย|AI)|أنت (?:مساعد|نموذج)"
        r")"
        r"|^\s*#*\s*\W?(?:AGENTS(?:\.override)?|CLAUDE(?:\.local)?|GEMINI|SOUL|BOOTSTRAP|HEARTBEAT)\.md\W*$"
        r"|^\s*</?(?:system|system[-_](?:prompt|reminder|instructions?)|custom_instructions|persona)(?:\s[^>]*)?>"
        r"|^<\|(?:im_start|start_header_id)\|>\s*system|<<SYS>>|^\s*\[SYSTEM\]|^namespace functions \{"
    ),
    "role": r"^(?i:You are|You're|Act as|Behave as) (?i:now )?(?i:an?|the) (?:[\w'’-]+,? ){0,5}"
    r"(?i:expert|agent|bot|engineer|developer|programmer|tutor|teacher|translator|writer|editor|analyst"
    r"|consultant|reviewer|specialist|AI)\b",
}  # fmt: skip
ORDER = (
    _MARKS + r"(?:(?:IMPORTANT|CRITICAL|NOTE):? )?[*_]*(?:Always|Never|Do not|Don't|DO NOT|NEVER|ALWAYS|MUST|"
    r"You (?:must|should|may|can|will|have|are|do)|Your \w+|Avoid|Prefer|Respond|Answer"
    r"|Keep (?:your|responses)"
    r"|Be (?:concise|helpful|honest|direct|brief|polite)|Use (?:the|your)|Ask (?:the user|before"
    r"|clarifying))\b"
)
