"""How good searches were (rule 6): by day, by channel, and how far cycles are."""

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


def _with_and_without(one: Measure) -> tuple[Field, ...]:
    """A figure of a week."""
    few = f"null with fewer than {LEAST_QUESTIONS} questions"
    name, title = one.column, str(one)
    return (
        Field(name, "DOUBLE", f"{title} without what was learned: mean over questions (0 to 1); {few}."),
        Field(f"{name}_learned", "DOUBLE", f"{title} with it, as shown or as it would have been; {few}."),
        Field(f"{name}_difference", "DOUBLE", f"{title} with it minus without (−1 to 1); {few}."),
        Field(f"{name}_low", "DOUBLE", f"Lower end of its 95 % interval over questions; {few}."),
        Field(f"{name}_high", "DOUBLE", f"Upper end of it; {few}."),
    )


MARTS = (
    Mart(
        "quality_by_day",
        "How good the searches of a day were: as they were shown (variant logged), and as other policies "
        "would have ranked what they considered. Only searches whose query has a relevant judgment.",
        ("evaluation_scores",),
        3,
        (
            DAY, NAMESPACE,
            Field("variant", "VARCHAR", "The ranking; logged: what production showed."),
            count("searches", "Searches that were scored"),
            count("queries", "Distinct queries among them"),
            *(column for measure in QUALITY for column in _interval(measure.column, str(measure))),
            share(JUDGED.column, "Share of the first ten results that anybody judged: below 1 the metrics "
                  "are lower bounds"),
            count("abstained", "Searches that were answered with nothing"),
        ),
        _QUALITY.substitute(
            means=", ".join(f"avg({one.column}) AS {one.column}" for one in MEASURES),
            judged=JUDGED.column,
            intervals=", ".join(_bounds(one.column) for one in QUALITY),
        ),
    ),
    Mart(
        "channel_contribution",
        "Which channels found what the searches of a day showed (rule 6.5).",
        ("channel_attribution",),
        3,
        (
            DAY, NAMESPACE,
            Field("channel", "VARCHAR", "vector, bm25, trigger, learned."),
            count("searches", "Searches that showed results"),
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
        "The same results by how many channels found them.",
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
        "Evaluation cycles: closed ones as they closed, and how far the open one is (rule 6.7).",
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
        "Is it getting better: what the searches of a week were worth without what was learned and with it. "
        "Only searches made here. Weeks with too few questions have counts and no figures.",
        ("trend",),
        3,
        (
            Field("week", "DATE", "Monday (UTC)."),
            NAMESPACE,
            Field("kind", "VARCHAR", "What is learned, such as words; empty where nothing was measured."),
            Field("over", "BOOLEAN", "Whether the week was over when the warehouse was built."),
            count("searches", "Searches"),
            count("measured", "Of them, those with a relevant judgment"),
            count("questions", "Distinct queries among the measured"),
            count("applied", "Of the measured, those for which something that was learned was in force"),
            count("changed", "Of the measured, those whose results that changed"),
            count("would_change", "Of the measured, those whose results it would have, had it been applied"),
            share("changed_of_measured", "changed ÷ measured"),
            share("changed_of_all", "changed ÷ searches"),
            *(column for one in FIGURES for column in _with_and_without(one)),
            count("wins", "Searches that showed both rankings in turn, won by the one with what was learned"),
            count("ties", "Such searches in which the results of both were used equally"),
            count("losses", "Such searches that the one without it won"),
        ),
        "SELECT week, namespace, kind, * EXCLUDE (week, namespace, kind) FROM lance_trend",
    ),
)  # fmt: skip
