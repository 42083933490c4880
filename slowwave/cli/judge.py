"""Judgment commands: label by hand, run the judge, agreement, import and export."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Limit, Namespace, app, open_namespace, reference
from slowwave.cli.exchange import written_to
from slowwave.common.pluralize import counted
from slowwave.views.grades import GRADES
from slowwave.views.moments import since
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, bars, err, out, prints_output, reports_errors, say, warn

if TYPE_CHECKING:
    from slowwave.evaluation.exchange.judgments import JudgmentsReport
    from slowwave.evaluation.judging.active_sampling import ShownPair
    from slowwave.evaluation.judging.run_judge import JudgeReport
    from slowwave.home.tenant import MemoryRecord
    from slowwave.memory import Memory

judging = typer.Typer(
    invoke_without_command=True,
    help="Grade how well memories answer queries, by hand or with an LLM judge.",
)
app.add_typer(judging, name="judge")

By = Annotated[str, typer.Option("--by", help="User who judges; default: command line.")]
Form = Annotated[str, typer.Option("--format", help="qrels or jsonl.")]
_KEYS = " · ".join(f"{grade} {words}" for grade, words in GRADES.items())
_KEYS += " · u unrateable · l later · s skip · q quit"
_STATES = {"u": "unrateable", "l": "later"}
_TEXT = 1_500  # characters of a memory that are shown


@judging.callback()
@reports_errors
def judge(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Number of pairs.")] = 20,
    namespace: Namespace = "",
    by: By = "",
) -> None:
    """Label pairs of query and returned memory, one after the other.

    Secret memories are left out; see `judge set`.
    """
    if context.invoked_subcommand is not None:
        return
    from slowwave.evaluation.judging.active_sampling import pairs_for, worth_judging

    with open_namespace(namespace) as memory:
        memory.principal = by or memory.principal
        pairs = pairs_for(memory.home, memory.namespace, memory.principal)
        chosen = worth_judging(pairs, limit, seed=memory.home.now().date().isoformat())
        if not chosen:
            out.print("No pair to label. Searches create pairs: [bold]slowwave search[/].")
            return
        labelled = _label(memory, chosen)
    out.print(
        f"{labelled:,} saved; {counted(len(pairs) - labelled, 'pair is', 'pairs are')} unlabelled."
        if labelled
        else "Nothing was saved."
    )


def _label(memory: Memory, chosen: list[ShownPair]) -> int:
    """Show pairs and save the grades; return the number of labels."""
    from slowwave.errors import NotFoundError

    labels = 0
    for number, pair in enumerate(chosen, start=1):
        try:
            record = memory.get(pair.memory_id)
        except NotFoundError:  # an imported search may return objects that are no memories
            continue
        _show(pair, record, f"{number} of {len(chosen)}")
        answer = _answer()
        if answer == "q":
            break
        if answer == "s":
            continue
        grade = int(answer) if answer.isdigit() else None
        memory.judge(pair.query, pair.memory_id, grade, state=_STATES.get(answer, "graded"))
        labels += 1
    return labels


def _show(pair: ShownPair, record: MemoryRecord, place: str) -> None:
    out.print()
    out.rule(place, align="left")
    say(pair.query, "bold")
    labels = f"rank {pair.rank}, shown {counted(pair.shown, 'time')}, {counted(pair.labels, 'label')}"
    say(labels, "dim")
    say(record.title, "bold blue")
    text = record.content if len(record.content) <= _TEXT else f"{record.content[:_TEXT]}…"
    say(text)


def _answer() -> str:
    """Read the next key; the end of the input is q."""
    while True:
        out.print(f"[dim]{_KEYS}[/]\n> ", end="", highlight=False)
        line = sys.stdin.readline()
        answer = line.strip().lower()
        if not line:
            return "q"
        if answer in {"0", "1", "2", "3", "u", "l", "s", "q"}:
            return answer


@judging.command("set")
@prints_output
def judge_set(
    query: Annotated[str, typer.Argument(help="Text of the query.")],
    memory_id: Annotated[str, typer.Argument(metavar="MEMORY", help="Id, from save or search.")],
    grade: Annotated[str, typer.Argument(help="0, 1, 2, 3, unrateable or later.")],
    explanation: Annotated[str, typer.Option(help="Reason of the grade.")] = "",
    namespace: Namespace = "",
    by: By = "",
) -> Output:
    """Label one pair of query and memory."""
    from slowwave.evaluation.judging import JudgmentError

    fields: dict[str, Any] = {"explanation": explanation}
    number = int(grade) if grade.isascii() and grade.isdigit() else None
    if number is None:
        if grade not in _STATES.values():
            raise JudgmentError(f"{grade!r} is no grade. Give 0, 1, 2, 3, unrateable or later.")
        fields["state"] = grade
    with open_namespace(namespace) as memory:
        memory.principal = by or memory.principal
        done = memory.judge(query, reference(memory, "memory", memory_id), number, **fields)
    status = "Saved" if done.new else "Already saved"
    return Output(done, f"{status}: {escape(grade)} for [bold]{escape(done.memory_id)}[/].")


@judging.command("list")
@prints_output
def judge_list(
    judge: Annotated[str, typer.Option(help="Grades of this judge; '*': of every judge.")] = "",
    limit: Limit = 50,
    namespace: Namespace = "",
) -> Output:
    """List labels by hand, or a judge's grades, newest first."""
    from slowwave.evaluation.exchange.judgments import wanted
    from slowwave.home.visibility import AccessView, closed_ids

    with open_namespace(namespace) as memory:
        rows = wanted(memory.journal, memory.namespace, judge).sort("made_at", "judgment_id", descending=True)
        page = rows.head(limit)
        seen = AccessView(frozenset(closed_ids(memory.store, memory.namespace)))
        now = memory.home.now()
    shown = seen.veiled(page, "query", "explanation", by=("memory_id", "query_id")).to_dicts()

    def show() -> None:
        if not shown:
            out.print("No judgments. Label pairs by hand with [bold]slowwave judge[/].")
            return
        cells = [
            [
                row["query"], row["memory_id"], row["state"] if row["grade"] is None else f"{row['grade']:g}",
                row["principal"], since(row["made_at"], now), row["explanation"],
            ]
            for row in shown
        ]  # fmt: skip
        columns = ["query", "memory", "grade", "by", "when", "why"]
        hidden_rows = rows.height - len(cells)
        print_table(counted(rows.height, "judgment"), columns, cells, left_out=hidden_rows, option="--limit")

    return Output(shown, show)


