"""Reference of the nightly job in Dagster: assets, jobs, schedules, sensors, checks, and a picture."""

from __future__ import annotations

from functools import cache
from typing import Any

from tools.reference import graph
from tools.reference.markdown import code, codes, paragraphs, prose, section, summary, table

GROUPS = ("ingest", "feedback", "evaluation", "learning", "at_a_glance")
"""Groups from the top of the picture; others follow."""
EVERYWHERE = "unique_key"  # check of every asset with a table


@cache
def definitions() -> Any:  # noqa: ANN401 - Dagster's definitions
    """Return Dagster's definitions of a home."""
    from slowwave.assets.resources import SlowwaveResource
    from slowwave.orchestration import definitions as module

    return module.definitions(SlowwaveResource(home=""))


@cache
def _assets() -> list[Any]:
    graph_ = definitions().resolve_asset_graph()
    nodes = [graph_.get(key) for key in graph_.toposorted_asset_keys]
    return sorted(nodes, key=lambda asset: (_place(asset.group_name), asset.group_name))


def _place(group: str) -> int:
    return GROUPS.index(group) if group in GROUPS else len(GROUPS)


def _groups() -> list[str]:
    return list(dict.fromkeys(asset.group_name for asset in _assets()))


def picture() -> str:
    """Draw the assets and their dependencies."""
    steps = [
        graph.AssetStep(_name(asset.key), asset.group_name, tuple(_parents(asset))) for asset in _assets()
    ]
    return graph.picture(
        steps,
        _groups(),
        "The nightly job of Slowwave",
        "Dagster assets from left to right, one band per group. A line leads from an asset to an asset that "
        "depends on it.",
    )


def page() -> str:
    """Return the page."""
    defs = definitions()
    jobs = [
        (code(job.name), _description(job), _of_job(job))
        for job in sorted(defs.resolve_all_job_defs(), key=_named)
        if not job.name.startswith("__")  # Dagster's own
    ]
    schedules = table(
        ["schedule", "cron", "job", "description"],
        [
            (code(item.name), code(item.cron_schedule), code(item.job_name), _description(item))
            for item in sorted(defs.schedules, key=_named)
        ],
    )
    sensors = table(
        ["sensor", "interval", "description"],
        [
            (code(sensor.name), f"{sensor.minimum_interval_seconds} s", _description(sensor))
            for sensor in sorted(defs.sensors, key=_named)
        ],
    )
    parts = [
        "# The nightly job",
        "These are the Dagster assets, jobs, schedules, sensors and checks that `slowwave night` runs and "
        "`slowwave ui` shows. All assets but two are partitioned by day (UTC) and idempotent: backfill any "
        "day or range and you get the same tables. [The first night](../tutorials/first-night.md) goes "
        "through the job step by step. In the picture a line leads to a dependent asset; "
        "implied lines are omitted.",
        "[![Assets of the nightly job, from left to right, one band per group](night.svg)](night.svg)",
        section(2, "Jobs", table(["job", "description", "assets"], jobs)),
        section(2, "Schedules", f"Times are UTC. {code('night.hour')} sets the hour.", schedules),
        section(2, "Sensors", "The interval is the minimum between two evaluations.", sensors),
        "## Assets",
        f"Every asset with a table has the check `{EVERYWHERE}`. It blocks downstream assets, because a "
        "duplicate key means a lost update.",
    ]
    for group in _groups():
        parts.append(f"### Group {group}")
        parts += [_described(asset) for asset in _assets() if asset.group_name == group]
    return "\n\n".join([*parts, section(2, "Checks", _checks(defs))])


def _named(item: Any) -> str:  # noqa: ANN401
    return str(item.name)


def _description(item: Any) -> str:  # noqa: ANN401
    return prose(item.description or "")


def _name(key: Any) -> str:  # noqa: ANN401
    return "/".join(key.path)


def _parents(node: Any) -> list[str]:  # noqa: ANN401
    return sorted(_name(key) for key in node.parent_keys if key != node.key)


def _of_job(job: Any) -> str:  # noqa: ANN401
    keys = job.asset_layer.executable_asset_keys
    return f"{len(keys)}" if keys else ""


def _described(node: Any) -> str:  # noqa: ANN401
    own = sorted(key.name for key in node.check_keys if key.name != EVERYWHERE)
    lines = [
        f"Depends on {codes(_parents(node))}." if node.parent_keys else "",
        "Depends on its own previous day." if node.key in node.parent_keys else "",
        f"Checks: {codes(own)}." if own else "",
    ]
    return section(4, _name(node.key), paragraphs(node.description), " ".join(filter(None, lines)))


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _checks(defs: Any) -> str:  # noqa: ANN401
    specs = [spec for check in defs.asset_checks for spec in check.check_specs if spec.name != EVERYWHERE]
    rows = [
        (code(spec.name), code(_name(spec.asset_key)), _yes(spec.blocking), summary(spec.description))
        for spec in sorted(specs, key=lambda item: (_name(item.asset_key), item.name))
    ]
    return table(["check", "asset", "blocks", "description"], rows)
