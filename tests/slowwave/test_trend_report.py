"""Is it getting better: what is read for it, of whom, up to when; the report and the picture of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from report_rows import NOW, Rows
from warehouse_rows import put

from slowwave.evaluation.trend import Trend, trend_until
from slowwave.journal import Entry
from slowwave.scoring.evaluation.trend import COLUMNS
from slowwave.scoring.evaluation.unused_baseline import BESIDE
from slowwave.scoring.ranking import RankingPolicy
from slowwave.views import trend as shown
from slowwave.views.feedback import feedback_report
from slowwave.views.feedback_sections import feedback_page
from slowwave.views.markdown import table
from slowwave.views.trend_plots import MAX_WEEKS, by_week

MONDAY = date(2026, 3, 2)  # of the week before that of `NOW`, a Tuesday
PAGE_BYTES = 60_000  # of a picture in an event log, as base64
LOST = replace(RankingPolicy(), vector_weight=0.5)
"""A policy that nobody has in force any more."""


@pytest.fixture
def space(make_space):
    """An empty home whose model is made of hashes."""
    return make_space()


def effect(space, day: date, questions: int = 20, *, namespace: str = "ada", live: bool = True) -> None:
    """Searches of a day, each of a question of its own, a little better with what was learned."""
    put(space.store, "learned_effect", [
        {"effect_id": f"{namespace}-{day}-{at}", "day": f"{day}", "namespace": namespace,
         "search_id": f"{day}-{at}", "query_id": f"{day}-q{at}", "moved": True, "live": live,
         "mrr_5": 0.5, "mrr_5_learned": 1.0 if at % 2 else 0.5}
        for at in range(questions)
    ])  # fmt: skip


def in_turn(
    space, name: str, policy: RankingPolicy, other: RankingPolicy, credit: tuple[int, int], *,
    logged: bool = True,
) -> None:  # fmt: skip
    """A search that showed two rankings, in the table and (`logged`) in the journal."""
    day = MONDAY + timedelta(days=1)
    put(space.store, "interleavings", [
        {"search_id": name, "day": f"{day}", "namespace": "ada", "policy_a": policy.version,
         "policy_b": other.version, "credit_a": credit[0], "credit_b": credit[1]}
    ])  # fmt: skip
    if logged:
        drawn = {"policy": other.to_dict(), "policy_version": other.version, "teams": ["a"], "seed": name}
        said = {"query": name, "shown": [], "policy": policy.to_dict(), "interleaving": drawn}
        at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        space.journal.append([Entry(name, "search", "ada", name, at, "ann", payload=said)])


def without(policy: RankingPolicy) -> RankingPolicy:
    return replace(policy, learned_cap=0.0)


# -- what is read ----------------------------------------------------------------------------------


def test_weeks_are_of_one_namespace_up_to_the_moment_and_of_searches_made_here(space):
    rows = Rows(space.store)
    effect(space, MONDAY)
    effect(space, MONDAY + timedelta(days=9))  # the day after `NOW`
    effect(space, MONDAY, namespace="bo")
    for ago in (7, 8):
        rows.search(ago)
        rows.search(ago, imported_from="ubi")
    rows.search(7, imported_from="")
    rows.search(-1)
    mine = trend_until(space, NOW, "ada")
    (row,) = mine.weeks.rows(named=True)
    assert (row["week"], row["over"], row["searches"], row["measured"]) == (MONDAY, True, 3, 20)
    assert [one.namespace for one in mine.courses] == ["ada"]
    both = trend_until(space, NOW)
    assert both.weeks["namespace"].to_list() == ["ada", "bo"]
    assert both.of("ada").weeks.equals(mine.weeks)
    assert [repr(one) for one in both.of("ada").courses] == [repr(one) for one in mine.courses]


def test_only_comparisons_with_what_was_learned_taken_away_count_whatever_was_in_force_then(space):
    """The table has versions alone; by that of today's ranking those of an older one would be lost."""
    effect(space, MONDAY)
    now = space.policy
    in_turn(space, "today", now, without(now), (1, 0))
    in_turn(space, "then", LOST, without(LOST), (0, 2))
    in_turn(space, "equal", LOST, without(LOST), (1, 1))
    in_turn(space, "a trial", now, LOST, (0, 9))
    in_turn(space, "another trial", LOST, replace(without(LOST), vector_weight=0.4), (0, 9))
    (row,) = trend_until(space, NOW, "ada").weeks.rows(named=True)
    assert (row["wins"], row["ties"], row["losses"]) == (1, 1, 1)


