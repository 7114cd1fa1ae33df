"""What a run of pytest does with its chains: how many there are, what is shown of them, and that all end with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.testing.chain import DevChain
from ledgerd.testing.errors import NodeFailed
from ledgerd.testing.running import process
from ledgerd.testing.running.process import new_node
from tests.patience import PATIENCE
from tests.testing.runs import PYTEST, pytest_over

NOTES = """\
import os
import signal
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def noted(chain):
    with open("chains", "a") as notes:
        notes.write(f"{chain.url} {chain.folder}\\n")


"""


def chains_of(folder: Path) -> set[tuple[str, Path]]:
    """The addresses and folders of the nodes that the tests had."""
    words = (line.split() for line in (folder / "chains").read_text().splitlines())
    return {(url, Path(path)) for url, path in words}


def answers(url: str) -> bool:
    port = int(url.rpartition(":")[2])
    with socket.socket() as plug:
        return plug.connect_ex(("127.0.0.1", port)) == 0


def assert_ended(folder: Path, count: int) -> None:
    chains = chains_of(folder)
    assert len(chains) == count
    assert [url for url, path in chains if answers(url) or path.exists()] == []


def test_each_process_of_xdist_has_a_chain_of_its_own(tmp_path: Path) -> None:
    tests = NOTES + (
        "@pytest.mark.parametrize('number', range(4))\n"
        "def test_transfer(chain, number):\n"
        "    chain.transfer('alice', 'bob', '1.000 VIZ')\n"
        "    assert chain.balance('bob') == '10001.000 VIZ'\n"
    )

    run = pytest_over(tmp_path, tests, "-n", "2")

    assert "4 passed" in run.stdout
    assert_ended(tmp_path, 2)


FAILING = """\
def test_fails(chain):
    chain.travel(days=1)
    chain.transfer("alice", "bob", "1.000 VIZ")
    assert chain.balance("bob") == "7.000 VIZ"


def test_finds_nothing_of_that(chain):
    assert chain.balance("bob") == "10000.000 VIZ"
    assert chain.head.number == 21


def test_kills_its_node(chain):
    os.kill(int((chain.folder / "writer.lock").read_text()), signal.SIGKILL)
    chain.produce()


def test_has_a_new_node(chain):
    assert chain.balance("bob") == "10000.000 VIZ"
"""


def test_a_failure_is_shown_with_the_log_and_harms_no_other_test(tmp_path: Path) -> None:
    run = pytest_over(tmp_path, NOTES + FAILING, "-v")

    outcomes = [line.split()[0:2] for line in run.stdout.splitlines() if "::" in line and "%" in line]
    assert [(name.partition("::")[2], outcome) for name, outcome in outcomes] == [
        ("test_fails", "FAILED"),
        ("test_finds_nothing_of_that", "PASSED"),
        ("test_kills_its_node", "FAILED"),
        ("test_has_a_new_node", "PASSED"),
    ]
    assert "log of the node" in run.stdout
    assert "1 transaction (transfer)" in run.stdout
    assert "NodeFailed: dev_api.mine_blocks" in run.stdout
    assert_ended(tmp_path, 2)


def test_an_interrupted_run_ends_its_node_and_undoes_nothing_else(tmp_path: Path) -> None:
    tests = NOTES + "def test_interrupted(chain):\n    chain.produce(5)\n    os.kill(os.getpid(), signal.SIGINT)\n"

    run = pytest_over(tmp_path, tests)

    assert run.returncode == pytest.ExitCode.INTERRUPTED, run.stdout
    assert_ended(tmp_path, 1)


def test_a_node_ends_when_its_tests_are_killed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "told")
    tests = (
        "def test_waits(chain):\n"
        "    with open('told', 'w') as told:\n"
        "        told.write(chain.url)\n"
        "    import time\n"
        "    time.sleep(600)\n"
    )
    (tmp_path / "test_sample.py").write_text(tests, encoding="utf-8")
    with subprocess.Popen(PYTEST, cwd=tmp_path, stdout=subprocess.DEVNULL) as run:  # noqa: S603 - our own program
        port = int((tmp_path / "told").read_text().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as node:
            run.send_signal(signal.SIGKILL)
            assert node.recv(1) == b""


def test_a_node_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "module_command", lambda module: (sys.executable, "-m", f"{module}.nowhere"))
    node = new_node()

    with pytest.raises(NodeFailed, match=r"the node did not start \(exit code 1\); its log:\n.*nowhere"):
        node.listening()
    assert not node.folder.exists()


def test_a_log_that_is_long_begins_anew(session_chain: DevChain, monkeypatch: pytest.MonkeyPatch) -> None:
    with session_chain.isolated() as chain:
        before = chain.log_size()
        chain.produce(5)
        assert chain.log_size() > before
        monkeypatch.setattr(process, "LONGEST_LOG", before)

        assert chain.log_size() == 0
        block = chain.produce().number
        assert chain.log_since(0).endswith(f"block {block} by viz: empty")


def test_who_has_no_use_for_a_chain_loads_next_to_nothing() -> None:
    heavy = "{'ledgerd.node', 'ledgerd.chain', 'ledgerd.protocol', 'ledgerd.testing.chain', 'msgspec'}"
    code = f"import sys, ledgerd.testing.plugin; print(sorted({heavy} & set(sys.modules)))"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)  # noqa: S603 - our own program

    assert run.stdout.strip() == "[]"


def test_pytest_lists_the_fixtures_with_what_they_are(tmp_path: Path) -> None:
    listed = pytest_over(tmp_path, "", "--fixtures", "-v").stdout

    for name in ("chain", "fork", "session_chain"):
        assert f"\n{name}" in listed
    assert "chain.transfer" in listed
    assert "fork.join()" in listed
