"""Asset of the backup: home -> backup at the place that the settings name."""

import dagster as dg

from slowwave.assets.resources import SlowwaveResource
from slowwave.assets.versions import RULES

GROUP = "backup"
RULES["backup"] = ("backup/making.py",)


@dg.asset(group_name=GROUP, kinds={"lancedb", "storage"}, code_version="1", config_schema={})
def backup(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Consistent backup of the whole home, made while the home is in use.

    Incremental: unchanged data is not sent again.

    Not partitioned: each run backs up the current state.
    """
    from slowwave.backup.locations import backup_location
    from slowwave.backup.making import make

    space = slowwave.space
    own = space.settings.backup
    at = backup_location(space.settings, make=True)
    made = make(space, at.place, at.key, keep=own.keep, forget_erased=own.forget_erased, spared=at.spared)
    archived = made.backup
    context.log.info("Wrote backup %s to %s.", archived.name, made.place)
    return dg.MaterializeResult(
        metadata={
            "dagster/uri": made.place,
            "backup": archived.name,
            "journal entries": archived.journal.rows,
            "tables": len(archived.tables),
            "bytes": archived.size,
            "new bytes": archived.sent,
            "seconds": dg.MetadataValue.float(archived.seconds),
            "backups": made.backups,
            "backups removed": len(made.removed),
            "freed bytes": made.freed,
            "encrypted": made.encrypted,
        }
    )


@dg.asset_check(
    asset=backup,
    name="restorable",
    description="Every piece of the latest backup is present and unchanged. If not: `slowwave verify` "
    "lists the faults; after `slowwave verify --mend` the next backup sends them again.",
)
def restorable(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Verify every piece of the latest backup."""
    from slowwave.backup import catalog
    from slowwave.backup.locations import backup_location
    from slowwave.backup.verifying import verify

    space = slowwave.space
    archive = backup_location(space.settings).archive()
    verification = verify(archive, archive.names()[-1] if archive.names() else "")
    if verification.sound:
        catalog.note_verified(space.settings.home, verification.place, space.now())
    wrong = "; ".join(f"{fault.where} {fault.problem} ({fault.what})" for fault in verification.faults[:10])
    return dg.AssetCheckResult(
        passed=verification.sound,
        metadata={
            "pieces": verification.pieces,
            "bytes": verification.bytes_read,
            "wrong": wrong or "nothing",
        },
    )


@dg.asset_check(
    asset=backup,
    name="fresh",
    description="The latest backup is younger than backup.stale_days. If not: check the runs of the job "
    "backup, or run `slowwave backup`.",
)
def fresh(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether the latest backup is younger than `backup.stale_days`."""
    from slowwave.backup import catalog

    status = catalog.backup_statuses(slowwave.space.settings, slowwave.clock())[0]
    return dg.AssetCheckResult(
        passed=status.fresh, severity=dg.AssetCheckSeverity.WARN, description=status.words
    )


ASSETS = [backup]
CHECKS = [restorable, fresh]
