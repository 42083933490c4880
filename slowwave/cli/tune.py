"""The command `tune`: fit a ranking policy to labelled queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import app, home_settings
from slowwave.common.pluralize import counted
from slowwave.views.tables import print_boxed, print_table
from slowwave.views.terminal import Output, bars, out, prints_output


@app.command()
@prints_output
def tune(
    data: Annotated[
        list[Path], typer.Option(help="Folder with corpus.jsonl, queries.jsonl, qrels.tsv; repeatable.")
    ],
    to: Annotated[Path, typer.Option("--out", help="Output file of the policy.")] = Path("policy.json"),
    report: Annotated[
        Path | None, typer.Option(help="Also write the report to this file (Markdown).")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="Cache embeddings in this folder.")] = None,
    most: Annotated[int, typer.Option("--queries", min=20, help="Maximum queries per collection.")] = 500,
) -> Output:
    """Fit a ranking policy on half of the queries; report on the other half.

    Nothing in force changes. To use it, set ranking.policy_file to the file.
    """
    from slowwave.settings.ranking_file import write_policy
    from slowwave.tuning.run import as_rows, run
    from slowwave.views.tuned_policy import as_markdown, parameters

    settings = home_settings()
    with bars():
        done = run(settings, data, cache=cache, most=most)
    _, rows = as_rows(done)
    write_policy(
        to, done.policy, {"fitted_on": [str(folder.resolve().name) for folder in data], "report": rows}
    )
    if report is not None:
        report.write_text(as_markdown(done), encoding="utf-8")

    def show() -> None:
        caption = "held-out halves; difference: of nDCG@10 to the current policy, 95 % interval"
        shown = ("collection", "policy", "ndcg@10", "mrr@5", "difference", "verdict")
        cells = [[row[name] for name in shown] for row in rows if "," not in row["policy"]]
        print_table(f"{counted(done.tried, 'policy', 'policies')} tried", shown, cells, caption=caption)
        print_boxed("Changed parameters", parameters(done, changed=True))
        out.print(
            f"Written to [bold]{escape(str(to))}[/]. Nothing in force has changed. "
            f"To use it, set ranking.policy_file."
        )

    return Output({"policy": done.policy.to_dict(), "version": done.policy.version, "report": rows}, show)
