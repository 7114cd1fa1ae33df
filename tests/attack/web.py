"""Accounts that list each other, founded on the attacked network by ordinary transactions of a client who pays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ledgerd.node.testnet.watch import ask
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import INITIATOR_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations import Operation
from tests.attack.aim import read_aim
from tests.attack.forging import json_of, paid
from tests.attack.ground import Ground
from tests.chain.webs import MASTER, creation, everybody, update

ACCOUNTS = 200
"""With an authority of all of them each."""
CREATED, UPDATED = 20, 8
"""Accounts in a transaction."""
SECONDS = 300.0


def found_web(made: Ground, accounts: int = ACCOUNTS) -> None:
    """Create the accounts, give each its authority, and wait until all of that is in blocks."""
    shape = everybody(accounts)
    created = [creation(INITIATOR_ACCOUNT, name) for name in shape.names]
    updates = [update(name, shape.authority(name)) for name in shape.names]
    _send(made, _parts(created, CREATED), PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY))
    _await(made, shape.names[-1], members=0)
    _send(made, _parts(updates, UPDATED), MASTER)
    for name in shape.names:
        _await(made, name, members=accounts)
    made.web = tuple(map(str, shape.names))


def _parts(operations: Sequence[tuple[Operation, ...]], count: int) -> list[list[Operation]]:
    return [
        [each for some in operations[first : first + count] for each in some]
        for first in range(0, len(operations), count)
    ]


def _send(made: Ground, parts: Sequence[Sequence[Operation]], key: PrivateKey) -> None:
    aim = read_aim(Path(made.aim()))
    for salt, operations in enumerate(parts):
        transaction = paid(aim, INITIATOR_ACCOUNT, *operations, salt=salt, key=key)
        ask(made.target, [("network_broadcast_api", "broadcast_transaction", [json_of(Transaction, transaction)])])


def _await(made: Ground, name: str, members: int) -> None:
    """Until an account has so many members in its active authority."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ((found,),) = (ask(made.target, [("database_api", "get_accounts", [[name]])]),)
        if found and len(found[0]["active_authority"]["account_auths"]) >= members:
            return
        time.sleep(0.5)
    raise RuntimeError(f"{name} has not come to be what it should be")
