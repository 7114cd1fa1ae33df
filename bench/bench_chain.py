"""What the chain costs: replay of near-empty and of full blocks, a durable live block, and a state of many accounts.

All checks are on: signatures, authorities, merkle roots. Figures in recoveries of the same run compare across
machines.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.offline.replay import replay
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.signatures import recover
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.chain.crowds import populate
from tests.chain.networks import Network, key_of, started_network
from tests.chain.recorded_chains import open_chain
from tests.recorded import CHAINS, recorded_blocks

FULL_BLOCKS, EMPTY_BLOCKS, TRANSFERS = 20, 600, 100
FEW, MANY = 1_000, 200_000

RECOVERIES_A_BLOCK = 10
OPERATIONS_A_SECOND = 6_000
LIVE_SECONDS = 0.040
OPEN_SECONDS, OPEN_MEGABYTES = 1.0, 600
GROWTH = 1.30


def recovery_seconds() -> float:
    """What one key recovery costs now; a busy machine slows it as much as the rest."""
    block = codec_of(Block).decode(recorded_blocks("open-2")[5])
    signature, digest = block.validator_signature, block.header.digest
    started = process_time()
    for _ in range(500):
        recover(signature, digest)
    return (process_time() - started) / 500


@contextmanager
def network() -> Iterator[Network]:
    """A private network in a folder of its own, past all hardforks."""
    with tempfile.TemporaryDirectory() as folder, started_network(Path(folder)) as made:
        yield made


def packed_blocks(source: Network, first: int) -> list[bytes]:
    """The blocks of a chain from a height on."""
    blocks = [source.chain.block_at(number) for number in range(first, source.chain.head_number + 1)]
    return [block.packed for block in blocks if block is not None]


class ListedBlocks:
    """Blocks to replay, the first of which follows a head."""

    def __init__(self, head: int, blocks: list[bytes]) -> None:
        self._head = head
        self._blocks = blocks

    @property
    def head_number(self) -> int:
        """The last of them."""
        return self._head + len(self._blocks)

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """Each with its number."""
        return enumerate(self._blocks[first - self._head - 1 : last - self._head], start=first)


def replay_seconds(chain: Chain, blocks: list[bytes], skip: SkipFlags = Skip.NOTHING) -> float:
    """How long it takes to decode and apply blocks, and to commit them."""
    started = process_time()
    replay(chain, ListedBlocks(chain.head_number, blocks), skip=skip)
    return process_time() - started


def verdict(value: float, limit: float, unit: str = "", *, at_most: bool = True) -> str:
    """The target of a figure, and whether it is met."""
    is_met = value <= limit if at_most else value >= limit
    return f"{'<=' if at_most else '>='} {limit:g}{unit and ' '}{unit}: {'met' if is_met else 'MISSED'}"


def send_transfers(net: Network, names: list[AccountName], round_: int) -> None:
    """Push a transfer from each account to the next."""
    for place, name in enumerate(names):
        recipient = names[(place + round_ + 1) % len(names)]
        net.send(Transfer(name, recipient, tokens(1 + round_), f"payment {round_}"), key=net.keys[name])


def users(net: Network) -> list[AccountName]:
    """A hundred accounts with tokens."""
    names = [AccountName(f"user-{number}") for number in range(TRANSFERS)]
    for place, name in enumerate(names):
        net.keys[name] = key_of(name)
        net.create_account(name, net.keys[name])
        if place % 20 == 19:
            net.produce()
    return names


def bench_replay() -> None:
    """Near-empty blocks, and blocks of 100 transfers, into another node."""
    with network() as source, tempfile.TemporaryDirectory() as folder:
        names = users(source)
        first = source.chain.head_number + 1
        for round_ in range(FULL_BLOCKS):
            send_transfers(source, names, round_)
            source.produce()
        full = source.chain.head_number + 1
        source.produce(EMPTY_BLOCKS)
        node = Network(Path(folder))
        node.follow(codec_of(Block).decode(packed) for packed in packed_blocks(source, 1)[: first - 1])

        blocks = packed_blocks(source, first)
        full_blocks, empty_blocks = blocks[: full - first], blocks[full - first :]
        replay_seconds(node.chain, full_blocks[:2])
        seconds = replay_seconds(node.chain, full_blocks[2:])
        one = recovery_seconds()
        operations = (len(full_blocks) - 2) * TRANSFERS
        rate = operations / seconds
        print(f"  a transfer, in blocks of {TRANSFERS}: {seconds / operations / one:5.2f} recoveries, ", end="")
        print(f"{rate:7,.0f} operations/s ({verdict(rate, OPERATIONS_A_SECOND, at_most=False)})")
        seconds = replay_seconds(node.chain, empty_blocks)
        cost, rate = seconds / EMPTY_BLOCKS / recovery_seconds(), EMPTY_BLOCKS / seconds
        print(f"  a near-empty block, one validator:  {cost:5.2f} recoveries, ", end="")
        print(f"{rate:7,.0f} blocks/s ({verdict(cost, RECOVERIES_A_BLOCK, 'recoveries')})")
        node.chain.close()


def bench_recorded() -> None:
    """The recorded chains from the first block to the last."""
    for name in CHAINS:
        blocks = list(recorded_blocks(name))
        operations = sum(
            len(each.operations) for packed in blocks for each in codec_of(Block).decode(packed).transactions
        )
        with tempfile.TemporaryDirectory() as folder, open_chain(name, Path(folder)) as chain:
            seconds = replay_seconds(chain, blocks)
            cost = seconds / len(blocks) / recovery_seconds()
            print(f"  {name:<10}{len(blocks):5} blocks, {operations:6,} operations: ", end="")
            print(f"{cost:6.2f} recoveries a block, {len(blocks) / seconds:6,.0f} blocks/s")


def bench_live() -> None:
    """A block of 100 operations from its bytes to the disk."""
    with network() as source, tempfile.TemporaryDirectory() as folder:
        names = users(source)
        first = source.chain.head_number + 1
        for round_ in range(9):
            send_transfers(source, names, round_)
            source.produce()
        node = Network(Path(folder))
        node.follow(codec_of(Block).decode(packed) for packed in packed_blocks(source, 1)[: first - 1])
        times = []
        for packed in packed_blocks(source, first):
            started = perf_counter()
            node.chain.push_block(codec_of(Block).decode(packed)).or_raise()
            times.append(perf_counter() - started)
        node.chain.close()
        middle = sorted(times)[len(times) // 2]
        print(f"  a live block of {TRANSFERS} operations, applied and durable: {middle * 1000:.1f} ms ", end="")
        print(f"({verdict(middle * 1000, LIVE_SECONDS * 1000, 'ms')}; {middle / recovery_seconds():.0f} recoveries)")


def block_cost(net: Network) -> float:
    """Recoveries a near-empty block, the best of several runs."""
    costs = []
    for _ in range(5):
        made = []
        started = process_time()
        for _ in range(100):
            made.append(net.make())
            net.chain.push_block(made[-1], commit=False).or_raise()
        net.chain.commit()
        costs.append((process_time() - started) / 100 / recovery_seconds())
    return min(costs)


def bench_accounts() -> None:
    """The same blocks over a small and a large state, and opening the large one."""
    costs = {}
    for count in (FEW, MANY):
        with network() as net:
            populate(net, count)
            net.produce(50)
            costs[count] = block_cost(net)
            if count == MANY:
                folder = net.folder
                net.chain.close()
                print_opening(folder)
                net.chain = Network(folder).chain
    ratio = costs[MANY] / costs[FEW]
    print(f"  making and applying a block: {costs[FEW]:.2f} recoveries at {FEW:,} accounts, ", end="")
    print(f"{costs[MANY]:.2f} at {MANY:,}: {ratio:.2f} times ({verdict(ratio, GROWTH)})")


OPENING = """
import resource, sys, time
from pathlib import Path
from tests.chain.networks import Network
started = time.perf_counter()
net = Network(Path(sys.argv[1]))
assert net.chain.active_keys("member-77777")
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def print_opening(folder: Path) -> None:
    """Open a state in a child process, and print time and memory."""
    answer = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", OPENING, str(folder)], check=True, capture_output=True, text=True
    ).stdout
    seconds, megabytes = (float(part) for part in answer.split())
    print(f"  opening {MANY:,} accounts: {seconds:.2f} s ({verdict(seconds, OPEN_SECONDS, 's')}), ", end="")
    print(f"{megabytes:.0f} MB ({verdict(megabytes, OPEN_MEGABYTES, 'MB')})")


def main() -> None:
    """Print every figure."""
    print(f"  a signature recovery: {recovery_seconds() * 1e6:.1f} microseconds")
    bench_replay()
    bench_recorded()
    bench_live()
    bench_accounts()
    print(f"  peak memory of this run: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
