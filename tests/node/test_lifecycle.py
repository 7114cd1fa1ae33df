"""A node as a process: it starts, serves, makes blocks, stops when asked, and says why when it cannot start."""

from __future__ import annotations

import shutil
import signal
import socket
from pathlib import Path

import pytest

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION
from ledgerd.node.lifecycle import FATAL, banner
from ledgerd.protocol.networks.parameters import TESTNET
from tests.node.processes import CONFIGURATIONS, PROGRAM, NodeProcess, in_haste, words_of_testnet
from tests.recorded import CHAINS, recorded_log

SERVED = {
    "p2p-endpoint",
    "webserver-http-endpoint",
    "webserver-ws-endpoint",
    "snapshot-serve-endpoint",
    "metrics-endpoint",
}


KEYS = ("5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC", "5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4")
"""What the validators of the template sign with."""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a node that has made two blocks; for copies."""
    folder = tmp_path_factory.mktemp("stopped")
    with NodeProcess(*words_of_testnet(folder, in_haste(folder))) as node:
        node.wait_for("Validated block #2 ")
        assert node.stop(signal.SIGINT) == 0
    assert node.log.endswith("exited cleanly")
    return folder


@pytest.fixture
def with_blocks(stopped: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stopped, tmp_path / "with blocks"))


def test_a_node_serves_makes_blocks_stops_when_asked_and_logs_no_key(tmp_path: Path) -> None:
    with NodeProcess(*words_of_testnet(tmp_path, in_haste(tmp_path), "--debug-block-production")) as node:
        node.wait_for("Validated block #2 ")
        assert node.head >= 2
        assert node.call("block_info", "get_block_info", 1, 1)[0]["block_size"] > 0
        assert node.call("operation_history", "get_ops_in_block", 2, False)[0]["block"] == 2

        assert node.stop() == 0

    assert banner(TESTNET).splitlines()[2] == node.lines[2]
    for line in ("closing chain database", "database closed successfully", "exited cleanly"):
        assert line in node.log
    assert node.log.index("Started on blockchain with 0 blocks") < node.log.index("start listening for http")
    assert [key for key in KEYS if key in node.log] == []


def test_a_node_that_may_have_too_few_files_says_so_at_its_start(tmp_path: Path) -> None:
    few = ("prlimit", "--nofile=64:64", *PROGRAM)

    with NodeProcess(*words_of_testnet(tmp_path), program=few) as node:
        assert node.wait() == WRONG_CONFIGURATION

    assert "ulimit -n is 64, and p2p-max-connections = " in node.log


def test_a_worker_takes_as_many_connections_as_it_may_have_files(tmp_path: Path) -> None:
    some = ("prlimit", "--nofile=700:700", *PROGRAM)

    with NodeProcess(*words_of_testnet(tmp_path, "--p2p-max-connections=8"), program=some) as node:
        node.wait_for("the limit of open files is 700: this API worker accepts 508 connections, not 1024")
        assert node.stop() == 0


@pytest.fixture
def with_log(tmp_path: Path) -> Path:
    """A data directory that holds a block log and nothing else, so that a start replays it."""
    state = tmp_path / "state"
    state.mkdir()
    (state / "block_log").write_bytes(recorded_log("open-2"))
    return tmp_path


def test_a_start_can_be_stopped_in_every_phase(with_log: Path) -> None:
    words = [word for word in words_of_testnet(with_log) if "config" not in word]
    words += ["--chain=testnet", "--plugin=operation_history", "--p2p-seed-node=127.0.0.1:9"]
    for phase in ("STARTING VIZ NETWORK", "Replaying blockchain from block num 1.", "DLT P2P Plugin"):
        with NodeProcess(*words) as node:
            node.wait_for(phase)
            assert node.stop() == 0
        assert node.lines[-1].endswith("exited cleanly")
        assert "Traceback" not in node.log

    with NodeProcess(*words) as node:
        node.wait_for(f"Started on blockchain with {CHAINS['open-2']} blocks")
        assert node.stop(signal.SIGHUP) == 0


def test_a_second_stop_while_stopping_changes_nothing(tmp_path: Path) -> None:
    with NodeProcess(*words_of_testnet(tmp_path)) as node:
        node.port()
        node.process.send_signal(signal.SIGINT)
        assert node.stop(signal.SIGTERM) == 0


def test_a_node_stops_when_its_input_ends_if_it_was_told_so(tmp_path: Path) -> None:
    words = words_of_testnet(tmp_path, in_haste(tmp_path), "--stop-with-stdin")
    with NodeProcess(*words, has_input=True) as node:
        node.wait_for("Validated block #1 ")
        assert node.process.stdin is not None
        node.process.stdin.write("words change nothing\n")
        node.process.stdin.flush()
        node.wait_for("Validated block #2 ")

        node.process.stdin.close()

        assert node.wait() == 0
    assert "standard input has ended" in node.log
    assert "exited cleanly" in node.log


def test_a_killed_node_goes_on_where_it_was(tmp_path: Path) -> None:
    with NodeProcess(*words_of_testnet(tmp_path)) as node:
        node.wait_for("Validated block #2 ")
        node.stop(signal.SIGKILL)
    with NodeProcess(*words_of_testnet(tmp_path)) as node:
        node.wait_for("Validated block #3 ")
        assert node.stop() == 0

    assert "Started on blockchain with 2 blocks" in node.log


def test_a_snapshot_is_written_by_a_node_that_starts_nothing_else(with_blocks: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.vizjson"
    with NodeProcess(*words_of_testnet(with_blocks, f"--create-snapshot={path}")) as writer:
        assert writer.wait() == 0

    assert f"Snapshot created successfully: {path}" in writer.log
    assert "start listening" not in writer.log
    assert "Launching block production" not in writer.log

    with NodeProcess(*words_of_testnet(tmp_path / "other", f"--snapshot={path}", "--shared-file-dir=fast")) as other:
        other.port()
        assert other.head >= 2
        assert other.stop() == 0
    assert (tmp_path / "other" / "fast" / "data.mdb").exists()


def test_two_nodes_on_one_directory_are_refused(tmp_path: Path) -> None:
    with NodeProcess(*words_of_testnet(tmp_path)) as node:
        node.port()
        with NodeProcess(*words_of_testnet(tmp_path)) as second:
            assert second.wait() == FATAL
        assert f"{tmp_path} is in use by another node (process {node.process.pid})" in second.log
        assert node.head >= 0
        assert node.stop() == 0


def test_a_data_directory_that_is_none_ends_the_start_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with NodeProcess(*words_of_testnet(tmp_path / "file")) as node:
        assert node.wait() == FATAL

    assert f"ledgerd: {tmp_path}/file: File exists: see to the disk" in node.log
    assert "Traceback" not in node.log


def test_a_port_that_is_taken_ends_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = [
            f"--webserver-http-endpoint=127.0.0.1:{taken.getsockname()[1]}" if "http-endpoint" in word else word
            for word in words_of_testnet(tmp_path)
        ]
        with NodeProcess(*words) as node:
            assert node.wait() == FATAL

    assert "cannot listen on 127.0.0.1" in node.log
    assert "Opening shared memory" not in node.log
    assert "Traceback" not in node.log


def test_a_state_of_another_network_ends_the_start(with_blocks: Path) -> None:
    with NodeProcess(*words_of_testnet(with_blocks, "--chain=mainnet")) as other:
        assert other.wait() == FATAL

    assert "this state belongs to the chain" in other.log


def test_a_wrong_option_ends_with_another_code(tmp_path: Path) -> None:
    with NodeProcess("--data-dir", str(tmp_path), "--p2p-endpont=x") as node:
        assert node.wait() == 2


def test_the_first_start_writes_the_configuration(tmp_path: Path) -> None:
    with NodeProcess(*words_of_testnet(tmp_path)[2:], "--chain=testnet", "--plugin=validator") as node:
        node.wait_for("No validators configured!")
        node.port()
        assert node.stop() == 0

    assert (tmp_path / "config.ini").is_file()


@pytest.mark.parametrize("name", ["config.ini", "config_witness.ini", "config_testnet.ini"])
def test_each_kind_starts_from_its_template(tmp_path: Path, name: str) -> None:
    """With nobody to connect to, and on ports of this machine, so that no packet leaves it."""
    kept = []
    for line in (CONFIGURATIONS / name).read_text().splitlines():
        option, equals, _ = line.partition(" = ")
        if option in {"p2p-seed-node", "trusted-snapshot-peer", "ntp-server"}:
            continue
        if equals and option in SERVED:
            kept.append(f"{option} = 127.0.0.1:0")
        elif option == "snapshot-dir":
            kept.append(f"{option} = {tmp_path}/snapshots")
        else:
            kept.append(line)
    (tmp_path / name).write_text("\n".join(kept))

    with NodeProcess("--config-file", str(tmp_path / name), "--data-dir", str(tmp_path / "data")) as node:
        node.port()
        assert node.call("database_api", "get_config")["CHAIN_NAME"] == ("VIZTEST" if "testnet" in name else "VIZ")
        assert node.stop() == 0

    assert "Traceback" not in node.log


def test_a_validator_s_template_serves_this_machine_alone() -> None:
    lines = (CONFIGURATIONS / "config_witness.ini").read_text().splitlines()
    served = [line for line in lines if line.startswith(("webserver-http-endpoint", "webserver-ws-endpoint"))]

    assert served == ["webserver-http-endpoint = 127.0.0.1:8090", "webserver-ws-endpoint = 127.0.0.1:8091"]