def test_without_the_journal_the_ranking_in_force_says_which_comparisons_count(space):
    effect(space, MONDAY)
    in_turn(space, "today", space.policy, without(space.policy), (1, 0), logged=False)
    in_turn(space, "then", LOST, without(LOST), (1, 0), logged=False)
    assert trend_until(space, NOW, "ada").weeks["wins"].to_list() == [1]


# -- what is shown ---------------------------------------------------------------------------------


def report(space, **more: Any) -> Any:
    return feedback_report(space, "ada", **{"days": 30, "as_of": NOW, **more})


def test_nothing_measured_is_a_sentence_and_no_table(space):
    Rows(space.store).search(7)
    done = report(space)
    section = shown.section(done.trend)
    assert [one.text for one in section.parts] == ["Too little evidence: no search has been judged."]
    assert done.to_dict()["trend"]["weeks"][0]["searches"] == 1
    assert "Is it getting better" in feedback_page(done)
    assert "data:image" not in feedback_page(done).split("no search has been judged")[1].split("<img")[0]


def test_the_report_has_the_sentence_the_weeks_and_the_picture(space):
    effect(space, MONDAY - timedelta(days=7), 20, live=False)
    effect(space, MONDAY, 20)
    effect(space, MONDAY + timedelta(days=7), 5)
    done = report(space)
    said = (
        "Better by .250 (.136 to .365) since 23 February 2026: MRR@5 .500 in the first week, .750 in the "
        "last week; what was learned makes +.250 (+.150 to +.375) of the last."
    )
    cells = table(shown.week_table(done.trend.weeks)).splitlines()[2:]
    figures = "20 of 0 | 20 | .000 → .500 | .500 → .750 | +.250 (+.150 to +.375)"
    assert cells == [
        f"| 2026-02-23 | {figures} | would: 100 % |  |  |",
        f"| 2026-03-02 | {figures} | 100 % |  |  |",
        "| 2026-03-09 so far | 5 of 0 | 5 | too few | too few |  | 100 % |  |  |",
    ]
    assert shown.section(done.trend).parts[0].text == said
    page = feedback_page(done)
    assert said in page
    assert "too few" in page
    told = done.to_dict()["trend"]
    assert [row["mrr_5_difference"] for row in told["weeks"]] == [0.25, 0.25, None]
    assert told["course"][0]["direction"] == "better"


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_the_table_has_the_columns_that_there_is_room_for(space, width):
    effect(space, MONDAY, 20)
    (_, weeks) = shown.section(report(space).trend, width=width).parts
    names = [one.name for one in weeks.headings]
    assert names[-1] == ("changed" if width < 108 else "won – lost")
    assert ("HitRate@1" in names) == (width >= 128)
    assert {"week", "questions", "MRR@5", "difference (95 %)"} <= set(names)
    assert all(len(row) == len(names) for row in weeks.rows)


# -- the picture -----------------------------------------------------------------------------------


def weeks_of(count: int, *, few: tuple[int, ...] = (), step: int = 1) -> pl.DataFrame:
    """Weeks with figures that cross each other, as many bytes as there can be."""
    rows = []
    for at in range(count):
        row = dict.fromkeys(COLUMNS, 7) | {"namespace": "ada", "kind": "words", "over": at < count - 1}
        row |= {"week": MONDAY + timedelta(days=7 * at * step), "measured": 40, "applied": at % 3}
        row |= {"would_change": at % 2, "changed_of_measured": 0.1, "changed_of_all": 0.1}
        for name in ("hit_rate_1", "mrr_5"):
            figures = (0.4 + at % 7 / 30, 0.5 - at % 5 / 30, 0.1 - at % 3 / 30, 0.013, 0.137)
            for end, value in zip(("", "_learned", "_difference", "_low", "_high"), figures, strict=True):
                row[f"{name}{end}"] = None if at in few else value
        rows.append(row)
    return pl.DataFrame(rows, schema=COLUMNS)


