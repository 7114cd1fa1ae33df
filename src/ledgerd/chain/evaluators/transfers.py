"""The rule of transfers (spec 02, section 7.1); shares are in `vesting`."""

from __future__ import annotations

from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.anonymous_accounts import receive_anonymously
from ledgerd.chain.rules.money.balances import adjust_balance, balance_of
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.transfers import Transfer


@evaluates(Transfer)
def transfer(ledger: Ledger, operation: Transfer) -> None:
    """Move tokens; what `null` and `committee` receive is dealt with at the end of the block."""
    sender, recipient = ledger.account(operation.sender), ledger.account(operation.recipient)
    amount = operation.amount.amount
    require(
        balance_of(sender, operation.amount.symbol) >= amount,
        "_db.get_balance(from_account, o.amount.symbol) >= o.amount: "
        "Account does not have sufficient funds for transfer.",
    )
    adjust_balance(ledger, sender, -amount)
    adjust_balance(ledger, recipient, amount)
    if recipient.name == ANONYMOUS_ACCOUNT:
        receive_anonymously(ledger, amount, operation.memo)
