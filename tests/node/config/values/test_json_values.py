from __future__ import annotations

from typing import Any

import pytest

from ledgerd.node.config.values.json_values import ACCOUNT_RANGE, CHECKPOINT, GUARDED, NAME, AccountRange, Checkpoint
from ledgerd.node.config.values.key_values import PRIVATE_KEY
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.types.identifiers import BlockId

COMMITTEE_WIF = "5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC"
COMMITTEE_KEY = "VIZ6Yt7d6LsngBoXQr47aLv97bJVs7jyr7esZTM4UUSpLUf3nbRKS"
BLOCK_ID = "00000005" + "ab" * 16


def refused(kind: OptionKind[Any], text: str) -> str:
    with pytest.raises(WrongValue) as error:
        kind.read(text)
    return str(error.value)


@pytest.mark.parametrize("text", ['"alice"', "alice", '"alice" '])
def test_a_name_stands_with_or_without_quotes(text: str) -> None:
    assert NAME.read(text.strip()) == "alice"


@pytest.mark.parametrize("text", ["", '"', '"Alice"', "a", '["alice"]', '"alice'])
def test_what_is_no_name_is_refused(text: str) -> None:
    assert refused(NAME, text) in {"is not the name of an account", "is not JSON"}


@pytest.mark.parametrize("number", ["5", '"5"'])
def test_a_checkpoint_is_a_number_and_an_id(number: str) -> None:
    expected = Checkpoint(5, BlockId(bytes.fromhex(BLOCK_ID)))

    assert CHECKPOINT.read(f'[{number},"{BLOCK_ID}"]') == expected
    assert CHECKPOINT.show(expected) == f'[5,"{BLOCK_ID}"]'


@pytest.mark.parametrize(
    "text",
    ["", "5", "[5]", f'[5,"{BLOCK_ID}",1]', '[5,"00"]', "[5,6]", f'[true,"{BLOCK_ID}"]', f'[[],"{BLOCK_ID}"]', "[5,"],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    assert refused(CHECKPOINT, text)


def test_a_range_is_two_names() -> None:
    assert ACCOUNT_RANGE.read('["a", "z"]') == AccountRange("a", "z")
    assert ACCOUNT_RANGE.show(AccountRange("a", "z")) == '["a","z"]'
    assert refused(ACCOUNT_RANGE, '["a"]') == "is not an array of 2"
    assert refused(ACCOUNT_RANGE, "[1,2]") == "is not an array of 2 strings"


@pytest.mark.parametrize("text", [COMMITTEE_WIF, f'"{COMMITTEE_WIF}"'])
def test_a_private_key_is_read_from_wif(text: str) -> None:
    assert public_key_text(PRIVATE_KEY.read(text).public) == COMMITTEE_KEY


def test_a_private_key_is_shown_by_its_public_one() -> None:
    assert PRIVATE_KEY.show(PRIVATE_KEY.read(COMMITTEE_WIF)) == f"(the private key of {COMMITTEE_KEY})"


@pytest.mark.parametrize("text", ["", "5", COMMITTEE_WIF[:-1], COMMITTEE_WIF + "x", COMMITTEE_KEY])
def test_a_key_that_cannot_be_read_is_not_repeated(text: str) -> None:
    assert refused(PRIVATE_KEY, text) == "is not a private key in WIF"


def test_a_guarded_validator_is_a_name_and_two_keys() -> None:
    value = GUARDED.read(f'["alice","{COMMITTEE_WIF}","{COMMITTEE_WIF}"]')

    assert value.name == "alice"
    assert public_key_text(value.active_key.public) == COMMITTEE_KEY
    assert COMMITTEE_WIF not in GUARDED.show(value) + repr(value)


def test_a_fault_in_a_guarded_validator_repeats_no_key() -> None:
    assert refused(GUARDED, f'["alice","{COMMITTEE_WIF}","x"]') == "has a part that is not a private key in WIF"
    assert refused(GUARDED, f'["alice","{COMMITTEE_WIF}"]') == "is not an array of 3"
    assert refused(GUARDED, COMMITTEE_WIF) == "is not an array of 3"


@pytest.mark.parametrize("kind", [PRIVATE_KEY, GUARDED])
def test_kinds_with_keys_are_secret(kind: OptionKind[Any]) -> None:
    assert kind.secret
