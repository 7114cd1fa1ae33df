"""What peers can show of blocks far above our head: asked for when several minutes bring us no further.

A claim costs nothing, so claims are only counted. A run of blocks that follow one another, signed by two thirds of the
validators of our schedule with the keys that we know, cannot be made up.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.codec import codec_of
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.wire.messages import GapFillReply, GapFillRequest
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName

FAR_BLOCKS = 200
"""A peer further ahead than this is no matter of a few late blocks."""

RUN_BLOCKS = 63
"""Blocks of a run: three rounds. As many keys are recovered for a reply."""

STANDSTILL_SECONDS = 30.0
"""Nobody is asked before the irreversible block has stood still for so long."""

AGAIN_SECONDS, ANSWER_SECONDS = 60.0, 15.0
"""Seconds before a peer is asked again, and until an answer counts as missing."""

ASKED_AT_ONCE = 4
"""Peers that are asked at a time for a run of blocks."""
TRUSTED_NEEDED = 2
RECENT_SECONDS = 60.0


class NetworkSurvey(NamedTuple):
    """What peers show of the network, and the state of our own chain beside it."""

    head: int
    irreversible: int
    claiming: int
    """Peers that claim to be far ahead."""
    highest: int
    """The highest block that was shown with enough signatures, or that two trusted peers claim; 0 for none."""
    signers: int
    """Scheduled validators with signatures in the best run of blocks that was shown."""
    needed: int
    """The number of peers that prove a run."""
    trusted: int
    own_signers: int
    """Scheduled validators that have made blocks of the last round of our own chain."""
    age: float

    @property
    def is_ahead_known(self) -> bool:
        is_shown = self.signers >= self.needed > 0 or self.trusted >= TRUSTED_NEEDED
        return is_shown and self.highest >= self.head + FAR_BLOCKS

    @property
    def is_in_step(self) -> bool:
        return not self.is_ahead_known and self.own_signers >= self.needed and self.age <= RECENT_SECONDS


class Asked(NamedTuple):
    """A request that is not answered yet."""

    numbers: range
    at: float


class Survey:
    """Asks peers for runs of blocks, and keeps what was proven."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._asked: dict[int, Asked] = {}
        self._asked_at: dict[int, float] = {}
        self._proven_by: set[int] = set()
        """Peers that have shown such a run lately."""
        self._top = 0
        self._signers = 0
        self._irreversible_since: tuple[int, float] = (0, core.now)
        """The irreversible block, and since when."""
        self._wanted: tuple[int, BlockId] | None = None
        """A block that is to be confirmed."""
        self._agreeing: set[str] = set()
        self.is_confirmed: bool | None = None
        """Whether the wanted block is at the beginning of a proven run, or two trusted peers have it; False if
        another block is in its place, and None before that is known.
        """

    @property
    def needed(self) -> int:
        return -(-len(self._core.chain.scheduled) * 2 // 3)

    def summary(self) -> NetworkSurvey:
        chain, trusted = self._core.chain, sorted(self._claims_of_trusted().values(), reverse=True)
        highest = max(self._top, trusted[1] if len(trusted) > 1 else 0)
        claiming = sum(self._is_far(peer.claimed) for peer in self._core.live())
        return NetworkSurvey(
            chain.head_number,
            chain.lib_number,
            claiming,
            highest,
            self._signers,
            self.needed,
            len(trusted),
            self._own_signers(),
            self._core.now - chain.head_time,
        )

    def _own_signers(self) -> int:
        chain, found = self._core.chain, set[str]()
        scheduled = frozenset(chain.scheduled)
        for number in range(max(1, chain.head_number + 1 - len(chain.scheduled)), chain.head_number + 1):
            packed = chain.read(number)
            if packed is not None:
                found.add(codec_of(SignedHeader).decode(packed).validator)
        return len(found & scheduled)

    def _claims_of_trusted(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for peer in self._core.live():
            name = self._trusted_name(peer)
            if name is not None and self._is_far(peer.claimed):
                found[name] = max(found.get(name, 0), peer.claimed)
        return found

    def _trusted_name(self, peer: Peer) -> str | None:
        """The name of the trusted peer that a peer is: one that we dialled by this name, or that has this address."""
        trusted = self._core.settings.trusted_hosts
        if not peer.is_incoming and peer.endpoint.host in trusted:
            return peer.endpoint.host
        return peer.address if peer.address in trusted else None

    def _is_far(self, number: int) -> bool:
        return number >= self._core.chain.head_number + FAR_BLOCKS

    @property
    def proven_peers(self) -> frozenset[int]:
        names = self._claims_of_trusted()
        trusted = {peer.id for peer in self._core.live() if self._trusted_name(peer) in names}
        return frozenset(self._proven_by | trusted)

    def tick(self) -> None:
        core = self._core
        if core.chain.lib_number != self._irreversible_since[0]:
            self._irreversible_since = core.chain.lib_number, core.now
        self._asked = {peer: asked for peer, asked in self._asked.items() if core.now - asked.at <= ANSWER_SECONDS}
        if self._top and not self._is_far(self._top):
            self._top = self._signers = 0
            self._proven_by.clear()
        if self._wanted is None and core.now - self._irreversible_since[1] < STANDSTILL_SECONDS:
            return
        due = [peer for peer in core.live() if self._is_due(peer)]
        for peer in sorted(due, key=lambda each: self._asked_at.get(each.id, 0.0))[:ASKED_AT_ONCE]:
            self._ask(peer)

    def _is_due(self, peer: Peer) -> bool:
        last = self._asked_at.get(peer.id)
        is_ahead = self._is_far(peer.claimed) if self._wanted is None else peer.claimed >= self._wanted[0]
        return is_ahead and (last is None or self._core.now - last >= AGAIN_SECONDS)

    def _ask(self, peer: Peer) -> None:
        core = self._core
        latest = max(core.chain.head_number, peer.claimed - RUN_BLOCKS) + 1
        first = latest if self._wanted is None else self._wanted[0]
        numbers = range(first, min(peer.claimed, first + RUN_BLOCKS - 1) + 1)
        self._asked[peer.id] = Asked(numbers, core.now)
        self._asked_at[peer.id] = core.now
        core.send(peer, GapFillRequest(tuple(numbers)))

    def numbers_of(self, peer: Peer) -> range:
        asked = self._asked.get(peer.id)
        return range(0) if asked is None else asked.numbers

    def confirm(self, number: int, block_id: BlockId) -> None:
        self._wanted = number, block_id
        self._agreeing.clear()
        self.is_confirmed = None
        self._asked.clear()
        self._asked_at.clear()

    def receive(self, peer: Peer, reply: GapFillReply) -> None:
        asked, run = self._asked.pop(peer.id, None), run_of(reply.blocks)
        if asked is None or not run or any(block.number not in asked.numbers for block in run):
            return
        if self._wanted is not None:
            self._check_wanted(peer, run, *self._wanted)
        signers = self._signers_of(run)
        if self._is_far(run[-1].number) and len(signers) >= max(self._signers, 1):
            self._signers = len(signers)
        if self._is_far(run[-1].number) and len(signers) >= self.needed:
            self._top = max(self._top, run[-1].number)
            self._proven_by.add(peer.id)

    def _check_wanted(self, peer: Peer, run: list[Block], number: int, block_id: BlockId) -> None:
        is_proven, name = len(self._signers_of(run)) >= self.needed, self._trusted_name(peer)
        if run[0].number != number:
            return
        if run[0].id != block_id:
            self.is_confirmed = False if is_proven else self.is_confirmed
            return
        if name is not None:
            self._agreeing.add(name)
        if is_proven or len(self._agreeing) >= TRUSTED_NEEDED:
            self.is_confirmed = True

    def _signers_of(self, run: list[Block]) -> set[AccountName]:
        chain = self._core.chain
        scheduled = frozenset(chain.scheduled)
        return {
            AccountName(block.validator) for block in run if block.validator in scheduled and chain.is_signed(block)
        }

    def forget(self, peer: Peer) -> None:
        self._asked.pop(peer.id, None)
        self._asked_at.pop(peer.id, None)
        self._proven_by.discard(peer.id)


def run_of(blocks: tuple[Block, ...]) -> list[Block]:
    run: list[Block] = []
    for block in blocks:
        if run and block.previous != run[-1].id:
            run = []
        run.append(block)
    return run
