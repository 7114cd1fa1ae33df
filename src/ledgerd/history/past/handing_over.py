"""Hands a history that was made beside the node over to it, by files in a folder: the node accepts the history and
removes the offer, or the offer alone while the history is behind, or writes why it refuses.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from enum import Enum
from pathlib import Path

import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.codec import codec_of
from ledgerd.history.embedded.embedded import CopiedBlock, EmbeddedStore
from ledgerd.history.embedded.following import last_in_common
from ledgerd.history.embedded.kept_facts import KeptFacts
from ledgerd.history.errors import HistoryDamaged, PastRefused
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.disk import Space
from ledgerd.state.files.lock import holder_of

log = logging.getLogger(__name__)

PAST_FOLDER = "history.past"
"""The folder, in the data directory, of the history that is made, and of the state that it is made with."""
READY, REFUSED, WANTED = "ready", "refused", "wanted.json"
FORMER_SUFFIX = ".former"

MOST_AT_ONCE = 100
"""Blocks that the node copies, while it does nothing else."""


class OfferOutcome(Enum):
    """The outcome for a history that was offered."""

    NOT_YET = "not yet"
    ACCEPTED = "accepted"
    NO_NODE = "no node"


class PastOffer:
    """The side of the process that makes the history."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / PAST_FOLDER
        self._history = data_dir / HISTORY_FOLDER

    def make(self) -> None:
        (self.folder / READY).touch()

    def withdraw(self) -> None:
        (self.folder / READY).unlink(missing_ok=True)

    @property
    def is_accepted(self) -> bool:
        return not (self.folder / HISTORY_FOLDER).exists()

    def outcome(self) -> OfferOutcome | None:
        """The action of the node so far; None while it has not read the offer. `PastRefused` says why it refuses."""
        refused = self.folder / REFUSED
        if refused.exists():
            why = refused.read_text(encoding="utf-8")
            refused.unlink()
            raise PastRefused(why)
        if self.is_accepted:
            return OfferOutcome.ACCEPTED
        if not (self.folder / READY).exists():
            return OfferOutcome.NOT_YET
        return OfferOutcome.NO_NODE if holder_of(self._history) is None else None


class PastAcceptance:
    """The side of the node, on the thread of the chain."""

    def __init__(self, data_dir: Path, settings: HistorySettings, space: Space) -> None:
        self._folder = data_dir / PAST_FOLDER
        self._history = data_dir / HISTORY_FOLDER
        self._settings = settings
        self._space = space

    @property
    def is_offered(self) -> bool:
        return (self._folder / READY).exists()

    def finish(self) -> None:
        """Give the history its name, where a node was killed in between."""
        if self.is_offered and not self._history.exists() and (self._folder / HISTORY_FOLDER).exists():
            (self._folder / HISTORY_FOLDER).rename(self._history)
        if self.is_offered and not (self._folder / HISTORY_FOLDER).exists():
            (self._folder / READY).unlink()

    def accept(self, chain: Chain, store: EmbeddedStore) -> bool:
        """Accept what is offered, if it reaches far enough: the store goes on with it. Never raises for its sake."""
        try:
            is_accepted = self._catches_up(chain, store)
            if is_accepted:
                aside = self._history.with_name(HISTORY_FOLDER + FORMER_SUFFIX)
                store.replace_with(self._folder / HISTORY_FOLDER, aside)
                log.info("the history begins with block %(block)d from now on", {"block": 1})
        except StoreLocked:
            return False
        except (OperatorError, OSError) as problem:
            with suppress(OSError):
                (self._folder / REFUSED).write_text(str(problem), encoding="utf-8")
            log.warning("the history of the past is not taken: %(reason)s", {"reason": problem})
            is_accepted = False
        (self._folder / READY).unlink(missing_ok=True)
        return is_accepted

    def _catches_up(self, chain: Chain, store: EmbeddedStore) -> bool:
        """Copy the latest blocks, where they are few; whether the history offered has what the node has."""
        wanted = msgspec.json.encode(self._settings.of_log(is_rolling=chain.is_rolling))
        if (self._folder / WANTED).read_bytes() != wanted:
            raise PastRefused(
                "the node runs with other options of the history: put them into its configuration, and extend again"
            )
        settings = msgspec.json.decode(wanted, type=HistorySettings)
        with (
            EmbeddedStore(self._folder / HISTORY_FOLDER, settings, chain.block_log, self._space) as past,
            store.keeping(chain.packed_at) as facts,
        ):
            common = last_in_common(chain, past)
            if past.block(common) != chain.packed_at(common):
                raise PastRefused("it is of another chain")
            past.truncate(common)
            head = chain.head_number
            begins = copyable_from(facts, settings)
            if facts.head != head or head - common > MOST_AT_ONCE or begins > common + 1:
                return False
            copy_blocks(facts, past, head)
        return True


def copyable_from(facts: KeptFacts, wanted: HistorySettings) -> int:
    """The first block from which on a history has all of every block that is wanted; `PastRefused` if none can be."""
    first = facts.whole_from
    if wanted.balances:
        begins = facts.balances.begins
        if begins is None:
            raise PastRefused("the history has no balances yet: start the node with history-balances first")
        first = max(first, begins + 1)
    if wanted.journal != "none":
        begins = facts.journal.begins
        if begins is None:
            raise PastRefused("the history has no images of accounts yet: start the node with state-journal first")
        first = max(first, begins + 1)
    return first


def copy_blocks(facts: KeptFacts, store: EmbeddedStore, last: int) -> None:
    """Record the blocks after the last one of a store; `PastRefused` where they do not follow it."""
    first = store.head_number + 1
    copies = [_copied(facts, number) for number in range(first, last + 1)]
    before = store.block(first - 1)
    if copies and before is not None:
        previous = codec_of(Block).decode_exactly(before).id
        if copies[0].event.block.previous != previous:
            raise PastRefused(f"block {first} does not follow block {previous.hex()}")
    store.copy(copies, min(last, facts.irreversible))


def _copied(facts: KeptFacts, number: int) -> CopiedBlock:
    packed = facts.packed(number)
    if packed is None:
        raise HistoryDamaged(f"block {number} is neither in it nor in the block log")
    kept = facts.block(number)
    operations = tuple(each.applied for each in kept.operations)
    event = BlockApplied(codec_of(Block).decode_exactly(packed), operations, 0, 0, facts.irreversible, kept.missed)
    return CopiedBlock(event, kept.changes, facts.journal.images_of(number))