@judging.command("run")
@prints_output
def judge_run(
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs; default: the setting judge.pairs.")] = None,
    namespace: Namespace = "",
) -> Output:
    """Have the configured judge grade returned pairs. Run it again to continue."""
    from datetime import UTC, datetime

    from slowwave.evaluation.judging.active_sampling import pairs_to_judge, worth_judging
    from slowwave.evaluation.judging.judge_run import run
    from slowwave.evaluation.judging.loading import load_judge
    from slowwave.evaluation.judging.model import identity
    from slowwave.scoring.evaluation.judgments import JUDGE

    with open_namespace(namespace) as memory, bars():
        judge = load_judge(memory.home)
        pairs_ = pairs_to_judge(memory.journal, memory.namespace, who=identity(judge), source=JUDGE)
        most = memory.settings.judge.pairs if pairs is None else pairs
        wanted = worth_judging(pairs_, most, seed=memory.home.now().date().isoformat())
        batch = [(pair.query, pair.memory_id) for pair in wanted]
        report = run(memory.home, memory.namespace, judge, batch, now=datetime.now(UTC))
    return Output(report, lambda: _tell_run(report))


def _tell_run(report: JudgeReport) -> None:
    rows = [
        ["graded", report.graded],
        ["failed", report.failed],
        ["already graded", report.skipped],
        ["no such memory", report.unknown],
        ["secret, not sent", report.withheld],
        ["remaining", report.left],
        ["tokens", report.tokens],
    ]
    print_table(
        f"Judge {report.judge}", ["what", "count"], [row for row in rows if row[1] or row[0] == "graded"]
    )
    for problem in report.problems:
        warn(problem, "Failed:")
    if report.stopped == "budget":
        warn("the next pair could exceed judge.budget. Run it again to go on.", "Stopped:")
    elif report.stopped:
        warn("the judge does not answer. Run it again to go on.", "Stopped:")


