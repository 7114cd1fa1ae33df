"""Encrypted memos: a convention of wallets, which the ledger does not interpret (spec 01, section 5.5)."""

from __future__ import annotations

import struct

import coincurve

from ledgerd.codec.errors import OUT_OF_RANGE, DecodeError, EncodeError
from ledgerd.codec.json.text import text_bytes, text_of
from ledgerd.codec.kinds import Reading
from ledgerd.codec.types.varint import pack_varint, read_varint
from ledgerd.protocol.crypto import base58
from ledgerd.protocol.crypto.hashing import sha256, sha512
from ledgerd.protocol.crypto.keys import InvalidKey, PrivateKey, PublicKey

MARK = "#"
"""The first character of an encrypted memo. A wallet encrypts texts that begin with it."""

_HEAD = struct.Struct("<33s33sQ4s")


def shared_secret(own: PrivateKey, other: PublicKey) -> bytes:
    """The shared secret of two keys: each side computes it from its own secret and the other's public key."""
    try:
        point = coincurve.PublicKey(other).multiply(own.secret)
    except ValueError:
        raise InvalidKey("the other's public key is not a point of the curve") from None
    return sha512(point.format()[1:])


def encode(text: str, sender: PrivateKey, recipient: PublicKey, nonce: int) -> str:
    """Encrypt a text (without the mark) so that sender and recipient can read it; a nonce must be used once only."""
    if not 0 <= nonce < 1 << 64:
        raise EncodeError(f"the nonce {nonce} does not fit 64 bits")
    key = _message_key(sender, recipient, nonce)
    from ledgerd.protocol.crypto import cbc  # noqa: PLC0415 - heavy, and few programs encrypt

    sealed = cbc.encrypt(key[:32], key[32:48], _with_length(text_bytes(text)))
    head = _HEAD.pack(sender.public, recipient, nonce, _check(key))
    return MARK + base58.encode(head + _with_length(sealed))


def decode(memo: str, own: PrivateKey) -> str:
    """The text of an encrypted memo, for the one who sent it or the one it was sent to."""
    if not memo.startswith(MARK):
        raise DecodeError("the memo is not encrypted")
    binary = base58.decode(memo[len(MARK) :])
    if len(binary) < _HEAD.size:
        raise DecodeError("the memo is cut short", OUT_OF_RANGE)
    sender, recipient, nonce, check = _HEAD.unpack_from(binary)
    if own.public not in (sender, recipient):
        raise DecodeError("the memo is neither from nor to this key")
    key = _message_key(own, recipient if own.public == sender else sender, nonce)
    if _check(key) != check:
        raise DecodeError("the memo was encrypted for another pair of keys")
    sealed = _after_length(binary[_HEAD.size :])
    from ledgerd.protocol.crypto import cbc  # noqa: PLC0415 - the same

    try:
        plain = cbc.decrypt(key[:32], key[32:48], sealed)
    except ValueError:
        raise DecodeError("the memo is damaged") from None
    return text_of(_after_length(plain))


def _message_key(own: PrivateKey, other: PublicKey, nonce: int) -> bytes:
    return sha512(struct.pack("<Q", nonce) + shared_secret(own, other))


def _check(key: bytes) -> bytes:
    return sha256(key)[:4]


def _with_length(data: bytes) -> bytes:
    return pack_varint(len(data)) + data


def _after_length(data: bytes) -> bytes:
    """The bytes after a length; further ones are ignored, as everywhere (spec 01, section 2.1)."""
    try:
        length, start = read_varint(data, 0, Reading())
    except IndexError:
        raise DecodeError("the memo is cut short", OUT_OF_RANGE) from None
    if len(data) < start + length:
        raise DecodeError("the memo is cut short", OUT_OF_RANGE)
    return data[start : start + length]
