"""What a wallet asks the process that holds its keys, and what that answers: frames over a Unix socket.

No private key and no password is in any frame. Secrets come to that process by a descriptor that is sent along, which
it reads by itself.
"""

from __future__ import annotations

import socket

import msgspec

from ledgerd.basics.framing.frames import LENGTH, FrameFault, framed, read_frame
from ledgerd.wallet.errors import WalletError

READY = b"ready\n"
"""Said on the standard output once requests are answered."""
IDLE_SECONDS = 15 * 60.0
SECRET_SECONDS = 120.0
"""The time that a person has to type."""
LARGEST_FRAME = 4 << 20


class KeeperRequest(msgspec.Struct, tag=True, forbid_unknown_fields=True):
    """Something to do."""


class GetStatus(KeeperRequest):
    """Which wallet is unlocked, and for how long."""


class GetKeys(KeeperRequest):
    """The public keys and the watched accounts."""


class SignTransaction(KeeperRequest):
    """Sign the unsigned bytes of a transaction for a chain, with the keys of these public ones."""

    chain_id: bytes
    transaction: bytes
    keys: tuple[str, ...]


class EncryptMemo(KeeperRequest):
    """Encrypt a memo from a key of this wallet to another key."""

    text: str
    sender: str
    recipient: str


class DecryptMemo(KeeperRequest):
    """Read an encrypted memo with whichever key of this wallet can."""

    memo: str


class GenerateKey(KeeperRequest):
    """Make a new key."""

    label: str = ""


class ImportKey(KeeperRequest):
    """Take a key in WIF from the descriptor that comes along."""

    label: str = ""


class ImportReference(KeeperRequest):
    """Take the keys of a wallet file of the reference, whose password comes from the descriptor."""

    encrypted: bytes
    label: str = ""


class DeriveKeys(KeeperRequest):
    """Take the password of an account from the descriptor, and keep the keys of these roles."""

    account: str
    roles: tuple[str, ...]


class RemoveKey(KeeperRequest):
    """Forget a key."""

    key: str


class WatchAccount(KeeperRequest):
    """Watch an account, or no longer."""

    name: str
    is_watched: bool = True


class ExportKey(KeeperRequest):
    """Write a key in WIF, for the key file of a validator, to the descriptor that comes along."""

    key: str


class ChangePassword(KeeperRequest):
    """Take a new password from the descriptor."""


class Lock(KeeperRequest):
    """End the process."""


AnyRequest = (
    GetStatus
    | GetKeys
    | SignTransaction
    | EncryptMemo
    | DecryptMemo
    | GenerateKey
    | ImportKey
    | ImportReference
    | DeriveKeys
    | RemoveKey
    | WatchAccount
    | ExportKey
    | ChangePassword
    | Lock
)


class KeeperAnswer(msgspec.Struct, tag=True, forbid_unknown_fields=True):
    """The result of a request."""


class WasDone(KeeperAnswer):
    """The request was carried out."""


class RefusedRequest(KeeperAnswer):
    """The request was refused, and nothing has changed."""

    kind: str
    text: str


class KeeperStatus(KeeperAnswer):
    """The unlocked wallet, and how long it stays unlocked."""

    path: str
    seconds_left: float


class KnownKey(msgspec.Struct, frozen=True):
    """A key of the wallet, by its public key."""

    key: str
    label: str


class Keys(KeeperAnswer):
    """The content of the wallet, without secrets."""

    keys: tuple[KnownKey, ...]
    watched: tuple[str, ...]


class Signatures(KeeperAnswer):
    """The signatures, in the order of the keys in the request."""

    signatures: tuple[bytes, ...]


class MemoText(KeeperAnswer):
    """The text of a memo, encrypted or decrypted."""

    text: str


class PublicKeys(KeeperAnswer):
    """The public keys of what was added."""

    keys: tuple[str, ...]


AnyAnswer = WasDone | RefusedRequest | KeeperStatus | Keys | Signatures | MemoText | PublicKeys


def send_frame(connection: socket.socket, message: KeeperRequest | KeeperAnswer, descriptor: int | None = None) -> None:
    frame = framed(msgspec.json.encode(message))
    if descriptor is not None:
        sent = socket.send_fds(connection, [frame], [descriptor])
        frame = frame[sent:]
    if frame:  # an empty one fails where the other end has answered and closed the socket already
        connection.sendall(frame)


def receive_frame(connection: socket.socket) -> tuple[bytes, int | None]:
    """The body of a message, and the descriptor that came along; whoever calls closes it.
    `WalletError`: the other end has closed the socket, or sends what is no frame.
    """
    begun, descriptors, _, _ = socket.recv_fds(connection, LENGTH.size, 1)
    try:
        body = read_frame(connection.recv, LARGEST_FRAME, begun)
    except FrameFault as fault:
        raise WalletError(f"a message that is none: {fault}") from None
    if body is None:
        raise WalletError("the process that holds the keys has closed the connection")
    return body, descriptors[0] if descriptors else None
