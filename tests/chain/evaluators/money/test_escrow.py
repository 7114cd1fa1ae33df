from __future__ import annotations

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.money.escrow import EscrowApprove, EscrowDispute, EscrowRelease, EscrowTransfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.money.escrow import ESCROWS, Escrow
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, carry_out, change, create_account, pass_time, refuses

DAVE = AccountName("dave")
DEADLINE, EXPIRATION = NOW + 100, NOW + 200
OPEN = EscrowTransfer(ALICE, BOB, tokens(70), 7, CAROL, tokens(30), '{"a":1}', DEADLINE, EXPIRATION)


@pytest.fixture(autouse=True)
def people(ledger: Ledger) -> None:
    for name, balance in ((ALICE, 100), (BOB, 0), (CAROL, 0), (DAVE, 0)):
        create_account(ledger, name, balance=balance)


@pytest.fixture
def escrow(ledger: Ledger) -> Escrow:
    carry_out(ledger, OPEN)
    return ledger.store.get(ESCROWS, 0)


@pytest.fixture
def agreed(ledger: Ledger, escrow: Escrow) -> Escrow:
    for who in (BOB, CAROL):
        carry_out(ledger, approve(who))
    return escrow


def balances(ledger: Ledger) -> tuple[int, int, int]:
    return ledger.account(ALICE).balance, ledger.account(BOB).balance, ledger.account(CAROL).balance


def approve(who: AccountName, *, yes: bool = True) -> EscrowApprove:
    return EscrowApprove(ALICE, BOB, CAROL, who, 7, yes)


def dispute(who: AccountName = ALICE) -> EscrowDispute:
    return EscrowDispute(ALICE, BOB, CAROL, who, 7)


def release(who: AccountName, receiver: AccountName, amount: int = 70) -> EscrowRelease:
    return EscrowRelease(ALICE, BOB, CAROL, who, receiver, 7, tokens(amount))


# -- escrow_transfer


def test_an_escrow_takes_tokens_and_fee_from_the_sender(ledger: Ledger) -> None:
    assert carry_out(ledger, OPEN) == []

    assert balances(ledger) == (0, 0, 0)
    assert list(ledger.store.scan(ESCROWS)) == [Escrow(0, 7, ALICE, BOB, CAROL, DEADLINE, EXPIRATION, 70, 30)]


def test_the_sender_has_tokens_and_fee(ledger: Ledger) -> None:
    refuses(
        ledger,
        msgspec.structs.replace(OPEN, fee=tokens(31)),
        "from_account.balance >= token_spent: Account cannot cover token costs of escrow. "
        "Required: 0.101 VIZ Available: 0.100 VIZ",
    )


def test_both_times_are_ahead(ledger: Ledger) -> None:
    refuses(
        ledger,
        msgspec.structs.replace(OPEN, ratification_deadline=NOW),
        "o.ratification_deadline > _db.head_block_time(): "
        "The escorw ratification deadline must be after head block time.",
    )
    refuses(
        ledger,
        msgspec.structs.replace(OPEN, escrow_expiration=NOW),
        "o.escrow_expiration > _db.head_block_time(): The escrow expiration must be after head block time.",
    )
    carry_out(ledger, msgspec.structs.replace(OPEN, ratification_deadline=NOW + 1, escrow_expiration=NOW + 1))


@pytest.mark.parametrize("field", ["sender", "recipient", "agent"])
def test_the_three_exist(ledger: Ledger, field: str) -> None:
    refuses(ledger, msgspec.structs.replace(OPEN, **{field: AccountName("nobody")}), "unknown key: ")


def test_a_sender_uses_a_number_once(ledger: Ledger, escrow: Escrow) -> None:
    change(ledger, ledger.account(ALICE), balance=100)

    refuses(ledger, OPEN, "could not insert object, most likely a uniqueness constraint was violated: ")
    carry_out(ledger, msgspec.structs.replace(OPEN, escrow_id=escrow.escrow_id + 1))


# -- escrow_approve


def test_the_fee_is_paid_when_both_agree(ledger: Ledger, escrow: Escrow) -> None:
    assert carry_out(ledger, approve(CAROL)) == []
    assert (escrow.to_approved, escrow.agent_approved, escrow.pending_fee) == (False, True, 30)

    carry_out(ledger, approve(BOB))

    assert (escrow.is_approved, escrow.pending_fee, escrow.token_balance) == (True, 0, 70)
    assert balances(ledger) == (0, 0, 30)


@pytest.mark.parametrize("who", [BOB, CAROL])
def test_a_refusal_gives_everything_back(ledger: Ledger, escrow: Escrow, who: AccountName) -> None:
    carry_out(ledger, approve(CAROL if who == BOB else BOB))

    carry_out(ledger, approve(who, yes=False))

    assert balances(ledger) == (100, 0, 0)
    assert ledger.store.find(ESCROWS, escrow.id) is None


@pytest.mark.parametrize("yes", [False, True])
def test_who_has_agreed_has_decided(ledger: Ledger, escrow: Escrow, yes: bool) -> None:
    carry_out(ledger, approve(BOB))
    refuses(
        ledger,
        approve(BOB, yes=yes),
        "!escrow.to_approved: Account 'to' (bob) has already approved the escrow.",
    )
    carry_out(ledger, approve(CAROL))
    refuses(
        ledger,
        approve(CAROL, yes=yes),
        "!escrow.agent_approved: Account 'agent' (carol) has already approved the escrow.",
    )
    assert escrow.is_approved


