"""Broadcasts each kind of operation that viz-python-lib offers; run by that library's own interpreter."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import grapheneapi.http  # type: ignore[import-not-found]
from graphenebase.utils import formatTimeFromNow  # type: ignore[import-not-found]
from viz import Client  # type: ignore[import-not-found]
from viz.account import Account  # type: ignore[import-not-found]
from viz.blockchain import Blockchain  # type: ignore[import-not-found]
from vizapi.exceptions import UnhandledRPCError  # type: ignore[import-not-found]
from vizbase import operations as kinds  # type: ignore[import-not-found]

KEY = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"
PUBLIC = "VIZ5zTAE2hiGcqYaDTQeEBqTtPeoWtSNjpznwmbvqJXesrK1Qn3e8"
READS: dict[str, tuple[object, ...]] = {
    "get_accounts": (["alice", "bob"],),
    "get_active_validators": (),
    "get_block": (5,),
    "get_chain_properties": (),
    "get_database_info": (),
    "get_key_references": ([PUBLIC],),
    "get_ops_in_block": (5, False),
    "get_raw_block": (5,),
    "get_validator_by_account": ("viz",),
    "get_validator_count": (),
    "get_validator_schedule": (),
    "get_validators": ([0, 1],),
    "get_validators_by_counted_vote": ("", 5),
    "get_validators_by_vote": ("", 5),
    "lookup_validator_accounts": ("", 5),
    "get_account_history": ("alice", -1, 10),
    "get_withdraw_routes": ("alice", "all"),
}


LIFETIME = 3_000
"""Seconds until transactions expire, by this machine's clock: that of a chain to develop on runs ahead of it."""


def mend() -> None:
    """Give the attribute that release 1.3.0 forgets to set: without it, it sends nothing over HTTP, to any node."""
    grapheneapi.http.Http._Http__request_session = None  # noqa: SLF001


def operations(client: Any) -> dict[str, Callable[[], Any]]:
    """Each operation that has a method of the library's own, by its name on the chain."""

    def propose() -> Any:
        proposal = client.new_proposal("lunch", "who pays", account="alice")
        client.transfer("null", 1, "VIZ", account="alice", append_to=proposal)
        return proposal.broadcast()

    return {
        "transfer": lambda: client.transfer("bob", 1.0, "VIZ", memo="привет", account="alice"),
        "transfer_to_vesting": lambda: client.transfer_to_vesting(1000.0, account="alice"),
        "award": lambda: client.award("bob", 1, memo="thanks", account="alice"),
        "fixed_award": lambda: client.fixed_award("bob", reward_amount=0.1, max_energy=50, account="alice"),
        "custom": lambda: client.custom("test", {"a": 1}, required_regular_auths=["alice"]),
        "withdraw_vesting": lambda: client.withdraw_vesting(10, account="alice"),
        "set_withdraw_vesting_route": lambda: client.set_withdraw_vesting_route("bob", 50, account="alice"),
        "account_create": lambda: client.create_account("alice-two", password="secret", creator="alice", fee=100),
        "account_update": lambda: client.update_account_profile("alice", PUBLIC, {"name": "Alice"}),
        "delegate_vesting_shares": lambda: client.delegate_vesting_shares("alice", "bob", 100),
        "proposal_create": propose,
        "proposal_update": lambda: client.proposal_update("alice", "lunch", permission="active", account="alice"),
    }


def declared(client: Any) -> dict[str, Callable[[], Any]]:
    """Each operation that the library only declares, and signs when it is given one."""
    later = formatTimeFromNow(3_600)
    waiting = {"author": "alice", "title": "dinner", "memo": "", "expiration_time": later, "extensions": []}
    pay = {"from": "alice", "to": "null", "amount": "1.000 VIZ", "memo": ""}
    values: dict[str, dict[str, Any]] = {
        "account_metadata": {"account": "alice", "json_metadata": "{}"},
        "validator_update": {"owner": "alice", "url": "http://alice", "block_signing_key": PUBLIC},
        "versioned_chain_properties_update": {"owner": "alice", "props": client.rpc.get_chain_properties()},
        "account_validator_vote": {"account": "alice", "validator": "viz", "approve": True},
        "proposal_create": waiting | {"proposed_operations": [{"op": [2, pay]}]},
        "proposal_delete": {"author": "alice", "title": "dinner", "requester": "alice"},
    }
    regular = {"account_metadata"}
    return {
        name: partial(
            client.finalizeOp,
            getattr(kinds, name.capitalize())(**fields),
            "alice",
            "regular" if name in regular else "active",
        )
        for name, fields in values.items()
    }


def own_ways(client: Any) -> dict[str, Any]:
    """What the library makes of answers by itself; it changes something and reads it back at once."""
    alice, chain = Account("alice", blockchain_instance=client), Blockchain(blockchain_instance=client, mode="head")
    energy = alice.current_energy()
    client.award("bob", 20, account="alice")
    head = chain.get_current_block_num()
    wrong: list[str] = []
    for amount in (-1, 10**9):
        try:
            client.transfer("bob", amount, "VIZ", account="alice")
        except UnhandledRPCError as error:
            wrong.append(str(error))
    return {
        "spent": energy - alice.current_energy(),
        "history": [each["type"] for each in alice.history_reverse(batch_size=2, limit=3)],
        "stream": [each["type"] for each in chain.stream(start_block=head - 1, end_block=head - 1)],
        "rewards": [each["type"] for each in chain.stream("validator_reward", start_block=1, end_block=2)],
        "wrong": wrong,
        "info": client.info()["head_block_number"] == head,
    }


def main() -> None:
    url = sys.argv[1]
    if url.startswith("http"):
        mend()
    client = Client(node=url, keys=[KEY], expiration=LIFETIME)
    sent = []
    for ways in (operations, declared):
        for name, send in ways(client).items():
            send()
            sent.append(name)
    made = own_ways(client)
    sent.append("award")
    answers = {method: getattr(client.rpc, method)(*arguments) for method, arguments in READS.items()}
    sys.stdout.write(json.dumps({"sent": sent, "answers": answers, "made": made}))


if __name__ == "__main__":
    main()
