from __future__ import annotations

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
