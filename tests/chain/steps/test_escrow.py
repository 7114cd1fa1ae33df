from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.housekeeping import expire_escrows
from ledgerd.protocol.operations.virtual import ExpireEscrowRatification
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.money.escrow import ESCROWS, Escrow
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, create_account, run


def escrow(number: int, deadline: int, *, to_approved: bool = False, agent_approved: bool = False) -> Escrow:
    return Escrow(0, number, ALICE, BOB, CAROL, deadline, deadline + 1, 70, 30, to_approved, agent_approved)


def expired(number: int, deadline: int) -> ExpireEscrowRatification:
    return ExpireEscrowRatification(ALICE, BOB, CAROL, number, tokens(70), tokens(30), deadline)


def test_escrows_that_were_not_agreed_to_in_time_go_back(ledger: Ledger) -> None:
    alice = create_account(ledger, ALICE)
    for each in (
        escrow(1, NOW),
        escrow(2, NOW + 1),
        escrow(3, NOW, to_approved=True, agent_approved=True),
        escrow(4, NOW, to_approved=True),
        escrow(5, NOW - 1, agent_approved=True),
    ):
        ledger.store.create(ESCROWS, each)

    assert run(ledger, expire_escrows) == [expired(5, NOW - 1), expired(1, NOW), expired(4, NOW)]

    assert alice.balance == 300
    assert [each.escrow_id for each in ledger.store.scan(ESCROWS)] == [2, 3]
