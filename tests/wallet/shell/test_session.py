"""Lines typed one after the other; the keys are held for as long as the shell runs."""

from __future__ import annotations

import argparse
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.wallet.errors import NotAsked
from ledgerd.wallet.keys.entry import SecretSource
from ledgerd.wallet.keys.sealing import Cost
from ledgerd.wallet.keys.session import session_of
from ledgerd.wallet.keys.wallet_file import WalletFile
from ledgerd.wallet.shell.session import KnownNames, LineHistory, run_shell
from tests.wallet.nodes import Cut, FakeNode, serving
from tests.wallet.test_command_line import Hands


@pytest.fixture
def hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hands]:
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        hands = Hands(tmp_path, Path(runtime))
        WalletFile.create(tmp_path / "wallet", b"secret", Cost(n=2))
        yield hands


def options(node: str = "http://127.0.0.1:1") -> argparse.Namespace:
    return argparse.Namespace(wallet=None, is_json=False, node=[node], clock_difference=None)


def typed(hands: Hands, *lines: str) -> Path:
    wallet, password = hands.folder / "wallet", SecretSource(file=hands.folder / "password")
    with create_pipe_input() as keyboard:
        keyboard.send_text("".join(f"{line}\r" for line in lines))
        run_shell(wallet, password, options(), keyboard, DummyOutput())
    return wallet


def ended(wallet: Path) -> bool:
    """The process that holds the keys sees that its shell has gone, and takes its socket away."""
    session = session_of(wallet)
    for _ in range(10_000):
        if not session.is_unlocked:
            return True
        os.sched_yield()
    return False


def test_commands_are_carried_out_until_the_shell_is_left(hands: Hands, capsys: pytest.CaptureFixture[str]) -> None:
    wallet = typed(hands, "key new --label first", "key list --json", "no-command", "transfer 'a", "", "exit", "lock")
    shown = capsys.readouterr()

    assert '"label":"first"' in shown.out
    assert "invalid choice: 'no-command'" in shown.err
    assert "No closing quotation" in shown.err
    assert ended(wallet)
    history = wallet.with_name("wallet.history").read_text().splitlines()
    assert history == ["key new --label first", "key list --json", "no-command", "transfer 'a", "exit"]


def test_a_wallet_that_is_locked_stays_so_until_it_is_unlocked(
    hands: Hands, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(hands, "lock", "key list", "exit")

    assert "the wallet is locked" in capsys.readouterr().err


def test_without_a_terminal_there_is_no_shell(hands: Hands) -> None:
    done = hands.call_apart("shell", "--wallet", "@wallet", "--password-file", "@password")
    assert (done.returncode, "the shell needs a terminal" in done.stderr) == (2, True)
    with pytest.raises(NotAsked):
        run_shell(hands.folder / "wallet", SecretSource(), options())


def test_names_are_asked_for_once_and_a_silent_node_has_none() -> None:
    node = FakeNode(lookup_accounts=["alice", "albert", "bob", 7, "al --yes", "al\x1b[2J"])
    with serving(node):
        known = KnownNames(options(node.url))
        assert [known("al"), known("al")] == [["alice", "albert"]] * 2
        assert node.count("lookup_accounts") == 1

    def cut(*_: object) -> object:
        raise Cut

    silent = FakeNode(lookup_accounts=cut)
    with serving(silent):
        assert KnownNames(options(silent.url))("al") == []


KEY = PrivateKey(b"\7" * 32)


def kept(path: Path) -> list[str]:
    return [*LineHistory(path).load_history_strings()]


def test_lines_are_there_the_next_time_the_latest_first(tmp_path: Path) -> None:
    path = tmp_path / "history"
    history = LineHistory(path)
    for line in ("key list", "show account alice"):
        history.store_string(line)

    assert kept(path) == ["show account alice", "key list"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "line",
    [
        f"key import {KEY.wif}",
        f'call transfer \'{{"memo":"{KEY.secret.hex()}"}}\'',
        'transfer alice bob "1.000 VIZ" --memo "#our secret"',
        "transfer alice bob '1.000 VIZ' --memo=#secret",
        "two\nlines",
    ],
)
def test_a_line_that_may_hold_a_secret_is_not_kept(tmp_path: Path, line: str) -> None:
    path = tmp_path / "history"
    LineHistory(path).store_string(line)

    assert kept(path) == []


def test_without_a_file_there_is_no_history(tmp_path: Path) -> None:
    history = LineHistory(tmp_path / "nowhere" / "history")
    history.store_string("key list")
    assert [*history.load_history_strings()] == []


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "history").symlink_to(tmp_path / "victim")
    LineHistory(tmp_path / "history").store_string("key list")
    assert not (tmp_path / "victim").exists()
