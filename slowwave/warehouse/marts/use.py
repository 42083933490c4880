"""What was asked, and what use taught (rule 4)."""

from __future__ import annotations

from slowwave.warehouse.mart import DAY, NAMESPACE, Field, Mart, count

MARTS = (
    Mart(
        "searches_by_day",
        "Searches and what they showed. What was asked is not here.",
        ("searches",),
        2,
        (
            DAY, NAMESPACE,
            count("searches", "Searches"),
            count("queries", "Distinct queries among them; case and white space do not count"),
            count("abstained", "Searches that were answered with nothing, on purpose"),
            count("empty", "Searches that showed no result, for whatever reason"),
            Field("mean_results", "DOUBLE", "Results that a search showed, on average."),
            count("principals", "Distinct people and programs that searched"),
            count("projects", "Distinct projects that were searched for"),
            count("imported", "Searches that were taken from another system"),
        ),
        """
        SELECT
          day::DATE, namespace, count(*), count(DISTINCT query_id), count(*) FILTER (abstained),
          count(*) FILTER (shown = 0), avg(shown), count(DISTINCT nullif(principal, '')),
          count(DISTINCT nullif(project, '')), count(*) FILTER (imported_from <> '')
        FROM lance_searches GROUP BY ALL
        """,
    ),
    Mart(
        "learning_funnel",
        "From what searches showed to what the memory learned. The first columns follow the searches of a "
        "day, whenever their feedback came, so a day may still grow; the last two count what came to be on "
        "the day.",
        ("searches", "events", "usage_signals", "promotions"),
        2,
        (
            DAY, NAMESPACE,
            count("searches", "Searches of the day"),
            count("shown", "Of them, those that showed a result"),
            count("with_feedback", "Of them, those that anything was said of"),
            count("used", "Of them, those with a result that an answer used"),
            count("helpful", "Of them, those with a result that was rated helpful"),
            count("unhelpful", "Of them, those with a result that was rated unhelpful"),
            count("memories_touched", "Memories that feedback of this day was about"),
            count("promoted", "Memories that were promoted at the end of this day"),
        ),
        """
        WITH told AS (
          SELECT
            namespace, search_id, coalesce(bool_or(verdict = 'used'), false) AS used,
            coalesce(bool_or(verdict = 'helpful'), false) AS helpful,
            coalesce(bool_or(verdict = 'unhelpful'), false) AS unhelpful
          FROM (
            SELECT namespace, search_id, verdict FROM lance_usage_signals
            UNION ALL SELECT namespace, search_id, NULL FROM lance_events
          ) WHERE search_id <> '' GROUP BY ALL
        ),
        asked AS (
          SELECT
            s.day, s.namespace, count(*) AS searches, count(*) FILTER (s.shown > 0) AS shown,
            count(*) FILTER (s.shown > 0 AND told.search_id IS NOT NULL) AS with_feedback,
            count(*) FILTER (s.shown > 0 AND told.used) AS used,
            count(*) FILTER (s.shown > 0 AND told.helpful) AS helpful,
            count(*) FILTER (s.shown > 0 AND told.unhelpful) AS unhelpful
          FROM lance_searches AS s LEFT JOIN told USING (namespace, search_id) GROUP BY ALL
        ),
        touched AS (
          SELECT day, namespace, count(DISTINCT memory_id) AS memories_touched
          FROM lance_usage_signals GROUP BY ALL
        ),
        promoted AS (
          SELECT day, namespace, count(DISTINCT memory_id) AS promoted
          FROM lance_promotions WHERE reason = 'promoted' GROUP BY ALL
        )
        SELECT
          day::DATE, namespace, coalesce(searches, 0), coalesce(shown, 0), coalesce(with_feedback, 0),
          coalesce(used, 0), coalesce(helpful, 0), coalesce(unhelpful, 0), coalesce(memories_touched, 0),
          coalesce(promoted, 0)
        FROM asked FULL JOIN touched USING (day, namespace) FULL JOIN promoted USING (day, namespace)
        """,
    ),
)  # fmt: skip
