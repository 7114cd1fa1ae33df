"""An unlocked wallet as the other processes see it: they start the keeper, and ask it over a Unix socket."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.wallet.errors import LockedWallet, WalletError
from ledgerd.wallet.keys import messages
from ledgerd.wallet.keys.messages import IDLE_SECONDS, READY, SECRET_SECONDS

KEEPER = "ledgerd.wallet.keys.keeper"
ANSWER_SECONDS = SECRET_SECONDS + 30.0
LONGEST_REFUSAL = 4096
OF_USERS = Path("/run/user")
"""The place where systemd makes a folder for each user who is logged in, whether or not a program is told of it."""
LONGEST_SOCKET_PATH = 107

A = TypeVar("A", bound=messages.KeeperAnswer)


class KeySession:
    """A wallet that is unlocked, or was: each call is a request of its own."""

    def __init__(self, place: Path) -> None:
        self._place = place

    @property
    def is_unlocked(self) -> bool:
        try:
            self._ask(messages.GetStatus(), messages.KeeperStatus)
        except LockedWallet:
            return False
        return True

    def status(self) -> messages.KeeperStatus:
        return self._ask(messages.GetStatus(), messages.KeeperStatus)

    def keys(self) -> messages.Keys:
        return self._ask(messages.GetKeys(), messages.Keys)

    def sign(self, chain_id: bytes, unsigned: bytes, keys: Sequence[PublicKey]) -> list[Signature]:
        names = tuple(public_key_text(key) for key in keys)
        answer = self._ask(messages.SignTransaction(chain_id, unsigned, names), messages.Signatures)
        return [Signature(each) for each in answer.signatures]

    def encrypt_memo(self, text: str, sender: PublicKey, recipient: PublicKey) -> str:
        request = messages.EncryptMemo(text, public_key_text(sender), public_key_text(recipient))
        return self._ask(request, messages.MemoText).text

    def decrypt_memo(self, memo: str) -> str:
        return self._ask(messages.DecryptMemo(memo), messages.MemoText).text

    def generate(self, label: str = "") -> str:
        return self._ask(messages.GenerateKey(label), messages.PublicKeys).keys[0]

    def import_key(self, descriptor: int, label: str = "") -> str:
        return self._ask(messages.ImportKey(label), messages.PublicKeys, descriptor).keys[0]

    def import_reference(self, encrypted: bytes, descriptor: int, label: str = "") -> tuple[str, ...]:
        return self._ask(messages.ImportReference(encrypted, label), messages.PublicKeys, descriptor).keys

    def derive_keys(self, account: str, roles: Sequence[str], descriptor: int) -> tuple[str, ...]:
        return self._ask(messages.DeriveKeys(account, tuple(roles)), messages.PublicKeys, descriptor).keys

    def export_key(self, key: PublicKey, descriptor: int) -> None:
        self._ask(messages.ExportKey(public_key_text(key)), messages.WasDone, descriptor)

    def remove_key(self, key: PublicKey) -> None:
        self._ask(messages.RemoveKey(public_key_text(key)), messages.WasDone)

    def watch(self, name: str, *, is_watched: bool = True) -> None:
        self._ask(messages.WatchAccount(name, is_watched), messages.WasDone)

    def change_password(self, descriptor: int) -> None:
        self._ask(messages.ChangePassword(), messages.WasDone, descriptor)

    def lock(self) -> None:
        """End the keeper; nothing happens if there is none."""
        try:
            self._ask(messages.Lock(), messages.WasDone)
        except LockedWallet:
            return

    def _ask(self, request: messages.KeeperRequest, kind: type[A], descriptor: int | None = None) -> A:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_SECONDS)
            try:
                connection.connect(os.fspath(self._place))
                messages.send_frame(connection, request, descriptor)
                body, _ = messages.receive_frame(connection)
            except (ConnectionError, FileNotFoundError):
                raise LockedWallet("the wallet is locked: unlock it with `ledgerd wallet unlock`") from None
            except OSError as problem:
                raise WalletError(f"the process that holds the keys does not answer: {problem}") from None
        answer = msgspec.json.decode(body, type=messages.AnyAnswer)
        if isinstance(answer, messages.RefusedRequest):
            raise _refusal(answer)
        if not isinstance(answer, kind):
            raise WalletError(f"the process that holds the keys answers {type(answer).__name__}")
        return answer


def unlock(path: Path, password: int, *, idle_seconds: float = IDLE_SECONDS, owner: int | None = None) -> KeySession:
    """Start a keeper, or return the one that runs. It ends when the other end of the pipe `owner` is closed."""
    session, place = session_of(path), socket_of(path)
    # One at a time: a second one would take the socket of a keeper that is starting, which nobody could lock any more.
    with open(place.with_suffix(".lock"), "a") as lock:  # noqa: PTH123 - as the others here
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not session.is_unlocked:
            _start_keeper(path, place, password, idle_seconds, owner)
    return session


def _start_keeper(path: Path, place: Path, password: int, idle_seconds: float, owner: int | None) -> None:
    from ledgerd.supervision.processes import NOTHING, Child, module_command  # noqa: PLC0415 - with asyncio, for this

    place.unlink(missing_ok=True)
    words = [os.fspath(path.absolute()), os.fspath(place), str(idle_seconds)]
    inherited = [] if owner is None else [owner]
    reading, writing = os.pipe()
    try:
        with open(password, "rb", closefd=False) as file:
            child = Child.start(
                [*module_command(KEEPER), *words, *(str(each) for each in inherited)],
                stdin=file,
                stdout=writing,
                stderr=NOTHING,
                inherited=inherited,
                has_own_session=True,  # Ctrl-C in the terminal must not end it
            )
    except OSError as problem:
        os.close(reading)
        raise WalletError(f"the process that holds the keys cannot be started: {problem.strerror}") from problem
    finally:
        os.close(writing)
    with open(reading, "rb") as said:  # noqa: PTH123 - by its descriptor
        line = said.read(LONGEST_REFUSAL)
    if line != READY:
        child.wait_or_kill(ANSWER_SECONDS)
        raise _refusal(_refused(line))
    child.detach()


def session_of(path: Path) -> KeySession:
    return KeySession(socket_of(path))


def socket_of(path: Path) -> Path:
    """The socket of a wallet's keeper: in a folder of this user alone, named by the wallet's path."""
    try:
        folder = _folder_of_user() / f"ledgerd-wallet-{os.getuid()}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except (OSError, RuntimeError) as problem:
        reason = f"{problem.filename}: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
        raise WalletError(
            f"the folder of the wallet's socket cannot be made: {reason}: set XDG_RUNTIME_DIR to a folder of yours"
        ) from problem
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise WalletError(f"{folder} belongs to somebody else, or is open to others: remove it")
    place = folder / hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]
    if len(os.fsencode(place)) > LONGEST_SOCKET_PATH:
        raise WalletError(f"{folder} is too long a path for a socket: choose a shorter XDG_RUNTIME_DIR")
    return place


def _folder_of_user() -> Path:
    """A folder that nobody else can make: in a shared one, another user could take ours first, for ever."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given:
        return Path(given)
    own = OF_USERS / str(os.getuid())
    with suppress(OSError):
        found = own.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
            return own
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")


def _refused(line: bytes) -> messages.RefusedRequest:
    try:
        return msgspec.json.decode(line, type=messages.RefusedRequest)
    except msgspec.MsgspecError:
        return messages.RefusedRequest(WalletError.__name__, "the process that holds the keys has ended")


def _refusal(answer: messages.RefusedRequest) -> WalletError:
    kinds: dict[str, type[WalletError]] = {kind.__name__: kind for kind in WalletError.__subclasses__()}
    return kinds.get(answer.kind, WalletError)(answer.text)
