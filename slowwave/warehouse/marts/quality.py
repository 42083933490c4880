"""Tables of search quality by day and channel, and of evaluation cycles (rule 6)."""

from __future__ import annotations

from string import Template

from slowwave.scoring.evaluation.trend import FIGURES, LEAST_QUESTIONS
from slowwave.scoring.measures import JUDGED, MEASURES, QUALITY, Measure
from slowwave.warehouse.mart import DAY, NAMESPACE, Field, Mart, count, share

_QUALITY = Template("""
WITH per_query AS (
  SELECT
    day::DATE AS day, namespace, variant, query_id, count(*) AS searches,
    count(*) FILTER (abstained) AS abstained, $means
  FROM lance_evaluation_scores GROUP BY ALL
)
SELECT
  day, namespace, variant, sum(searches), count(*), $intervals, avg($judged), sum(abstained)
FROM per_query GROUP BY ALL
""")


def _bounds(metric: str) -> str:
    half = f"t975(count({metric}) - 1) * stddev_samp({metric}) / sqrt(count({metric}))"
    return f"""
  avg({metric}) AS {metric},
  CASE WHEN count({metric}) > 1 THEN greatest(0, avg({metric}) - {half}) END AS {metric}_low,
  CASE WHEN count({metric}) > 1 THEN least(1, avg({metric}) + {half}) END AS {metric}_high"""


def _interval(name: str, title: str) -> tuple[Field, ...]:
    few = "null with fewer than two queries"
    return (
        Field(name, "DOUBLE", f"{title}: mean over distinct queries, of a query's searches first (0 to 1)."),
        Field(f"{name}_low", "DOUBLE", f"Lower end of the 95 % t interval of {title} over queries; {few}."),
        Field(f"{name}_high", "DOUBLE", f"Upper end of it; {few}."),
    )


def _with_and_without(measure: Measure) -> tuple[Field, ...]:
    """Return the columns of a weekly metric, with and without learning."""
    few = f"null with fewer than {LEAST_QUESTIONS} questions"
    name, title = measure.column, str(measure)
    return (
        Field(name, "DOUBLE", f"{title} without learning: mean over questions (0 to 1); {few}."),
        Field(f"{name}_learned", "DOUBLE", f"{title} with learning, as returned or as replayed; {few}."),
        Field(f"{name}_difference", "DOUBLE", f"{title} with learning minus without (−1 to 1); {few}."),
        Field(f"{name}_low", "DOUBLE", f"Lower end of its 95 % interval over questions; {few}."),
        Field(f"{name}_high", "DOUBLE", f"Upper end of it; {few}."),
    )


MARTS = (
    Mart(
        "quality_by_day",
        "Search quality of a day: returned results (variant logged), and replays with other policies. Only "
        "searches whose query has a relevant judgment.",
        ("evaluation_scores",),
        3,
        (
            DAY, NAMESPACE,
            Field("variant", "VARCHAR", "Policy; logged: the returned results."),
            count("searches", "Searches that were scored"),
            count("queries", "Distinct queries among them"),
            *(column for measure in QUALITY for column in _interval(measure.column, str(measure))),
            share(JUDGED.column, "Share of the top ten results with a judgment: below 1 the metrics "
                  "are lower bounds"),
            count("abstained", "Searches that abstained"),
        ),
        _QUALITY.substitute(
            means=", ".join(f"avg({one.column}) AS {one.column}" for one in MEASURES),
            judged=JUDGED.column,
            intervals=", ".join(_bounds(one.column) for one in QUALITY),
        ),
    ),
    Mart(
        "channel_contribution",
        "Results of a day's searches by the channel that found them (rule 6.5).",
        ("channel_attribution",),
        3,
        (
            DAY, NAMESPACE,
            Field("channel", "VARCHAR", "vector, bm25, trigger, learned."),
            count("searches", "Searches with results"),
            count("results", "Results in their top ten"),
            count("covered", "Results that this channel found"),
            count("exclusive", "Results that only this channel found"),
            share("coverage", "covered ÷ results"),
            share("ecr", "Exclusive Contribution Rate: exclusive ÷ results"),
        ),
        """
        SELECT
          day::DATE, namespace, channel, count(*) FILTER (results > 0), coalesce(sum(results), 0),
          coalesce(sum(covered), 0), coalesce(sum(exclusive), 0),
          sum(covered) / nullif(sum(results), 0), sum(exclusive) / nullif(sum(results), 0)
        FROM lance_channel_attribution WHERE channel <> '*' GROUP BY ALL
        """,
    ),
    Mart(
        "results_by_channels",
        "The same results by number of channels that found them.",
        ("channel_attribution",),
        2,
        (
            DAY, NAMESPACE,
            count("results", "Results in the top ten"),
            count("single", "Results that one channel found"),
            count("multi", "Results that several channels found"),
            count("unattributed", "Results without a channel, such as recalled short memories"),
        ),
        """
        SELECT
          day::DATE, namespace, coalesce(sum(results), 0), coalesce(sum(single), 0),
          coalesce(sum(multi), 0), coalesce(sum(unattributed), 0)
        FROM lance_channel_attribution WHERE channel = '*' GROUP BY ALL
        """,
    ),
    Mart(
        "cycle_progress",
        "Evaluation cycles: closed ones as they closed, and the progress of the open one (rule 6.7).",
        ("evaluation_cycles",),
        2,
        (
            NAMESPACE,
            count("number", "Number of the cycle in its namespace, from 1"),
            Field("status", "VARCHAR", "open or closed."),
            Field("opened_on", "DATE", "UTC day."),
            Field("closed_on", "DATE", "UTC day; null while it is open."),
            count("days", "Days that it has lasted"),
            count("searches", "Searches that were evaluated"),
            count("queries", "Distinct queries that were evaluated"),
        ),
        """
        SELECT
          namespace, number, status, nullif(opened_on, '')::DATE, nullif(closed_on, '')::DATE, days,
          searches, queries
        FROM lance_evaluation_cycles
        """,
    ),
    Mart(
        "trend",
        "Weekly search quality without and with learning. Only local searches. Weeks with too few questions "
        "have counts and no metrics.",
        ("trend",),
        3,
        (
            Field("week", "DATE", "Monday (UTC)."),
            NAMESPACE,
            Field("kind", "VARCHAR", "Kind of learning, such as words; empty without measurements."),
            Field("over", "BOOLEAN", "Whether the week had ended when the warehouse was built."),
            count("searches", "Searches"),
            count("measured", "Of them, searches with a relevant judgment"),
            count("questions", "Distinct queries among the measured searches"),
            count("applied", "Of the measured, searches with something learned in effect"),
            count("changed", "Of the measured, searches whose results learning changed"),
            count("would_change", "Of the measured, searches whose results learning would change if applied"),
            share("changed_of_measured", "changed ÷ measured"),
            share("changed_of_all", "changed ÷ searches"),
            *(column for one in FIGURES for column in _with_and_without(one)),
            count("wins", "Interleaved searches won by the policy with learning"),
            count("ties", "Interleaved searches with equal use of both"),
            count("losses", "Interleaved searches won by the policy without learning"),
        ),
        "SELECT week, namespace, kind, * EXCLUDE (week, namespace, kind) FROM lance_trend",
    ),
)  # fmt: skip
