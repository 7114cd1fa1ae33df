"""Broadcasts each kind of operation that viz-python-lib offers; run by that library's own interpreter."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import grapheneapi.http  # type: ignore[import-not-found]
import vizapi.noderpc  # type: ignore[import-not-found]
from viz import Client  # type: ignore[import-not-found]

KEY = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"
READS: dict[str, tuple[object, ...]] = {
    "get_accounts": (["alice", "bob"],),
    "get_active_validators": (),
    "get_block": (5,),
    "get_chain_properties": (),
    "get_database_info": (),
    "get_key_references": (["VIZ5zTAE2hiGcqYaDTQeEBqTtPeoWtSNjpznwmbvqJXesrK1Qn3e8"],),
    "get_ops_in_block": (5, False),
    "get_raw_block": (5,),
    "get_validator_by_account": ("viz",),
    "get_account_history": ("alice", -1, 10),
    "get_withdraw_routes": ("alice", "all"),
}


def mend() -> None:
    """Give the two attributes that release 1.3.0 forgets to set: without them it sends nothing over HTTP."""
    grapheneapi.http.Http._Http__request_session = None  # noqa: SLF001
    vizapi.noderpc.Rpc._uses_legacy_witness_api = False  # noqa: SLF001


def operations(client: Any) -> dict[str, Callable[[], Any]]:
    """Each operation, by its name on the chain."""

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
        "delegate_vesting_shares": lambda: client.delegate_vesting_shares("alice", "bob", 100),
        "proposal_create": propose,
        "proposal_update": lambda: client.proposal_update("alice", "lunch", permission="active", account="alice"),
    }


def main() -> None:
    url = sys.argv[1]
    mend()
    client = Client(node=url, keys=[KEY])
    for send in operations(client).values():
        send()
    answers = {method: getattr(client.rpc, method)(*arguments) for method, arguments in READS.items()}
    sys.stdout.write(json.dumps({"sent": list(operations(client)), "answers": answers}))


if __name__ == "__main__":
    main()
