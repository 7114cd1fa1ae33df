"""Compact signatures: made as the reference makes them, and turned back into their keys (spec 01, section 5.4)."""

from __future__ import annotations

from typing import Any, NewType

from coincurve._libsecp256k1 import ffi, lib  # type: ignore[import-not-found]  # compiled, without types
from coincurve.context import GLOBAL_CONTEXT

from ledgerd.codec import declare
from ledgerd.codec.types.strings import FixedBytes
from ledgerd.protocol.crypto.keys import KEY_SIZE, PrivateKey, PublicKey
from ledgerd.protocol.errors import RuleViolation, require

Signature = NewType("Signature", bytes)
"""One header byte, then r and s, 32 bytes each, high byte first."""

SIGNATURE_SIZE = 65
DIGEST_SIZE = 32

declare(Signature, FixedBytes(SIGNATURE_SIZE, "signature"))

_FIRST_HEADER = 27
_LAST_HEADER = 34
_COMPRESSED = 4

# Verification needs no secrets, so no blinding: the constant context serves every thread and process.
_VERIFYING = lib.secp256k1_context_static
_SIGNATURE = ffi.typeof("secp256k1_ecdsa_recoverable_signature *")
_POINT = ffi.typeof("secp256k1_pubkey *")
_KEY = ffi.typeof(f"unsigned char[{KEY_SIZE}]")
_SIZE = ffi.typeof("size_t *")
_NUMBER = ffi.typeof("int *")
_COUNTER = ffi.typeof("unsigned int *")
_COMPACT = ffi.typeof(f"unsigned char[{SIGNATURE_SIZE - 1}]")


class UnreadableSignature(RuleViolation):
    """The header byte of a signature is none. The reference gives this failure no code of its own."""

    code = 0
    name = "exception"


def is_canonical(signature: Signature) -> bool:
    """Whether r and s are written as positive numbers without padding: their top bits decide."""
    return (
        signature[1] < 0x80
        and not (signature[1] == 0 and signature[2] < 0x80)
        and signature[33] < 0x80
        and not (signature[33] == 0 and signature[34] < 0x80)
    )


def recover(signature: Signature, digest: bytes) -> PublicKey:
    """The key that signed the digest.

    The header byte counts from 27, of which only the low two bits matter: two header bytes mean the same.
    A high s is as good as a low one wherever it is canonical.
    """
    if len(signature) != SIGNATURE_SIZE or len(digest) != DIGEST_SIZE:
        raise ValueError(f"{len(signature)} bytes of signature for {len(digest)} bytes of digest")
    header = signature[0]
    if not _FIRST_HEADER <= header <= _LAST_HEADER:
        raise UnreadableSignature("unable to reconstruct public key from signature")
    require(is_canonical(signature), "is_canonical(c): signature is not canonical")
    parsed, point = ffi.new(_SIGNATURE), ffi.new(_POINT)
    require(
        lib.secp256k1_ecdsa_recoverable_signature_parse_compact(
            _VERIFYING, parsed, signature[1:], (header - _FIRST_HEADER) & 3
        ),
        "secp256k1_ecdsa_recoverable_signature_parse_compact(detail::_get_context(), &sig, "
        "(const unsigned char*)c.begin() + 1, (*c.begin() - 27) & 3): ",
    )
    require(
        lib.secp256k1_ecdsa_recover(_VERIFYING, point, parsed, digest),
        "secp256k1_ecdsa_recover(detail::_get_context(), &recovered_key, &sig, (unsigned char*)digest.data()): ",
    )
    key = ffi.new(_KEY)
    size = ffi.new(_SIZE, KEY_SIZE)
    lib.secp256k1_ec_pubkey_serialize(_VERIFYING, key, size, point, lib.SECP256K1_EC_COMPRESSED)
    return PublicKey(ffi.buffer(key)[:])


def _next_nonce(nonce: Any, message: Any, secret: Any, algorithm: Any, drawn: Any, _attempt: int) -> int:  # noqa: ANN401
    """By RFC 6979, but the count is raised before its use, as in the reference: the first candidate is never used."""
    count = ffi.cast(_COUNTER, drawn)
    count[0] += 1
    return int(lib.secp256k1_nonce_function_rfc6979(nonce, message, secret, algorithm, ffi.NULL, count[0]))


_NONCES = ffi.callback("secp256k1_nonce_function", _next_nonce)


def sign(key: PrivateKey, digest: bytes) -> Signature:
    """The one signature that the reference makes of a key and a digest: the first canonical one."""
    if len(digest) != DIGEST_SIZE:
        raise ValueError(f"a digest has {DIGEST_SIZE} bytes, not {len(digest)}")
    drawn, made = ffi.new(_COUNTER, 0), ffi.new(_SIGNATURE)
    compact, recovery = ffi.new(_COMPACT), ffi.new(_NUMBER)
    context = GLOBAL_CONTEXT.ctx
    while True:  # every second draw is canonical
        if not lib.secp256k1_ecdsa_sign_recoverable(context, made, digest, key.secret, _NONCES, drawn):
            raise ArithmeticError("a valid key and a nonce of RFC 6979 made no signature")
        lib.secp256k1_ecdsa_recoverable_signature_serialize_compact(context, compact, recovery, made)
        header = _FIRST_HEADER + _COMPRESSED + recovery[0]
        signature = Signature(bytes((header,)) + ffi.buffer(compact)[:])
        if is_canonical(signature):
            return signature
