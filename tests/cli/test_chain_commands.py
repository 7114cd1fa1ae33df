"""`ledgerd replay`, `state` and `check`, as an operator types them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import lmdb
import pytest

from ledgerd.cli import main
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME
from tests.recorded import recorded_blocks, recorded_log
from tests.state.versions import make_outdated

PAGE = 4096


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "block_log"
    path.write_bytes(recorded_log("open-2"))
    return str(path)


@pytest.fixture
def niceness(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How far a command gives way; this process does not."""
    steps: list[int] = []
    monkeypatch.setattr("ledgerd.cli.directory.state.give_way", steps.append)
    return steps


@pytest.fixture
def data(tmp_path: Path) -> str:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "config.ini").write_text("chain = testnet\nshared-file-size = 64M\n")
    return str(folder)


def test_a_log_is_replayed_and_a_second_run_goes_on(log: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--block-log", log, "--data-dir", data, "--to", "50"]) == 0
    assert capsys.readouterr().out.startswith("50 blocks applied; head block 50 ")
    assert main(["replay", "--block-log", log, "--data-dir", data, "--to", "120"]) == 0
    assert capsys.readouterr().out.startswith("70 blocks applied; head block 120 ")
    assert main(["replay", "--block-log", log, "--data-dir", data, "--to", "120"]) == 0
    assert capsys.readouterr().out.startswith("0 blocks applied; head block 120 ")
    assert main(["check", "--data-dir", data]) == 0
    assert "block 120: all" in capsys.readouterr().out


def test_a_trusted_log_leads_to_the_same_head(log: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--trust-log", "--block-log", log, "--data-dir", data, "--to", "60"]) == 0
    trusted = capsys.readouterr().out
    other = str(Path(data).parent / "other")
    assert main(["replay", "--chain", "testnet", "--block-log", log, "--data-dir", other, "--to", "60"]) == 0
    assert capsys.readouterr().out == trusted


def test_the_state_is_printed_as_counts_or_as_objects(log: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "30"])
    capsys.readouterr()
    assert main(["state", "--data-dir", data]) == 0
    counts = {line.split()[1]: line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert main(["state", "--data-dir", data, "--json", "account"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == int(counts["Account"])
    assert {line["table"] for line in lines} == {"Account"}
    assert [line["object"]["id"] for line in lines] == list(range(len(lines)))
    assert lines[4]["object"]["name"] == "viz"


def test_what_cannot_be_done_is_said_without_a_traceback(
    log: str, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "10"])
    for words, said in (
        (["replay", "--block-log", str(tmp_path / "none"), "--data-dir", data], "none cannot be read"),
        (["replay", "--block-log", log, "--data-dir", data, "--chain", "mainnet"], "belongs to the chain"),
        (
            ["replay", "--block-log", log, "--data-dir", str(tmp_path / "new"), "--chain", "mainnet"],
            "; it may be the log of another network than VIZ",
        ),
        (["check", "--data-dir", str(tmp_path / "nothing")], "nothing: correct --data-dir"),
        (["state", "--data-dir", str(tmp_path / "nothing")], "nothing: correct --data-dir"),
        (["archive", "list", "--data-dir", str(tmp_path / "nothing")], "nothing: correct --data-dir"),
        (["archive", "check", "--data-dir", str(tmp_path / "nothing")], "nothing: correct --data-dir"),
        (["check", "--data-dir", str(tmp_path)], "there is no state in"),
        (["state", "--data-dir", str(tmp_path)], "there is no state in"),
        (["state", "--data-dir", data, "Acount"], "there is no table Acount; there are DynamicGlobalProperty"),
        (["check", "--data-dir", data, "--config-file", str(tmp_path / "no.ini")], "there is no such file"),
    ):
        capsys.readouterr()
        assert main(words) == 1, words
        error = capsys.readouterr().err
        assert said in error
        assert "Traceback" not in error


@pytest.mark.parametrize("name", ["data.mdb", "lock.mdb", "writer.lock", "block_log", "block_log.sums"])
def test_a_pipe_in_the_place_of_a_file_is_named_and_not_waited_for(
    log: str, data: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "10"])
    pipe = Path(data) / "state" / name
    pipe.unlink()
    os.mkfifo(pipe)
    for words in (["check"], ["state"], ["replay", "--block-log", log], ["snapshot", "export", f"{data}/made"]):
        capsys.readouterr()
        assert main([*words, "--data-dir", data]) == 1, words
        assert f"{pipe} is a pipe or a device, and no file: remove it" in capsys.readouterr().err


def test_a_log_to_replay_that_is_no_file_is_refused(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, reason in (
        (tmp_path / "pipe", "it is a pipe or a device, and no file"),
        (Path("/dev/zero"), "it is a pipe or a device, and no file"),
        (tmp_path, "Is a directory"),
    ):
        assert main(["replay", "--block-log", str(place), "--data-dir", data]) == 1
        assert capsys.readouterr().err == f"ledgerd: --block-log: {place} cannot be read: {reason}\n"


@pytest.mark.parametrize(("command", "place"), [("check", "check.check"), ("state", "state._lines")])
def test_a_state_whose_damage_is_met_in_the_middle_of_a_command_is_named(
    log: str, data: str, command: str, place: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "10"])

    def meet_it(*_: object, **__: object) -> object:
        raise lmdb.CorruptedError("mdb_get")

    monkeypatch.setattr(f"ledgerd.cli.directory.{place}", meet_it)
    assert main([command, "--data-dir", data]) == 1
    assert "state: mdb_get" in capsys.readouterr().err


def test_an_archive_without_blocks_is_told_as_one(log: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "10"])
    capsys.readouterr()
    assert main(["archive", "list", "--data-dir", data]) == 0
    assert "block-archive: `ledgerd archive fetch` brings them" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["archive", "fetch", "--from", "x", "SOURCE", "--data-dir", "."], ["dev", "--workers", "x"]],
)
def test_a_wrong_number_is_told_under_the_name_that_was_typed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(words)
    assert re.search(r"argument --(from|workers): '?x'?: write a number|is no number from 1", capsys.readouterr().err)


