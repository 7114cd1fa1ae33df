"""The rules of escrow (spec 02, section 8). One not agreed to in time is returned by `steps.housekeeping`."""

from __future__ import annotations

from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.money.escrow import EscrowApprove, EscrowDispute, EscrowRelease, EscrowTransfer
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.money.escrow import ESCROW_BY_SENDER, ESCROWS, Escrow

BOTH_AGREED = "e.to_approved && e.agent_approved"


@evaluates(EscrowTransfer)
def escrow_transfer(ledger: Ledger, operation: EscrowTransfer) -> None:
    sender = ledger.account(operation.sender)
    ledger.account(operation.recipient)
    ledger.account(operation.agent)
    require(
        operation.ratification_deadline > ledger.now,
        "o.ratification_deadline > _db.head_block_time(): "
        "The escorw ratification deadline must be after head block time.",
    )
    require(
        operation.escrow_expiration > ledger.now,
        "o.escrow_expiration > _db.head_block_time(): The escrow expiration must be after head block time.",
    )
    spent = fits_int64(operation.token_amount.amount + operation.fee.amount)
    require(
        sender.balance >= spent,
        "from_account.balance >= token_spent: Account cannot cover token costs of escrow. "
        "Required: ${r} Available: ${a}",
        r=str(tokens(spent)),
        a=str(tokens(sender.balance)),
    )
    adjust_balance(ledger, sender, -spent)
    escrow = Escrow(
        escrow_id=operation.escrow_id,
        sender=operation.sender,
        recipient=operation.recipient,
        agent=operation.agent,
        ratification_deadline=operation.ratification_deadline,
        escrow_expiration=operation.escrow_expiration,
        token_balance=operation.token_amount.amount,
        pending_fee=operation.fee.amount,
    )
    ledger.store.create(ESCROWS, escrow)


@evaluates(EscrowApprove)
def escrow_approve(ledger: Ledger, operation: EscrowApprove) -> None:
    """Agree, or refuse and so end it; the agent's fee is paid when both have agreed."""
    escrow = ledger.store.at(ESCROW_BY_SENDER, operation.sender, operation.escrow_id)
    _require_parties("escrow", escrow, operation.recipient, operation.agent)
    require(
        escrow.ratification_deadline >= ledger.now,
        "escrow.ratification_deadline >= _db.head_block_time(): "
        "The escrow ratification deadline has passed. Escrow can no longer be ratified.",
    )
    _require_undecided(escrow, operation)
    if not operation.approve:
        adjust_balance(ledger, ledger.account(escrow.sender), fits_int64(escrow.token_balance + escrow.pending_fee))
        ledger.store.remove(escrow)
        return
    with ledger.editing(escrow):
        escrow.to_approved |= operation.who == operation.recipient
        escrow.agent_approved |= operation.who == operation.agent
    if escrow.is_approved:
        adjust_balance(ledger, ledger.account(escrow.agent), escrow.pending_fee)
        ledger.remember(escrow)
        escrow.pending_fee = 0


def _require_undecided(escrow: Escrow, operation: EscrowApprove) -> None:
    if operation.who == operation.recipient:
        require(
            not escrow.to_approved,
            "!escrow.to_approved: Account 'to' (${t}) has already approved the escrow.",
            t=operation.recipient,
        )
    if operation.who == operation.agent:
        require(
            not escrow.agent_approved,
            "!escrow.agent_approved: Account 'agent' (${a}) has already approved the escrow.",
            a=operation.agent,
        )


@evaluates(EscrowDispute)
def escrow_dispute(ledger: Ledger, operation: EscrowDispute) -> None:
    ledger.account(operation.sender)
    escrow = ledger.store.at(ESCROW_BY_SENDER, operation.sender, operation.escrow_id)
    require(
        ledger.now < escrow.escrow_expiration,
        "_db.head_block_time() < e.escrow_expiration: Disputing the escrow must happen before expiration.",
    )
    require(
        escrow.is_approved,
        f"{BOTH_AGREED}: The escrow must be approved by all parties before a dispute can be raised.",
    )
    require(not escrow.disputed, "!e.disputed: The escrow is already under dispute.")
    _require_parties("e", escrow, operation.recipient, operation.agent)
    ledger.remember(escrow)
    escrow.disputed = True


@evaluates(EscrowRelease)
def escrow_release(ledger: Ledger, operation: EscrowRelease) -> None:
    ledger.account(operation.sender)
    receiver = ledger.account(operation.receiver)
    escrow = ledger.store.at(ESCROW_BY_SENDER, operation.sender, operation.escrow_id)
    amount = operation.token_amount
    require(
        escrow.token_balance >= amount.amount,
        "e.token_balance >= o.token_amount: Release amount exceeds escrow balance. Amount: ${a}, Balance: ${b}",
        a=str(amount),
        b=str(tokens(escrow.token_balance)),
    )
    _require_parties("e", escrow, operation.recipient, operation.agent)
    require(
        operation.receiver in (escrow.sender, escrow.recipient),
        "o.receiver == e.from || o.receiver == e.to: Funds must be released to 'from' (${f}) or 'to' (${t})",
        f=escrow.sender,
        t=escrow.recipient,
    )
    require(escrow.is_approved, f"{BOTH_AGREED}: Funds cannot be released prior to escrow approval.")
    _require_right_to_release(ledger, escrow, operation)
    adjust_balance(ledger, receiver, amount.amount)
    ledger.remember(escrow)
    escrow.token_balance = fits_int64(escrow.token_balance - amount.amount)
    if escrow.token_balance == 0:
        ledger.store.remove(escrow)


def _require_right_to_release(ledger: Ledger, escrow: Escrow, operation: EscrowRelease) -> None:
    """The agent after a dispute; before it each party to the other, and once it has expired to either."""
    sender, recipient, who = escrow.sender, escrow.recipient, operation.who
    if escrow.disputed:
        require(
            who == escrow.agent,
            "o.who == e.agent: Only 'agent' (${a}) can release funds in a disputed escrow.",
            a=escrow.agent,
        )
        return
    require(
        who in (sender, recipient),
        "o.who == e.from || o.who == e.to: Only 'from' (${f}) and 'to' (${t}) "
        "can release funds from a non-disputed escrow",
        f=sender,
        t=recipient,
    )
    if escrow.escrow_expiration <= ledger.now:
        return
    if who == sender:
        require(
            operation.receiver == recipient,
            "o.receiver == e.to: Only 'from' (${f}) can release funds to 'to' (${t}).",
            f=sender,
            t=recipient,
        )
    else:
        require(
            operation.receiver == sender,
            "o.receiver == e.from: Only 'to' (${t}) can release funds to 'from' (${t}).",
            f=sender,
            t=recipient,
        )


def _require_parties(word: str, escrow: Escrow, recipient: AccountName, agent: AccountName) -> None:
    """The operation names recipient and agent as the escrow does; the reference's text forgets the agent's name."""
    require(
        escrow.recipient == recipient,
        f"{word}.to == o.to: Operation 'to' (${{o}}) does not match escrow 'to' (${{e}}).",
        o=recipient,
        e=escrow.recipient,
    )
    require(
        escrow.agent == agent,
        f"{word}.agent == o.agent: Operation 'agent' (${{a}}) does not match escrow 'agent' (${{e}}).",
        o=agent,
        e=escrow.agent,
    )
