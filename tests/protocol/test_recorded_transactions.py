"""Every recorded transaction and operation: ids, signers, JSON both ways, and how the node refused what was unsound.

A usual run recovers the signers of every fifth block, as `tests/chain/test_recorded_chains.py` needs those of all;
`EVERY_SIGNER=1 scripts/test tests/protocol/test_recorded_transactions.py` does so with every block.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.codec.json.legacy import parse
from ledgerd.codec.json.text import dumps
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.names import MAX_NAME_BYTES
from tests.recorded import (
    ALL_CHAINS,
    ANSWERED,
    MARKET_PROBES,
    PROBES,
    recorded_answers,
    recorded_blocks,
    recorded_probe,
)

TRANSACTIONS = codec_of(Transaction)
ANY_OPERATION = codec_of(Operation)
KEY = re.compile(r"VIZ[1-9A-HJ-NP-Za-km-z]{50}")

NETWORKS = {chain: MAINNET if chain in ("open-hf0", "open-main", "open-main15") else TESTNET for chain in ALL_CHAINS}

NEVER_RECORDED = {
    "author_reward",
    "curation_reward",
    "content_reward",
    "content_benefactor_reward",
    "cancel_paid_subscription",
}

COME_BACK_OTHERWISE = {
    "pm_cancel_bet": {"min_return"},
    "pm_create_market": {"oracle_fixed_fee"},
    "pm_dispute_resolve": {"penalty_amount", "ban_oracle_until", "ban_creator_until"},
    "pm_leverage_open": {"min_tokens"},
    "pm_oracle_register": {"fixed_fee"},
    "pm_oracle_update": {"insurance_delta", "fixed_fee"},
    "pm_place_bet": {"min_tokens"},
    "pm_withdraw_liquidity": {"amount"},
    "proposal_create": {"proposed_operations"},
    "set_agent_permission": {"agent_name", "operations", "addons", "expiration"},
}
"""What JSON cannot bring back: sets in another order, names that are too long, amounts below zero, the last second
that there is, and numbers that are so large that they are printed as texts.
"""

ALL_PROBES = PROBES + MARKET_PROBES

SIGNERS_OF = 1 if "EVERY_SIGNER" in os.environ else 5
"""One of so many blocks."""

every_chain = pytest.mark.parametrize("chain", ALL_CHAINS)
every_probe = pytest.mark.parametrize("probe", ALL_PROBES)


@cache
def transactions_of(chain: str) -> dict[tuple[int, int], Transaction]:
    """Every transaction of a chain, by its block and its place there."""
    blocks = map(codec_of(Block).decode_exactly, recorded_blocks(chain))
    return {(block.number, place): each for block in blocks for place, each in enumerate(block.transactions)}


@cache
def operations_of(chain: str) -> list[dict[str, Any]]:
    """Every operation that the node told of, virtual ones and those of proposals included."""
    answers = recorded_answers(chain, ANSWERED[chain])["get_ops_in_block"]
    texts = [text for (_, only_virtual), text in sorted(answers.items()) if not only_virtual]
    return [operation for text in texts for operation in json.loads(text)]


@cache
def sent_to(probe: str) -> list[dict[str, Any]]:
    """What was sent to a node, and came back with its id."""
    return [fact for fact in recorded_probe(probe) if "trx" in fact]


def as_read(fact: dict[str, Any], probe: str) -> Any:
    """The JSON of a sent transaction as the node read it: Unicode escapes lost their backslashes.

    What was sent to the later nodes had none.
    """
    return parse(json.dumps(fact["trx"]).encode(), unicode_escapes=probe in MARKET_PROBES)


@cache
def transactions_sent_to(probe: str) -> list[Transaction]:
    return [TRANSACTIONS.from_json(as_read(fact, probe)) for fact in sent_to(probe)]


def refusal_of(transaction: Transaction, probe: str) -> tuple[int, str] | None:
    """What the transaction breaks by itself: code and message."""
    try:
        transaction.check(NETWORKS[probe.partition("/")[0]])
    except RuleViolation as violation:
        return violation.code, violation.message
    return None


@every_chain
def test_every_transaction_has_the_id_that_was_recorded(chain: str) -> None:
    recorded = {
        (each["block"], each["trx_in_block"]): each["trx_id"]
        for each in operations_of(chain)
        if each["virtual_op"] == 0 and int(each["trx_id"], 16)
    }

    assert {place: each.id.hex() for place, each in transactions_of(chain).items()} == recorded


@every_chain
def test_every_transaction_is_written_as_it_was_read(chain: str) -> None:
    for transaction in transactions_of(chain).values():
        written = TRANSACTIONS.encode(transaction)
        assert written == transaction.packed
        assert TRANSACTIONS.decode_exactly(written) == transaction


@every_chain
def test_every_operation_of_a_transaction_is_printed_as_recorded(chain: str) -> None:
    """The node's answers are printed by it, the transactions here by us."""
    transactions = transactions_of(chain)
    told = [each for each in operations_of(chain) if each["virtual_op"] == 0 and int(each["trx_id"], 16)]

    for each in told:
        operation = transactions[each["block"], each["trx_in_block"]].operations[each["op_in_trx"]]
        assert json.loads(ANY_OPERATION.to_json(operation)) == each["op"]
    assert len(told) == sum(len(transaction.operations) for transaction in transactions.values())