@judging.command("agreement")
@prints_output
def judge_agreement(namespace: Namespace = "") -> Output:
    """Report each judge's agreement with labels by hand and with its own first grades."""
    from slowwave.evaluation.judging.agreement import agreement_now, as_row
    from slowwave.evaluation.judging.anchors import drift

    with open_namespace(namespace) as memory:
        bar = memory.settings.judge.agreement
        judges = agreement_now(memory.journal, memory.namespace)
        names = dict.fromkeys(judge.split("/")[0] for judge in judges)
        drifts = [row for name in names for row in drift(memory.journal, memory.namespace, name)]
    rows = [as_row(judge, row, bar) for judge, row in judges.items()]

    def show() -> None:
        if not rows:
            out.print("No judge has graded anything yet. Run [bold]slowwave judge run[/].")
            return
        cells = [
            [
                row["judge"], row["pairs"], row["exact"], f"{row['low']:.2f} to {row['high']:.2f}",
                row["tolerant"], "" if row["kappa"] is None else f"{row['kappa']:.3f}",
                "met" if row["met"] else "not met",
            ]
            for row in rows
        ]  # fmt: skip
        columns = ["judge", "pairs", "exact", "95 %", "within one", "kappa", f"bar {bar:.2f}"]
        caption = "pairs that people graded, too; below the bar the learning gate ignores a judge's grades"
        print_table("Agreement with labels by hand", columns, cells, caption=caption)
        if drifts:
            cells = [
                [row.cycle_id, row.judge, row.pairs, row.exact, row.tolerant, row.shift] for row in drifts
            ]
            columns = ["cycle", "judge", "anchors", "same", "within one", "mean change"]
            print_table("Anchors, beside their first grades", columns, cells)

    return Output({"bar": bar, "judges": rows, "drift": drifts}, show)


@judging.command("import")
@prints_output
def judge_import(
    files: Annotated[list[str], typer.Argument(help="Judgments: plain, .gz or .zip; '-' is standard input.")],
    form: Form = "jsonl",
    queries: Annotated[
        str,
        typer.Option(help='For qrels: file of query texts, {"_id": …, "text": …} or id, tab, text per line.'),
    ] = "",
    namespace: Namespace = "",
    by: By = "",
) -> Output:
    """Import labels. Memories are named by id or by source."""
    from datetime import UTC, datetime

    from slowwave.evaluation.exchange.judgments import JudgmentOptions, import_judgments, read_queries
    from slowwave.evaluation.judging import JudgmentError

    if form == "qrels" and not queries:
        raise JudgmentError("qrels name queries by id: give their texts with --queries FILE.")
    with open_namespace(namespace) as memory, bars():
        options = JudgmentOptions(
            memory.namespace, by or memory.principal, datetime.now(UTC), memory.settings.night.first_day,
            read_queries(queries) if queries else {},
        )  # fmt: skip
        report = import_judgments(memory.home, files, form, options)
    return Output(report, lambda: _tell_import(report))


def _tell_import(report: JudgmentsReport) -> None:
    out.print(
        f"{counted(report.lines, 'line')}: {counted(report.written, 'judgment')} written, "
        f"{report.already:,} already known, {report.unknown:,} of unknown memories, "
        f"{report.malformed:,} rejected."
    )
    for name in report.unknown_names:
        warn(name, "Unknown memory:")
    for problem in report.problems:
        warn(str(problem), "Rejected:")


@judging.command("export")
@reports_errors
def judge_export(
    file: Annotated[str, typer.Argument(help="Output file; '-' is standard output.")] = "-",
    form: Form = "jsonl",
    queries: Annotated[str, typer.Option(help="For qrels: output file of the query texts.")] = "",
    judge: Annotated[str, typer.Option(help="Grades of this judge; '*': of every judge.")] = "",
    secret: Annotated[bool, typer.Option("--secret", help="Include secret memories.")] = False,
    namespace: Namespace = "",
) -> None:
    """Export labels by hand, or a judge's grades."""
    from slowwave.evaluation.exchange.judgments import FORMATS, export_judgments, export_qrels
    from slowwave.evaluation.exchange.values import ExchangeError
    from slowwave.home.visibility import closed_ids

    if form not in FORMATS:
        raise ExchangeError(f"Unknown format {form!r}. Use one of {', '.join(FORMATS)}.")
    nowhere: Callable[[bytes], object] = len
    with open_namespace(namespace) as memory, written_to(file) as write:
        closed = set() if secret else closed_ids(memory.store, memory.namespace)
        of: dict[str, Any] = {"judge": judge, "closed": closed}
        if form == "jsonl":
            count = export_judgments(memory.journal, memory.namespace, write, **of)
        else:
            with written_to(queries) if queries else nullcontext(nowhere) as write_query:
                count = export_qrels(memory.journal, memory.namespace, write, write_query, **of)
    err.print(f"{counted(count, 'judgment')}.")
