"""Wallet files of the reference: those whose content was recorded (spec 06, section 24.3), and damaged ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.crypto.hashing import sha512
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.wallet.errors import DamagedWallet, ForeignWallet, WalletError, WrongPassword
from ledgerd.wallet.keys.reference_file import decrypted_keys, encrypted_keys_of
from tests.house.source_tree import ROOT

SPECIFICATION = ROOT / "docs" / "spec" / "06-operation.md"
PASSWORD = b"test"
RECORDED = [PrivateKey.from_password("alice", "active", "password"), PrivateKey.from_brain_key("A B C")]


def recorded() -> list[str]:
    """The two recorded files: one without keys, and one with two."""
    return re.findall(r"password `test`.*cipher_keys = `([0-9a-f]+)`", SPECIFICATION.read_text(encoding="utf-8"))


def sealed(plain: bytes, password: bytes = PASSWORD) -> bytes:
    """Encrypted as the reference does."""
    secret, padder = sha512(password), PKCS7(128).padder()
    encryptor = Cipher(AES256(secret[:32]), CBC(secret[32:48])).encryptor()
    return encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()


def plain_of(*keys: PrivateKey) -> bytes:
    packed = (key.public + pack_varint(len(key.wif)) + key.wif.encode() for key in keys)
    return sha512(PASSWORD) + pack_varint(len(keys)) + b"".join(packed)


def written(folder: Path, content: object) -> Path:
    path = folder / "old.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_recorded_files_are_read(tmp_path: Path) -> None:
    empty, two = recorded()
    file = {"cipher_keys": two, "ws_server": "ws://localhost:8090"}

    assert decrypted_keys(encrypted_keys_of(written(tmp_path, file)), PASSWORD) == RECORDED
    assert decrypted_keys(bytes.fromhex(empty), PASSWORD) == []
    assert sealed(plain_of(*RECORDED)).hex() == two


def test_another_password_and_damage_are_said(tmp_path: Path) -> None:
    encrypted = bytes.fromhex(recorded()[1])
    for password in (b"Test", b"", b"test\0"):
        with pytest.raises(WrongPassword, match="not that of this file"):
            decrypted_keys(encrypted, password)
    with pytest.raises(WrongPassword):
        decrypted_keys(encrypted[:-16], PASSWORD)
    for text, kind in (
        ("", ForeignWallet),
        ("[]", ForeignWallet),
        ('{"cipher_keys": 1}', ForeignWallet),
        ('{"format": "ledgerd wallet"}', ForeignWallet),
        ('{"cipher_keys": "00"}', DamagedWallet),
        ('{"cipher_keys": "zz"}', DamagedWallet),
        (json.dumps({"cipher_keys": "00" * (3 << 20)}), DamagedWallet),
    ):
        with pytest.raises(kind):
            encrypted_keys_of(written(tmp_path, text))
    with pytest.raises(WalletError, match="has no password yet"):
        encrypted_keys_of(written(tmp_path, {"cipher_keys": ""}))


@pytest.mark.parametrize(
    "plain",
    [
        sha512(PASSWORD),
        sha512(PASSWORD) + b"\1",
        plain_of(*RECORDED)[:-1],
        plain_of(*RECORDED) + b"\0",
        sha512(PASSWORD) + b"\xff\xff\xff\xff\x0f",
        plain_of(RECORDED[0]).replace(RECORDED[0].public, RECORDED[1].public),
        plain_of(RECORDED[0]).replace(RECORDED[0].wif.encode(), b"1" * len(RECORDED[0].wif)),
    ],
)
def test_what_is_no_list_of_keys_is_refused_without_a_secret_in_the_error(plain: bytes) -> None:
    with pytest.raises(DamagedWallet, match=r"^the file holds something else than keys$") as refused:
        decrypted_keys(sealed(plain), PASSWORD)
    assert refused.value.__cause__ is None


@settings(max_examples=60, deadline=None)
@given(st.integers(64, len(plain_of(*RECORDED)) - 1), st.integers(1, 255))
def test_no_changed_byte_gives_other_keys(place: int, change: int) -> None:
    plain = bytearray(plain_of(*RECORDED))
    plain[place] ^= change
    with pytest.raises(DamagedWallet):
        decrypted_keys(sealed(bytes(plain)), PASSWORD)