def words_of(svg: bytes) -> list[str]:
    return [
        "".join(one.itertext()).strip() for one in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.parametrize("count", [1, 2, 9, MAX_WEEKS, 200])
def test_the_picture_fits_the_page_and_the_event_log_and_is_always_the_same(count):
    svg = by_week(weeks_of(count, few=(1, 5)))
    assert float(ET.fromstring(svg).get("width").removesuffix("pt")) * 96 / 72 <= 730
    assert len(svg) * 4 / 3 < PAGE_BYTES
    assert svg == by_week(weeks_of(count, few=(1, 5)).sample(fraction=1.0, shuffle=True, seed=3))


def test_the_picture_names_what_is_on_it_and_nothing_else():
    whole = words_of(by_week(weeks_of(9, few=(4,))))
    for text in ("HitRate@1", "MRR@5", "without learned data", "applied", "partly applied",
                 "with it: would be", "under 20 questions", "not over", "Interleaved: 63 won ▴ 63 lost ▾",
                 "2 Mar", "2026"):  # fmt: skip
        assert text in whole
    sure = weeks_of(3).with_columns(over=True, applied=1, would_change=0)
    assert {"under 20 questions", "not over", "partly applied", "with it: would be"}.isdisjoint(
        words_of(by_week(sure))
    )


def test_no_line_leads_past_a_week_without_a_figure_or_a_week_that_is_not_there():
    """Else it would say that it was like its neighbours."""

    def lines(svg: bytes) -> int:
        grey = [one for one in svg.decode().split("<path") if "stroke: #9ca3af; stroke-width: 4" in one]
        return len(grey)

    assert lines(by_week(weeks_of(6))) + 2 == lines(by_week(weeks_of(6, few=(3,))))  # of two figures
    assert lines(by_week(weeks_of(2, step=3))) == lines(by_week(weeks_of(2))) + 2


def test_a_picture_of_nothing_says_so():
    assert "Nothing was measured." in words_of(by_week(pl.DataFrame(schema=COLUMNS)))


# -- the warehouse ---------------------------------------------------------------------------------


def test_the_warehouse_has_the_weeks_as_the_report_has_them(space, tmp_path):
    pytest.importorskip("duckdb", reason="duckdb comes with slowwave[night]")
    from slowwave.warehouse import build, build_home, query

    effect(space, MONDAY)
    effect(space, MONDAY, 3, namespace="bo")
    in_turn(space, "today", space.policy, without(space.policy), (2, 1))
    Rows(space.store).search(7)
    path, sql = tmp_path / "made.duckdb", "FROM trend ORDER BY namespace"
    build_home(space, path)
    answer = query(path, sql)
    made = pl.DataFrame(answer.rows, schema=answer.columns, orient="row").select(*COLUMNS)
    assert made.rows() == trend_until(space, space.now()).weeks.rows()
    assert made.select("namespace", "measured", "searches", "wins", "mrr_5").rows() == [
        ("ada", 20, 1, 1, 0.5), ("bo", 3, 0, 0, None),
    ]  # fmt: skip
    build(space.store, path)  # of tables alone: nobody worked it out
    assert query(path, sql).rows == []


def test_the_headline_answers_before_anything_was_learned():
    def said(**columns: int) -> str:
        weeks = weeks_of(3).with_columns(namespace=pl.lit("ada"), measured=30, **columns)
        return shown.headline(Trend(weeks, [], pl.DataFrame(schema=BESIDE)))

    same = "Searches are as if nobody had ever rated: nothing has changed a judged search."
    assert said(changed=0, would_change=0) == same
    assert said(changed=0, would_change=2) == (
        f"{same} If it were applied, learned words would change 6 of 90 judged searches."
    )
    assert said(changed=1, would_change=0) == (
        "It is not sure yet whether searches are better than if nobody had ever rated: "
        "learned words changed 3 of 90 judged searches."
    )
