"""What each account has, and what blocks change of it: the balances and penalties of a block's event.

No rule depends on it, and it is looked at only if somebody has asked for it: after each operation of a transaction,
and each step of a block. Tokens that are no account's, such as those in an escrow, an invite or a fund, are not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import NamedTuple

from ledgerd.chain.ledger.events import NOTHING, AccountChange, Amounts, ChangeCause, Held, PenaltyChange
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.validators import VALIDATORS
from ledgerd.state.store import Store
from ledgerd.state.views.view import View

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

amounts_of: Callable[[Account], Amounts] = attrgetter(*(FIELDS[each] for each in Held))
"""What an account has."""


class Mark(NamedTuple):
    """How many changes there were, and the cause of those that followed."""

    length: int
    cause: ChangeCause


def standing_balances(view: View) -> Iterator[tuple[AccountName, Amounts]]:
    """What accounts have in a state: the first rows of a table of balances. Who has nothing is left out."""
    for account in view.scan(ACCOUNTS):
        amounts = amounts_of(account)
        if amounts != NOTHING:
            yield account.name, amounts


def standing_penalties(view: View) -> Iterator[PenaltyChange]:
    """The penalties of validators in a state; who is not named has none."""
    for validator in view.scan(VALIDATORS):
        if validator.penalty_percent:
            yield PenaltyChange(validator.owner, validator.penalty_percent)


class BlockChanges:
    """Gathers what a block changes, while it is applied.

    An account is compared with what it was when it was first edited since the last comparison.
    """

    def __init__(self, store: Store) -> None:
        self.cause: ChangeCause = ""
        """What is being done: the place of an operation, or the name of a step."""
        self.touched: dict[int, tuple[Account, Amounts]] = {}
        """The accounts that were edited since the last comparison, as they were before."""
        self._store = store
        self._found: list[AccountChange] = []
        self._next_account = 0
        self.editing = store.noting(ACCOUNTS, self.touched, amounts_of)
        """The store's `editing`, while a block is applied."""

    def begin(self) -> None:
        self.touched.clear()
        self._found.clear()
        self._next_account = self._store.next_id(ACCOUNTS)

    def settle(self) -> None:
        """Whatever has changed since the last time was changed by the cause."""
        if self._store.next_id(ACCOUNTS) != self._next_account:
            self._see_new_accounts()
        if not self.touched:
            return
        found, cause = self._found, self.cause
        for account, before in self.touched.values():
            after = amounts_of(account)
            if after != before:
                found.append(AccountChange(account.name, cause, before, after))
        self.touched.clear()

    def reported(self, place: int) -> None:
        """A virtual operation was reported: in a step, it says what the step has just done.

        Within an operation of a transaction it follows from that one, which stays the cause.
        """
        if isinstance(self.cause, str) and self.touched:
            step, self.cause = self.cause, place
            self.settle()
            self.cause = step

    def mark(self) -> Mark:
        """Where to go back to if what follows is undone."""
        self.settle()
        return Mark(len(self._found), self.cause)

    def cut(self, mark: Mark) -> None:
        """What followed a mark was undone in the state, and is forgotten here."""
        del self._found[mark.length :]
        self.cause = mark.cause
        self.touched.clear()
        self._next_account = self._store.next_id(ACCOUNTS)

    def balances(self) -> tuple[AccountChange, ...]:
        """All that the block has changed, in order; what an account had that hardfork 7 removes is gone with it."""
        if self.touched:
            self.settle()
        for account in self._store.removed_since(ACCOUNTS, self._store.revision - 1):
            self._found.append(AccountChange(account.name, self.cause, amounts_of(account), NOTHING))
        return tuple(self._found)

    def penalties(self) -> tuple[PenaltyChange, ...]:
        changed = []
        for before, after in self._store.last_changes(VALIDATORS):
            former = 0 if before is None else before.penalty_percent
            percent = 0 if after is None else after.penalty_percent
            validator = after or before
            if validator is not None and percent != former:
                changed.append(PenaltyChange(validator.owner, percent))
        return tuple(changed)

    def _see_new_accounts(self) -> None:
        """A new account had nothing before, whatever it had when it was edited first."""
        new = range(self._next_account, self._store.next_id(ACCOUNTS))
        self._next_account = new.stop
        for account_id in new:
            account = self._store.find(ACCOUNTS, account_id)
            if account is not None:
                self.touched[account_id] = account, NOTHING
