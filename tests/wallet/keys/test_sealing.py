from __future__ import annotations

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
    with pytest.raises(ForeignWallet, match="newer ledgerd"):
        read_sealed(FILE.replace(b'"version": 1', b'"version": 2'))


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
