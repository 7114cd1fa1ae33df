"""Shares that are lent, taken back, or withdrawn along routes (spec 02, sections 3.7 and 3.8)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import UInt16
from ledgerd.protocol.types.assets import Shares
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import NAME_TEXT, NAME_WORD, OBJECT_ID, OWN_ID, TIME
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique


class WithdrawVestingRoute(Entity):
    """Where a part of an account's withdrawals goes."""

    from_account: ObjectId = 0
    to_account: ObjectId = 0
    percent: UInt16 = 0
    auto_vest: bool = False


class VestingDelegation(Entity):
    """Shares that one account lends another."""

    delegator: AccountName = NO_NAME
    delegatee: AccountName = NO_NAME
    vesting_shares: Shares = 0
    min_delegation_time: Time = 0


class FixVestingDelegation(Entity):
    """A delegation as it was at hardfork 6; there is none from hardfork 7 on."""

    delegator: AccountName = NO_NAME
    delegatee: AccountName = NO_NAME
    vesting_shares: Shares = 0


class VestingDelegationExpiration(Entity):
    """Shares that were taken back and return to their owner later."""

    delegator: AccountName = NO_NAME
    vesting_shares: Shares = 0
    expiration: Time = 0


WITHDRAW_VESTING_ROUTES = Table(WithdrawVestingRoute, number=12)
ROUTE_BY_ACCOUNTS = unique(
    WITHDRAW_VESTING_ROUTES,
    "by_withdraw_route",
    lambda route: (route.from_account, route.to_account),
    (OBJECT_ID, OBJECT_ID),
)
ROUTE_BY_DESTINATION = unique(
    WITHDRAW_VESTING_ROUTES,
    "by_destination",
    lambda route: (route.to_account, route.id),
    (OBJECT_ID, OWN_ID),
)

VESTING_DELEGATIONS = Table(VestingDelegation, number=18)
DELEGATION_BY_DELEGATOR = unique(
    VESTING_DELEGATIONS,
    "by_delegation",
    lambda delegation: (delegation.delegator, delegation.delegatee),
    (NAME_TEXT, NAME_TEXT),
)
DELEGATION_BY_DELEGATEE = unique(
    VESTING_DELEGATIONS,
    "by_received",
    lambda delegation: (delegation.delegatee, delegation.delegator, delegation.id),
    (NAME_TEXT, NAME_TEXT, OWN_ID),
)

FIX_VESTING_DELEGATIONS = Table(FixVestingDelegation, number=19)

VESTING_DELEGATION_EXPIRATIONS = Table(VestingDelegationExpiration, number=20)
RETURN_BY_EXPIRATION = unique(
    VESTING_DELEGATION_EXPIRATIONS,
    "by_expiration",
    lambda due: (due.expiration, due.id),
    (TIME, OWN_ID),
)
RETURN_BY_DELEGATOR = unique(
    VESTING_DELEGATION_EXPIRATIONS,
    "by_account_expiration",
    lambda due: (due.delegator, due.expiration, due.id),
    (NAME_WORD, TIME, OWN_ID),
)
