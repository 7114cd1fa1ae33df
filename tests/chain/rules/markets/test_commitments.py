"""Hashes of hidden bets, first of all of those that reference nodes took."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledgerd.chain.evaluators.markets.bets import commitment_of
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.bets import PmCommitBet, PmRevealBet
from ledgerd.protocol.types.names import MAX_NAME_BYTES, AccountName
from tests.recorded import recorded_blocks

COMMITTED = {"open-pm2": 79, "open-main15": 126}
"""How many bets were hidden in a chain, in the order of their ids."""


def operations(chain: str) -> Iterator[Operation]:
    for packed in recorded_blocks(chain):
        for transaction in codec_of(Block).decode(packed).transactions:
            yield from transaction.operations


@pytest.mark.parametrize("chain", COMMITTED)
def test_every_bet_that_a_chain_shows_has_the_hash_under_which_it_was_hidden(chain: str) -> None:
    hidden: list[PmCommitBet] = []
    shown = 0
    for operation in operations(chain):
        if isinstance(operation, PmCommitBet):
            hidden.append(operation)
        elif isinstance(operation, PmRevealBet):
            commit = hidden[operation.commit_id]
            shown += 1
            assert commit.account == operation.account
            assert commit.commitment == commitment_of(
                commit.market_id,
                operation.account,
                operation.side,
                operation.outcome_index,
                operation.amount.amount,
                operation.min_tokens,
                operation.salt,
            )
    assert len(hidden) == COMMITTED[chain]
    assert shown > 0


@pytest.mark.parametrize(
    ("bet", "expected"),
    [
        ((1, -1, 5_000, 0, "salt"), "35203281a6525c71136b06f595459c6f46eb7b8d4101568e4f623c730256eddb"),
        ((-1, 2, 5_000, 1, ""), "c9885630c679fbf3ae3f9f0cde40520f2fa2024708120ae60ed8ff782288d13d"),
    ],
)
def test_the_hashes_of_the_specification(bet: tuple[int, int, int, int, str], expected: str) -> None:
    """Spec 08, section 13.4."""
    assert commitment_of(7, AccountName("alice"), *bet).hex() == expected


def test_a_name_may_fill_its_place() -> None:
    longest = AccountName("a" * MAX_NAME_BYTES)

    assert commitment_of(0, longest, 0, -1, 1, 0, "") != commitment_of(0, AccountName("a" * 31), 0, -1, 1, 0, "")
