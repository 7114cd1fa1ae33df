"""`ledgerd state --at` is killed at random moments, and ends with the state that it makes without."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random

from tests.chain.replays import copy_replayed
from tests.node.datadir.past_directories import written
from tests.node.datadir.test_past_state import accounts_in
from tests.node.processes import UNYIELDING

KILLS = int(os.environ.get("PAST_KILLS", "4"))
LONGEST = 1.0
"""Seconds after which a run is killed at the latest: about as long as it takes."""


def command(data: Path, target: Path) -> subprocess.Popen[str]:
    words = [*UNYIELDING, "state", "--at", "1200"]
    words += ["--data-dir", str(data), "--to", str(target)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 - ourselves


def test_a_killed_run_is_continued_to_the_same_state(tmp_path: Path) -> None:
    data, target, random = tmp_path / "data", tmp_path / "out", Random(18)  # noqa: S311 - no secret
    copy_replayed("open-pm", 2027, data)
    (data / "config.ini").write_text("chain = testnet\nshared-file-size = 64M\n")
    before, killed = written(data), 0
    for _ in range(KILLS):
        run = command(data, target)
        try:
            run.wait(random.uniform(0, LONGEST))
        except subprocess.TimeoutExpired:
            run.kill()
            killed += 1
        run.communicate()
        if target.exists():
            break
        assert {path.name for path in tmp_path.iterdir()} <= {"data", "out.unfinished"}
    if not target.exists():
        run = command(data, target)
        printed = run.communicate(timeout=120)[0]
        assert run.returncode == 0, printed
    assert killed
    assert written(data) == before
    copy_replayed("open-pm", 1200, tmp_path / "replayed")
    assert accounts_in(target, "open-pm") == accounts_in(tmp_path / "replayed", "open-pm")
