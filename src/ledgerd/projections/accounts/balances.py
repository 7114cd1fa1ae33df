"""What accounts have, and what each operation changes of it; and the penalties of validators.

Tokens that are no account's, such as those in an escrow, an invite or a fund, are not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from operator import attrgetter
from typing import Any, NamedTuple

from ledgerd.chain.ledger.events import BlockApplied, ChangeCause
from ledgerd.chain.ledger.ledger import Ledger, Sampler
from ledgerd.chain.ledger.tracing import Trace
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.validators import VALIDATORS
from ledgerd.state.views.view import View


class Held(IntEnum):
    """The holdings of an account, by their place in `Amounts`; histories store the numbers."""

    BALANCE = 0
    """Tokens that it can spend."""
    RESERVED = 1
    """Tokens set aside for its bids for accounts."""
    VESTING = 2
    """The account's own shares, including those that it has lent."""
    DELEGATED = 3
    """Shares that it has lent, or that are on their way back to it."""
    RECEIVED = 4
    """Shares that others have lent to it."""
    STAKED = 5
    """Tokens in its bets."""
    LIQUIDITY = 6
    """Tokens that it provides to markets."""
    COLLATERAL = 7
    """Tokens that stand for its leveraged positions."""

    @property
    def symbol(self) -> int:
        """The symbol of its amounts, which says their precision."""
        return SHARES_SYMBOL if Held.VESTING <= self <= Held.RECEIVED else TOKEN_SYMBOL


FIELDS: dict[Held, str] = {
    Held.BALANCE: "balance",
    Held.RESERVED: "reserved_balance",
    Held.VESTING: "vesting_shares",
    Held.DELEGATED: "delegated_vesting_shares",
    Held.RECEIVED: "received_vesting_shares",
    Held.STAKED: "pm_bets_staked",
    Held.LIQUIDITY: "pm_liquidity_committed",
    Held.COLLATERAL: "pm_leverage_collateral",
}
"""The field of an account that has each."""

Amounts = tuple[int, ...]
"""The amount that an account has of each holding, in the smallest unit: thousandths of a token, millionths of
a share.
"""

NOTHING: Amounts = (0,) * len(Held)

amounts_of: Callable[[Account], Amounts] = attrgetter(*(FIELDS[each] for each in Held))

BALANCES = Trace(ACCOUNTS, attrgetter("name", *(FIELDS[each] for each in Held)))
"""The trace of an observer that wants `balance_changes`."""


class AccountChange(NamedTuple):
    """The holdings of an account before and after an operation, or a step of a block."""

    account: AccountName
    cause: ChangeCause
    before: Amounts
    after: Amounts


class PenaltyChange(NamedTuple):
    """The part of its votes that a validator does without from here on; zero when the last penalty has ended."""

    validator: AccountName
    percent: int
    """Hundredths of a percent."""


def balance_changes(event: BlockApplied) -> Iterator[AccountChange]:
    """Changes in their order, at most one for each operation and account. An account that hardfork 7 removes has
    nothing afterwards.
    """
    for cause, before, after in event.traced or ():
        had, has = before[1:] if before else NOTHING, after[1:] if after else NOTHING
        if had != has:
            yield AccountChange((after or before)[0], cause, had, has)


class PenaltySampler(Sampler):
    """Samples the penalties that a block has changed; those of missed slots are among them."""

    def after(self, ledger: Ledger, operation: Any, before: Any) -> tuple[PenaltyChange, ...]:  # noqa: ANN401, ARG002
        changed = []
        for former, present in ledger.store.last_changes(VALIDATORS):
            percent = 0 if present is None else present.penalty_percent
            validator = present or former
            if validator is not None and percent != (0 if former is None else former.penalty_percent):
                changed.append(PenaltyChange(validator.owner, percent))
        return tuple(changed)


PENALTIES = PenaltySampler()


def balances_in(view: View) -> Iterator[tuple[AccountName, Amounts]]:
    """The holdings of accounts in a state: the first rows of a table of balances. Accounts without any are left out."""
    for account in view.scan(ACCOUNTS):
        amounts = amounts_of(account)
        if amounts != NOTHING:
            yield account.name, amounts


def penalties_in(view: View) -> Iterator[PenaltyChange]:
    """The penalties of validators in a state; who is not named has none."""
    for validator in view.scan(VALIDATORS):
        if validator.penalty_percent:
            yield PenaltyChange(validator.owner, validator.penalty_percent)
