"""Tables of searches and of learning from use (rule 4)."""

from __future__ import annotations

from slowwave.warehouse.mart import DAY, NAMESPACE, Field, Mart, count

MARTS = (
    Mart(
        "searches_by_day",
        "Searches and their results per day. Query texts are not included.",
        ("searches",),
        2,
        (
            DAY, NAMESPACE,
            count("searches", "Searches"),
            count("queries", "Distinct queries among them; case and white space do not count"),
            count("abstained", "Searches that abstained"),
            count("empty", "Searches without a result, for any reason"),
            Field("mean_results", "DOUBLE", "Mean results per search."),
            count("principals", "Distinct users that searched"),
            count("projects", "Distinct projects of the searches"),
            count("imported", "Searches imported from another system"),
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
        "Funnel from returned results to promotions. The first columns count the searches of a day, whenever "
        "their feedback came, so a day may still grow. The last two count events of the day itself.",
        ("searches", "events", "usage_signals", "promotions"),
        2,
        (
            DAY, NAMESPACE,
            count("searches", "Searches of the day"),
            count("shown", "Of them, searches with a result"),
            count("with_feedback", "Of them, searches with feedback"),
            count("used", "Of them, searches with a result that an answer used"),
            count("helpful", "Of them, searches with a result rated helpful"),
            count("unhelpful", "Of them, searches with a result rated unhelpful"),
            count("memories_touched", "Memories with feedback on this day"),
            count("promoted", "Memories promoted at the end of this day"),
        ),
        """
        WITH feedback AS (
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
            count(*) FILTER (s.shown > 0 AND feedback.search_id IS NOT NULL) AS with_feedback,
            count(*) FILTER (s.shown > 0 AND feedback.used) AS used,
            count(*) FILTER (s.shown > 0 AND feedback.helpful) AS helpful,
            count(*) FILTER (s.shown > 0 AND feedback.unhelpful) AS unhelpful
          FROM lance_searches AS s LEFT JOIN feedback USING (namespace, search_id) GROUP BY ALL
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
