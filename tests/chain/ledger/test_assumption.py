"""`assume-valid` at the chain: the checks that are left out up to the assumed block, and what ends the provisional
state.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import Refused
from ledgerd.chain.ledger.assumption import AssumedBlockDiffers, Assumption
from ledgerd.codec import codec_of
from ledgerd.node.datadir.state_export import write_snapshot
from ledgerd.protocol.blocks import block as blocks_module
from ledgerd.protocol.blocks import transaction as transactions_module
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.crypto.signatures import Signature, recover, sign
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.identifiers import BlockId
from tests.chain.networks import COMMITTEE_KEY, VIZ_KEY
from tests.chain.recorded_chains import LIKE_THE_RECORDING, open_chain
from tests.recorded import recorded_blocks

ASSUMED, AFTER = 60, 70


def block_at(number: int) -> Block:
    return codec_of(Block).decode(recorded_blocks("open-1")[number - 1])


RIGHT = Assumption(ASSUMED, block_at(ASSUMED).id)
WRONG = Assumption(ASSUMED, BlockId(ASSUMED.to_bytes(4, "big") + bytes(16)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def chain(folder: Path) -> Iterator[Chain]:
    with open_chain("open-1", folder) as opened:
        yield opened


def push(chain: Chain, first: int, last: int) -> None:
    for number in range(first, last + 1):
        chain.push_block(block_at(number), LIKE_THE_RECORDING).or_raise()


class Recoveries:
    """How many keys the rules have recovered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.of_blocks = self.of_transactions = 0
        monkeypatch.setattr(blocks_module, "recover", self._of_block)
        monkeypatch.setattr(transactions_module, "recover", self._of_transaction)

    def _of_block(self, signature: Signature, digest: bytes) -> PublicKey:
        self.of_blocks += 1
        return recover(signature, digest)

    def _of_transaction(self, signature: Signature, digest: bytes) -> PublicKey:
        self.of_transactions += 1
        return recover(signature, digest)


def test_no_transaction_below_is_recovered_and_every_validator_is(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.assume_valid(RIGHT)
    recovered = Recoveries(monkeypatch)
    push(chain, 1, ASSUMED)
    assert (recovered.of_blocks, recovered.of_transactions) == (ASSUMED, 0)
    assert chain.assumption is None
    push(chain, ASSUMED + 1, AFTER)
    signatures = [
        signature
        for number in range(ASSUMED + 1, AFTER + 1)
        for trx in block_at(number).transactions
        for signature in trx.signatures
    ]
    assert (recovered.of_blocks, recovered.of_transactions) == (AFTER, len(signatures))
    assert signatures


def test_the_state_is_that_of_a_chain_with_all_checks(chain: Chain, tmp_path_factory: pytest.TempPathFactory) -> None:
    chain.assume_valid(RIGHT)
    push(chain, 1, AFTER)
    with open_chain("open-1", tmp_path_factory.mktemp("checked")) as checked:
        push(checked, 1, AFTER)
        assert chain.head_id == checked.head_id
        assert chain.globals == checked.globals


def test_the_state_stays_provisional_through_a_restart(chain: Chain, folder: Path) -> None:
    chain.assume_valid(RIGHT)
    push(chain, 1, ASSUMED - 1)
    chain.close()
    with open_chain("open-1", folder) as again:
        assert again.assumption == RIGHT
        again.assume_valid(WRONG)
        assert again.assumption == RIGHT
        push(again, ASSUMED, ASSUMED)
        assert again.assumption is None
    with open_chain("open-1", folder) as again:
        assert again.assumption is None
        again.assume_valid(WRONG)  # the chain has a block of that height already
        assert again.assumption is None


def test_another_block_there_is_refused_and_refutes_the_assumption(chain: Chain) -> None:
    chain.assume_valid(WRONG)
    push(chain, 1, ASSUMED - 1)
    assert not chain.is_assumption_refuted
    outcome = chain.push_block(block_at(ASSUMED), LIKE_THE_RECORDING)
    assert isinstance(outcome, Refused)
    assert isinstance(outcome.rule, AssumedBlockDiffers)
    assert chain.is_assumption_refuted
    assert chain.head_number == ASSUMED - 1
    assert chain.assumption == WRONG


def test_a_block_that_breaks_another_rule_refutes_nothing(chain: Chain) -> None:
    chain.assume_valid(WRONG)
    push(chain, 1, ASSUMED - 1)
    honest = block_at(ASSUMED)
    stranger = next(key for key in (VIZ_KEY, COMMITTEE_KEY) if key.public != honest.signee)
    unsigned = replace(honest, validator_signature=sign(stranger, honest.header.digest))
    lacking = replace(honest, transactions=honest.transactions[1:])
    for forged in (unsigned, lacking):
        assert isinstance(chain.push_block(forged, LIKE_THE_RECORDING), Refused)
        assert not chain.is_assumption_refuted


def test_no_snapshot_is_written_of_a_provisional_state(chain: Chain, folder: Path) -> None:
    chain.assume_valid(RIGHT)
    push(chain, 1, ASSUMED - 1)
    with pytest.raises(OperatorError, match="provisional"):
        write_snapshot(chain, folder / "snapshot", 0)
    push(chain, ASSUMED, ASSUMED)
    assert write_snapshot(chain, folder / "snapshot", 0).size
