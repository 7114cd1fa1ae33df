"""`ledgerd testnet` as a process: networks of a few nodes with a short block time."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.cli.arguments.process_arguments import EXAMPLES
from ledgerd.cli.main import parser
from ledgerd.cli.process.testnet import folder_of
from ledgerd.node.testnet import network
from ledgerd.node.testnet.network import LocalNetworkSettings, prepare
from ledgerd.node.testnet.plan import read_keys
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.lock import LOCK_FILE, lock_writer
from tests.node.processes import PROGRAM
from tests.patience import PATIENCE

SMALL = ("--nodes=2", "--validators=3", "--block-time=0.5")
HEIGHT = re.compile(r"^block (\d+) ", re.MULTILINE)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [*PROGRAM, "testnet", *SMALL, *words], capture_output=True, text=True, timeout=2 * PATIENCE, check=False
    )


def begin(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [*PROGRAM, "testnet", *SMALL, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def read_until(process: subprocess.Popen[str], words: str) -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"never said {words!r}:\n{said}")


def wait_until_free(folder: Path) -> None:
    """Return when no node uses a folder any more."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with suppress(StoreLocked):
            lock_writer(folder).close()
            return
        assert time.monotonic() < deadline, f"somebody still uses {folder}"
        time.sleep(0.1)


def test_a_network_makes_its_blocks_and_goes_on_where_it_stood(tmp_path: Path) -> None:
    first = run(f"--data-dir={tmp_path}", "--blocks=2")
    second = run(f"--data-dir={tmp_path}", "--blocks=1", "--validators=4")

    assert (first.returncode, first.stderr, second.returncode) == (0, "", 0)
    assert "2 nodes, 3 validators, a block every 0.5 s." in first.stdout
    assert "all on one head" in first.stdout
    assert int(HEIGHT.findall(second.stdout)[0]) >= int(HEIGHT.findall(first.stdout)[-1])
    assert "has 2 nodes and 3 validators, and goes on with them" in second.stderr


def test_a_node_that_dies_is_shown_and_counts_as_a_failure(tmp_path: Path) -> None:
    with begin(f"--data-dir={tmp_path}") as process:
        read_until(process, "all on one head")
        victim = process_of(tmp_path, 2)
        shown = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(victim)], capture_output=True, text=True)  # noqa: PLW1510, S603, S607 - what anybody on the machine sees
        os.kill(victim, signal.SIGKILL)
        read_until(process, "node-2 died (-9)")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[0]

    assert process.returncode == 1
    assert "ledgerd: node-2 died (-9)" in said
    assert "--config-file" in shown.stdout
    assert re.search(r"\b5[HJK]\w{40}", shown.stdout) is None, "no key is on a command line"


def test_a_dead_node_is_started_again_and_none_outlives_the_one_who_started_it(tmp_path: Path) -> None:
    with begin(f"--data-dir={tmp_path}", "--restart") as process:
        read_until(process, "all on one head")
        os.kill(process_of(tmp_path, 2), signal.SIGKILL)
        log, deadline = tmp_path / "node-2" / "node.log", time.monotonic() + PATIENCE
        while log.read_text().count("Started on blockchain") < 2:
            assert time.monotonic() < deadline
            read_until(process, "block")
        process.kill()

    for number in (1, 2):
        wait_until_free(tmp_path / f"node-{number}")
    assert log.read_text().count("exited cleanly") == 1


def process_of(folder: Path, number: int) -> int:
    """The process of a node: its number stands in the lock of its folder."""
    return int((folder / f"node-{number}" / LOCK_FILE).read_text())


def test_without_a_folder_a_network_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for words, is_left in (([], False), (["--keep"], True)):
        with folder_of(parser().parse_args(["testnet", *words])) as folder:
            assert folder.parent == tmp_path
        assert folder.exists() is is_left


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "letter.txt").write_text("dear")

    assert main(["testnet", "--fresh", "--data-dir", str(tmp_path)]) == 1
    assert "holds something else" in capsys.readouterr().err
    assert (tmp_path / "letter.txt").exists()


@pytest.mark.parametrize("step", ["write_configurations", "copy_chain", "write_keys"])
def test_a_start_that_failed_half_way_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fill_up(*_: object, **__: object) -> None:
        (tmp_path / "node-1").mkdir(exist_ok=True)
        raise OSError(errno.ENOSPC, "No space left on device")

    chosen = parser().parse_args(["testnet", *SMALL, "--data-dir", str(tmp_path)])
    wishes = LocalNetworkSettings(chosen.nodes, chosen.validators)
    with monkeypatch.context() as patch:
        patch.setattr(network, step, fill_up)
        with pytest.raises(OSError, match="No space left"), folder_of(chosen) as folder:
            prepare(folder, wishes)

    with folder_of(chosen) as folder:
        plan = prepare(folder, wishes)
    assert read_keys(tmp_path) == plan.keys
    assert all((each.folder / "state").is_dir() for each in plan.members)


def test_a_network_that_is_being_founded_is_left_alone(tmp_path: Path) -> None:
    chosen = parser().parse_args(["testnet", *SMALL, "--data-dir", str(tmp_path)])
    with folder_of(chosen) as folder, lock_writer(folder), pytest.raises(StoreLocked):
        prepare(folder, LocalNetworkSettings(chosen.nodes, chosen.validators))

    assert not (tmp_path / "node-1").exists()


def test_a_network_that_runs_is_not_begun_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "network.json").write_text("{}")

    with lock_writer(tmp_path):
        assert main(["testnet", "--fresh", "--data-dir", str(tmp_path)]) == 1
    assert "is in use by another node" in capsys.readouterr().err
    assert (tmp_path / "network.json").exists()


@pytest.mark.parametrize("words", ["--nodes=1", "--validators=101", "--block-time=0", "--blocks=x", "--base-port=80"])
def test_what_cannot_be_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["testnet", words])

    assert stopped.value.code == 2
    assert words.partition("=")[0] in capsys.readouterr().err


def test_every_example_of_the_help_can_be_run() -> None:
    examples = [line.strip().split("  ")[0] for line in EXAMPLES.splitlines() if line.startswith("  ledgerd")]

    assert len(examples) == 6
    for example in examples:
        assert parser().parse_args(shlex.split(example)[1:]).nodes
