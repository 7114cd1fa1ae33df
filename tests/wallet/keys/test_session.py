"""The keeper as a process: what it does, when it ends, and where a key is to be found meanwhile."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import TracebackException

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey, public_key_from_text, public_key_text
from ledgerd.protocol.crypto.signatures import recover
from ledgerd.wallet.errors import KeyNotFound, LockedWallet, WalletError, WrongPassword
from ledgerd.wallet.keys.sealing import Cost
from ledgerd.wallet.keys.session import KeySession, session_of, socket_of, unlock
from ledgerd.wallet.keys.wallet_file import WalletFile
from tests.patience import PATIENCE
from tests.wallet.memory import has_left_core, keeper_of, search

CHAIN_ID = bytes(range(32))
UNSIGNED = codec_of(Transaction).encode(Transaction(1, 2, 3, (), (), ()))[:-1]
KEY = PrivateKey(bytes.fromhex("c0ffee" * 10 + "beef"))


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short path: the system allows a socket's no more than 107 characters."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@contextmanager
def typed(*lines: str) -> Iterator[int]:
    """A descriptor from which these lines can be read."""
    reading, writing = os.pipe()
    os.write(writing, "".join(f"{line}\n" for line in lines).encode())
    os.close(writing)
    try:
        yield reading
    finally:
        os.close(reading)


@contextmanager
def unlocked(folder: Path, idle_seconds: float = 60.0, owner: int | None = None) -> Iterator[KeySession]:
    path = folder / "wallet.json"
    if not path.exists():
        WalletFile.create(path, b"secret", Cost(n=2))
    with typed("secret") as password:
        session = unlock(path, password, idle_seconds=idle_seconds, owner=owner)
    try:
        yield session
    finally:
        session.lock()


def wait_until_locked(session: KeySession) -> None:
    deadline = time.monotonic() + PATIENCE
    while session.is_unlocked:
        assert time.monotonic() < deadline, "the wallet was never locked"
        time.sleep(0.05)


def test_a_transaction_is_signed_by_the_keeper(tmp_path: Path) -> None:
    with unlocked(tmp_path) as session:
        with typed(KEY.wif) as line:
            assert session.import_key(line, "mine") == public_key_text(KEY.public)
        made = public_key_from_text(session.generate("made"))
        signatures = session.sign(CHAIN_ID, UNSIGNED, [KEY.public, made])
        digest = codec_of(Transaction).decode(UNSIGNED + b"\0").signature_digest(CHAIN_ID)
        assert [recover(each, digest) for each in signatures] == [KEY.public, made]
        assert {(each.key, each.label) for each in session.keys().keys} == {
            (public_key_text(KEY.public), "mine"),
            (public_key_text(made), "made"),
        }
        with pytest.raises(KeyNotFound, match="no private key of VIZ"):
            session.sign(CHAIN_ID, UNSIGNED, [PublicKey(b"\2" + bytes(32))])


@pytest.mark.parametrize("data", [b"", UNSIGNED + b"\0", UNSIGNED[:-2], b"\xff" * 40, bytes(8) + b"\x80\x00\0"])
def test_only_a_transaction_is_signed(tmp_path: Path, data: bytes) -> None:
    with unlocked(tmp_path) as session, typed(KEY.wif) as line:
        session.import_key(line)
        with pytest.raises(WalletError):
            session.sign(CHAIN_ID, data, [KEY.public])
        assert session.is_unlocked


def test_keys_of_a_password_are_those_that_the_network_derives(tmp_path: Path) -> None:
    with unlocked(tmp_path) as session:
        with typed("P5secret words") as line:
            found = session.derive_keys("alice", ["active", "memo"], line)
        wanted = [PrivateKey.from_password("alice", role, "P5secret words") for role in ("active", "memo")]
        assert list(found) == [public_key_text(each.public) for each in wanted]
        with typed("P5secret words") as line, pytest.raises(WalletError, match="a role is one of"):
            session.derive_keys("alice", ["owner"], line)


def test_memos_are_read_by_both_ends(tmp_path: Path) -> None:
    with unlocked(tmp_path) as session:
        sender, recipient = (public_key_from_text(session.generate()) for _ in range(2))
        sealed = session.encrypt_memo("привет", sender, recipient)
        assert sealed.startswith("#")
        assert session.decrypt_memo(sealed) == "привет"
        session.remove_key(sender)
        assert session.decrypt_memo(sealed) == "привет"
        session.remove_key(recipient)
        with pytest.raises(KeyNotFound, match="no key of the wallet can read"):
            session.decrypt_memo(sealed)


def test_a_second_unlock_finds_the_same_keeper(tmp_path: Path) -> None:
    with unlocked(tmp_path) as session, unlocked(tmp_path):
        session.generate("one")
        assert len(session_of(tmp_path / "wallet.json").keys().keys) == 1


def test_what_another_wallet_adds_is_found(tmp_path: Path) -> None:
    with unlocked(tmp_path) as session:
        other = WalletFile.open(tmp_path / "wallet.json", b"secret")
        other.change(lambda held: held.with_key(KEY, "from elsewhere"))
        assert len(session.sign(CHAIN_ID, UNSIGNED, [KEY.public])) == 1
        session.watch("alice")
        assert other.read().watched == ("alice",)
        session.watch("alice", is_watched=False)
        assert session.keys().watched == ()


def test_the_password_is_changed_by_the_keeper(tmp_path: Path) -> None:
    with unlocked(tmp_path) as session, typed("fresh") as password:
        session.change_password(password)
        session.generate()
    assert len(WalletFile.open(tmp_path / "wallet.json", b"fresh").read().keys) == 1


def test_a_wrong_password_unlocks_nothing(tmp_path: Path) -> None:
    WalletFile.create(tmp_path / "wallet.json", b"secret", Cost(n=2))
    with typed("wrong") as password, pytest.raises(WrongPassword):
        unlock(tmp_path / "wallet.json", password)
    with pytest.raises(LockedWallet, match="ledgerd wallet unlock"):
        session_of(tmp_path / "wallet.json").keys()


def test_a_password_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    WalletFile.create(tmp_path / "wallet.json", b"secret", Cost(n=2))
    password = tmp_path / "password"
    password.write_text("secret\n")
    password.chmod(0o644)
    with password.open("rb") as file, pytest.raises(WalletError, match="chmod 600"):
        unlock(tmp_path / "wallet.json", file.fileno())
    password.chmod(0o600)
    with password.open("rb") as file:
        unlock(tmp_path / "wallet.json", file.fileno()).lock()


def test_a_key_goes_to_a_file_only_by_its_descriptor(tmp_path: Path) -> None:
    with unlocked(tmp_path) as session, (tmp_path / "key").open("wb") as file:
        made = public_key_from_text(session.generate())
        session.export_key(made, file.fileno())
    assert PrivateKey.from_wif((tmp_path / "key").read_text().strip()).public == made


def test_a_key_that_finds_no_room_is_not_written_in_part(tmp_path: Path) -> None:
    reading, writing = os.pipe2(os.O_NONBLOCK)
    with unlocked(tmp_path) as session, open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        made = public_key_from_text(session.generate())
        with pytest.raises(WalletError, match="the key cannot be written: No space left on device"):
            session.export_key(made, full.fileno())
        with suppress(BlockingIOError):
            while True:
                os.write(writing, bytes(1))
        with pytest.raises(WalletError, match="the key cannot be written"):
            session.export_key(made, writing)
        assert session.is_unlocked
    os.close(reading)
    os.close(writing)


def test_a_wallet_locks_when_asked_idle_or_without_its_shell(tmp_path: Path, runtime: Path) -> None:
    with unlocked(tmp_path) as session:
        session.lock()
        wait_until_locked(session)
    with unlocked(tmp_path, idle_seconds=0.2) as session:
        wait_until_locked(session)
    reading, writing = os.pipe()
    with unlocked(tmp_path, owner=reading) as session:
        os.close(reading)
        assert session.is_unlocked
        os.close(writing)
        wait_until_locked(session)
    assert not [path for path in runtime.glob("ledgerd-wallet-*/*") if path.is_socket()], "no socket is left"


def test_a_key_is_in_the_memory_of_its_keeper_alone(tmp_path: Path) -> None:
    planted = PrivateKey(os.urandom(32))
    with unlocked(tmp_path) as session:
        made = public_key_from_text(session.generate())
        session.sign(CHAIN_ID, UNSIGNED, [made])
        keeper = keeper_of(tmp_path / "wallet.json")
        wanted = ["search", str(tmp_path / "wallet.json"), planted.wif]
        here, held, words, files = search(
            wanted, f"memory:{os.getpid()}", f"memory:{keeper}", f"words:{keeper}", f"files:{tmp_path}"
        )
        assert {"planted.raw", "planted.WIF"} <= set(here), "the search finds what is there"
        assert "made.raw" in held
        assert not [each for each in (*here, *words, *files) if each.startswith("made")]
        status = (Path("/proc") / str(keeper) / "status").read_text()
        limits = (Path("/proc") / str(keeper) / "limits").read_text()
        assert "CoreDumping:\t0" in status
        may_lock = os.getuid() == 0 or resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] not in range(1 << 16)
        assert bool(re.search(r"VmLck:\s+[1-9]", status)) == may_lock, "what it holds is kept from swap"
        assert re.search(r"Max core file size +0 +0 ", limits)
        assert (Path("/proc") / str(keeper) / "mem").stat().st_uid == 0, "only root may look: it cannot be dumped"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home of a user without XDG_RUNTIME_DIR; in the folder that all share, somebody has taken the name already."""
    with tempfile.TemporaryDirectory(prefix="h", dir="/tmp") as home:
        for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", home)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        monkeypatch.setattr("ledgerd.wallet.keys.session.OF_USERS", Path(home) / "run")
        (tmp_path / f"ledgerd-wallet-{os.getuid()}").mkdir(mode=0o777)
        yield Path(home)


