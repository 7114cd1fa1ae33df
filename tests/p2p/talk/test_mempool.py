"""What is kept of transactions that were relayed."""

from __future__ import annotations

from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.talk.mempool import Mempool
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.networks import ALICE, BOB
from tests.garbage import nothing_stays

EXPIRES = 1_800_000_000
COUNT = 100


def long(number: int) -> Transaction:
    operations = tuple(Transfer(ALICE, BOB, tokens(each + 1), "") for each in range(COUNT))
    return Transaction(number, 0, EXPIRES, operations, (), ())


def test_a_transaction_is_remembered_without_its_operations() -> None:
    """It may have left the chain long before it expires, and would then be kept for nobody."""
    mempool = Mempool(Settings(), lambda _: True)
    size = sum(len(long(number).packed) for number in range(COUNT))
    with nothing_stays(size // 2):
        for number in range(COUNT):
            mempool.add(long(number), is_provisional=True)
    assert (len(mempool), mempool.size) == (COUNT, size)


def test_it_goes_when_it_expires_or_refers_to_no_block_of_ours() -> None:
    lost = {3}
    mempool = Mempool(Settings(), lambda transaction: transaction.ref_block_num not in lost)
    for number in range(5):
        mempool.add(long(number), is_provisional=True)
    mempool.confirm()
    assert len(mempool) == 4
    lost.add(4)
    mempool.clean(EXPIRES, drops_unanchored=True)
    assert len(mempool) == 3
    mempool.clean(EXPIRES + 1, drops_unanchored=True)
    assert (len(mempool), mempool.size) == (0, 0)