@pytest.mark.parametrize("command", ["replay", "check", "state", "snapshot", "doctor"])
def test_a_state_of_another_version_is_refused_with_what_to_do(
    command: str, log: str, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "10"])
    make_outdated(Path(data) / "state")
    more = {"replay": ["--block-log", log], "snapshot": ["export", str(tmp_path / "state.vizjson")]}
    capsys.readouterr()

    assert main([command, *more.get(command, []), "--data-dir", data]) != 0

    printed = capsys.readouterr()
    assert "written by another version of this program" in printed.out + printed.err
    assert "replay the block log or import a snapshot" in printed.out + printed.err
    assert "Traceback" not in printed.err


def zero_a_page(data: str, number: int) -> None:
    with (Path(data) / "state" / "data.mdb").open("r+b") as file:
        file.seek(number * PAGE)
        file.write(bytes(PAGE))


def test_check_names_pages_of_zeros_at_which_the_database_would_end_the_process(
    log: str, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "200"])
    zero_a_page(data, (Path(data) / "state" / "data.mdb").stat().st_size // PAGE // 2)
    capsys.readouterr()
    assert main(["check", "--data-dir", data]) == 1
    assert "state: pages of it are damaged or missing): remove its folder, then replay" in capsys.readouterr().err


def test_a_state_that_does_not_add_up_is_found(log: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "10"])
    with Store.open(Path(data) / "state", STORED_TABLES) as store:
        account = store.at(ACCOUNT_BY_NAME, "alice")
        with store.editing(account):
            account.balance += 1
        store.commit()
    capsys.readouterr()
    assert main(["check", "--data-dir", data]) == 1
    assert "problems at block 10" in capsys.readouterr().out


def test_check_names_the_blocks_of_the_log_that_have_rotted(
    log: str, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "200"])
    path, packed = Path(data) / "state" / "block_log", recorded_blocks("open-2")[49]
    path.write_bytes(path.read_bytes().replace(packed, packed[:30] + bytes([packed[30] ^ 1]) + packed[31:]))
    capsys.readouterr()
    assert main(["check", "--data-dir", data]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"block 50 of {path} cannot be read")
    assert printed[1:] == ["1 problems at block 200"]


