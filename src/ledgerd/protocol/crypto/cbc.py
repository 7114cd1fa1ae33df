"""AES-256 in CBC mode with PKCS #7 padding: the cipher of memos."""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7

BLOCK_BITS = 128


def encrypt(key: bytes, initial: bytes, plain: bytes) -> bytes:
    padder, encryptor = PKCS7(BLOCK_BITS).padder(), Cipher(AES256(key), CBC(initial)).encryptor()
    return encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()


def decrypt(key: bytes, initial: bytes, sealed: bytes) -> bytes:
    """`ValueError`: the bytes are no whole blocks, or their padding is wrong."""
    unpadder, decryptor = PKCS7(BLOCK_BITS).unpadder(), Cipher(AES256(key), CBC(initial)).decryptor()
    return unpadder.update(decryptor.update(sealed) + decryptor.finalize()) + unpadder.finalize()
