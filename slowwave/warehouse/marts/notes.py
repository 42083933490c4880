"""Tables of notes, quarantine and memories (rules 1 and 2)."""

from __future__ import annotations

from string import Template

from slowwave.warehouse.mart import DAY, NAMESPACE, Field, Mart, count, share

# A note is refused by the save gate, or later as a duplicate.
_JUDGED = Template("""
WITH decided AS (
  SELECT
    namespace, memory_id, revision, coalesce(bool_or(refused), false) AS refused,
    coalesce(bool_or(outcome = 'duplicate'), false) AS duplicate,
    coalesce(bool_or(outcome = 'merge'), false) AS merged,
    coalesce(bool_or(outcome = 'supersede'), false) AS superseded,
    list_distinct(flatten(list(coalesce(reasons, [])))) AS reasons
  FROM lance_decisions GROUP BY ALL
),
judged AS (
  SELECT
    v.day, v.namespace, v.memory_id, v.revision,
    CASE WHEN v.verdict = 'pass' AND d.refused THEN 'refuse' ELSE v.verdict END AS verdict,
    list_sort(list_distinct(coalesce(v.reasons, []) || coalesce(d.reasons, []))) AS reasons,
    coalesce(d.duplicate, false) AS duplicate, coalesce(d.merged, false) AS merged,
    coalesce(d.superseded, false) AS superseded
  FROM lance_gate_verdicts AS v LEFT JOIN decided AS d USING (namespace, memory_id, revision)
)$then""")

MARTS = (
    Mart(
        "gate_status",
        "Save-gate verdicts of the notes of a day, by reason. A note with several reasons has several "
        "rows.",
        ("gate_verdicts", "decisions"),
        4,
        (
            DAY, NAMESPACE,
            Field("verdict", "VARCHAR", "pass, refuse, retire, undo or accept. A pass with a reason "
                   "would be a refusal if the gate did more than warn."),
            Field("reason", "VARCHAR", "Reason code; empty for a note without a fault."),
            count("notes", "Notes"),
        ),
        _JUDGED.substitute(then="""
        SELECT day::DATE, namespace, coalesce(verdict, ''), reason, count(*)
        FROM (
          SELECT *, unnest(CASE WHEN len(reasons) = 0 THEN [''] ELSE reasons END) AS reason FROM judged
        )
        GROUP BY ALL
        """),
    ),
    Mart(
        "junk_and_duplicates",
        "Refused, duplicate, merged and superseding notes of a day. Decisions that were undone later still "
        "count.",
        ("gate_verdicts", "decisions", "quarantine"),
        2,
        (
            DAY, NAMESPACE,
            count("notes", "Notes checked by the save gate"),
            count("refused", "Notes that were refused"),
            Field("refused_by_reason", "MAP(VARCHAR, BIGINT)", "Of them, notes with each reason."),
            count("duplicates", "Notes that were duplicates"),
            count("merged", "Notes merged into another memory"),
            count("superseded", "Notes that superseded another memory"),
            count("quarantined", "Notes in quarantine"),
            count("held", "Of them, notes not released or discarded yet"),
            share("refused_rate", "refused ÷ notes"),
            share("duplicate_rate", "duplicates ÷ notes"),
            share("merged_rate", "merged ÷ notes"),
            share("superseded_rate", "superseded ÷ notes"),
            share("quarantined_rate", "quarantined ÷ notes"),
        ),
        _JUDGED.substitute(then=""",
        kept AS (
          SELECT namespace, memory_id, revision, bool_or(status = 'held') AS held
          FROM lance_quarantine GROUP BY ALL
        ),
        daily AS (
          SELECT
            day, j.namespace, count(*) AS notes, count(*) FILTER (verdict = 'refuse') AS refused,
            count(*) FILTER (duplicate) AS duplicates, count(*) FILTER (merged) AS merged,
            count(*) FILTER (superseded) AS superseded,
            count(*) FILTER (kept.memory_id IS NOT NULL) AS quarantined, count(*) FILTER (held) AS held
          FROM judged AS j LEFT JOIN kept USING (namespace, memory_id, revision)
          WHERE verdict IN ('pass', 'refuse') GROUP BY ALL
        ),
        by_reason AS (
          SELECT day, namespace, reason, count(*) AS refusals
          FROM (SELECT day, namespace, unnest(reasons) AS reason FROM judged WHERE verdict = 'refuse')
          GROUP BY ALL
        ),
        reasons AS (
          SELECT
            day, namespace,
            map_from_entries(list({'key': reason, 'value': refusals} ORDER BY reason)) AS refused_by_reason
          FROM by_reason GROUP BY ALL
        )
        SELECT
          day::DATE, namespace, notes, refused,
          coalesce(refused_by_reason, map_from_entries([]::STRUCT(key VARCHAR, value BIGINT)[])), duplicates,
          merged, superseded, quarantined, held, refused / notes, duplicates / notes, merged / notes,
          superseded / notes, quarantined / notes
        FROM daily LEFT JOIN reasons USING (day, namespace)
        """),
    ),
    Mart(
        "memories",
        "Every memory with its feedback state. Texts and the titles of secret memories are not included.",
        ("memories", "memory_state"),
        1,
        (
            Field("memory_id", "VARCHAR", "Id of the memory."),
            NAMESPACE,
            Field("title", "VARCHAR", "Title; null if missing or secret."),
            Field("memory_type", "VARCHAR", "Type that the note states, such as decision."),
            Field("tier", "VARCHAR", "Importance tier: promoted, else the note's own."),
            Field("status", "VARCHAR", "live, merged, superseded or retired."),
            Field("sensitivity", "VARCHAR", "Label of the note; secret memories have no title here."),
            count("frequency", "Times that it was saved"),
            count("chunks", "Chunks of the memory"),
            Field("created_at", "TIMESTAMP", "Creation time of its note (UTC)."),
            Field("updated_at", "TIMESTAMP", "Time of the last change (UTC)."),
            share("effectiveness", "Effectiveness as of the last day that changed it; 0.5 is neutral"),
            count("feedback_count", "Data points behind it"),
            share("strength", "Strength just after the last verdict"),
            Field("stability_days", "DOUBLE", "Days until its strength falls to 1/e."),
            count("used", "Answers that used it"),
            count("ignored", "Answers that ignored it"),
            Field("last_verdict_at", "TIMESTAMP", "Time of the last verdict (UTC)."),
        ),
        """
        SELECT
          m.memory_id, m.namespace, m.title, m.memory_type,
          coalesce(nullif(s.tier, ''), m.importance_tier), m.status, m.sensitivity, m.frequency,
          m.chunk_count, m.created_at, m.updated_at, s.effectiveness, s.feedback_count, s.strength,
          s.stability / 86400, s.used, s.ignored, s.last_at
        FROM lance_memories AS m LEFT JOIN lance_memory_state AS s USING (namespace, memory_id)
        """,
    ),
)  # fmt: skip
