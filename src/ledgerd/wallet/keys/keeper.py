"""The keeper: the one process that holds private keys while a wallet is unlocked.

It reads the password and every key by itself, signs transactions that it has decoded, and ends at `Lock`, after a time
without requests, or with the shell that has started it. Its memory cannot be dumped.

Started with the path of the wallet's file and of the socket; the password is on descriptor 0. It says `ready` on its
standard output once it serves, or why it does not.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from ledgerd.basics.addresses import connected_user
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError, EncodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import InvalidKey, PrivateKey, PublicKey, public_key_from_text, public_key_text
from ledgerd.protocol.crypto.signatures import sign
from ledgerd.protocol.errors import RuleViolation
from ledgerd.sdk.keys.derivation import new_key, password_keys
from ledgerd.sdk.keys.memos import decrypt_memo, encrypt_memo
from ledgerd.wallet.errors import KeyNotFound, WalletError
from ledgerd.wallet.keys import messages
from ledgerd.wallet.keys.entry import read_secret
from ledgerd.wallet.keys.messages import READY, SECRET_SECONDS
from ledgerd.wallet.keys.reference_file import decrypted_keys
from ledgerd.wallet.keys.sealing import protect_memory
from ledgerd.wallet.keys.wallet_file import Contents, WalletFile

REQUEST_SECONDS = 30.0
"""A client that takes longer to send its request is left."""
NO_SIGNATURES = b"\0"


class Keeper:
    """Answers requests about one unlocked wallet."""

    def __init__(self, file: WalletFile, contents: Contents) -> None:
        self._file = file
        self._contents = contents
        self.is_locked = False

    def answer(self, request: messages.AnyRequest, descriptor: int | None, seconds_left: float) -> messages.AnyAnswer:
        """Do what is asked. Errors become answers; none of them repeats a secret."""
        try:
            return self._answer(request, descriptor, seconds_left)
        except WalletError as refused:
            return messages.RefusedRequest(type(refused).__name__, str(refused))
        except (InvalidKey, DecodeError, EncodeError, JsonError, RuleViolation) as refused:
            return messages.RefusedRequest(WalletError.__name__, str(WalletError(str(refused))))

    def _answer(self, request: messages.AnyRequest, descriptor: int | None, seconds_left: float) -> messages.AnyAnswer:
        match request:
            case messages.GetStatus():
                return messages.KeeperStatus(str(self._file.path), seconds_left)
            case messages.GetKeys():
                self._contents = self._file.read()
                known = [
                    messages.KnownKey(public_key_text(key), entry.label)
                    for key, entry in self._contents.by_public().items()
                ]
                return messages.Keys(tuple(known), self._contents.watched)
            case messages.SignTransaction(chain_id, transaction, keys):
                return messages.Signatures(self._sign(chain_id, transaction, keys))
            case messages.EncryptMemo(text, sender, recipient):
                own = self._key(public_key_from_text(sender))
                return messages.MemoText(encrypt_memo(text, own, public_key_from_text(recipient)))
            case messages.DecryptMemo(encrypted):
                return messages.MemoText(self._decrypt(encrypted))
            case messages.Lock():
                self.is_locked = True
                return messages.WasDone()
            case _:
                return self._change(request, descriptor)

    def _change(self, request: messages.AnyRequest, descriptor: int | None) -> messages.AnyAnswer:
        match request:
            case messages.GenerateKey(label):
                return self._add([(new_key(), label)])
            case messages.ImportKey(label):
                return self._add([(PrivateKey.from_wif(_secret_from(descriptor).decode("ascii", "replace")), label)])
            case messages.ImportReference(encrypted, label):
                return self._add([(key, label) for key in decrypted_keys(encrypted, _secret_from(descriptor))])
            case messages.DeriveKeys(account, roles):
                try:
                    made = password_keys(account, _secret_from(descriptor).decode("utf-8", "surrogateescape"), roles)
                except ValueError as refused:
                    raise WalletError(str(refused)) from None
                return self._add([(key, f"{account} {role}") for role, key in made.items()])
            case messages.RemoveKey(key):
                self._contents = self._file.change(lambda held: held.without_key(public_key_from_text(key)))
            case messages.WatchAccount(name, is_watched):
                self._contents = self._file.change(
                    lambda held: held.with_watched(name) if is_watched else held.without_watched(name)
                )
            case messages.ExportKey(key):
                _export(self._key(public_key_from_text(key)), descriptor)
            case messages.ChangePassword():
                self._file.change_password(_secret_from(descriptor))
        return messages.WasDone()

    def _add(self, pairs: list[tuple[PrivateKey, str]]) -> messages.AnyAnswer:
        def add(held: Contents) -> Contents:
            for key, label in pairs:
                held = held.with_key(key, label)
            return held

        self._contents = self._file.change(add)
        return messages.PublicKeys(tuple(public_key_text(key.public) for key, _ in pairs))

    def _key(self, public: PublicKey) -> PrivateKey:
        found = self._contents.by_public().get(public)
        if found is None:
            self._contents = self._file.read()  # another wallet may have added it
            found = self._contents.by_public().get(public)
        if found is None:
            raise KeyNotFound(f"the wallet has no private key of {public_key_text(public)}")
        return found.key

    def _sign(self, chain_id: bytes, unsigned: bytes, keys: tuple[str, ...]) -> tuple[bytes, ...]:
        """Sign only what decodes as a transaction, and exactly the bytes that it is written with."""
        transaction = codec_of(Transaction).decode_exactly(unsigned + NO_SIGNATURES)
        if codec_of(Transaction).encode(transaction) != unsigned + NO_SIGNATURES:
            raise WalletError("the transaction is not written as the network writes it")
        digest = transaction.signature_digest(chain_id)
        return tuple(sign(self._key(public_key_from_text(text)), digest) for text in keys)

    def _decrypt(self, encrypted: str) -> str:
        text = decrypt_memo(encrypted, (entry.key for entry in self._contents.keys))
        if text is None:
            raise KeyNotFound("no key of the wallet can read this memo")
        return text


def _export(key: PrivateKey, descriptor: int | None) -> None:
    if descriptor is None:
        raise WalletError("no file was given for the key")
    line = key.wif.encode() + b"\n"
    try:
        written = os.write(descriptor, line)
        os.fsync(descriptor)
    except OSError as problem:
        raise WalletError(f"the key cannot be written: {problem.strerror}") from None
    if written != len(line):
        raise WalletError("the key cannot be written: there is room for a part of it only")


def _secret_from(descriptor: int | None) -> bytes:
    if descriptor is None:
        raise WalletError("no secret was given")
    return read_secret(descriptor, SECRET_SECONDS)


def serve(keeper: Keeper, listener: socket.socket, owner: int | None, idle_seconds: float) -> None:
    """`owner` is a pipe whose other end a shell holds: it becomes readable when the shell ends."""
    deadline = time.monotonic() + idle_seconds
    watched = [listener.fileno(), *([] if owner is None else [owner])]
    while not keeper.is_locked:
        left = deadline - time.monotonic()
        if left <= 0:
            return
        ready, _, _ = select.select(watched, [], [], left)
        if owner is not None and owner in ready:
            return
        if listener.fileno() not in ready:
            continue
        connection, _ = listener.accept()
        with connection, suppress(OSError, WalletError):
            if _serve_one(keeper, connection, left):
                deadline = time.monotonic() + idle_seconds


def _serve_one(keeper: Keeper, connection: socket.socket, seconds_left: float) -> bool:
    """Answer one request; whether it counts as a use of the wallet."""
    connection.settimeout(REQUEST_SECONDS)
    if connected_user(connection) != os.getuid():
        return False
    body, descriptor = messages.receive_frame(connection)
    try:
        request = msgspec.json.decode(body, type=messages.AnyRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        messages.send_frame(connection, messages.RefusedRequest(WalletError.__name__, f"no such request: {problem}"))
        return False
    else:
        messages.send_frame(connection, keeper.answer(request, descriptor, seconds_left))
        return not isinstance(request, messages.GetStatus)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def main(words: list[str]) -> int:
    """Unlock and serve: `PATH SOCKET IDLE_SECONDS [OWNER_DESCRIPTOR]`."""
    path, place, idle, *owner = words
    try:
        protect_memory()
        file = WalletFile.open(Path(path), read_secret(0))
        keeper = Keeper(file, file.read())
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        os.umask(0o077)
        listener.bind(place)
        own = Path(place).stat().st_ino
        listener.listen(8)
    except (OSError, WalletError) as problem:
        kind = type(problem).__name__ if isinstance(problem, WalletError) else WalletError.__name__
        os.write(1, msgspec.json.encode(messages.RefusedRequest(kind, str(problem))) + b"\n")
        return 1
    os.write(1, READY)
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # nobody waits for the end of these streams
        os.dup2(silent, stream)
    try:
        serve(keeper, listener, int(owner[0]) if owner else None, float(idle))
    finally:
        with suppress(OSError):
            if Path(place).stat().st_ino == own:  # not the socket of a keeper that came later
                Path(place).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
