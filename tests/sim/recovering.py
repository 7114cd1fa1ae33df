"""Nodes of the simulator that help themselves out of a dead end, and the faults that bring them into one.

The rule, the survey of peers, the checks of a snapshot and its import are the real ones; downloads and child processes
are the world's.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.parts.watching.recovery.part import read_incidents, write_incidents
from ledgerd.node.parts.watching.recovery.rule import Permissions, RecoveryStep, WedgeRule
from ledgerd.protocol.errors import RuleViolation
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.compare import differing
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.build import build_state
from ledgerd.snapshot.settings import Terms
from tests.chain.networks import SMALL
from tests.chain.recorded_chains import SUMMARIES_AHEAD, FewSummaries
from tests.sim.node import Node

if TYPE_CHECKING:
    from ledgerd.chain.ledger.skip import SkipFlags
    from ledgerd.protocol.blocks.block import Block
    from ledgerd.state import View

CONFIRM_LOOKS = 24


class Poisoned(RuleViolation):
    """What a planted fault says."""


class Served(NamedTuple):
    """A snapshot of a trusted peer."""

    peer: str
    number: int
    file: bytes


def exported(chain: Chain) -> bytes:
    """The snapshot of a chain's head, with the ids of blocks that a scenario may come to: those behind are zero."""
    file, view = BytesIO(), FewSummaries(chain.parts.store, chain.head_number + SUMMARIES_AHEAD)
    with chain.parts.pending.set_aside(0):
        block = chain.block_at(chain.head_number)
        export(cast("View", view), file, Occasion(chain.network.chain_id, 0, block))
    return file.getvalue()


class Recovering(Node):
    """A node with the rule, and with trusted peers that serve snapshots."""

    permissions = Permissions(may_step=True, may_fetch=True)

    def __init__(self, *given: Any) -> None:
        self.refuses: Callable[[Block], bool] = lambda _: False
        """A bug of this node alone: the blocks that it refuses."""
        self.sources: Callable[[], list[Served]] = list
        """What its trusted peers serve now."""
        self.begin_anew: Callable[[], None] = lambda: None
        """Stops the node, calls `put_in_place`, and starts it."""
        self.said: list[str] = []
        self.steps: list[tuple[float, RecoveryStep]] = []
        self.held: list[tuple[float, float]] = []
        """From when until when nothing was to be signed."""
        super().__init__(*given)

    def start(self) -> None:
        """As a new process, which goes on with the incident of the one before."""
        super().start()
        self.rule = WedgeRule(read_incidents(self.folder), self.permissions, self.clock())
        self._reason = "not in step yet" if self.rule.incident is not None else ""
        self.producer.signing_refusal = lambda: self._reason
        self._refused: set[str] = set()
        """Trusted peers that have served what was refused."""
        self._waiting: tuple[int, Served] | None = None
        self._looks = 0
        self._held_since = self.clock()
        self._plant()

    def _plant(self) -> None:
        trunk = self.chain.parts.trunk
        plain = trunk.apply

        def apply(block: Block, skip: SkipFlags) -> None:
            if self.refuses(block):
                raise Poisoned(f"a bug refuses block {block.number}")
            plain(block, skip)

        setattr(trunk, "apply", apply)  # noqa: B010 - of this one chain

    def tick(self) -> None:
        super().tick()
        if self._waiting is not None:
            self._look_whether_confirmed()
            return
        verdict = self.rule.inspect(self.clock(), int(self.clock()), self.network.intake.survey.summary())
        self._hold(verdict.reason)
        self.said += [line.text for line in verdict.lines]
        if verdict.lines:
            write_incidents(self.folder, self.rule.incidents)
        if verdict.step is not None:
            self.steps.append((self.clock(), verdict.step))
        match verdict.step:
            case RecoveryStep.FORGET:
                self.chain.forget_branches()
                self.network.ask_again(self.clock())
                self.rule.ended()
            case RecoveryStep.GO_BACK:
                self.chain.go_back()
                self.network.ask_again(self.clock())
                self.rule.ended()
            case RecoveryStep.FETCH:
                self._fetch()

    def _hold(self, reason: str) -> None:
        if not reason and self.rule.incident is not None:
            return
        if reason and not self._reason:
            self._held_since = self.clock()
        elif self._reason and not reason:
            self.held.append((self._held_since, self.clock()))
        self._reason = reason

    # -- the last step

    @property
    def _fresh(self) -> Path:
        return self.folder / "fresh"

    def _fetch(self) -> None:
        """Build the newest state that two trusted peers do not disagree on, or that one has alone."""
        head, chain = self.chain.head_number, self.chain
        number = max(chain.irreversible, chain.block_log.head_number)
        needed = (number, chain.id_at(number).hex())
        offers = [each for each in self.sources() if each.number > head and each.peer not in self._refused]
        for served in self._agreed(offers):
            shutil.rmtree(self._fresh, ignore_errors=True)
            self._fresh.mkdir()
            snapshot = Snapshot.from_bytes(served.file)
            try:
                build_state(self._fresh, snapshot, self.parameters, SMALL, Terms(needed_block=needed))
            except SnapshotError as problem:
                self.said.append(f"{served.peer}: {problem}")
                self._refused.add(served.peer)
                continue
            self.network.intake.survey.confirm(snapshot.head_number, snapshot.head_id)
            self._waiting, self._looks = (snapshot.head_number, served), 0
            return
        self.said.append(self.rule.has_failed("no trusted peer has a snapshot that passes the checks").text)

    def _agreed(self, offers: list[Served]) -> Iterator[Served]:
        """The highest first: of each number that which two serve, or that which one serves alone."""
        for number in sorted({each.number for each in offers}, reverse=True):
            groups: list[list[Served]] = []
            for served in (each for each in offers if each.number == number):
                same = next((group for group in groups if self._is_same(group[0], served)), None)
                if same is None:
                    groups.append([served])
                else:
                    same.append(served)
            best = max(groups, key=len)
            if len(groups) > 1:
                self.said.append(f"states of block {number} differ: " + ", ".join(each[0].peer for each in groups))
                self._refused |= {
                    each.peer for group in groups if group is not best or len(best) == 1 for each in group
                }
            if len(best) > 1 or len(groups) == 1:
                yield best[0]

    def _is_same(self, one: Served, other: Served) -> bool:
        if one.file == other.file:
            return True
        return not differing(Snapshot.from_bytes(one.file), Snapshot.from_bytes(other.file), self.parameters)

    def _look_whether_confirmed(self) -> None:
        assert self._waiting is not None
        self._looks += 1
        if self.network.intake.survey.is_confirmed:
            self.begin_anew()
        elif self.network.intake.survey.is_confirmed is False or self._looks >= CONFIRM_LOOKS:
            number, served = self._waiting
            self.said.append(f"{served.peer}: peers do not confirm block {number}")
            self._refused.add(served.peer)
            self._waiting = None
            self._fetch()

    def put_in_place(self) -> None:
        """Between a stop and a start."""
        state = self.folder / STATE_FOLDER
        shutil.rmtree(state)
        state.mkdir()
        shutil.copy(self._fresh / "data.mdb", state / "data.mdb")
        shutil.rmtree(self._fresh)
