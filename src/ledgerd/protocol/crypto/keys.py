"""Public and private keys and their texts (spec 01, sections 5.2, 5.3, 5.5). Signing is in `signatures`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NewType

import coincurve

from ledgerd.codec import declare
from ledgerd.codec.errors import ASSERTION, OUT_OF_RANGE, PARSE_ERROR, DecodeError, EncodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.text import text_bytes
from ledgerd.codec.types.strings import FixedBytes
from ledgerd.protocol.crypto import base58
from ledgerd.protocol.crypto.hashing import ripemd160, sha256, sha512
from ledgerd.protocol.errors import RuleViolation

PublicKey = NewType("PublicKey", bytes)
"""The 33 bytes of a compressed point. The wire accepts any bytes; their order is the order of keys."""

KEY_SIZE = 33
NULL_KEY = PublicKey(bytes(KEY_SIZE))
ADDRESS_PREFIX = "VIZ"

_SECRET_SIZE = 32
_CHECKSUM_SIZE = 4
_WIF_VERSION = b"\x80"
_REMEMBERED = 1 << 16
_LONGEST_REMEMBERED = 64
_LONGEST_TEXT = 2_048
_WHITESPACE = re.compile("[ \t\r\n\v\f]+")
_UPPER_CASE = {letter: letter - 32 for letter in range(ord("a"), ord("z") + 1)}


class InvalidKey(RuleViolation):
    """No private key, or no point of the curve as a public one. The message never contains the secret."""


@lru_cache(maxsize=_REMEMBERED)
def public_key_text(key: PublicKey) -> str:
    if len(key) != KEY_SIZE:
        raise EncodeError(f"a public key has {KEY_SIZE} bytes, not {len(key)}")
    return ADDRESS_PREFIX + base58.encode(key + ripemd160(key)[:_CHECKSUM_SIZE])


def public_key_from_text(text: str) -> PublicKey:
    """The key of a text. Whether it is a point of the curve is not checked."""
    if len(text) > _LONGEST_REMEMBERED:  # no valid text is longer; this bounds the cache
        return _parse_public_key(text)
    return _remembered_public_key(text)


def _parse_public_key(text: str) -> PublicKey:
    if len(text) <= len(ADDRESS_PREFIX) and len(text_bytes(text)) <= len(ADDRESS_PREFIX):
        raise JsonError(ASSERTION, "base58str.size() > prefix_len: ")
    if not text.startswith(ADDRESS_PREFIX):
        raise JsonError(ASSERTION, "base58str.substr(0, prefix_len) == prefix: ", {"base58str": text})
    if len(text) > _LONGEST_TEXT:  # the ledger itself reads keys from memos alone, which are shorter
        raise DecodeError(f"a public key of {len(text)} characters", PARSE_ERROR)
    binary = base58.decode(text[len(ADDRESS_PREFIX) :])
    if 0 < len(binary) < KEY_SIZE + _CHECKSUM_SIZE:
        left = len(binary) if len(binary) < KEY_SIZE else len(binary) - KEY_SIZE
        # The reference computes the missing length from the wrong end.
        values = {"method": "read", "len": len(binary), "over": 1 - left}
        raise JsonError(OUT_OF_RANGE, "${method} datastream of length ${len} over by ${over}", values)
    # From here on, empty data and bytes after the checksum both pass on to the check of the checksum.
    key, checksum = binary[:KEY_SIZE], binary[KEY_SIZE : KEY_SIZE + _CHECKSUM_SIZE]
    if ripemd160(key)[:_CHECKSUM_SIZE] != checksum:
        raise JsonError(ASSERTION, "fc::ripemd160::hash(key_data.data, key_data.size())._hash[0] == bin_key.check: ")
    return PublicKey(key)


_remembered_public_key = lru_cache(maxsize=_REMEMBERED)(_parse_public_key)


def _wif_checksum(payload: bytes) -> bytes:
    return sha256(sha256(payload))[:_CHECKSUM_SIZE]


def wif_secret(text: str) -> bytes | None:
    """The 32 bytes that a WIF text holds, or None if it is none (spec 02, section 4.15).

    The version byte is not checked, a checksum of one round of sha256 is accepted like one of two, and a payload that
    is too long or too short is truncated or padded with zeros. Claims of invites use these rules, so they are
    consensus.
    """
    try:
        binary = base58.decode(text)
    except DecodeError:
        return None
    if len(binary) <= _CHECKSUM_SIZE:
        return None
    payload, checksum = binary[:-_CHECKSUM_SIZE], binary[-_CHECKSUM_SIZE:]
    if checksum not in (sha256(payload)[:_CHECKSUM_SIZE], _wif_checksum(payload)):
        return None
    return payload[1 : 1 + _SECRET_SIZE].ljust(_SECRET_SIZE, b"\0")


def normalized_brain_key(words: str) -> str:
    return _WHITESPACE.sub(" ", words).strip(" ").translate(_UPPER_CASE)


@dataclass(frozen=True, slots=True, repr=False)
class PrivateKey:
    """A private key and its public key. Its printed form shows the public key alone."""

    secret: bytes
    public: PublicKey = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.secret) != _SECRET_SIZE:
            raise InvalidKey(f"a private key has {_SECRET_SIZE} bytes, not {len(self.secret)}")
        if not any(self.secret):
            raise InvalidKey("my->_key != empty_priv: ")
        try:
            point = coincurve.PublicKey.from_secret(self.secret)
        except ValueError:
            raise InvalidKey(
                "secp256k1_ec_pubkey_create(detail::_get_context(), &pubkey, (const unsigned char*)my->_key.data()): "
            ) from None
        object.__setattr__(self, "public", PublicKey(point.format()))

    def __repr__(self) -> str:
        return f"PrivateKey(of {public_key_text(self.public)})"

    @property
    def wif(self) -> str:
        """The private key as text: for key files and wallets, never for logs."""
        payload = _WIF_VERSION + self.secret
        return base58.encode(payload + _wif_checksum(payload))

    @classmethod
    def from_wif(cls, text: str) -> PrivateKey:
        """The key of a WIF text; the error does not repeat the text, which may be a mistyped secret."""
        secret = wif_secret(text)
        if secret is None:
            raise InvalidKey("not a private key in WIF")
        return cls(secret)

    @classmethod
    def from_password(cls, account: str, role: str, password: str) -> PrivateKey:
        """The key of one role (`master`, `active`, `regular`, `memo`) that wallets derive from a password."""
        return cls(sha256(text_bytes(account + role + password)))

    @classmethod
    def from_brain_key(cls, words: str, sequence: int = 0) -> PrivateKey:
        return cls(sha256(sha512(text_bytes(f"{normalized_brain_key(words)} {sequence}"))))


declare(
    PublicKey,
    FixedBytes(
        KEY_SIZE,
        "public key",
        print_text=public_key_text,
        parse_text=public_key_from_text,
        parse_new=_parse_public_key,  # to remember a key that is not met again costs half of what reading it does
    ),
)