def test_recipient_and_agent_are_those_of_the_escrow(ledger: Ledger, agreed: Escrow) -> None:
    assert agreed.recipient == BOB
    for operation, word in ((approve(DAVE), "escrow"), (dispute(), "e"), (release(BOB, ALICE), "e")):
        refuses(
            ledger,
            msgspec.structs.replace(operation, recipient=DAVE),
            f"{word}.to == o.to: Operation 'to' (dave) does not match escrow 'to' (bob).",
        )
        refuses(
            ledger,
            msgspec.structs.replace(operation, agent=DAVE),
            f"{word}.agent == o.agent: Operation 'agent' (${{a}}) does not match escrow 'agent' (carol).",
        )


def test_agreement_comes_until_the_deadline(ledger: Ledger, escrow: Escrow) -> None:
    pass_time(ledger, 100)
    carry_out(ledger, approve(BOB))
    pass_time(ledger, 1)

    refuses(
        ledger,
        approve(CAROL),
        "escrow.ratification_deadline >= _db.head_block_time(): "
        "The escrow ratification deadline has passed. Escrow can no longer be ratified.",
    )
    assert escrow.to_approved


@pytest.mark.parametrize("operation", [approve(BOB), dispute(), release(BOB, ALICE)])
def test_there_must_be_an_escrow(ledger: Ledger, operation: EscrowApprove | EscrowDispute | EscrowRelease) -> None:
    refuses(ledger, operation, "unknown key: ")


# -- escrow_dispute


def test_a_dispute_is_noted(ledger: Ledger, agreed: Escrow) -> None:
    assert carry_out(ledger, dispute()) == []

    assert agreed.disputed
    refuses(ledger, dispute(BOB), "!e.disputed: The escrow is already under dispute.")


def test_a_dispute_comes_before_the_escrow_expires(ledger: Ledger, agreed: Escrow) -> None:
    pass_time(ledger, 200)

    refuses(
        ledger,
        dispute(),
        "_db.head_block_time() < e.escrow_expiration: Disputing the escrow must happen before expiration.",
    )
    pass_time(ledger, -1)
    carry_out(ledger, dispute())
    assert agreed.disputed


def test_a_dispute_comes_after_agreement(ledger: Ledger, escrow: Escrow) -> None:
    carry_out(ledger, approve(BOB))

    refuses(
        ledger,
        dispute(),
        "e.to_approved && e.agent_approved: The escrow must be approved by all parties before a dispute can be raised.",
    )
    assert not escrow.disputed


# -- escrow_release


@pytest.mark.parametrize(("who", "receiver"), [(ALICE, BOB), (BOB, ALICE)])
def test_each_party_releases_to_the_other(
    ledger: Ledger, agreed: Escrow, who: AccountName, receiver: AccountName
) -> None:
    assert carry_out(ledger, release(who, receiver, 69)) == []
    assert (ledger.account(receiver).balance, agreed.token_balance) == (69, 1)

    carry_out(ledger, release(who, receiver, 1))

    assert ledger.account(receiver).balance == 70
    assert ledger.store.find(ESCROWS, agreed.id) is None


def test_no_more_is_released_than_there_is(ledger: Ledger, agreed: Escrow) -> None:
    refuses(
        ledger,
        release(ALICE, BOB, 71),
        "e.token_balance >= o.token_amount: Release amount exceeds escrow balance. "
        "Amount: 0.071 VIZ, Balance: 0.070 VIZ",
    )
    assert agreed.token_balance == 70


def test_nothing_is_released_before_agreement(ledger: Ledger, escrow: Escrow) -> None:
    carry_out(ledger, approve(CAROL))

    refuses(
        ledger,
        release(ALICE, BOB),
        "e.to_approved && e.agent_approved: Funds cannot be released prior to escrow approval.",
    )
    assert escrow.token_balance == 70


def test_nobody_else_receives_anything(ledger: Ledger, agreed: Escrow) -> None:
    refuses(
        ledger,
        release(ALICE, DAVE),
        "o.receiver == e.from || o.receiver == e.to: Funds must be released to 'from' (alice) or 'to' (bob)",
    )
    refuses(ledger, release(ALICE, AccountName("nobody")), "unknown key: ")
    assert agreed.token_balance == 70


def test_before_it_expires_no_party_releases_to_itself(ledger: Ledger, agreed: Escrow) -> None:
    pass_time(ledger, 199)
    refuses(
        ledger,
        release(ALICE, ALICE),
        "o.receiver == e.to: Only 'from' (alice) can release funds to 'to' (bob).",
    )
    refuses(ledger, release(BOB, BOB), "o.receiver == e.from: Only 'to' (bob) can release funds to 'from' (bob).")
    pass_time(ledger, 1)
    carry_out(ledger, release(ALICE, ALICE, 30))
    carry_out(ledger, release(BOB, BOB, 40))

    assert balances(ledger) == (30, 40, 30)
    assert ledger.store.find(ESCROWS, agreed.id) is None


def test_the_agent_decides_only_a_dispute(ledger: Ledger, agreed: Escrow) -> None:
    refuses(
        ledger,
        release(CAROL, BOB),
        "o.who == e.from || o.who == e.to: "
        "Only 'from' (alice) and 'to' (bob) can release funds from a non-disputed escrow",
    )
    carry_out(ledger, dispute())
    refuses(
        ledger,
        release(ALICE, BOB),
        "o.who == e.agent: Only 'agent' (carol) can release funds in a disputed escrow.",
    )
    carry_out(ledger, release(CAROL, BOB, 20))
    carry_out(ledger, release(CAROL, ALICE, 50))

    assert balances(ledger) == (50, 20, 30)
    assert ledger.store.find(ESCROWS, agreed.id) is None
