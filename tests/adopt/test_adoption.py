"""Directories of a `vizd` are adopted: the same head and state as a replay's, the source untouched, also over kills."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledgerd.cli.main import main
from tests.adopt.directories import born_of_a_snapshot, digests, with_full_log, write_log
from tests.recorded import recorded_blocks
from tests.snapshot.recorded import text_of

CHAIN = "testnet"
KILLS = int(os.environ.get("ADOPTION_KILLS", "1"))
"""Random moments; `ADOPTION_KILLS=20 scripts/test tests/adopt` tries more."""

SEED = 20261122
LONGEST = 120.0


def adopt(source: Path, target: Path, *more: str) -> int:
    return main(["adopt", str(source), "--data-dir", str(target), "--chain", CHAIN, *more])


def state_of(folder: Path, place: Path) -> str:
    """The state of a directory, as a snapshot tells it, but for the moment of its making."""
    file = place / f"{folder.name}.vizjson"
    assert main(["snapshot", "export", "--data-dir", str(folder), str(file)]) == 0
    return re.sub(r'"snapshot_creation_time":"[^"]*"', "", text_of(file.read_bytes()))


def test_a_block_log_is_adopted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = with_full_log(tmp_path / "vizd", "open-pm2", 100), tmp_path / "ours"
    before = digests(source)

    assert adopt(source, target) == 0

    out = capsys.readouterr().out
    assert digests(source) == before
    assert "history: blocks 1 to 100 of " in out
    assert re.search(r"it takes about \d+ MiB of disk, and about 1 minutes", out)
    assert re.search(r"^adopted: head block 100 00000064", out, re.MULTILINE)
    log = tmp_path / "log"
    write_log(tmp_path, "log", recorded_blocks("open-pm2")[:100])
    replayed = tmp_path / "replayed"
    replayed.mkdir()
    shutil.copy(target / "config.ini", replayed)
    assert main(["replay", "--data-dir", str(replayed), "--block-log", str(log)]) == 0
    assert state_of(target, tmp_path) == state_of(replayed, tmp_path)
    assert main(["check", "--data-dir", str(target)]) == 0


def test_a_directory_born_of_a_snapshot_is_adopted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = born_of_a_snapshot(tmp_path / "vizd", 60), tmp_path / "ours"
    before = digests(source)

    assert adopt(source, target) == 0

    out = capsys.readouterr().out
    assert digests(source) == before
    assert "history: the snapshot of block 2,718, " in out
    assert "and blocks 2,719 to 2,778 of " in out
    assert "adopted: head block 2778 00000ada" in out


def test_a_torn_end_is_left_out_here_and_stays_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 40)
    log = source / "state" / "block_log"
    log.write_bytes(log.read_bytes()[:-5])
    before = digests(source)

    assert adopt(source, tmp_path / "ours") == 0

    assert digests(source) == before
    out = capsys.readouterr().out
    assert re.search(r"the last [\d,]+ bytes of .*block_log are no whole block", out)
    assert "adopted: head block 39 " in out


def test_a_damaged_log_gives_way_to_a_snapshot_that_reaches_further(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = born_of_a_snapshot(tmp_path / "vizd", 5)
    log = write_log(source / "state", "block_log", recorded_blocks("open-1")[:50])
    log.write_bytes(log.read_bytes()[:-3])

    assert adopt(source, tmp_path / "ours", "--dry-run") == 0

    out = capsys.readouterr().out
    assert "is sound up to block 49 alone: the snapshot of block 2718 is taken, which reaches further" in out
    assert not (tmp_path / "ours").exists()


def test_of_snapshots_the_newest_sound_one_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = born_of_a_snapshot(tmp_path / "vizd", 5)
    (source / "snapshots" / "snapshot-block-9000.vizjson").write_bytes(b"x\x9ctorn")

    assert adopt(source, tmp_path / "ours", "--dry-run") == 0

    out = capsys.readouterr().out
    assert re.search(r"snapshot-block-9000.vizjson is left out: ", out)
    assert "history: the snapshot of block 2,718, " in out


def _started(source: Path, target: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "ledgerd.cli", "adopt", str(source), "--data-dir", str(target), "--chain", CHAIN]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603 - our own program


def _finished(process: subprocess.Popen[bytes]) -> bytes:
    _, problem = process.communicate(timeout=LONGEST)
    return problem


@pytest.mark.parametrize("kind", ["full", "snapshot"])
def test_killed_at_random_moments_it_ends_the_same(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "vizd"
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    if kind == "full":
        with_full_log(source, "open-pm2", 100)
    else:
        born_of_a_snapshot(source, 40)
    began = time.monotonic()
    process = _started(source, whole)
    assert (_finished(process), process.returncode)[1] == 0
    length, moments = time.monotonic() - began, random.Random(SEED)  # noqa: S311 - a fixed seed

    for _ in range(KILLS):
        process = _started(source, killed)
        try:
            process.wait(timeout=moments.uniform(0.2, 1.0) * length)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        _finished(process)
        if not (killed / "adoption.json").exists() and killed.exists():
            break  # it was done before the signal came
    else:
        process = _started(source, killed)
        assert (_finished(process), process.returncode)[1] == 0

    assert state_of(killed, tmp_path) == state_of(whole, tmp_path)


def refusal(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> str:
    assert main(["adopt", *words]) != 0
    return capsys.readouterr().err


def test_it_is_refused_while_a_process_has_a_file_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)
    log = source / "state" / "block_log"
    words = [sys.executable, "-c", "import sys; f = open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"]
    with subprocess.Popen([*words, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S603 - this Python
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        said = refusal(capsys, [str(source), "--data-dir", str(tmp_path / "ours"), "--chain", CHAIN])
        other.communicate(b"")

    assert f"process {other.pid} has {log} open: stop the vizd" in said
    assert not (tmp_path / "ours").exists()


def test_what_cannot_be_adopted_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = with_full_log(tmp_path / "vizd", "open-pm2", 5), tmp_path / "ours"
    empty, taken, ours = tmp_path / "empty", tmp_path / "taken", tmp_path / "ledgerd"
    empty.mkdir()
    taken.mkdir()
    (taken / "letter.txt").write_text("dear reader")
    (ours / "state").mkdir(parents=True)
    (ours / "state" / "data.mdb").write_bytes(b"")

    for words, said in (
        ([str(tmp_path / "nothing"), "--data-dir", str(target)], "is no directory"),
        ([str(empty), "--data-dir", str(target)], "has no block log with blocks"),
        ([str(ours), "--data-dir", str(target)], "is a data directory of ledgerd"),
        ([str(source), "--data-dir", str(source)], "are not apart"),
        ([str(source), "--data-dir", str(source / "inside")], "are not apart"),
        ([str(source), "--data-dir", str(taken), "--chain", CHAIN], "is not empty"),
        ([str(source), "--data-dir", str(target), "--chain", "mainnet"], "is the log of another network than mainnet?"),
    ):
        assert said in refusal(capsys, words)
    assert (taken / "letter.txt").read_text() == "dear reader"


def test_another_source_does_not_go_on_with_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (with_full_log(tmp_path / name, "open-pm2", 5) for name in ("one", "other"))
    target = tmp_path / "ours"
    assert main(["adopt", str(one), "--data-dir", str(target), "--chain", "mainnet"]) != 0
    capsys.readouterr()

    assert "was begun with" in refusal(capsys, [str(other), "--data-dir", str(target), "--chain", CHAIN])


def test_a_full_disk_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=1 << 20))

    said = refusal(capsys, [str(source), "--data-dir", str(tmp_path / "ours"), "--chain", CHAIN])

    assert re.search(r"has 1 MiB free, and about \d+ MiB are needed", said)
    assert not (tmp_path / "ours").exists()
