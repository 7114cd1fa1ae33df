"""Private networks in a test's folder: chains that make their own blocks, with the published keys of the testnet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET, ChainParameters, chain_id_of
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountCreate
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.operations.validators import AccountValidatorVote, ValidatorUpdate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Space

VIZ, COMMITTEE, ALICE, BOB = (AccountName(name) for name in ("viz", "committee", "alice", "bob"))
VIZ_KEY = PrivateKey.from_wif("5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4")
COMMITTEE_KEY = PrivateKey.from_wif("5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC")

GENESIS = 1_800_000_000
SMALL = Space(initial=1 << 26, min_free=0, increment=1 << 24)
LOCKS = ("lock.mdb", "writer.lock")


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


_states: dict[str, dict[str, bytes]] = {}


def put_state(folder: Path, kind: str, make: Callable[[], Chain]) -> None:
    """Make a folder the data directory of a chain that is made once in a process for each kind, unless it is one."""
    state = folder / STATE_FOLDER
    if state.exists():
        return
    files = _states.get(kind)
    if files is None:
        make().close()
        _states[kind] = {each.name: each.read_bytes() for each in state.iterdir() if each.name not in LOCKS}
        return
    state.mkdir(parents=True)
    for name, data in files.items():
        (state / name).write_bytes(data)


def put_genesis(folder: Path, network: ChainParameters, genesis: int = 0) -> None:
    """Make a folder the data directory of a chain without blocks: to make the 65,536 records of block ids takes ten
    times as long as to copy them.
    """

    def make() -> Chain:
        return Chain.open(folder, network, clock=Clock(), genesis_time=genesis, space=SMALL)

    put_state(folder, f"{genesis} {network}", make)


class Network:
    """A chain, and the keys of all validators of it."""

    def __init__(
        self, folder: Path, network: ChainParameters = TESTNET, genesis: int = GENESIS, space: Space = SMALL
    ) -> None:
        self.clock = Clock()
        self.folder = folder
        self.genesis = genesis
        self.space = space
        if space == SMALL:
            put_genesis(folder, network, genesis)
        self.chain = Chain.open(folder, network, clock=self.clock, genesis_time=genesis, space=space)
        self.keys = {VIZ: VIZ_KEY, COMMITTEE: COMMITTEE_KEY}
        self._salt = 0

    def know(self, others: Iterable[AccountName], sent: int = 0) -> None:
        """The keys of more validators; so many transactions of this network were sent before it was opened here."""
        self.keys |= {name: key_of(name) for name in others}
        self._salt += sent

    def reopen(self) -> None:
        """As after a restart."""
        self.chain.close()
        self.chain = Chain.open(self.folder, self.chain.network, clock=self.clock, space=self.space)

    # -- transactions

    def signed(self, *operations: Operation, key: PrivateKey = VIZ_KEY, lifetime: int = 600) -> Transaction:
        """A transaction on the head that no other is equal to."""
        self._salt += 1
        now = self.chain.head_time or self.genesis
        draft = unsigned_transaction(self.chain.head_id, now + lifetime + self._salt % 100, operations)
        return draft.signed(self.chain.network.chain_id, [key])

    def send(self, *operations: Operation, key: PrivateKey = VIZ_KEY) -> Transaction:
        """A transaction that waits for a block."""
        transaction = self.signed(*operations, key=key)
        self.chain.push_transaction(transaction)
        return transaction

    # -- blocks

    def make(self, skipped: int = 0) -> Block:
        """The block of the next slot, or of a later one; it is not pushed."""
        first = self.genesis + 3
        return self.make_at(self.chain.slot_time(1 + skipped) if self.chain.head_number else first)

    def make_at(self, when: int) -> Block:
        """The block of the slot that holds this time."""
        name = self.chain.scheduled_at(self.chain.slot_at(when))
        return self.chain.generate_block(when, name, self.keys[name])

    def produce(self, count: int = 1, skipped: int = 0) -> list[Block]:
        """Make blocks and push them."""
        blocks = []
        for _ in range(count):
            blocks.append(self.make(skipped))
            assert self.chain.push_block(blocks[-1]).has_moved
        return blocks

    def blocks(self) -> Iterator[Block]:
        """Those of the chain, from the first on."""
        for number in range(1, self.chain.head_number + 1):
            block = self.chain.block_at(number)
            assert block is not None
            yield block

    def follow(self, blocks: Iterable[Block]) -> None:
        """Take in the blocks of others."""
        for block in blocks:
            self.chain.push_block(block).or_raise()

    def start(self) -> None:
        """The first blocks of a testnet: `viz` becomes a validator of its own, since `committee` will not be one."""
        self.produce()
        self.send(
            TransferToVesting(VIZ, VIZ, tokens(10_000_000_000)),
            ValidatorUpdate(VIZ, "https://example.test", VIZ_KEY.public),
            AccountValidatorVote(VIZ, VIZ, approve=True),
        )
        self.produce(13)

    def create_account(self, name: AccountName, key: PrivateKey, balance: int = 1_000_000) -> None:
        """An account with tokens, by `viz`."""
        authority = authority_of(key.public)
        self.send(
            AccountCreate(
                tokens(1_000),
                shares(1_000_000_000),
                VIZ,
                name,
                authority,
                authority,
                authority,
                key.public,
                "",
                AccountName(""),
                (),
            ),
            Transfer(VIZ, name, tokens(balance), ""),
        )


@contextmanager
def started_network(folder: Path) -> Iterator[Network]:
    """A network past all hardforks, until the end of `with`."""
    network = Network(folder)
    network.start()
    yield network
    network.chain.close()


SEVEN = replace(TESTNET, name="SEVEN", chain_id=chain_id_of("SEVEN"), max_top_validators=7)
"""A network whose rounds have seven places, so that blocks become irreversible only after a while."""

OTHERS = tuple(AccountName(f"validator-{letter}") for letter in "abcdef")


STAKE = tokens(1_500_000_000)


def start_seven(folder: Path, parameters: ChainParameters = SEVEN, blocks: int = 112) -> Network:
    """Seven validators with equal votes, past all hardforks; the same blocks each time, made once in a process."""
    put_state(folder, f"seven {blocks} {parameters}", lambda: _make_seven(folder, parameters, blocks).chain)
    network = Network(folder, parameters)
    network.know(OTHERS, sent=1 + 3 * len(OTHERS))
    return network


def _make_seven(folder: Path, parameters: ChainParameters, blocks: int) -> Network:
    network = Network(folder, parameters)
    elect(network, OTHERS)
    network.produce(blocks - 2)
    return network


def elect(network: Network, others: Iterable[AccountName]) -> None:
    """The first two blocks of a network whose validators are `viz` and others with as many votes, each for itself; the
    votes of the others wait for the third.
    """
    names = tuple(others)
    network.know(names)
    network.produce()
    network.send(
        TransferToVesting(VIZ, VIZ, STAKE),
        ValidatorUpdate(VIZ, "https://example.test", VIZ_KEY.public),
        AccountValidatorVote(VIZ, VIZ, approve=True),
    )
    for name in names:
        network.create_account(name, network.keys[name])
        network.send(TransferToVesting(VIZ, name, STAKE))
    network.produce()
    for name in names:
        network.send(
            ValidatorUpdate(name, "https://example.test", network.keys[name].public),
            AccountValidatorVote(name, name, approve=True),
            key=network.keys[name],
        )


def key_of(name: AccountName) -> PrivateKey:
    """The one key of an account of these networks."""
    return PrivateKey.from_password(name, "active", "published")
