"""Accounts that list each other in their active and regular authorities, by ordinary transactions on a test's network.

Their master authorities are one key: with it their transfers are valid, after all of the web was asked in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ledgerd.protocol.blocks.block import Block, BlockHeader, merkle_root, sign_block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountCreate, AccountUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.chain.networks import VIZ, VIZ_KEY, Network

MASTER, STRANGER = PrivateKey(sha256(b"master of the web")), PrivateKey(sha256(b"nobody in the web"))
A_BLOCK = 25
"""Transactions that make the web, in a block."""


class Shape(NamedTuple):
    """The names of a web, and the authority of each."""

    names: tuple[AccountName, ...]
    authority: Callable[[AccountName], Authority]


def numbered(letter: str, count: int) -> tuple[AccountName, ...]:
    """Names in text order."""
    return tuple(AccountName(f"{letter}{place:04}") for place in range(count))


def key_in_web(name: AccountName) -> PrivateKey:
    """The key that an account has in its own authority."""
    return PrivateKey(sha256(name.encode()))


def everybody(count: int) -> Shape:
    """Each lists all, needs more than all, and has a key of its own."""
    names = numbered("m", count)
    members = dict.fromkeys(names, 1)
    return Shape(names, lambda name: Authority(2 * count, members, {key_in_web(name).public: 1}))


def single(names: tuple[AccountName, ...]) -> Shape:
    """Each has its key alone: what others are compared with."""
    return Shape(names, lambda _: authority_of(MASTER.public))


def chain_in_web(count: int) -> Shape:
    """A quarter approve one after the other, a quarter are asked again each time, and half ask for all of these.

    No memory of failures helps where somebody is approved at each step.
    """
    asked, approving, asking = numbered("f", count // 4), numbered("l", count // 4), numbered("t", count // 2)
    before = dict(zip(approving[1:], approving, strict=False))

    def authority(name: AccountName) -> Authority:
        if name in asked:
            return Authority(60_000, dict.fromkeys((*asked, *approving), 1), {})
        if name in asking:
            left_out = approving[-1 - asking.index(name) % (count // 8)]
            return Authority(60_000, {each: 1 for each in approving if each != left_out}, {})
        members = dict.fromkeys(asked, 1)
        if name in before:
            return Authority(1_000, members | {before[name]: 1_000}, {})
        return Authority(1_000, members, {MASTER.public: 1_000})

    return Shape((*asked, *approving, *asking), authority)


def found_web(network: Network, shape: Shape) -> None:
    """Create all accounts, then give them their authorities."""
    created = [creation(VIZ, name) for name in shape.names]
    updates = [update(name, shape.authority(name)) for name in shape.names]
    for operations, key in ((created, VIZ_KEY), (updates, MASTER)):
        for first in range(0, len(operations), A_BLOCK):
            for each in operations[first : first + A_BLOCK]:
                network.send(*each, key=key)
            network.produce()


def creation(creator: AccountName, name: AccountName) -> tuple[Operation, ...]:
    """An account of the web with tokens, that has the master key in all of its authorities."""
    owner = authority_of(MASTER.public)
    return (
        AccountCreate(
            tokens(1_000), shares(1_000_000_000), creator, name, owner, owner, owner, MASTER.public, "", NO_NAME, ()
        ),
        Transfer(creator, name, tokens(10_000_000), ""),
    )


def update(name: AccountName, authority: Authority) -> tuple[Operation, ...]:
    """Its place in the web."""
    return (AccountUpdate(name, None, authority, authority, MASTER.public, ""),)


def block_of(network: Network, transactions: Sequence[Transaction]) -> Block:
    """The block of the next slot, by a validator who takes whatever it likes."""
    chain = network.chain
    when = chain.slot_time(1)
    name = chain.scheduled_at(chain.slot_at(when))
    root = merkle_root([each.merkle_digest for each in transactions])
    header = BlockHeader(chain.head_id, when, name, root, ())
    return sign_block(header, tuple(transactions), network.keys[name])
