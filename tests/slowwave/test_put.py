"""Files that people name are put in their place; what is no file keeps its place."""

from __future__ import annotations

import os
import re
import stat
import threading

import pytest

from slowwave.cli.exchange import written_to
from slowwave.common.files import atomic_write
from slowwave.errors import SlowwaveError
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings.ranking_file import write_policy


def test_a_file_is_whole_or_what_it_was(tmp_path):
    path = tmp_path / "page"
    with atomic_write(path) as file:
        file.write(b"first")
    with pytest.raises(TypeError), atomic_write(path) as file:
        file.writelines([b"half of the sec", None])  # what is no bytes goes wrong after the file was begun
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "nowhere" / "page"
    with (
        pytest.raises(SlowwaveError, match=re.escape(f"The folder {path.parent} for page does not exist")),
        atomic_write(path),
    ):
        pass


@pytest.mark.parametrize("how", ["putting", "export", "policy"])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path, how):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    if how == "policy":
        write_policy(pipe, RankingPolicy(), {})
    elif how == "export":
        with written_to(str(pipe)) as write:
            write(b"policy")
    else:
        with atomic_write(pipe) as file:
            file.write(b"policy")
    reader.join(timeout=30)
    assert b"policy" in read[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
