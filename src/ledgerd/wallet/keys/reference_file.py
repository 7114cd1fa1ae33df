"""The wallet file of the reference: private keys under one password (spec 06, section 20.4), only ever read."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.codec.types.varint import read_varint
from ledgerd.protocol.crypto.hashing import sha512
from ledgerd.protocol.crypto.keys import KEY_SIZE, InvalidKey, PrivateKey
from ledgerd.wallet.errors import DamagedWallet, ForeignWallet, WalletError, WrongPassword
from ledgerd.wallet.keys.wallet_file import read_file

MOST_BYTES = 2 << 20
"""The most bytes of encrypted keys; each takes 85."""
HASH_SIZE, BLOCK_SIZE, BLOCK_BITS = 64, 16, 128
KEY_PART, VECTOR_PART = slice(0, 32), slice(32, 48)


class ReferenceWallet(msgspec.Struct, frozen=True):
    """The parts of the file that are used."""

    cipher_keys: str


def encrypted_keys_of(path: Path) -> bytes:
    try:
        found = bytes.fromhex(msgspec.json.decode(read_file(path), type=ReferenceWallet).cipher_keys)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ForeignWallet(f"{path} is no wallet of the reference, or is damaged") from None
    except ValueError:
        raise DamagedWallet(f"{path} is damaged: its keys are no hexadecimal digits") from None
    if not found:
        raise WalletError(f"{path} has no password yet, and so no keys")
    if len(found) % BLOCK_SIZE or len(found) > MOST_BYTES:
        raise DamagedWallet(f"{path} is damaged: no wallet has {len(found)} bytes of encrypted keys")
    return found


def decrypted_keys(encrypted: bytes, password: bytes) -> list[PrivateKey]:
    """The keys; to be called only in the process that holds keys. A wrong password and damaged keys cannot be told
    apart.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher  # noqa: PLC0415 - for this alone, as all of them
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.modes import CBC  # noqa: PLC0415
    from cryptography.hazmat.primitives.padding import PKCS7  # noqa: PLC0415

    secret = sha512(password)
    decryptor = Cipher(AES256(secret[KEY_PART]), CBC(secret[VECTOR_PART])).decryptor()
    unpadder = PKCS7(BLOCK_BITS).unpadder()
    try:
        plain = unpadder.update(decryptor.update(encrypted) + decryptor.finalize()) + unpadder.finalize()
    except ValueError:
        plain = b""
    if not secrets.compare_digest(plain[:HASH_SIZE], secret):
        raise WrongPassword("the password is not that of this file, or the file is damaged")
    try:
        return list(_keys_in(plain, HASH_SIZE))
    except (DecodeError, IndexError, InvalidKey):
        raise DamagedWallet("the file holds something else than keys") from None


def _keys_in(plain: bytes, place: int) -> Iterator[PrivateKey]:
    count, place = read_varint(plain, place, Reading())
    for _ in range(count):
        public, place = plain[place : place + KEY_SIZE], place + KEY_SIZE
        length, place = read_varint(plain, place, Reading())
        key = PrivateKey.from_wif(plain[place : place + length].decode("ascii", "replace"))
        place += length
        if key.public != public:
            raise InvalidKey("a private key has another public key than it is stored with")
        yield key
    if place != len(plain):
        raise DecodeError(f"{len(plain) - place} bytes after the keys")
