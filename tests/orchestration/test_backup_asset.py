"""Backups as a Dagster job, on a real home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from slowwave.assets.resources import SlowwaveResource
from slowwave.backup.archive import PIECES, Archive
from slowwave.backup.restoring import restore
from slowwave.backup.storage import FileStorage
from slowwave.memory import Memory
from slowwave.orchestration.definitions import definitions
from slowwave.settings import load


@pytest.fixture
def own(memory: Memory, home: Path) -> Path:
    """A home with a note, whose settings say where backups go."""
    (home / "slowwave.toml").write_text(
        '[embedding]\nmodel = "wordllama-256"\n[backup]\nuri = "../backups"\nkeep = 2\nhour = 5\n'
    )
    memory.save("The harbour light is lit at six in the evening, and put out at seven.", key="light")
    return home


def run(home: Path) -> tuple[dict[str, Any], dict[str, bool]]:
    """What the asset and its checks say after the job."""
    job = definitions(SlowwaveResource(home=str(home))).resolve_job_def("backup")
    done = job.execute_in_process(instance=dg.DagsterInstance.ephemeral(), raise_on_error=False)
    assert done.success
    (made,) = done.asset_materializations_for_node("backup")
    checks = {one.check_name: bool(one.passed) for one in done.get_asset_check_evaluations()}
    return {name: value.value for name, value in made.metadata.items()}, checks


def test_without_a_place_there_is_no_job(home: Path, memory: Memory) -> None:
    defs = definitions(SlowwaveResource(home=str(home)))
    assert "backup" not in {job.name for job in defs.resolve_all_job_defs()}
    assert not [one for one in defs.schedules or () if one.name == "backed_up"]


@pytest.mark.slow
def test_the_job_makes_backups_that_are_read_again_and_old_ones_go(own: Path, tmp_path: Path) -> None:
    told, checks = run(own)
    assert checks == {"restorable": True, "fresh": True}
    assert told["new bytes"] > 0
    assert told["seconds"] > 0
    assert not told["encrypted"]
    place = own.parent / "backups"
    for _ in range(2):
        told, _ = run(own)
    assert (told["backups"], told["backups removed"], told["new bytes"]) == (2, 1, 0)
    restore(load(tmp_path / "new"), Archive(FileStorage(str(place)), None))
    with Memory(load(tmp_path / "new"), namespace="ada") as again:
        assert again.search("when is the light lit").results[0].source == "light"

    last = Archive(FileStorage(str(place)), None).named("")
    piece = last.files[0].pieces[0]
    path = place / PIECES / piece[:2] / piece
    path.write_bytes(path.read_bytes()[:-1])
    _, checks = run(own)
    assert checks == {"restorable": False, "fresh": True}

    (schedule,) = [
        one for one in definitions(SlowwaveResource(home=str(own))).schedules if one.name == "backed_up"
    ]
    assert schedule.cron_schedule == "15 5 * * *"
