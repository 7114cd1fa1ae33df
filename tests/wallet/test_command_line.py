"""`ledgerd wallet` as a person and a script use it: in processes of their own, at a terminal or without one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from ledgerd.cli import main
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.wallet import command_line as wallet_command_line
from ledgerd.wallet.errors import DamagedWallet, KeyNotFound, LockedWallet, NotAsked, WalletError
from ledgerd.wallet.keys.sealing import Cost
from ledgerd.wallet.keys.wallet_file import WalletFile
from tests.node.processes import PROGRAM
from tests.patience import PATIENCE
from tests.wallet.keys.test_reference_file import RECORDED, recorded


def carry_out_words(words: Sequence[str]) -> int:
    """As a process would end; wrong arguments end it."""
    try:
        return wallet_command_line.main(words)
    except SystemExit as ended:
        return int(ended.code or 0)


KEY = PrivateKey(b"\7" * 32)


class Hands:
    """A person with a wallet in a folder."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "XDG_DATA_HOME": str(folder)}
        for name in ("password", "fresh", "wif"):
            self.write(name, {"password": "secret", "fresh": "other", "wif": KEY.wif}[name])

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.touch(0o600)
        path.write_text(text + "\n")

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command, carried out in this process, which is faster."""
        words = tuple(word.replace("@", f"{self.folder}/") for word in words)
        out, err = StringIO(), StringIO()
        with patch.dict(os.environ, self.environment), redirect_stdout(out), redirect_stderr(err):
            code = carry_out_words(words)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def call_apart(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command in a process of its own, without a terminal."""
        words = tuple(word.replace("@", f"{self.folder}/") for word in words)
        return subprocess.run(  # noqa: S603 - our own program
            [*PROGRAM, "wallet", *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=self.environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
        )

    def json(self, *words: str) -> dict[str, Any]:
        done = self.call(*words, "--json")
        answer = json.loads(done.stdout)
        assert answer["ok"], answer
        result: dict[str, Any] = answer["result"]
        return result

    def unlocked(self) -> Hands:
        WalletFile.create(self.folder / "ledgerd" / "wallet.json", b"secret", Cost(n=2))
        assert self.call("unlock", "--password-file", "@password").returncode == 0
        return self


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[Hands]:
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        hands = Hands(tmp_path, Path(runtime))
        yield hands
        hands.call("lock")


def test_a_script_makes_a_wallet_and_keys(hands: Hands) -> None:
    hands.unlocked()
    made = hands.json("key", "new", "--label", "signing")
    taken = hands.json("key", "import", "--secret-file", "@wif")
    assert taken["key"] == public_key_text(KEY.public)
    hands.json("watch", "alice")
    held = hands.json("key", "list")
    assert held == {
        "keys": [{"key": made["key"], "label": "signing"}, {"key": taken["key"], "label": ""}],
        "watched": ["alice"],
    }
    assert hands.call("key", "list").stdout == f"{made['key']}  signing\n{taken['key']}\nwatching alice\n"
    assert hands.call("key", "export", str(taken["key"]), "@signing.key").returncode == 0
    assert (hands.folder / "signing.key").read_text() == KEY.wif + "\n"
    assert (hands.folder / "signing.key").stat().st_mode & 0o777 == 0o600
    assert hands.call("key", "remove", str(taken["key"])).returncode == 0
    assert hands.call("key", "export", str(taken["key"]), "@again.key").returncode == KeyNotFound.EXIT_CODE
    assert not (hands.folder / "again.key").exists()


def test_the_keys_of_an_account_come_from_its_password(hands: Hands) -> None:
    hands.unlocked()
    found = hands.json("key", "derive", "alice", "--role", "active", "--secret-file", "@fresh")
    assert found["keys"] == [public_key_text(PrivateKey.from_password("alice", "active", "other").public)]


def test_the_keys_of_a_wallet_file_of_the_reference_are_taken(hands: Hands) -> None:
    hands.unlocked()
    hands.write("theirs", "test")
    empty, two = (json.dumps({"cipher_keys": each, "ws_server": "ws://localhost:8090"}) for each in recorded())
    hands.write("old.json", two)
    hands.write("empty.json", empty)
    wanted = [public_key_text(key.public) for key in RECORDED]

    wrong = hands.call("key", "import", "--reference", "@old.json", "--secret-file", "@password")
    assert (wrong.returncode, "the password is not that of this file" in wrong.stderr) == (LockedWallet.EXIT_CODE, True)
    foreign = hands.call("key", "import", "--reference", "@ledgerd/wallet.json", "--secret-file", "@theirs")
    assert foreign.returncode == DamagedWallet.EXIT_CODE
    assert hands.json("key", "list")["keys"] == []
    taken = hands.call("key", "import", "--reference", "@old.json", "--secret-file", "@theirs")
    assert (taken.returncode, taken.stdout.split()) == (0, wanted)
    assert [(each["key"], each["label"]) for each in hands.json("key", "list")["keys"]] == [
        (key, "old.json") for key in wanted
    ]
    none = hands.call("key", "import", "--reference", "@empty.json", "--secret-file", "@theirs")
    assert (none.returncode, "empty.json has no keys" in none.stdout) == (0, True)


def test_a_wallet_may_be_unlocked_as_soon_as_it_is_made(hands: Hands) -> None:
    assert hands.json("create", "--unlock", "--password-file", "@password")["unlocked"] is True
    assert hands.json("key", "list")["keys"] == []
    again = hands.call_apart("create", "--password-file", "@password")
    assert (again.returncode, "exists: choose another file" in again.stderr) == (WalletError.EXIT_CODE, True)


def test_each_fault_has_its_text_and_code(hands: Hands) -> None:
    assert hands.call("key", "list").returncode == LockedWallet.EXIT_CODE
    assert "there is no wallet" in hands.call("unlock", "--password-file", "@password").stderr
    asked = hands.call_apart("create")
    assert (asked.returncode, "--password-fd" in asked.stderr) == (NotAsked.EXIT_CODE, True)
    hands.unlocked()
    hands.call("lock")
    wrong = hands.call("unlock", "--password-file", "@fresh")
    assert (wrong.returncode, "the password is wrong" in wrong.stderr) == (LockedWallet.EXIT_CODE, True)
    refused = json.loads(hands.call("create", "--password-file", "@password", "--json").stdout)
    assert refused["ok"] is False
    assert refused["error"]["kind"] == "WalletError"
    path = hands.folder / "ledgerd" / "wallet.json"
    whole = path.read_bytes()
    for raw, text in (
        (whole[:-20], "cut short or damaged: move it away, and put a backup"),
        (b'{"cipher_keys": ""}', "no wallet of ledgerd"),
        (b"", "no wallet"),
    ):
        path.write_bytes(raw)
        torn = hands.call("unlock", "--password-file", "@password")
        assert (torn.returncode, text in torn.stderr) == (DamagedWallet.EXIT_CODE, True), torn.stderr
    closed = hands.call("unlock", "--password-fd", "77")
    assert (closed.returncode, "--password-fd 77 is not open" in closed.stderr) == (WalletError.EXIT_CODE, True)


def test_a_backup_is_restored_and_the_password_changed(hands: Hands) -> None:
    hands.unlocked()
    hands.json("key", "import", "--secret-file", "@wif")
    assert hands.call("backup", "@backup.json").returncode == 0
    changed = hands.call("password", "--password-file", "@password", "--new-password-file", "@fresh")
    assert (changed.returncode, changed.stderr) == (0, "")
    hands.call("lock")
    assert hands.call("unlock", "--password-file", "@fresh").returncode == 0
    hands.call("lock")
    (hands.folder / "ledgerd" / "wallet.json").unlink()
    assert hands.call("restore", "@backup.json").returncode == 0
    assert hands.call("unlock", "--password-file", "@password").returncode == 0
    assert len(hands.json("key", "list")["keys"]) == 1


def test_a_key_as_an_argument_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["wallet", "key", "import", KEY.wif], ["wallet", KEY.wif], ["wallet", "key", "remove", KEY.wif]):
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
        assert code != 0
        assert KEY.wif not in "".join(capsys.readouterr())


def test_a_person_types_the_password_unseen(hands: Hands) -> None:
    assert typed(hands, ["create"], ["secret", "secret"])[0] == 0
    assert typed(hands, ["unlock"], ["secret"])[0] == 0
    code, shown = typed(hands, ["key", "import"], [KEY.wif])
    assert code == 0, shown
    assert KEY.wif not in shown
    assert public_key_text(KEY.public) in shown
    code, shown = typed(hands, ["password"], ["secret", "one", "two"])
    assert (code, "differ: nothing was changed" in shown) == (WalletError.EXIT_CODE, True)


def typed(hands: Hands, words: list[str], lines: list[str]) -> tuple[int, str]:
    """A command at a terminal, at which a line is typed whenever it asks for one; its code, and what was shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [*PROGRAM, "wallet", *words], hands.environment)  # noqa: S606 - our own program
    shown, left = b"", list(lines)
    while True:
        try:
            part = os.read(terminal, 1024)
        except OSError:
            break
        if not part:
            break
        shown += part
        if left and part.rstrip(b"\n\r").endswith(b": "):
            os.write(terminal, left.pop(0).encode() + b"\n")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()
