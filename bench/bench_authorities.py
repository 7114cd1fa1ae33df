"""What authorities cost that list each other: pending transactions, requests, and full blocks of the worst ones.

Processor time. The transactions in blocks are valid: each sender's own authority is asked in vain before its master key
counts. Beside each block stands one of the same transactions by accounts with one key each.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import count, cycle, islice
from pathlib import Path
from time import process_time

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api import APIS
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from tests.chain.networks import VIZ, Network
from tests.chain.webs import MASTER, STRANGER, Shape, block_of, chain_in_web, everybody, found_web, single
from tests.rpc.api.serving import NoMain, asking

ACCOUNTS = (200, 400)
TRANSFERS = 130
FULL_BYTES = 65_536 - 200

numbers = count(1)
"""No transaction is equal to another."""


class Measured:
    """A network with a web, and one of the same accounts with one key each."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.names = shape.names
        self.networks = []
        for place, each in enumerate((shape, single(shape.names))):
            network = Network(folder / str(place))
            network.start()
            found_web(network, each)
            self.networks.append(network)

    def pending(self, title: str, key: PrivateKey, *operations: Operation, lifetime: int = 600) -> None:
        """Print what a transaction takes that somebody sends us."""
        spent = []
        for network in self.networks:
            transaction = network.signed(*operations, key=key, lifetime=lifetime)
            spent.append(seconds(lambda: network.chain.push_transaction(transaction)))  # noqa: B023 - called at once
        show(title, spent)

    def block(self, title: str, operations: Callable[[], list[Operation]]) -> None:
        """Print what a full block takes."""
        spent = []
        for network in self.networks:
            transactions, size = [], 0
            while size < FULL_BYTES:
                transactions.append(network.signed(*operations(), key=MASTER))
                size += len(transactions[-1].packed) + 1
            block = codec_of(Block).decode(block_of(network, transactions[:-1]).packed)
            spent.append(seconds(lambda: network.chain.push_block(block).or_raise()))  # noqa: B023 - called at once
            made = len(transactions) - 1
        show(f"{title} ({made} transactions)", spent)

    def requests(self, *methods: str) -> None:
        """Print what questions about a transfer take; the chains are closed before."""
        network = self.networks[0]
        transfer = json.loads(codec_of(Transaction).to_json(network.signed(gift(self.names[0]), key=STRANGER)))
        for each in self.networks:
            each.chain.close()
        with StateReader.open(network.folder / STATE_FOLDER, STORED_TABLES) as reader:
            node = Node(network.chain.network, reader.snapshot, NoMain())
            ask = asking(Dispatcher(APIS, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits()))
            for method in methods:
                show(method, [seconds(lambda: ask("database_api", method, transfer))])  # noqa: B023 - called at once


def gift(sender: AccountName) -> Transfer:
    """The smallest transfer."""
    return Transfer(sender, VIZ, tokens(next(numbers)), "")


def seconds(act: Callable[[], object]) -> float:
    """The processor time of one call; what is refused counts too."""
    started = process_time()
    with suppress(RuleViolation):
        act()
    return process_time() - started


def show(title: str, spent: list[float]) -> None:
    """A figure, and beside it that of accounts with one key each."""
    figures = "".join(f"{each * 1e3:12.1f} ms" for each in spent)
    print(f"  {title:66}{figures}", flush=True)


def measure(shape: Shape, folder: Path) -> None:
    """All figures of one web."""
    measured, (first, *_) = Measured(folder, shape), shape.names
    senders = cycle(shape.names)
    measured.pending("a pending transfer with a wrong key", STRANGER, gift(first))
    measured.pending("the same, expired", STRANGER, gift(first), lifetime=-100)
    measured.pending(f"{TRANSFERS} pending transfers of one sender", MASTER, *(gift(first) for _ in range(TRANSFERS)))
    measured.block("a full block of single transfers", lambda: [gift(next(senders))])
    measured.block(
        f"a full block of {TRANSFERS} transfers each, of one sender",
        lambda: [gift(first) for _ in range(TRANSFERS)],
    )
    measured.block(
        f"a full block of {TRANSFERS} transfers each, of as many senders",
        lambda: [gift(each) for each in islice(senders, TRANSFERS)],
    )
    measured.block(
        "a full block of operations that all of them sign",
        lambda: [Custom(shape.names, (), str(next(numbers)), "{}")],
    )
    measured.requests("get_potential_signatures", "verify_authority")


def main() -> None:
    """Print all figures."""
    for accounts in ACCOUNTS:
        for title, shape in (("each lists all", everybody), ("one is approved after the other", chain_in_web)):
            print(f" {accounts} accounts, {title}; beside it, accounts with one key each")
            with tempfile.TemporaryDirectory() as folder:
                measure(shape(accounts), Path(folder))