@every_chain
def test_every_operation_is_read_from_its_json_and_printed_again(chain: str) -> None:
    for (_, only_virtual), text in recorded_answers(chain, ANSWERED[chain])["get_ops_in_block"].items():
        printed = []
        for each in json.loads(text):
            operation = ANY_OPERATION.from_json(each["op"])
            assert ANY_OPERATION.decode_exactly(ANY_OPERATION.encode(operation)) == operation
            assert operation.VIRTUAL or not only_virtual or each["virtual_op"]
            entry = {**each, "op": None}
            printed.append(dumps(entry).replace('"op":null', '"op":' + ANY_OPERATION.to_json(operation)))
        assert f"[{','.join(printed)}]" == text


def test_every_operation_was_recorded_but_a_few_virtual_ones() -> None:
    told = {each["op"][0] for chain in ALL_CHAINS for each in operations_of(chain)}
    tried = {name for probe in ALL_PROBES for fact in sent_to(probe) for name, _ in fact["trx"]["operations"]}

    assert {name_of(each) for each in OPERATIONS} - told - tried == NEVER_RECORDED


@every_chain
def test_every_transaction_is_signed_with_keys_that_the_chain_has_told_of(chain: str) -> None:
    """A wrong digest or a wrong recovery gives a key that nobody ever wrote down."""
    network = NETWORKS[chain]
    genesis = [public_key_text(account.key) for account in TESTNET.genesis_accounts]
    known = {public_key_text(network.initiator_key), public_key_text(network.invite_key), *genesis}
    transactions = transactions_of(chain)
    answers = recorded_answers(chain, ANSWERED[chain])["get_block"]
    for number in range(1, ANSWERED[chain] + 1):
        known |= set(KEY.findall(answers[number,]))
        if number % SIGNERS_OF:
            continue
        signers = {
            public_key_text(key)
            for place in range(len(json.loads(answers[number,])["transactions"]))
            for key in transactions[number, place].signature_keys(network.chain_id)
        }
        assert signers <= known, number


@every_chain
def test_every_transaction_of_a_block_is_sound_in_itself(chain: str) -> None:
    for transaction in transactions_of(chain).values():
        transaction.check(NETWORKS[chain])


@every_probe
def test_every_sent_transaction_has_the_id_that_was_recorded(probe: str) -> None:
    assert [each.id.hex() for each in transactions_sent_to(probe)] == [fact["id"] for fact in sent_to(probe)]


@pytest.mark.parametrize("probe", PROBES)
def test_every_sent_transaction_is_printed_as_the_node_read_it(probe: str) -> None:
    """Only a name that is too long comes back otherwise: it was cut."""
    for fact, transaction in zip(sent_to(probe), transactions_sent_to(probe), strict=True):
        read = as_read(fact, probe)
        for _, fields in read["operations"]:
            if "account" in fields:
                fields["account"] = fields["account"][:MAX_NAME_BYTES]
        assert json.loads(TRANSACTIONS.to_json(transaction)) == read
        assert TRANSACTIONS.decode_exactly(TRANSACTIONS.encode(transaction)) == transaction


@pytest.mark.parametrize("probe", MARKET_PROBES)
def test_every_transaction_sent_to_a_later_node_is_printed_as_it_was_read_but_for_known_losses(probe: str) -> None:
    for fact, transaction in zip(sent_to(probe), transactions_sent_to(probe), strict=True):
        read = as_read(fact, probe)
        printed = json.loads(TRANSACTIONS.to_json(transaction))
        for (name, fields), (given_name, given) in zip(printed["operations"], read["operations"], strict=True):
            assert (name, set(fields)) == (given_name, set(given))
            assert {field for field in fields if fields[field] != given[field]} <= COME_BACK_OTHERWISE.get(name, set())
        assert TRANSACTIONS.decode_exactly(TRANSACTIONS.encode(transaction)) == transaction


@every_probe
def test_what_is_not_sound_in_itself_was_refused_in_the_same_words(probe: str) -> None:
    """What the node accepted is sound; what it refused for another reason, which needs a state, may be as well."""
    recorded_refusals = [fact["refused"] for fact in sent_to(probe)]
    our_refusals = [refusal_of(each, probe) for each in transactions_sent_to(probe)]
    refusals = zip(recorded_refusals, our_refusals, strict=True)
    unsound = [(recorded, ours) for recorded, ours in refusals if ours is not None]

    assert len(unsound) > 80
    for recorded, (code, message) in unsound:
        assert recorded is not None, message
        assert (recorded["code"], recorded["message"]) == (code, message)
