"""`state_api`: what accounts were at a past block. The reference does not have this API."""

from __future__ import annotations

import msgspec

from ledgerd.chain.log.histories import History, JournaledHistory
from ledgerd.codec.types.numbers import UInt32
from ledgerd.projections.accounts.balances import FIELDS, Held
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import Shares, Tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.shared.account_record import AccountText, past_account_text
from ledgerd.rpc.api.shared.kinds import Names
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView

STATE_API = Api("state_api", "What accounts were, and what they had, at a past block.")

MOST_NAMES = 100
"""Accounts in one request."""


class AccountBalances(msgspec.Struct, frozen=True):
    """What an account had after a block; who did not exist, or had nothing, has zeros."""

    account: AccountName
    balance: Tokens
    reserved_balance: Tokens
    vesting_shares: Shares
    delegated_vesting_shares: Shares
    received_vesting_shares: Shares
    pm_bets_staked: Tokens
    pm_liquidity_committed: Tokens
    pm_leverage_collateral: Tokens


def _require_known(what: str, block: int, first: int | None, last: int) -> None:
    require(first is not None, f"{what} of past blocks are not kept here")
    require(
        block >= (first or 0), f"block ${{block}}: {what} are known from block ${{first}} on", block=block, first=first
    )
    require(
        block <= last,
        "block ${block} is not there yet: the last one that is recorded is block ${last}",
        block=block,
        last=last,
    )


def _require_few(names: Names) -> None:
    require(len(names) <= MOST_NAMES, f"names: at most {MOST_NAMES} accounts can be asked for at once")


@STATE_API.method(args=exactly(2), cached=False, examples=[[1000, ["viz", "committee"]]])
def get_accounts_at(view: ApiView, block: UInt32, names: Names) -> tuple[AccountText, ...]:
    """The accounts of these names as `get_accounts` printed them when a block was the head, in their order; names that
    were unknown there are left out.

    A block of which that is not known is refused, with the first one of which it is.
    """
    _require_few(names)
    with view.service(JournaledHistory).reading() as history:
        _require_known("accounts", block, history.accounts_begin, history.head_number)
        texts = []
        for name in names:
            found = history.account_at(name, block)
            if found is not None:
                text = past_account_text(found)
                view.grow(len(text))
                texts.append(text)
        return tuple(texts)


@STATE_API.method(args=exactly(2), cached=False, examples=[[1000, ["viz", "committee"]]])
def get_balances_at(view: ApiView, block: UInt32, names: Names) -> tuple[AccountBalances, ...]:
    """What the accounts of these names had after a block, in their order.

    A block of which that is not known is refused, with the first one of which it is.
    """
    _require_few(names)
    with view.service(History).reading() as history:
        _require_known("balances", block, history.balances_begin, history.head_number)
        found = ((name, history.balances_at(name, block)) for name in names)
        return tuple(AccountBalances(name, **{FIELDS[held]: amounts[held] for held in Held}) for name, amounts in found)
