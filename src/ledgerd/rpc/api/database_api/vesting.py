"""Routes of withdrawals, and delegations (spec 05, sections 9.16 to 9.18)."""

from __future__ import annotations

from enum import IntEnum
from itertools import islice
from typing import Annotated

import msgspec

from ledgerd.codec.types.numbers import UInt16, UInt32
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.kinds import EnumKind, require_limit
from ledgerd.rpc.call.counts import between, either
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.errors import UnknownKey
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME, ACCOUNTS
from ledgerd.state.objects.money import vesting

MOST_DELEGATIONS = 1000
"""Delegations of one answer."""
DELEGATIONS_BY_DEFAULT = 100


class RouteType(IntEnum):
    """Which routes of an account."""

    INCOMING = 0
    OUTGOING = 1
    ALL = 2


class DelegationType(IntEnum):
    """Which delegations of an account."""

    DELEGATED = 0
    RECEIVED = 1


Routes = Annotated[RouteType, EnumKind(RouteType, "graphene::plugins::database_api::withdraw_route_type")]
Delegations = Annotated[DelegationType, EnumKind(DelegationType, "graphene::plugins::database_api::delegations_type")]


class UnknownAccount(RuleViolation):
    """There is no such account; its name is in the data of the error, not in the message."""

    code, name, what = UnknownKey.code, UnknownKey.name, UnknownKey.what

    def __init__(self, account: AccountName) -> None:
        super().__init__("${what}: ", name=account, what=self.what)


class WithdrawRoute(msgspec.Struct, frozen=True):
    """A route for a part of an account's withdrawals."""

    from_account: str
    to_account: str
    percent: UInt16
    auto_vest: bool


@DATABASE_API.method(args=either(1, 2), examples=[["alice", "all"]])
def get_withdraw_routes(view: ApiView, account: AccountName, type: Routes) -> tuple[WithdrawRoute, ...]:  # noqa: A002
    """The routes from an account, to it, or both: those from it first. The type must be given."""
    state = view.state
    found = state.lookup(ACCOUNT_BY_NAME, account)
    if found is None:
        raise UnknownAccount(account)
    own = found.id
    routes = []
    if type is not RouteType.INCOMING:
        for route in state.under(vesting.ROUTE_BY_ACCOUNTS, own):
            other = state.get(ACCOUNTS, route.to_account).name
            routes.append(WithdrawRoute(account, other, route.percent, route.auto_vest))
    if type is not RouteType.OUTGOING:
        for route in state.under(vesting.ROUTE_BY_DESTINATION, own):
            other = state.get(ACCOUNTS, route.from_account).name
            routes.append(WithdrawRoute(other, account, route.percent, route.auto_vest))
    return tuple(routes)


@DATABASE_API.method(args=between(2, 4), examples=[["alice", "", 100, "received"]])
def get_vesting_delegations(
    view: ApiView,
    account: AccountName,
    start: AccountName,
    limit: UInt32 = DELEGATIONS_BY_DEFAULT,
    type: Delegations = DelegationType.DELEGATED,  # noqa: A002 - the word that clients know
) -> tuple[vesting.VestingDelegation, ...]:
    """Delegations of or to an account, by the name of the other account, from a name on."""
    require_limit(limit, MOST_DELEGATIONS)
    index = vesting.DELEGATION_BY_DELEGATOR if type is DelegationType.DELEGATED else vesting.DELEGATION_BY_DELEGATEE
    return tuple(islice(view.state.scan(index, lower=(account, start), upper=(account,)), limit))


@DATABASE_API.method(args=between(2, 3), examples=[["alice", "2026-01-01T00:00:00", 100]])
def get_expiring_vesting_delegations(
    view: ApiView, account: AccountName, start: Time, limit: UInt32 = DELEGATIONS_BY_DEFAULT
) -> tuple[vesting.VestingDelegationExpiration, ...]:
    """Delegated shares that an account has taken back and receives at a time or later."""
    require_limit(limit, MOST_DELEGATIONS)
    return tuple(islice(view.state.scan(vesting.RETURN_BY_DELEGATOR, lower=(account, start), upper=(account,)), limit))