def test_the_folder_of_the_socket_is_where_no_other_user_can_take_it(user: Path, tmp_path: Path) -> None:
    with unlocked(tmp_path) as session:
        assert session.is_unlocked
        (place,) = [path for path in user.rglob("*") if path.is_socket()]
        assert place.parent.stat().st_mode & 0o077 == 0


def test_the_folder_that_the_system_has_made_for_the_user_is_used(user: Path, tmp_path: Path) -> None:
    own = user / "run" / str(os.getuid())
    own.mkdir(parents=True, mode=0o700)
    assert own in socket_of(tmp_path / "wallet.json").parents
    own.chmod(0o770)
    assert own not in socket_of(tmp_path / "wallet.json").parents, "others may write to it"


def test_a_user_without_a_home_is_told_what_to_set(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (user / "file").touch()
    monkeypatch.setenv("HOME", str(user / "file"))
    with pytest.raises(WalletError, match=r"cannot be made: .*: set XDG_RUNTIME_DIR to a folder of yours"):
        socket_of(tmp_path / "wallet.json")


ABORTED = (
    "import os, resource, sys; key = bytes.fromhex(sys.stdin.read()); "
    "most = resource.getrlimit(resource.RLIMIT_CORE)[1]; "
    "resource.setrlimit(resource.RLIMIT_CORE, (most, most)); os.abort()"
)
"""A process with a key, that leaves a core file with it."""


def test_a_keeper_that_crashes_leaves_no_core_and_another_process_one_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted, place = PrivateKey(os.urandom(32)), tmp_path / "crash"
    place.mkdir()
    monkeypatch.chdir(place)
    with subprocess.Popen([sys.executable, "-c", ABORTED], stdin=subprocess.PIPE, text=True) as crashing:  # noqa: S603 - our own
        assert crashing.stdin is not None
        crashing.stdin.write(planted.secret.hex())
        crashing.stdin.close()
        may_be_dumped = resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
        assert has_left_core(crashing.pid) == may_be_dumped, "the system writes core files"
    wanted = ["search", str(tmp_path / "wallet.json"), planted.wif]
    with unlocked(tmp_path) as session:
        session.generate()
        keeper = keeper_of(tmp_path / "wallet.json")
        os.kill(keeper, signal.SIGABRT)
        assert not has_left_core(keeper)
        wait_until_locked(session)
    (found,) = search(wanted, f"files:{tmp_path}")
    assert not [each for each in found if each.startswith("made")]
    if any(place.iterdir()):  # elsewhere they are given to a program of the system
        assert "planted.raw" in found


def test_no_error_and_no_traceback_of_a_client_has_a_key(tmp_path: Path) -> None:
    """Neither the text nor a local variable of any frame: those stand in reports of errors."""
    planted = PrivateKey(os.urandom(32))
    with unlocked(tmp_path) as session:
        made = public_key_from_text(session.generate())
        told: list[str] = []
        for act in (
            lambda: session.sign(CHAIN_ID, b"no transaction", [made]),
            lambda: session.sign(CHAIN_ID, UNSIGNED, [planted.public]),
            lambda: session.decrypt_memo("#nothing"),
            lambda: session.derive_keys("alice", ["no role"], -1),
        ):
            with pytest.raises((WalletError, ValueError)) as raised:
                act()
            told += TracebackException.from_exception(raised.value, capture_locals=True).format()
        with typed(f"{planted.wif}x") as line, pytest.raises(WalletError) as raised:
            session.import_key(line)
        assert planted.wif not in "".join(TracebackException.from_exception(raised.value).format())
        report = tmp_path / "report"
        report.write_text("".join(told) + repr(planted.wif))
        (found,) = search(["search", str(tmp_path / "wallet.json"), planted.wif], f"files:{report}")
        assert found == ["planted.WIF"]
