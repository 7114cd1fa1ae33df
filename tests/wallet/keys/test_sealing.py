from __future__ import annotations

import resource
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.wallet.errors import DamagedWallet, ForeignWallet, WrongPassword
from ledgerd.wallet.keys.sealing import LARGEST_FILE, Cost, PasswordKey, read_sealed

CHEAP = Cost(n=2)
PASSWORD = "пароль".encode()
FILE = PasswordKey.new(PASSWORD, CHEAP).seal(b"the data")


def opened(raw: bytes, password: bytes = PASSWORD) -> bytes:
    sealed = read_sealed(raw)
    return PasswordKey.of(password, sealed).unseal(sealed)


def test_what_was_sealed_comes_back() -> None:
    assert opened(FILE) == b"the data"
    assert b"the data" not in FILE


def test_two_files_of_one_password_have_nothing_in_common() -> None:
    first, second = (read_sealed(PasswordKey.new(PASSWORD, CHEAP).seal(b"the data")) for _ in range(2))
    assert first.salt != second.salt
    assert first.check != second.check
    assert first.sealed != second.sealed


def test_another_password_is_told_from_damage() -> None:
    with pytest.raises(WrongPassword, match="the password is wrong"):
        opened(FILE, b"another")


@given(place=st.integers(0, len(FILE) - 1), bit=st.integers(0, 7))
def test_no_change_of_the_file_goes_unseen(place: int, bit: int) -> None:
    raw = bytearray(FILE)
    raw[place] ^= 1 << bit
    try:
        assert opened(bytes(raw)) == b"the data"  # white space between the fields
    except (DamagedWallet, ForeignWallet, WrongPassword):
        return


@given(st.integers(0, len(FILE) - 2))
def test_a_torn_file_has_its_own_text(length: int) -> None:
    with pytest.raises((DamagedWallet, ForeignWallet)):
        read_sealed(FILE[:length])
    if length > 60:
        with pytest.raises(DamagedWallet, match="cut short"):
            read_sealed(FILE[:length])


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b'{"format": "another"}', b"\xff" * 100, b"5Kb8kLf9zgWQn"])
def test_what_is_no_wallet_is_said_to_be_none(raw: bytes) -> None:
    with pytest.raises(ForeignWallet, match="no wallet of ledgerd"):
        read_sealed(raw)


def test_a_file_of_a_newer_program_is_not_guessed_at() -> None:
    with pytest.raises(
        ForeignWallet, match=r"has format 2, and this program knows 1 .* Start a later version of ledgerd"
    ):
        read_sealed(FILE.replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(ForeignWallet, match=r"Start version 1\.3\.0 of ledgerd or a later one"):
        read_sealed(FILE.replace(b'"version": 1', b'"version": 2, "opened_by": "1.3.0", "pages": []'))


def test_a_version_that_no_program_has_written_is_damage() -> None:
    for version in (b"0", b'"1"', b"null"):
        with pytest.raises(DamagedWallet):
            read_sealed(FILE.replace(b'"version": 1', b'"version": ' + version))


@pytest.mark.parametrize("cost", [Cost(n=1 << 40), Cost(n=3), Cost(n=1), Cost(r=1 << 20), Cost(p=1 << 20), Cost(r=0)])
def test_a_file_cannot_ask_for_all_memory(cost: Cost) -> None:
    fields = msgspec.json.decode(FILE)
    fields["scrypt"] = msgspec.to_builtins(cost)
    with pytest.raises(DamagedWallet, match="parameters"):
        read_sealed(msgspec.json.encode(fields))
    with pytest.raises(ForeignWallet, match="more than 16 MB"):
        read_sealed(bytes(LARGEST_FILE + 1))


def test_the_usual_cost_is_accepted() -> None:
    assert Cost().is_valid


WITHOUT_RIGHTS = """
import os, re, sys
from pathlib import Path
from ledgerd.wallet.keys import sealing
from ledgerd.wallet.keys.wallet_file import KeyEntry
from ledgerd.wallet.keys.sealing import Cost, PasswordKey

def locked():
    return int(re.search(r"VmLck:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])

if os.getuid() == 0:
    os.setgroups([])
    os.setuid(65534)
sealing.protect_memory()
told = [locked()]
held = [KeyEntry(os.urandom(32)) for _ in range(500)]
told.append(locked())
held.append(PasswordKey(b"secret", bytes(32), Cost(n=2)))
told.append(locked())
print(*told)
"""


def limited_to(most: int) -> list[int]:
    """Kilobytes that are locked by a process without rights: before there is a key, with 500, with that of a file."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))

    told = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", WITHOUT_RIGHTS], preexec_fn=limit, capture_output=True, text=True, check=True
    ).stdout
    return [int(each) for each in told.split()]


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] in range(1 << 20), reason="nothing may be locked")
def test_with_a_small_limit_the_pages_of_keys_are_locked() -> None:
    none, some, all_of_them = limited_to(1 << 20)
    assert none == 0
    assert 500 * 32 >> 10 <= some <= 1 << 10
    assert some <= all_of_them <= 1 << 10


def test_where_nothing_may_be_locked_the_keys_are_used_all_the_same() -> None:
    assert limited_to(0) == [0, 0, 0]
