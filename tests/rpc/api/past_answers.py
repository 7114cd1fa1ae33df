"""What accounts were at heights of recorded chains, as a chain tells it that stands there; and dispatchers that are
asked for it at the head.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ledgerd.chain.log.histories import History, JournaledHistory
from ledgerd.codec.json.text import Json
from ledgerd.projections.accounts.balances import FIELDS, Held
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.history.state_api import STATE_API
from ledgerd.rpc.api.shared.account_record import account_text
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME
from ledgerd.state.views.view import View
from tests.chain.recorded_chains import advance, open_chain
from tests.rpc.api.recorded_past import asked
from tests.rpc.api.serving import NoMain

NOBODY = AccountName("nobody")

Accounts = dict[str, str]
"""What `get_accounts` prints of each account."""


def dispatcher_of(history: History) -> Dispatcher:
    """What answers about past states."""
    node = Node(TESTNET, nothing_to_read, NoMain(), {History: history, JournaledHistory: JournaledHistory(history)})
    return Dispatcher([STATE_API], node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())


def answer(dispatcher: Dispatcher, method: str, *arguments: Json) -> Any:
    """The result of a method, or what it is refused for."""
    found = json.loads(asked(dispatcher, "state_api", method, list(arguments)))
    return found["result"] if "result" in found else found["error"]["message"].splitlines()[1]


def answer_text(dispatcher: Dispatcher, method: str, *arguments: Json) -> str:
    """The text of the result of a method, or of its error."""
    text = asked(dispatcher, "state_api", method, list(arguments))
    before, found, rest = text.partition('"result":')
    return rest.removesuffix(',"id":1}') if found else before


def accounts_of(state: View) -> Accounts:
    """All accounts as they are now."""
    names = [account.name for account in state.scan(ACCOUNT_BY_NAME)]
    return {name: text for name in names if (text := account_text(state, name)) is not None}


def accounts_at(name: str, folder: Path, heights: Iterable[int]) -> Iterator[tuple[int, Accounts]]:
    """All accounts at heights of a recorded chain, which is replayed for it."""
    with open_chain(name, folder) as chain:
        for height in heights:
            advance(chain, name, height)
            yield height, accounts_of(chain.state)


def balances_in(accounts: Accounts) -> dict[str, dict[str, str]]:
    """What `get_balances_at` says of accounts, and of one that is not there."""
    found = {}
    for name, text in accounts.items():
        record = json.loads(text)
        found[name] = {"account": name, **{FIELDS[held]: record[FIELDS[held]] for held in Held}}
    nothing = {FIELDS[held]: "0.000000 SHARES" if "vesting" in FIELDS[held] else "0.000 VIZ" for held in Held}
    return {**found, NOBODY: {"account": NOBODY, **nothing}}
