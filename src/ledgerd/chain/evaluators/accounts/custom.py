"""The rule of custom operations (spec 02, section 16): the ledger counts them, and reads nothing in them."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint64
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.accounts.custom import Custom


@evaluates(Custom)
def custom(ledger: Ledger, operation: Custom) -> None:
    """Count the operation for each account that signs it, and record its block."""
    for name in (*operation.required_active_auths, *operation.required_regular_auths):
        account = ledger.account(name)
        ledger.remember(account)
        account.custom_sequence = uint64(account.custom_sequence + 1)
        account.custom_sequence_block_num = ledger.head_number + 1
