"""What the feedback assets show in Dagster's page."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import dagster as dg
import polars as pl
import pytest

from slowwave.assets import pictures
from slowwave.assets.report import PICTURE_BYTES, picture
from slowwave.store import table_specs

pytestmark = pytest.mark.pictures

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
SVG = b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>"
END = datetime(2026, 3, 3, tzinfo=UTC)


def rows(table: str, *given: dict[str, object]) -> pl.DataFrame:
    """Rows of a table with all its columns, as an asset has them."""
    schema = pl.from_arrow(table_specs(8)[table].schema.empty_table()).schema
    return pl.DataFrame(list(given), schema=schema)


def image(value: dg.MetadataValue) -> ET.Element:
    """The SVG of an entry."""
    address = value.value.partition("](data:image/svg+xml;base64,")[2]
    assert address.endswith(")")
    return ET.fromstring(base64.b64decode(address[:-1]))


def words(value: dg.MetadataValue) -> str:
    return " ".join(image(value).itertext())


@pytest.mark.parametrize(("data", "kind"), [(PNG, "png"), (SVG, "svg+xml")])
def test_a_picture_is_an_image_with_a_data_address(data, kind):
    shown = picture(data, "Two [bad] *words*\nand `code`")
    alt, _, address = shown.value.partition("](")
    assert alt == "![Two \\[bad\\] \\*words\\* and \\`code\\`"
    assert address == f"data:image/{kind};base64,{base64.b64encode(data).decode()})"


def test_what_is_no_picture_is_refused_and_what_is_too_large_is_left_out():
    with pytest.raises(ValueError, match="neither an SVG nor a PNG"):
        picture(b"GIF89a", "A gif")
    large = picture(SVG + b" " * PICTURE_BYTES, "Acts")
    assert large.value.startswith("*Acts: left out")
    assert len(large.value) < 200


def test_every_asset_shows_its_days():
    days = ["2026-03-01", "2026-03-02"]
    head = {"day": days[0], "namespace": "ada", "memory_id": "m"}
    acts = pictures.of_events(rows("events", {**head, "tier": "quick", "verdict": "helpful"}), days)
    assert acts["feedback events"].value == 1
    assert "2 Mar" in words(acts["by tier and day"])
    assert "| quick | helpful | 1 | 0 |" in acts["by verdict"].value

    signal = {**head, "tier": "implicit", "evidence": "words"}
    usage = pictures.of_signals(
        rows("usage_signals", *({**signal, "verdict": said} for said in ("used", "used", "used", "ignored"))),
        days,
    )
    assert (usage["used rate"].value, usage["ignored rate"].value, usage["cited rate"].value) == (
        0.75,
        0.25,
        0,
    )
    assert "cited" in words(usage["used and ignored by day"])

    states = pictures.of_effectiveness(
        rows(
            "effectiveness",
            {**head, "effectiveness": 0.2},
            {**head, "day": days[1], "effectiveness": 0.8},
            {**head, "day": days[1], "chunk_id": "m:00000", "effectiveness": 0.3},
        )
    )
    assert states["memories changed"].value == 1
    assert "Effectiveness of memories (1)" in words(states["distribution"])
    assert "1 at most" in words(states["at a glance"])
    small = (acts, states)
    assert all(len(shown["at a glance"].value) < 1_000 for shown in small)  # shown without a click

    strong = {**head, "strength": 1.0, "stability": 86_400.0, "last_at": END - timedelta(days=1)}
    fading = pictures.of_strength(rows("strength", strong), END)
    assert "Strength of memories (1)" in words(fading["distribution"])

    decided = pictures.of_promotions(
        rows(
            "promotions", {**head, "reason": "below_threshold"}, {**head, "reason": "promoted", "useful": 5}
        ),
        days,
    )
    assert decided["promoted"].value == 1
    assert "below threshold" in words(decided["by reason and day"])
    assert decided["decisions"].value.index("| promoted |") < decided["decisions"].value.index(
        "| below_threshold |"
    )


def test_days_without_a_row_have_pictures_that_say_so():
    shown = {
        **pictures.of_events(rows("events"), ["2026-03-01"]),
        **pictures.of_signals(rows("usage_signals"), ["2026-03-01"]),
        **pictures.of_effectiveness(rows("effectiveness")),
        **pictures.of_promotions(rows("promotions")),
    }
    drawn = [value for value in shown.values() if "data:image" in str(value.value)]
    assert len(drawn) == 4
    assert all("Nothing on these days." in words(value) for value in drawn)
    assert "used rate" not in shown
    assert "Nothing" in words(pictures.of_strength(rows("strength"), END)["distribution"])


def test_all_of_it_is_metadata_that_dagster_takes():
    @dg.asset
    def shown() -> dg.MaterializeResult:  # type: ignore[type-arg]
        return dg.MaterializeResult(metadata=pictures.of_signals(rows("usage_signals")))

    assert dg.materialize([shown]).success
