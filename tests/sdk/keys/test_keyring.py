"""Keys of accounts: as the published clients make them, held without being shown, and reading their memos."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.protocol.crypto import base58
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, public_key_text
from ledgerd.protocol.crypto.signatures import recover
from ledgerd.sdk.keys.derivation import ROLES, new_key, password_keys
from ledgerd.sdk.keys.keyring import KeyRing, NoPrivateKey, WrongKey
from ledgerd.sdk.keys.memos import decrypt_memo, is_encrypted

ACTIVE_WIF = "5KBfvpmH4jCWvd2p5vSs8hrwoC3qY1uZLVbLD6mf6iny9kjLask"
"""Of the account alice with the password `password`, as the reference and the clients of JavaScript make it."""
ACTIVE = PrivateKey.from_wif(ACTIVE_WIF)
BRAIN = PrivateKey.from_brain_key("A B C")
HELLO = (
    "#F1oDHf4VVZjMeyiSi99JgA6tuc8caMssR1Q6umnaVEBGmwjyACbCJ88k1RLSzfFrg3WnTnyv7LusYJtLzCS4uK8hkWe2nDtzEvQLy"
    "3ewrwFyUCXGQBBgxUE1iaXpGY3UD"
)
"""`hello` from the one to the other, recorded from the reference."""


def test_the_keys_of_a_password_are_those_of_the_published_clients() -> None:
    made = password_keys("alice", "password")

    assert tuple(made) == ROLES
    assert made["active"].wif == ACTIVE_WIF
    assert set(KeyRing.from_password("alice", "password")) == {each.public for each in made.values()}
    assert set(KeyRing.from_password("alice", "password", ["active"])) == {ACTIVE.public}


@pytest.mark.parametrize("roles", [(), ("owner",), ("active", "posting")])
def test_a_role_that_does_not_exist_is_refused(roles: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="a role is one of master, active, regular, memo"):
        KeyRing.from_password("alice", "password", roles)


def test_what_is_printed_of_keys_are_the_public_ones() -> None:
    ring = KeyRing(ACTIVE_WIF, BRAIN)
    printed = f"{ring} {ring!r} {[ring]} {vars(ring)}"

    assert public_key_text(ACTIVE.public) in repr(ring)
    assert ring.addresses == (public_key_text(ACTIVE.public), public_key_text(BRAIN.public))
    for key in (ACTIVE, BRAIN):
        assert key.wif not in printed
        assert key.secret.hex() not in printed
        assert repr(key.secret) not in printed


def test_a_mistyped_key_is_refused_without_repeating_it() -> None:
    mistyped = ACTIVE_WIF[:-1] + "j"
    with pytest.raises(WrongKey) as refused:
        KeyRing(mistyped)
    assert mistyped[:20] not in f"{refused.value!r} {refused.value}"


def test_rings_are_joined_and_say_what_they_hold() -> None:
    one, other = KeyRing(ACTIVE), KeyRing(BRAIN)
    both = one | other

    assert (len(one), len(other), len(both)) == (1, 1, 2)
    assert BRAIN.public in both
    assert BRAIN.public not in one
    assert repr(KeyRing()) == "KeyRing(of no keys)"


def test_a_ring_signs_with_the_keys_that_are_named_and_no_other() -> None:
    ring, digest = KeyRing(ACTIVE, BRAIN), b"\x01" * 32

    assert [recover(each, digest) for each in ring.sign(digest, [BRAIN.public, ACTIVE.public])] == [
        BRAIN.public,
        ACTIVE.public,
    ]
    with pytest.raises(NoPrivateKey, match=public_key_text(NULL_KEY)):
        ring.sign(digest, [NULL_KEY])


def test_a_recorded_memo_is_read_by_either_end_and_by_nobody_else() -> None:
    assert KeyRing(BRAIN).decrypt_memo(HELLO) == KeyRing(new_key(), ACTIVE).decrypt_memo(HELLO) == "hello"
    with pytest.raises(NoPrivateKey, match="none of these keys can read this memo"):
        KeyRing(new_key()).decrypt_memo(HELLO)


def test_a_memo_is_encrypted_differently_each_time() -> None:
    ring = KeyRing(ACTIVE)
    first, second = (ring.encrypt_memo("hello", ACTIVE.public, BRAIN.public) for _ in range(2))

    assert first != second
    assert is_encrypted(first)
    assert decrypt_memo(second, [BRAIN]) == "hello"
    with pytest.raises(NoPrivateKey):
        ring.encrypt_memo("hello", BRAIN.public, ACTIVE.public)


@pytest.mark.parametrize("text", ["hello", "#hello", "#", ""])
def test_a_text_is_not_taken_for_an_encrypted_memo(text: str) -> None:
    assert not is_encrypted(text)


@given(st.one_of(st.text(max_size=80), st.binary(max_size=200).map(lambda raw: "#" + base58.encode(raw))))
@example("#" + base58.encode(ACTIVE.public + bytes(33) + bytes(200)))
def test_whatever_a_stranger_sends_as_a_memo_is_read_or_has_no_key(memo: str) -> None:
    with pytest.raises(NoPrivateKey):
        KeyRing(ACTIVE, BRAIN).decrypt_memo(memo)


def test_a_memo_to_a_key_that_is_none_is_refused() -> None:
    with pytest.raises(WrongKey, match="not a point of the curve"):
        KeyRing(ACTIVE).encrypt_memo("hello", ACTIVE.public, NULL_KEY)
