"""What a node was given besides its file: by its process, or by the unit that starts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledgerd.cli.shared.started import options_in, start_of
from ledgerd.state.files.lock import lock_writer


@pytest.mark.parametrize(
    "words",
    [
        ("/usr/local/ledgerd/bin/python3", "-m", "ledgerd.cli"),
        ("/usr/bin/python3", "-X", "utf8", "-m", "ledgerd.cli"),
        ("/usr/local/venv/bin/python", "/usr/local/venv/bin/ledgerd"),
        ("/usr/local/bin/ledgerd",),
    ],
)
def test_options_are_those_after_the_program(words: tuple[str, ...]) -> None:
    options = options_in((*words, "-d", "node", "--p2p-seed-node=a:1", "--p2p-seed-node", "b:2"))

    assert options == {"data-dir": ["node"], "p2p-seed-node": ["a:1", "b:2"]}


@pytest.mark.parametrize("words", [("ledgerd", "dev", "--port", "1"), ("ledgerd",), ("python", "-m", "pytest"), ()])
def test_what_is_no_node_has_no_options(words: tuple[str, ...]) -> None:
    assert options_in(words) is None


def process_in(root: Path, folder: Path, words: tuple[str, ...], variables: str = "") -> None:
    """The files of this process, which has the lock, as those of a node."""
    place = root / f"proc/{os.getpid()}"
    place.mkdir(parents=True)
    (place / "cmdline").write_text("\0".join(words) + "\0")
    (place / "environ").write_text(variables)
    (place / "cwd").symlink_to(folder)


def test_a_running_node_is_asked_before_its_unit(tmp_path: Path) -> None:
    unit_in(tmp_path, f"ExecStart=ledgerd --data-dir {tmp_path} --p2p-endpoint 127.0.0.1:1")
    process_in(tmp_path, tmp_path, ("ledgerd", "--data-dir", ".", "--p2p-endpoint", "127.0.0.1:2"), "A=b=c\0D=\0")
    with lock_writer(tmp_path):
        start = start_of(tmp_path, tmp_path)

    assert start is not None
    assert (start.options["p2p-endpoint"], start.folder) == (["127.0.0.1:2"], tmp_path)
    assert start.environment == {"A": "b=c", "D": ""}


def test_where_the_process_of_another_user_cannot_be_read_its_unit_tells(tmp_path: Path) -> None:
    unit_in(tmp_path, f"ExecStart=ledgerd --data-dir {tmp_path} --p2p-endpoint 127.0.0.1:1")
    process_in(tmp_path, tmp_path, ("ledgerd", "--data-dir", "."))
    (tmp_path / f"proc/{os.getpid()}/environ").unlink()
    with lock_writer(tmp_path):
        start = start_of(tmp_path, tmp_path)

    assert start is not None
    assert start.options["p2p-endpoint"] == ["127.0.0.1:1"]


def test_a_process_that_is_none_of_ours_tells_nothing(tmp_path: Path) -> None:
    process_in(tmp_path, tmp_path, ("python", "-m", "pytest"))
    with lock_writer(tmp_path):
        assert start_of(tmp_path, tmp_path) is None
    assert start_of(tmp_path, tmp_path / "elsewhere") is None


def unit_in(root: Path, lines: str, name: str = "ledgerd.service") -> Path:
    file = root / "etc/systemd/system" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[Service]\n{lines}\n")
    return file


def test_a_stopped_node_has_the_options_of_the_unit_for_its_directory(tmp_path: Path) -> None:
    unit_in(
        tmp_path, "ExecStart=/usr/bin/ledgerd --data-dir /var/lib/other --p2p-endpoint 127.0.0.1:1", "ledgerd-a.service"
    )
    (tmp_path / "etc/ledgerd.env").write_text("# seeds\nNODE_SEED_NODES='127.0.0.1:5 127.0.0.1:6'\n")
    unit = unit_in(
        tmp_path,
        f'WorkingDirectory={tmp_path}\nEnvironment="MORE=--shared-file-size 1G" PORT=3\n'
        "EnvironmentFile=-/etc/ledgerd.env\n"
        "ExecStart=-/usr/bin/ledgerd --data-dir node --environment --p2p-endpoint 127.0.0.1:${PORT}",
    )
    start = start_of(tmp_path / "node", tmp_path)

    assert start is not None
    assert start.options == {"data-dir": ["node"], "environment": ["true"], "p2p-endpoint": ["127.0.0.1:3"]}
    assert start.environment["NODE_SEED_NODES"] == "127.0.0.1:5 127.0.0.1:6"

    drop_in = unit.with_name("ledgerd.service.d") / "override.conf"
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nExecStart=\nExecStart=ledgerd -d node --p2p-endpoint 127.0.0.1:4\n")
    changed = start_of(tmp_path / "node", tmp_path)
    assert changed is not None
    assert changed.options["p2p-endpoint"] == ["127.0.0.1:4"]


def test_without_process_and_unit_nothing_is_known(tmp_path: Path) -> None:
    unit_in(tmp_path, "ExecStart=ledgerd --data-dir 'open quote")

    assert start_of(tmp_path, tmp_path) is None
