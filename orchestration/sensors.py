"""The sensor on the watched vaults: a changed folder asks for today's partition."""

import json
from pathlib import Path

import dagster as dg

from assets.resources import SlowwaveResource
from orchestration.jobs import NIGHT
from slowwave.settings import load
from slowwave.vault import fingerprint


@dg.sensor(
    job=NIGHT,
    minimum_interval_seconds=load().night.vault_poll_seconds,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Looks at names, sizes and times of the files in every watched vault; runs today's partition "
    "when something changed.",
)
def watched_vaults(
    context: dg.SensorEvaluationContext, slowwave: SlowwaveResource
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a run when a vault differs from what the last tick saw."""
    seen = json.loads(context.cursor) if context.cursor else {}
    sources = slowwave.space.journal.sources()
    if not sources:
        return dg.SkipReason("No vault is watched. `slowwave ingest PATH` adds one.")
    now = {
        f"{source.namespace}/{source.name}": fingerprint(Path(source.uri))
        for source in sources
        if Path(source.uri).is_dir()
    }
    changed = sorted(name for name, mark in now.items() if seen.get(name) != mark)
    if not changed:
        return dg.SkipReason(f"Nothing changed in {len(now)} watched vaults.")
    day = slowwave.clock().date().isoformat()
    cursor = json.dumps({**seen, **now}, sort_keys=True)
    request = dg.RunRequest(partition_key=day, tags={"slowwave/changed_vaults": ", ".join(changed)})
    return dg.SensorResult(run_requests=[request], cursor=cursor)
