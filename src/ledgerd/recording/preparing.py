"""What all scenarios need: accounts with tokens, oracles, and chain properties with short times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerd.codec.json.text import Json
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.recording.markets import API, DATABASE, now
from ledgerd.recording.network import RecordingRefused
from ledgerd.recording.scenarios import ORACLES, PLAYERS
from ledgerd.recording.steps import Cast, LookUp, OperationText, Play, Scenario, SendOperations, WaitUntil

FUNDS, SHARES = "20000.000 VIZ", "2000.000 VIZ"
VOTERS_SHARES = "400000.000 VIZ"
"""More than the percent of all shares that a vote on a dispute asks for."""
FEE, DELEGATION = "1.000 VIZ", "1000.000000 SHARES"
INSURANCE = "6000.000 VIZ"
PROPERTIES_OF_MARKETS = 5
"""The version of chain properties that has those of markets (spec 07, section 8)."""
ROUNDS = 100
"""Looks until the properties are in force: the validators of a round vote on them, and the next round has them."""


def key_of_player(name: str) -> PrivateKey:
    """Anybody can make it: the network is private, and its facts are public."""
    return PrivateKey.from_password(name, "active", "recorded")


def accounts(cast: Cast) -> Play:
    """Accounts with funds; those of the oracles are registered."""
    for who in PLAYERS:
        name = cast.name(who)
        key = public_key_text(key_of_player(name).public)
        authority = {"weight_threshold": 1, "account_auths": [], "key_auths": [[key, 1]]}
        created = {"fee": FEE, "delegation": DELEGATION, "creator": cast.initiator, "new_account_name": name}
        keys = {"master": authority, "active": authority, "regular": authority, "memo_key": key}
        shares = VOTERS_SHARES if who == "voter" else SHARES
        funded: tuple[OperationText, ...] = (
            ("account_create", {**created, **keys}),
            ("transfer_to_vesting", {"from": cast.initiator, "to": name, "amount": shares}),
            ("transfer", {"from": cast.initiator, "to": name, "amount": FUNDS}),
        )
        yield SendOperations(funded, (cast.initiator,))
    for who in ORACLES:
        name = cast.name(who)
        registration = {"owner": name, "insurance": INSURANCE, "fixed_fee": "0.000 VIZ", "auto_accept": True}
        yield SendOperations((("pm_oracle_register", registration),), (name,))


def properties_of(act: str, wanted: Mapping[str, Json]) -> Scenario:
    """The validator votes for the properties of an act, and it begins when they are in force."""

    def play(cast: Cast) -> Play:
        plain: Any = yield LookUp(DATABASE, "get_chain_properties")
        of_markets: Any = yield LookUp(API, "get_pm_chain_properties")
        if not _has(of_markets, wanted):
            props = [PROPERTIES_OF_MARKETS, {**plain, **of_markets, **wanted}]
            vote = {"owner": cast.initiator, "props": props}
            yield SendOperations((("versioned_chain_properties_update", vote),), (cast.initiator,))
        for _ in range(ROUNDS):
            of_markets = yield LookUp(API, "get_pm_chain_properties")
            if _has(of_markets, wanted):
                return
            time = yield from now()
            yield WaitUntil(time + BLOCK_INTERVAL)
        raise RecordingRefused(
            f"{cast.initiator} votes for short times, and they do not come into force: other validators do not"
        )

    return Scenario(f"properties of {act}", "", 2 * BLOCK_INTERVAL * ROUNDS, play)


def _has(properties: Mapping[str, Json], wanted: Mapping[str, Json]) -> bool:
    return all(properties.get(name) == value for name, value in wanted.items())


ACCOUNTS = Scenario("accounts", "", len(PLAYERS) * BLOCK_INTERVAL + len(ORACLES) * BLOCK_INTERVAL, accounts)
