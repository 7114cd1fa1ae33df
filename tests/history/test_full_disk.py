"""A disk that is full while history is recorded: what was recorded stays, and it goes on when there is room."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.chain.recorded_chains import advance, open_chain
from tests.history.histories import closed_view, followed, shown_operations

NAME, FIRST, LAST = "open-hf0", 60, 200

RECORDING = """
import resource, sys
from pathlib import Path
from ledgerd.state.errors import StorageError
from tests.chain.observing import CommitObserver
from tests.chain.recorded_chains import advance, open_chain
from tests.history.histories import HISTORY_FOLDER, open_store
from tests.history.test_full_disk import FIRST, LAST, NAME

folder, commits = Path(sys.argv[1]), []
with open_chain(NAME, folder) as chain:
    chain.observe(CommitObserver(commits.append))
    for height in range(1, LAST + 1):
        advance(chain, NAME, height)
    with open_store(chain, folder) as store:
        rest = iter(commits)
        while store.head_number < FIRST:
            store.record(next(rest))
        size = (folder / HISTORY_FOLDER / "data.mdb").stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, hard))
        events = next(rest)
        try:
            store.record(events)
        except StorageError as error:
            print(store.head_number, error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        if sys.argv[2] == "go on":
            for each in (events, *rest):
                store.record(each)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
@pytest.mark.parametrize(("then", "height"), [("stop", FIRST), ("go on", LAST)])
def test_a_full_disk_while_history_is_recorded_loses_nothing(tmp_path: Path, then: str, height: int) -> None:
    said = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", RECORDING, str(tmp_path / "full"), then], check=True, capture_output=True, text=True
    ).stdout
    with open_chain(NAME, tmp_path / "room") as chain, followed(chain, tmp_path / "room"):
        advance(chain, NAME, height)

    assert said.startswith(f"{FIRST} no room left for the state in ")
    with closed_view(tmp_path / "full") as found, closed_view(tmp_path / "room") as expected:
        for number in range(1, height + 1):
            assert shown_operations(found, number) == shown_operations(expected, number)
        assert shown_operations(found, height + 1) == "[]"
