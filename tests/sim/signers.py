"""A signer in virtual time, and the nodes that use it: its rule, clock, folder and frames are the real ones.

Only the wire between them is the world's: it delays, loses and is cut.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.framing.frames import LENGTH
from ledgerd.chain.pending.generation import BlockDraft
from ledgerd.producer.outcome import TickOutcome
from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.producer.signing.signer_place import CertifiedPlace, SignerPlace
from ledgerd.producer.signing.signing_frames import (
    SignerAnswer,
    SigningQuestion,
    SigningVerdict,
    packed_answer,
    packed_question,
    read_answer,
    read_question,
)
from ledgerd.producer.signing.signings import ATTEMPT_SECONDS, ATTEMPTS, SignerReply
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.signer.folder import SignerFolder
from ledgerd.signer.rule import CheckedClock, SigningRule
from ledgerd.signer.service import SigningService
from tests.sim.clocks import NodeClock
from tests.sim.node import Node
from tests.sim.world import World


class Given(NamedTuple):
    """A signature that has left the signer."""

    slot: int
    digest: bytes


class Asked(NamedTuple):
    """A question of a node that has reached the signer, for the first time for its slot."""

    slot: int
    node: str
    digest: bytes
    parent: BlockId
    verdict: SigningVerdict | None
    """Nothing where the signer was down."""


class SignerHost:
    """The machine of a signer."""

    def __init__(self, world: World, folder: Path, keys: dict[AccountName, PrivateKey]) -> None:
        self.clock = NodeClock(lambda: world.now)
        self.given: list[Given] = []
        """By all its runs."""
        self.first: dict[int, Asked] = {}
        """Who has asked first, by slot."""
        self.look_on: Callable[[Asked], None] = lambda _: None
        """Is told of each who is the first for a slot, at that moment."""
        self.cut: set[str] = set()
        """Nodes that do not reach it."""
        self.delay, self.losses = 0.01, 0.0
        self._world, self._folder, self._keys = world, folder, keys
        self._service: SigningService | None = None
        self.start()

    @property
    def is_up(self) -> bool:
        return self._service is not None

    @property
    def problem(self) -> str:
        """Why it would sign nothing now."""
        return "it is down" if self._service is None else self._service.problem

    def start(self) -> None:
        """As a new process on the same folder."""
        self._kept = SignerFolder(self._folder)
        keys = keyring(self._keys.values())
        rule = SigningRule(keys, self._keys, self._kept.record, has_stopped_cleanly=self._kept.has_stopped_cleanly)
        self._service = SigningService(rule, CheckedClock(self.clock.monotonic, self.clock.wall), self._keys, keys)
        _ = self._service.problem  # as at the start of the process, it is then that the wait begins

    def stop(self, *, is_clean: bool) -> None:
        """Stop it, or pull the plug."""
        if is_clean:
            self._kept.mark_clean()
        self._kept.close()
        self._service = None

    def back_up(self, folder: Path) -> None:
        """Copy its folder."""
        shutil.copytree(self._folder, folder)

    def restore(self, backup: Path) -> None:
        """Put a copy of its folder back."""
        shutil.rmtree(self._folder)
        shutil.copytree(backup, self._folder)

    def carry(self, node: SignedNode, frame: bytes, answered: Callable[[SignerAnswer], None]) -> None:
        """Bring a question to the signer and its answer back, if nothing is in the way."""
        random, world = self._world.random, self._world
        if node.name in self.cut or random.random() < self.losses:
            return

        def arrive() -> None:
            question = read_question(frame[LENGTH.size :])
            assert isinstance(question, SigningQuestion)
            answer = None if self._service is None else self._service.answer(question)
            header = question.header
            if header.timestamp not in self.first:
                verdict = None if answer is None else answer.verdict
                asked = Asked(header.timestamp, node.name, header.digest, header.previous, verdict)
                self.first[header.timestamp] = asked
                self.look_on(asked)
            if answer is None:
                return
            if answer.verdict is SigningVerdict.SIGNED:
                self.given.append(Given(header.timestamp, header.digest))
            if random.random() >= self.losses and node.name not in self.cut:
                back = read_answer(packed_answer(answer)[LENGTH.size :])
                world.after(self._latency(), lambda: answered(back))

        world.after(self._latency(), arrive)

    def _latency(self) -> float:
        return self.delay * (0.5 + self._world.random.random())


class SignedNode(Node):
    """A node that holds no key: its blocks are signed by a signer."""

    world: World
    host: SignerHost

    def production_settings(self) -> ProducerSettings:
        place = SignerPlace(path=Path("/signer"))
        names = tuple(sorted(self.keys))
        return ProducerSettings(names=names, keys={}, allows_stale=self.allows_stale, signer=CertifiedPlace(place))

    def start(self) -> None:
        super().start()
        self.outcomes: dict[int, TickOutcome] = getattr(self, "outcomes", {})
        """What became last of a slot of its own that has no block from here."""

    def look(self) -> float | None:
        pause = super().look()
        self._note_outcome()
        if self.producer.draft is not None:
            self._ask(self.producer.draft, self.runs, 1)
        return pause

    def _note_outcome(self) -> None:
        self.outcomes |= {slot: decision.outcome for slot, decision in self.producer.streaks.owed.items()}

    def _ask(self, draft: BlockDraft, run: int, attempt: int) -> None:
        """As `SignerLink.sign` asks, in virtual time."""
        is_open = True

        def settle(signing: SignerReply) -> None:
            nonlocal is_open
            if is_open and self.is_up and self.runs == run:
                is_open = False
                self.producer.settle(signing)
                self._note_outcome()
                self.world.run_actions(self.name)

        def give_up() -> None:
            nonlocal is_open
            if not is_open or not self.is_up or self.runs != run:
                return
            if attempt < ATTEMPTS:
                is_open = False
                self._ask(draft, run, attempt + 1)
            else:
                settle(SignerReply(None, "no answer"))

        question = SigningQuestion(attempt, draft.key, draft.header)
        self.host.carry(self, packed_question(question), lambda answer: settle(SignerReply(answer)))
        self.world.after(ATTEMPT_SECONDS, give_up)