def test_a_state_that_has_lost_its_log_is_written_to_a_snapshot_and_goes_on_with_the_latest_blocks(
    log: str, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The way that the error names."""
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "200"])
    (Path(data) / "state" / "block_log").unlink()
    capsys.readouterr()
    assert main(["check", "--data-dir", data]) == 1
    assert "block_log is missing or empty" in capsys.readouterr().err
    snapshot, again = (str(Path(data) / name) for name in ("state.vizjson", "again.vizjson"))
    assert main(["snapshot", "export", "--data-dir", data, snapshot]) == 0
    assert "block 200 written to" in capsys.readouterr().out
    assert main(["--data-dir", data, "--replay-from-snapshot", "--snapshot", snapshot, "--create-snapshot", again]) == 0
    assert main(["check", "--data-dir", data]) == 0


def test_the_state_at_a_past_block_is_made_beside_a_directory_and_asked(
    log: str, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], niceness: list[int]
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "300"])
    main(["replay", "--block-log", log, "--data-dir", str(tmp_path / "same"), "--chain", "testnet", "--to", "200"])
    made, snapshot = str(tmp_path / "made"), str(tmp_path / "at-200.vizjson")
    for words in (["--to", made], ["--to", snapshot, "--from-genesis"]):
        capsys.readouterr()
        assert main(["state", "--at", "200", "--data-dir", data, *words]) == 0
        printed = capsys.readouterr()
        assert "begins with the genesis\nthe state at block 200 000000c8" in printed.out
        assert "MB are needed, and" in printed.out
        assert "replaying: block 200 of 200 (100 %)" in printed.err
    again = str(tmp_path / "again")
    assert main(["state", "--at", "200", "--data-dir", data, "--snapshot", snapshot, "--to", again]) == 0
    printed_again = capsys.readouterr().out
    assert "begins with the state of block 200\n" in printed_again
    assert "its last irreversible block is 200, that of the snapshot" in printed_again
    assert niceness == [19] * 3
    lines = []
    for folder in (str(tmp_path / "same"), made):
        assert main(["state", "--data-dir", folder, "--json", "Account"]) == 0
        lines.append(capsys.readouterr().out)
    assert lines[0] == lines[1]
    assert main(["check", "--data-dir", made]) == 0
    assert main(["debug", "states", made, snapshot]) == 0
    assert "plugin = database_api\n" in (tmp_path / "made" / "config.ini").read_text()
    assert main(["replay", "--block-log", log, "--data-dir", made, "--to", "210"]) == 0
    assert "10 blocks applied" in capsys.readouterr().out


def test_a_past_state_that_cannot_be_made_is_refused_before_anything_is_written(
    log: str,
    data: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    niceness: list[int],
) -> None:
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "100"])
    out = str(tmp_path / "out")
    for words, said in (
        (["--at", "50"], "--at needs --to"),
        (["--at", "50", "--to", out, "--json"], "prints none"),
        (["--to", out], "belong to --at"),
        (["--at", "0", "--to", out], "the first block of a chain is block 1"),
        (["--at", "101", "--to", out], "ends at block 100: block 101 is not there"),
        (["--at", "50", "--to", data], "exists already"),
        (["--at", "50", "--to", str(tmp_path / "no" / "out")], "there is no folder"),
        (["--at", "50", "--to", out, "--snapshot", log], "is of no use here"),
        (["--at", "50", "--to", out, "--snapshot", str(tmp_path / "none")], "cannot be read"),
    ):
        capsys.readouterr()
        assert main(["state", "--data-dir", data, *words]) == 1, words
        assert said in capsys.readouterr().err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["block_log", "data"]
    assert main(["state", "--data-dir", str(tmp_path / "none"), "--at", "5", "--to", out]) == 1
    niceness.clear()
    monkeypatch.setattr("ledgerd.cli.shared.terminal.SPARE_BYTES", 1 << 60)
    assert main(["state", "--data-dir", data, "--at", "5", "--to", out]) == 1
    assert "MB are free: make room on the disk of" in capsys.readouterr().err
    assert niceness == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["block_log", "data"]
