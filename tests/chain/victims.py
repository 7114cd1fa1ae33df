"""Two kinds of work that are worth killing, each in a process of its own: a replay, and live production.

`python -m tests.chain.victims replay|produce FOLDER LAST [BYTES]`, with the most that any file may grow to. Each
line that it writes is the height of a commit. Both kinds are a matter of the chain alone: begun again anywhere,
they come to the same end.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.source import LogSource
from ledgerd.chain.offline import replay as replaying
from ledgerd.chain.offline.replay import replay
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.types.assets import tokens
from tests.chain.networks import ALICE, BOB, OTHERS, SEVEN, SMALL, VIZ, VIZ_KEY, Clock, Network, key_of
from tests.chain.recorded_chains import network_of

RECORDED = "open-main"
BLOCKS_A_COMMIT = 25
"""Of a replay here: more commits to be killed in."""

POPPED, SKIPPED = 9, 11
"""Of every so many blocks one is taken off and made again, and one comes a slot late."""

FAILED = 1

Report = Callable[[int], None]


def open_for_replay(folder: Path) -> Chain:
    return Chain.open(folder, network_of(RECORDED), clock=Clock(), space=SMALL)


def replay_into(chain: Chain, log: Path, last: int, report: Report) -> None:
    """Apply the blocks of a log; the report comes after each commit."""
    with patch.object(replaying, "BLOCKS_A_COMMIT", BLOCKS_A_COMMIT):
        replay(chain, LogSource(log), to=last, progress=report)


def open_for_production(folder: Path) -> Network:
    """The network of `start_seven`, in a folder where that was made."""
    network = Network(folder, SEVEN)
    network.keys |= {name: key_of(name) for name in OTHERS}
    return network


def produce_in(network: Network, last: int, report: Report, *, pops: bool = True) -> None:
    """Make blocks with transactions in them, each committed by itself, in a way that the height alone decides."""
    chain = network.chain
    while chain.head_number < last:
        number = chain.head_number + 1
        _produce_one(network, number)
        report(number)
        if pops and number % POPPED == 0:
            chain.pop_block()
            report(number - 1)
            _produce_one(network, number)
            report(number)


def _produce_one(network: Network, number: int) -> None:
    chain = network.chain
    if not chain.waiting:
        for place, operation in enumerate(_operations_of(number)):
            draft = unsigned_transaction(chain.head_id, chain.head_time + 60 + place, (operation,))
            chain.push_transaction(draft.signed(chain.network.chain_id, [VIZ_KEY]))
    network.produce(skipped=number % SKIPPED == 0)


def _operations_of(number: int) -> tuple[Operation, ...]:
    return (
        Transfer(VIZ, ALICE, tokens(number), "once"),
        Transfer(VIZ, BOB, tokens(number), "x" * (number % 7 * 100)),
        TransferToVesting(VIZ, OTHERS[number % 6], tokens(1 + number)),
    )


def report_to_killer(height: int) -> None:
    sys.stdout.write(f"{height}\n")
    sys.stdout.flush()


def main(kind: str, folder: Path, last: int, room: int | None) -> int:
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        if kind == "produce":
            network = open_for_production(folder)
            report_to_killer(network.chain.head_number)
            produce_in(network, last, report_to_killer)
            network.chain.close()
        else:
            with open_for_replay(folder) as chain:
                report_to_killer(chain.head_number)
                replay_into(chain, folder.parent / "block_log", last, report_to_killer)
    except OperatorError as problem:
        sys.stderr.write(f"{problem}\n")
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if sys.argv[4:] else None))
