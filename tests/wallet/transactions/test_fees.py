"""Fees: every property that is one is told where it is paid."""

from __future__ import annotations

import json

from ledgerd.protocol.keys import NULL_KEY
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.properties import VersionedChainProperties
from ledgerd.wallet.transactions.fees import fees_of
from tests.recorded import recorded_result

VALIDATOR: Operation = ValidatorUpdate(AccountName("alice"), "", NULL_KEY)


def test_a_recorded_fee_is_told() -> None:
    properties = json.loads(recorded_result("open-main15/api-1216", "get_chain_properties"))

    assert list(fees_of((VALIDATOR,), properties)) == [
        f"{properties['validator_declaration_fee']} (the first time): validator_declaration_fee"
    ]
    assert list(fees_of((VALIDATOR,), {})) == []


def test_the_fees_are_properties_that_validators_vote_on() -> None:
    known = {name for each in VersionedChainProperties.__args__[0].__args__ for name in each.__struct_fields__}

    assert {each.FEE.property for each in OPERATIONS if each.FEE} <= known
