"""Directories with what no `vizd` has left there: each is refused or read around, with its reason, and not changed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledgerd.adopt import vizd_directory
from ledgerd.adopt.translation import MOST_ROUNDS, MOST_SUMMED_UP
from ledgerd.adopt.vizd_directory import LARGEST_CONFIGURATION, MOST_SNAPSHOTS
from ledgerd.chain.log import source as log_source
from ledgerd.cli.main import main
from ledgerd.node.config.configuration import read_configuration
from tests.adopt.directories import born_of_a_snapshot, digests, with_full_log

CHAIN = "testnet"


def dry_run(source: Path, target: Path) -> int:
    return main(["adopt", str(source), "--data-dir", str(target), "--chain", CHAIN, "--dry-run"])


def _pipe_as_configuration(source: Path) -> None:
    (source / "config.ini").unlink()
    os.mkfifo(source / "config.ini")


def _socket_as_configuration(source: Path) -> None:
    (source / "config.ini").unlink()
    place = Path.cwd()
    os.chdir(source)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("config.ini")
    finally:
        os.chdir(place)


def _pipe_as_index(source: Path) -> None:
    (source / "state" / "block_log.index").unlink()
    os.mkfifo(source / "state" / "block_log.index")


def _loop_of_links(source: Path) -> None:
    (source / "snapshots").symlink_to(source / "snapshots")
    (source / "state" / "dlt_block_log").symlink_to(source / "state" / "dlt_block_log")


def _snapshot_pipes(source: Path) -> None:
    (source / "snapshots").mkdir()
    os.mkfifo(source / "snapshots" / "snapshot-block-9.vizjson")


def _endless_snapshot(source: Path) -> None:
    (source / "snapshots").mkdir()
    (source / "snapshots" / "snapshot-block-9.vizjson").symlink_to("/dev/zero")


def _lying_index(source: Path) -> None:
    """Places that are no blocks, and some far after the end."""
    (source / "state" / "block_log.index").write_bytes(b"\7\0\0\0\0\0\0\0" * 30 + b"\xff" * 80)


@pytest.mark.parametrize(
    "spoil",
    [
        _pipe_as_configuration,
        _socket_as_configuration,
        _pipe_as_index,
        _loop_of_links,
        _snapshot_pipes,
        _endless_snapshot,
        _lying_index,
    ],
)
def test_what_is_no_file_is_read_around(
    tmp_path: Path, spoil: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 20)
    spoil(source)
    before = digests(source)

    assert dry_run(source, tmp_path / "ours") == 0

    assert "history: blocks 1 to 20 of " in capsys.readouterr().out
    assert digests(source) == before


def test_a_torn_log_with_a_lying_index_is_cut_behind_its_last_whole_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 20)
    log = source / "state" / "block_log"
    log.write_bytes(log.read_bytes()[:-5])
    _lying_index(source)

    assert dry_run(source, tmp_path / "ours") == 0

    assert "history: blocks 1 to 19 of " in capsys.readouterr().out


def test_a_huge_index_is_not_tried_to_its_beginning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_source, "MOST_TRIED", 50)
    source = with_full_log(tmp_path / "vizd", "open-pm2", 20)
    log, index = source / "state" / "block_log", source / "state" / "block_log.index"
    log.write_bytes(log.read_bytes()[:-5])
    os.truncate(index, 1 << 40)
    asked = []
    read = log_source.LogSource._index_entry  # noqa: SLF001 - counted, and left as it is

    def counted(self: log_source.LogSource, place: int) -> bytes:
        asked.append(place)
        return read(self, place)

    monkeypatch.setattr(log_source.LogSource, "_index_entry", counted)
    assert dry_run(source, tmp_path / "ours") == 0
    assert "history: blocks 1 to 19 of " in capsys.readouterr().out
    assert len(asked) < 3 * 50 + 20


def _long(source: Path) -> None:
    with (source / "config.ini").open("wb") as file:
        file.truncate(1 << 30)


def _nonsense(source: Path) -> None:
    (source / "config.ini").write_text("nonsense\n" * 200)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_long, f"config.ini has more than {LARGEST_CONFIGURATION:,} bytes, and is no configuration"),
        (_nonsense, "100 lines of config.ini are no options and no sections: is it a configuration?"),
    ],
)
def test_what_is_no_configuration_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)
    spoil(source)

    assert dry_run(source, tmp_path / "ours") == 1

    assert words in capsys.readouterr().err
    assert not (tmp_path / "ours").exists()


CONTROL = "\x1b[2J\u202e\rvalidator = alice"


def _controls(source: Path) -> None:
    """In names, values, plugins and sections."""
    (source / "config.ini").write_text(
        f"zzz{CONTROL}\np2p-seed-node = 1.2.3.4:5{CONTROL}\nlog-format{CONTROL} = x\nplugin = p2p{CONTROL}\n"
        f"history-webhook = {CONTROL}\n[log.file_appender.a{CONTROL}]\nfilename = a{CONTROL}\n",
        newline="",
    )


def test_no_line_of_a_configuration_is_obeyed_by_a_terminal_now_or_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)
    _controls(source)

    assert main(["adopt", str(source), "--data-dir", str(tmp_path / "ours"), "--chain", CHAIN]) == 0

    captured = capsys.readouterr()
    made = (tmp_path / "ours" / "config.ini").read_bytes().decode()
    assert "\\x1b[2J" in captured.out
    assert "\\x1b[2J" in made
    for text in (captured.out, captured.err, made):
        assert [each for each in text if not (each.isprintable() or each == "\n")] == []


def test_a_configuration_whose_faults_are_found_one_by_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same line again and again only the last counts: each time it is taken out, the one before it does."""
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)
    (source / "config.ini").write_text("[logger.a]\nlevel=x\n" * 1_000)
    read: list[object] = []

    def noted(*given: Any) -> Any:
        read.append(given)
        return read_configuration(*given)

    monkeypatch.setattr("ledgerd.adopt.translation.read_configuration", noted)
    assert dry_run(source, tmp_path / "ours") == 1

    assert "the faults of config.ini do not come to an end" in capsys.readouterr().err
    assert len(read) <= MOST_ROUNDS


