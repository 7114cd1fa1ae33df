"""What a wallet asks the process that holds its keys, and what that answers: frames over a Unix socket.

No private key and no password is in any frame. Secrets come to that process by a descriptor that is sent along, which
it reads by itself.
"""

from __future__ import annotations

import socket
import struct

import msgspec

from ledgerd.wallet.errors import WalletError

LARGEST_FRAME = 4 << 20
_LENGTH = struct.Struct(">I")


class Request(msgspec.Struct, tag=True, forbid_unknown_fields=True):
    """Something to do."""


class GetStatus(Request):
    """Which wallet is unlocked, and for how long."""


class GetKeys(Request):
    """The public keys and the watched accounts."""


class SignTransaction(Request):
    """Sign the unsigned bytes of a transaction for a chain, with the keys of these public ones."""

    chain_id: bytes
    transaction: bytes
    keys: tuple[str, ...]


class EncryptMemo(Request):
    """Encrypt a memo from a key of this wallet to another key."""

    text: str
    sender: str
    recipient: str


class DecryptMemo(Request):
    """Read an encrypted memo with whichever key of this wallet can."""

    memo: str


class GenerateKey(Request):
    """Make a new key."""

    label: str = ""


class ImportKey(Request):
    """Take a key in WIF from the descriptor that comes along."""

    label: str = ""


class DeriveKeys(Request):
    """Take the password of an account from the descriptor, and keep the keys of these roles."""

    account: str
    roles: tuple[str, ...]


class RemoveKey(Request):
    """Forget a key."""

    key: str


class WatchAccount(Request):
    """Watch an account, or no longer."""

    name: str
    is_watched: bool = True


class ExportKey(Request):
    """Write a key in WIF, for the key file of a validator, to the descriptor that comes along."""

    key: str


class ChangePassword(Request):
    """Take a new password from the descriptor."""


class Lock(Request):
    """End the process."""


AnyRequest = (
    GetStatus
    | GetKeys
    | SignTransaction
    | EncryptMemo
    | DecryptMemo
    | GenerateKey
    | ImportKey
    | DeriveKeys
    | RemoveKey
    | WatchAccount
    | ExportKey
    | ChangePassword
    | Lock
)

TAKES_SECRET = (ImportKey, DeriveKeys, ExportKey, ChangePassword)
"""Requests that come with a descriptor."""


class Answer(msgspec.Struct, tag=True, forbid_unknown_fields=True):
    """What became of a request."""


class Done(Answer):
    """It was done."""


class Refused(Answer):
    """It was not done."""

    kind: str
    text: str


class Status(Answer):
    """What is unlocked."""

    path: str
    seconds_left: float


class KnownKey(msgspec.Struct, frozen=True):
    """A key of the wallet, by its public key."""

    key: str
    label: str


class Keys(Answer):
    """What the wallet holds, without secrets."""

    keys: tuple[KnownKey, ...]
    watched: tuple[str, ...]


class Signatures(Answer):
    """In the order of the keys that were named."""

    signatures: tuple[bytes, ...]


class Text(Answer):
    """A memo."""

    text: str


class PublicKeys(Answer):
    """The public keys of what was added."""

    keys: tuple[str, ...]


AnyAnswer = Done | Refused | Status | Keys | Signatures | Text | PublicKeys


def send_frame(connection: socket.socket, message: Request | Answer, descriptor: int | None = None) -> None:
    """Send a message, and a descriptor along with its first byte."""
    body = msgspec.json.encode(message)
    frame = _LENGTH.pack(len(body)) + body
    if descriptor is not None:
        sent = socket.send_fds(connection, [frame], [descriptor])
        frame = frame[sent:]
    connection.sendall(frame)


def receive_frame(connection: socket.socket) -> tuple[bytes, int | None]:
    """The body of a message, and the descriptor that came along; whoever calls closes it.

    Raises:
        WalletError: The other end has closed the socket, or sends what is no frame.
    """
    head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, 1)
    descriptor = descriptors[0] if descriptors else None
    head += _receive(connection, _LENGTH.size - len(head))
    (length,) = _LENGTH.unpack(head)
    if length > LARGEST_FRAME:
        raise WalletError(f"a message of {length} bytes, where {LARGEST_FRAME} are the most")
    return _receive(connection, length), descriptor


def _receive(connection: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(count - len(parts))
        if not part:
            raise WalletError("the process that holds the keys has closed the connection")
        parts += part
    return bytes(parts)
