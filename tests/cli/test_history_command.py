from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ledgerd.cli import main
from tests.chain.recorded_chains import advance, open_chain
from tests.history.histories import HISTORY_FOLDER, closed_view, shown_operations
from tests.recorded import FOLDER, recorded_answers, recorded_log

NAME, HEIGHT = "open-hf0", 336
NETWORK = ["--chain", str(FOLDER.parent / "open-main.toml")]


def assert_complete(folder: Path) -> None:
    answers = recorded_answers(NAME, HEIGHT)["get_ops_in_block"]
    with closed_view(folder) as view:
        for number in range(1, HEIGHT + 1):
            assert shown_operations(view, number) == answers[number, False]


def replay(folder: Path, config: str) -> int:
    folder.mkdir(exist_ok=True)
    (folder / "config.ini").write_text(config)
    log = folder / "recorded"
    log.write_bytes(recorded_log(NAME))
    return main(["replay", "--block-log", str(log), "--data-dir", str(folder), *NETWORK, "--trust-log"])


def test_a_rebuild_makes_the_history_of_a_chain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_chain(NAME, tmp_path) as chain:
        advance(chain, NAME, HEIGHT)
    assert main(["history", "rebuild", "--data-dir", str(tmp_path), *NETWORK]) == 0
    assert f"the history is complete up to block {HEIGHT}" in capsys.readouterr().out
    assert_complete(tmp_path)


def test_without_a_state_there_is_nothing_to_rebuild(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "rebuild", "--data-dir", str(tmp_path), *NETWORK]) == 1
    assert "there is no state" in capsys.readouterr().err


def test_a_replay_records_where_the_node_would(tmp_path: Path) -> None:
    assert replay(tmp_path, "plugin = operation_history account_history\n") == 0
    assert_complete(tmp_path)


def test_a_replay_records_nothing_where_the_node_would_not(tmp_path: Path) -> None:
    assert replay(tmp_path, "plugin = database_api\n") == 0
    assert not (tmp_path / HISTORY_FOLDER).exists()


def test_check_names_what_has_rotted_in_the_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(tmp_path, "plugin = operation_history account_history\n") == 0
    assert main(["check", "--data-dir", str(tmp_path), *NETWORK]) == 0
    path = tmp_path / HISTORY_FOLDER / "data.mdb"
    path.write_bytes(path.read_bytes().replace(b"committee", b"bommittee"))  # in virtual operations, and in freed pages
    capsys.readouterr()
    assert main(["check", "--data-dir", str(tmp_path), *NETWORK]) == 1
    assert "ledgerd history rebuild" in capsys.readouterr().out


def test_an_export_says_what_it_has_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data_dir, to = tmp_path / "node", tmp_path / "files"
    assert replay(data_dir, "plugin = operation_history account_history\n") == 0
    capsys.readouterr()
    assert main(["history", "export", "--data-dir", str(data_dir), "--to", str(to), "--until", "300", *NETWORK]) == 0
    out = capsys.readouterr().out
    assert out.startswith("300 blocks added, ")
    assert out.endswith(f"; {to} has blocks 1 to 300\n")
    assert main(["history", "export", "--data-dir", str(data_dir), "--to", str(to), "--until", "300", *NETWORK]) == 0
    assert capsys.readouterr().out == f"0 blocks added, 0 operations in 0 files written; {to} has blocks 1 to 300\n"


def test_an_export_names_what_is_wrong_with_its_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ["history", "export", "--data-dir", str(tmp_path), *NETWORK]
    assert main(export) == 1
    assert "give --to FOLDER" in capsys.readouterr().err
    assert main([*export, "--to", str(tmp_path / "files")]) == 1
    assert "the history cannot be read" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*export, "--to", str(tmp_path / "files"), "--from", "0"])
    assert "--from: '0' is no number from 1 to 4294967295" in capsys.readouterr().err
    (tmp_path / "a file").touch()
    assert main([*export, "--to", str(tmp_path / "a file")]) == 1
    assert "a file" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for loaded in [each for each in sys.modules if each.startswith("ledgerd.history.parquet")]:
        monkeypatch.delitem(sys.modules, loaded)
    assert main([*export, "--to", str(tmp_path / "files")]) == 1
    assert "install ledgerd[parquet]" in capsys.readouterr().err
