from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.accounts.custom import Custom
from tests.chain.ledgers import ALICE, BOB, HEAD, carry_out, create_account, refuses


def test_each_account_counts_what_it_vouches_for(ledger: Ledger) -> None:
    create_account(ledger, ALICE, custom_sequence=7)
    create_account(ledger, BOB)

    assert carry_out(ledger, Custom((ALICE,), (BOB,), "id", "{}")) == []

    alice, bob = ledger.account(ALICE), ledger.account(BOB)
    assert (alice.custom_sequence, alice.custom_sequence_block_num) == (8, HEAD + 1)
    assert (bob.custom_sequence, bob.custom_sequence_block_num) == (1, HEAD + 1)


def test_who_vouches_twice_counts_twice(ledger: Ledger) -> None:
    create_account(ledger, ALICE)

    carry_out(ledger, Custom((ALICE,), (ALICE,), "id", "[1"))

    assert ledger.account(ALICE).custom_sequence == 2


def test_who_vouches_exists(ledger: Ledger) -> None:
    create_account(ledger, ALICE)

    refuses(ledger, Custom((ALICE,), (BOB,), "id", "{}"), "unknown key: ")
