"""Processor time of API methods over a recorded chain: through the dispatcher, without the network and the cache of
answers. `first` means that no row of the answer was printed before, `again` that its rows have not changed since. That
of no accounts is what a request costs whatever it asks for.

A recovery of a signature is the yardstick, so that a busy machine does not matter; on the design machine it takes 52
microseconds.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from time import process_time

from bench.bench_chain import recovery_seconds, verdict
from ledgerd.rpc.call.dispatch import Dispatcher
from tests.chain.recorded_chains import advance
from tests.rpc.api.serving import asking, dispatcher_over, followed_chain

CHAIN, HEIGHT = "open-1", 1_200
ROUNDS, REPEATED = 20, 50
DESIGN_RECOVERY = 52e-6
ACCOUNTS_SECONDS, GLOBALS_SECONDS = 250e-6, 40e-6


def request(api: str, method: str, *arguments: object) -> bytes:
    """A request as a client sends it."""
    call = {"jsonrpc": "2.0", "method": "call", "params": [api, method, list(arguments)], "id": 1}
    return json.dumps(call).encode()


def seconds(dispatcher: Dispatcher, body: bytes, repeated: int = REPEATED) -> float:
    """The least processor time that an answer took."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = process_time()
        for _ in range(repeated):
            dispatcher.answer(body)
        best = min(best, (process_time() - started) / repeated)
    return best


def show(title: str, spent: float, limit: float | None = None) -> None:
    """A figure, in recoveries and as microseconds of the design machine."""
    cost = spent / recovery_seconds()
    target = "" if limit is None else f" ({verdict(cost, limit / DESIGN_RECOVERY, 'recoveries')})"
    designed = cost * DESIGN_RECOVERY
    print(f"  {title:44} {cost:6.2f} recoveries, {designed * 1e6:6.0f} us, {1 / designed:7,.0f}/s{target}")


def main() -> None:
    """Print the costs of the methods that clients call most."""
    with tempfile.TemporaryDirectory() as folder:
        with followed_chain(CHAIN, Path(folder)) as chain:
            advance(chain, CHAIN, HEIGHT)
        with dispatcher_over(CHAIN, Path(folder)) as dispatcher:
            names = asking(dispatcher)("database_api", "lookup_accounts", "a", 10 * ROUNDS)["result"]
            tens = [names[start : start + 10] for start in range(0, len(names), 10)]
            first = min(seconds_once(dispatcher, request("database_api", "get_accounts", ten)) for ten in tens)
            again = request("database_api", "get_accounts", tens[0])
            show("get_accounts of 10, first", first)
            show("get_accounts of 10, again", seconds(dispatcher, again), ACCOUNTS_SECONDS)
            for title, limit, body in (
                (
                    "get_dynamic_global_properties",
                    GLOBALS_SECONDS,
                    request("database_api", "get_dynamic_global_properties"),
                ),
                ("get_accounts of none", None, request("database_api", "get_accounts", [])),
                ("get_block", None, request("database_api", "get_block", HEIGHT - 1)),
                ("get_validators_by_vote of 100", None, request("validator_api", "get_validators_by_vote", "", 100)),
                ("get_proposed_transactions", None, request("database_api", "get_proposed_transactions", "viz", 0, 10)),
            ):
                show(title, seconds(dispatcher, body), limit)


def seconds_once(dispatcher: Dispatcher, body: bytes) -> float:
    """The processor time of one answer."""
    started = process_time()
    dispatcher.answer(body)
    return process_time() - started


if __name__ == "__main__":
    main()
