"""`scripts/long_runs` as a process that is stopped and started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.long_runs.main import DOCUMENT, ROOT
from tests.long_runs.progress import Counted, Progress, failures, table, written
from tests.patience import PATIENCE

RUN = "last-signed-block"


def begun(folder: Path) -> subprocess.Popen[str]:
    kept = ("--kept", str(folder / "kept.json"), "--document", str(folder / "long-runs.md"))
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-m", "tests.long_runs.main", RUN, "--workers", "1", "--nice", "0", *kept],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def stopped_after(folder: Path, seeds: int, how: signal.Signals) -> Counted:
    """Let it go on for so many seeds, and stop it."""
    command, deadline = begun(folder), time.monotonic() + PATIENCE
    while Progress(folder / "kept.json", {}).of(RUN).next_seed <= seeds:
        assert command.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    command.send_signal(how)
    out, _ = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0
    assert f"{RUN}: " in out
    return Progress(folder / "kept.json", {}).of(RUN)


def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    document = tmp_path / "long-runs.md"
    document.write_text(written(DOCUMENT.read_text(), {"counts": table([]), "failures": failures([])}))

    first = stopped_after(tmp_path, 2, signal.SIGTERM)
    assert first.done == 1_000 * (first.next_seed - 1)
    assert f"| {RUN} | {first.done:,} | 100,000 inputs |" in document.read_text()
    second = stopped_after(tmp_path, first.next_seed + 1, signal.SIGINT)

    assert second.done == 1_000 * (second.next_seed - 1) > first.done
    assert second.failures == []
    assert f"| {RUN} | {second.done:,} | 100,000 inputs |" in document.read_text()