def test_of_thousands_of_unknown_options_some_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)
    (source / "config.ini").write_text(f"{'a' * 100}=\n" * 2_000)

    assert dry_run(source, tmp_path / "ours") == 0

    told = capsys.readouterr().out.splitlines()
    assert len(told) < MOST_SUMMED_UP + 20
    assert f"and {2_000 - MOST_SUMMED_UP:,} more" in " ".join(told)


@pytest.mark.parametrize("name", ["config.ini", "state/block_log"])
def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)

    def refusing(opened: Callable[..., object]) -> Callable[..., object]:
        def open_other(path: object, *given: object, **more: object) -> object:
            if path == source / name:
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *given, **more)

        return open_other

    monkeypatch.setattr(Path, "open", refusing(Path.open))
    monkeypatch.setattr(os, "open", refusing(os.open))
    assert dry_run(source, tmp_path / "ours") == 1

    captured = capsys.readouterr()
    assert f"{source / name} cannot be read: Permission denied" in captured.out + captured.err
    assert not (tmp_path / "ours").exists()


def test_a_vizd_behind_a_link_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = with_full_log(tmp_path / "disk", "open-pm2", 5)
    source = tmp_path / "vizd"
    source.mkdir()
    (source / "state").symlink_to(elsewhere / "state")
    words = [sys.executable, "-c", "import sys; f = open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"]
    log = elsewhere / "state" / "block_log"
    with subprocess.Popen([*words, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S603 - this Python
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        assert dry_run(source, tmp_path / "ours") == 1
        other.communicate(b"")
    assert f"process {other.pid} has {log} open" in capsys.readouterr().err
    assert main(["adopt", str(source), "--data-dir", str(elsewhere / "state" / "ours"), "--chain", CHAIN]) == 1
    assert "are not apart" in capsys.readouterr().err


def test_a_snapshot_that_unpacks_without_end_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.snapshot.file.container.LARGEST_TEXT", 1 << 24)
    source = born_of_a_snapshot(tmp_path / "vizd", 3)
    packer = zlib.compressobj(9)
    bomb = packer.compress(b'{"header":{"a":"') + packer.compress(b" " * (1 << 26)) + packer.flush()
    (source / "snapshots" / "snapshot-block-9000.vizjson").write_bytes(bomb)

    assert dry_run(source, tmp_path / "ours") == 0

    out = capsys.readouterr().out
    assert "snapshot-block-9000.vizjson is left out: " in out
    assert "history: the snapshot of block 2,718, " in out


def test_of_a_thousand_snapshots_the_newest_few_are_tried(tmp_path: Path) -> None:
    source = with_full_log(tmp_path / "vizd", "open-pm2", 5)
    (source / "snapshots").mkdir()
    for number in range(1, 1_001):
        (source / "snapshots" / f"snapshot-block-{number}.vizjson").touch()

    found = vizd_directory.inspect_directory(source).snapshots

    assert [each.number for each in found] == list(range(1_000, 1_000 - MOST_SNAPSHOTS, -1))


def test_an_empty_log_and_a_torn_snapshot_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "vizd"
    (source / "state").mkdir(parents=True)
    (source / "snapshots").mkdir()
    (source / "state" / "block_log").write_bytes(b"")
    (source / "snapshots" / "snapshot-block-9.vizjson").write_bytes(b"x\x9ctorn")
    before = digests(source)

    assert dry_run(source, tmp_path / "ours") == 1

    assert "has neither a sound block log nor a sound snapshot" in capsys.readouterr().err
    assert digests(source) == before
