"""Reasons not to believe a node, looked at before anything is signed, and the chain that the wallet remembers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ledgerd.basics.durable import open_file
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.sdk.transactions.chain_status import BLOCK_ID_SIZE, ChainStatus, exact_hex, status_of
from ledgerd.wallet.errors import HeadWentBack, NodesDisagree, NodeUnreachable, OtherChain, WalletError, WrongClock
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.whole_file import replace_whole

LARGEST_CHAIN_FILE = 4_096

CLOCK_SECONDS = 60
"""Seconds by which the time of a head block may differ from the clock."""
SHOWN_DIGITS = 16

WallClock = Callable[[], float]


class SeenChain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The chain that the wallet has used so far."""

    chain_id: str = ""
    """Hex; empty until a node was asked."""
    head: int = 0
    at: float = 0
    """The time of this machine's clock when that head was seen."""


def file_of(wallet: Path) -> Path:
    return wallet.with_name(f"{wallet.name}.chain")


def recall(wallet: Path) -> SeenChain:
    path = file_of(wallet)
    try:
        with open_file(path) as file:
            found = msgspec.json.decode(file.read(LARGEST_CHAIN_FILE), type=SeenChain)
            bytes.fromhex(found.chain_id)
            return found
    except FileNotFoundError:
        return SeenChain()
    except OSError as problem:
        raise WalletError(f"{path} cannot be read: {problem.strerror}") from problem
    except (msgspec.MsgspecError, ValueError):
        raise WalletError(f"{path} is damaged: remove it with `ledgerd wallet forget-chain`") from None


def remember(wallet: Path, seen: SeenChain) -> None:
    """Write the chain that was seen, as a whole file; without a wallet nothing is remembered."""
    if not wallet.exists():
        return
    replace_whole(file_of(wallet), msgspec.json.encode(seen))


def forget(wallet: Path) -> None:
    file_of(wallet).unlink(missing_ok=True)


def chain_status(node: NodeClient) -> ChainStatus:
    properties = node.call("database_api", "get_dynamic_global_properties")
    config = node.call("database_api", "get_config")
    with node.understood():
        return status_of(properties, config)


def checked_status(
    nodes: Sequence[NodeClient], wallet: Path, clock_seconds: float, clock: WallClock = time.time
) -> ChainStatus:
    """The first node's, after all of them have passed the checks."""
    seen = recall(wallet)
    found, now = [chain_status(node) for node in nodes], clock()
    for node, chain in zip(nodes, found, strict=True):
        _check_chain(node, chain, seen, found[0])
        difference = chain.head_time - now
        if abs(difference) > clock_seconds:
            ahead = "ahead of" if difference > 0 else "behind"
            raise WrongClock(
                f"the head block of {node.url} is {abs(difference):.0f} seconds {ahead} the clock of this machine: "
                "one of them is wrong, or the node is not synced"
            )
    first = found[0]
    _compare(nodes, found, 2 * clock_seconds)
    head = _believed_head([each.head_number for each in found], seen, now)
    if first.head_number < seen.head and head >= seen.head:
        raise HeadWentBack(
            f"the head of {nodes[0].url} is block {first.head_number}, but block {seen.head} was seen before: it is "
            "behind or on another branch; ask two nodes (--node twice) whether they agree; if the chain was begun "
            "again, use `ledgerd wallet forget-chain`"
        )
    remember(wallet, SeenChain(first.chain_id.hex(), head, now))
    return first


def _believed_head(heads: Sequence[int], seen: SeenChain, now: float) -> int:
    """The head to remember. It must not be a lie, since every honest node would be refused afterwards.

    What several nodes agree on is believed, also where it is below the last one: then that one was the lie. What one
    node says is believed as far as the chain can have grown since.
    """
    if len(heads) > 1:
        return max(heads) if max(heads) < seen.head else max(seen.head, min(heads))
    if not seen.chain_id:
        return heads[0]
    grown = max(0, int(now - seen.at)) // BLOCK_INTERVAL
    return max(seen.head, min(heads[0], seen.head + grown))


def chain_words(chain_id: bytes) -> str:
    """A chain by the beginning of its id; all of it looks like a private key, which errors do not show."""
    return f"{chain_id.hex()[:SHOWN_DIGITS]}..."


def _check_chain(node: NodeClient, chain: ChainStatus, seen: SeenChain, first: ChainStatus) -> None:
    expected = ChainId(bytes.fromhex(seen.chain_id)) if seen.chain_id else first.chain_id
    if chain.chain_id != expected:
        raise OtherChain(
            f"{node.url} is of the chain {chain_words(chain.chain_id)}, and this wallet is used with "
            f"{chain_words(expected)}: choose another node, or another wallet with --wallet"
        )


def _compare(nodes: Sequence[NodeClient], found: Sequence[ChainStatus], apart_seconds: float) -> None:
    """What one says is irreversible must be in the chain of all, as far as they have come.

    A node on a branch of its own may call little irreversible, so the highest of these blocks is compared. And heads of
    one time cannot be far from each other.
    """
    if len(nodes) == 1:
        return
    heads = [each.head_number for each in found]
    if (max(heads) - min(heads)) * BLOCK_INTERVAL > apart_seconds:
        shown = "; ".join(f"{node.url}: {head}" for node, head in zip(nodes, heads, strict=True))
        raise NodesDisagree(f"the heads of the nodes are of one time and of very different numbers: {shown}")
    number = min(max(each.irreversible for each in found), *heads)
    ids = [_id_of_block(node, chain, number) for node, chain in zip(nodes, found, strict=True)]
    if len(set(ids)) > 1:
        shown = "; ".join(f"{node.url}: {each.hex()}" for node, each in zip(nodes, ids, strict=True))
        raise NodesDisagree(f"the nodes have different irreversible blocks {number}: {shown}")


def _id_of_block(node: NodeClient, chain: ChainStatus, number: int) -> bytes:
    """The id of a block: the next one's header names it."""
    if number == chain.head_number:
        return chain.head
    header = node.call("database_api", "get_block_header", number + 1)
    try:
        return exact_hex(header["previous"], BLOCK_ID_SIZE)
    except (KeyError, TypeError, ValueError):
        raise NodeUnreachable(f"{node.url} has no block {number + 1}") from None
