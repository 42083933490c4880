"""The home -> a backup of it, at the place that the settings name."""

import dagster as dg

from slowwave.assets.resources import SlowwaveResource
from slowwave.assets.versions import RULES

GROUP = "backup"
RULES["backup"] = ("backup/making.py",)


@dg.asset(group_name=GROUP, kinds={"lancedb", "storage"}, code_version="1", config_schema={})
def backup(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """One state of the whole home, made while it is in use; what has not changed is not sent again.

    It has no days: each run makes one of how things are then.
    """
    from slowwave.backup.locations import backup_location
    from slowwave.backup.making import make

    space = slowwave.space
    own = space.settings.backup
    at = backup_location(space.settings, make=True)
    made = make(space, at.place, at.key, keep=own.keep, forget_erased=own.forget_erased, spared=at.spared)
    one = made.backup
    context.log.info("Backup %s is at %s.", one.name, made.place)
    return dg.MaterializeResult(
        metadata={
            "dagster/uri": made.place,
            "backup": one.name,
            "acts": one.journal.rows,
            "tables": len(one.tables),
            "bytes": one.size,
            "new bytes": one.sent,
            "seconds": dg.MetadataValue.float(one.seconds),
            "backups": made.backups,
            "taken away": len(made.removed),
            "freed bytes": made.freed,
            "encrypted": made.encrypted,
        }
    )


@dg.asset_check(
    asset=backup,
    name="restorable",
    description="Every piece of the last backup is there and is what was written. If not: slowwave verify "
    "says what is wrong; slowwave verify --mend, and the next backup sends it again.",
)
def restorable(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Read the last backup and see whether it could be restored."""
    from slowwave.backup import catalog
    from slowwave.backup.locations import backup_location
    from slowwave.backup.verifying import verify

    space = slowwave.space
    archive = backup_location(space.settings).archive()
    found = verify(archive, archive.names()[-1] if archive.names() else "")
    if found.sound:
        catalog.note_verified(space.settings.home, found.place, space.now())
    wrong = "; ".join(f"{fault.where} {fault.problem} ({fault.what})" for fault in found.faults[:10])
    return dg.AssetCheckResult(
        passed=found.sound,
        metadata={"pieces": found.pieces, "bytes": found.bytes_read, "wrong": wrong or "nothing"},
    )


@dg.asset_check(
    asset=backup,
    name="fresh",
    description="The last backup is younger than backup.stale_days. If not: look at the runs of the job "
    "backup, or run `slowwave backup`.",
)
def fresh(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether there is a backup that is young enough."""
    from slowwave.backup import catalog

    standing = catalog.backup_statuses(slowwave.space.settings, slowwave.clock())[0]
    return dg.AssetCheckResult(
        passed=standing.fresh, severity=dg.AssetCheckSeverity.WARN, description=standing.words
    )


ASSETS = [backup]
CHECKS = [restorable, fresh]
