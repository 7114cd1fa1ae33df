"""Faults in a network of real nodes, and what must hold during them and afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ledgerd.chain.chain import Chain
from ledgerd.node.testnet.founding import SMALL
from ledgerd.node.testnet.network import LocalNetwork, LocalNetworkSettings, prepare
from ledgerd.node.testnet.plan import Plan
from ledgerd.protocol.networks.chain_file import load_parameters
from tests.node.processes import PROGRAM
from tests.node.testnet.wires import Wires

LOOK_SECONDS = 0.2


class Ordeal:
    """A network, and the hands that a test lays on it."""

    def __init__(self, network: LocalNetwork, wires: Wires, tell: Callable[[str], None]) -> None:
        self.network = network
        self.wires = wires
        self._tell = tell

    @property
    def numbers(self) -> range:
        """The nodes."""
        return range(1, len(self.network.processes) + 1)

    def say(self, what: str) -> None:
        watch = self.network.watch
        nodes = " ".join(
            "-" if each is None else f"{each.head}/{each.irreversible}/{each.mode[0]}{each.peers}"
            for each in watch.statuses
        )
        self._tell(f"{what}: {nodes}")

    def until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        """Look at everybody until something is true; what must never be seen fails at once."""
        deadline = time.monotonic() + seconds
        while True:
            self.network.watch.inspect()
            assert not self.network.watch.faults, self.network.watch.faults
            if condition():
                return
            assert time.monotonic() < deadline, f"never happened: {what}; {self._silent()}{self.network.watch.statuses}"
            time.sleep(LOOK_SECONDS)

    def _silent(self) -> str:
        """The last lines of the nodes that do not answer."""
        pairs = zip(self.network.processes, self.network.watch.statuses, strict=True)
        silent = [process for process, sight in pairs if sight is None]
        return "".join(f"{each.member.name}, exit code {each.exit_code}: {each.last_words()}\n" for each in silent)

    def blocks(self, count: int, seconds: float) -> None:
        """Let the highest head go on by so many."""
        aim = self.network.watch.head + count
        self.until(lambda: self.network.watch.head >= aim, seconds, f"block {aim}")

    def kill(self, number: int) -> None:
        self.network.processes[number - 1].kill()
        self.say(f"node {number} killed")

    def start(self, number: int) -> None:
        self.network.processes[number - 1].start()
        self.say(f"node {number} started")

    def part(self, *groups: tuple[int, ...], silently: bool = True) -> None:
        self.wires.part(*groups, silently=silently)
        self.say(f"parted {groups}{' silently' if silently else ''}")

    def mend(self) -> None:
        self.wires.mend()
        self.say("mended")

    def all_agree(self, seconds: float) -> None:
        """Everybody answers, on one head, and what is irreversible has gone on."""

        def agree() -> bool:
            watch = self.network.watch
            return all(watch.statuses) and len(watch.heads) == 1

        self.until(agree, seconds, "one head for all")
        self.say("all agree")


@contextmanager
def ordeal(
    folder: Path,
    settings: LocalNetworkSettings,
    tell: Callable[[str], None] = print,
    before: Callable[[Plan], None] = lambda _: None,
) -> Iterator[Ordeal]:
    """A network that has started; at the end, what is on the nodes' disks is compared."""
    with Wires() as wires:
        plan = prepare(folder, settings, wires.between)
        before(plan)
        with LocalNetwork(plan, PROGRAM) as network:
            network.start()
            hands = Ordeal(network, wires, tell)
            hands.all_agree(60)
            yield hands
        irreversible = network.watch.irreversible
        assert not network.watch.faults
    parameters = load_parameters(plan.chain_file)
    chains = []
    for member in plan.members:
        with Chain.open(member.folder, parameters, clock=lambda: 0.0, space=SMALL) as chain:
            chains.append(KeptChain.of(chain))
    compare(chains, irreversible)
    ends = [(len(each.blocks), each.irreversible) for each in chains]
    tell(f"{len(irreversible)} irreversible blocks seen, and all are there; heads and irreversible on disk: {ends}")


class KeptChain(NamedTuple):
    """The chain of a node as it is on its disk at the end."""

    blocks: list[str]
    """The ids of all blocks from the first to the head, empty where a block is missing."""
    irreversible: int
    """The number of the last irreversible block, by the state. It may be less than what the node once said: it falls
    with a switch to another branch, and the block stays."""

    @classmethod
    def of(cls, chain: Chain) -> KeptChain:
        blocks = map(chain.block_at, range(1, chain.head_number + 1))
        return cls(["" if each is None else each.id.hex() for each in blocks], chain.irreversible)


def compare(chains: list[KeptChain], irreversible: dict[int, str]) -> None:
    """No two nodes differ in what is irreversible, and every node still has whatever was called so."""
    settled = [each.blocks[: each.irreversible] for each in chains]
    longest = max(settled, key=len)
    for each in settled:
        assert each == longest[: len(each)], "nodes differ in what is irreversible"
    assert "" not in longest, f"block {longest.index('') + 1} is missing"
    for place, chain in enumerate(chains, 1):
        for number, block_id in irreversible.items():
            assert chain.blocks[number - 1 : number] == [block_id], f"node {place} lost irreversible block {number}"
