"""Records what happened before the first block of a history, while its node runs: by a replay with a state of its own.
What the node has recorded is copied; an interrupted run is continued.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.offline.replay import reapply
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import follow_with_balances
from ledgerd.history.errors import PastRefused
from ledgerd.history.past import handing_over
from ledgerd.history.settings import ALL_BLOCKS, HISTORY_FOLDER, HistorySettings
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.state.files.disk import DATA_FILE, Space, taken_bytes

BLOCKS_AT_ONCE = 500
"""Blocks that are recorded in one transaction."""
SCANNED_AT_ONCE = 10_000
"""Blocks of the log that are read at once."""
POLL_SECONDS = 0.2
POLLS_WITHOUT_NODE = 10
"""So often nobody must have the history open, until no node is thought to run: one closes it shortly to accept it."""

TIMES_BLOCKS = 5
"""Bytes that are written for each of a block: in the log of the replay, the copy in the history, its rows. Recorded
chains, those of near-empty blocks too, take 2.7 to 4.5.
"""
MORE_PAGES = 1 << 20
"""Bytes by which one state may be larger than another of the same objects, as pages are freed and taken again."""


class PastBlocks:
    """The blocks from the first one up to some block, for a replay; a node may write and trim the log meanwhile."""

    def __init__(self, log: BlockLogReader, last: int) -> None:
        self._log = log
        self.head_number = last

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The blocks of a range, packed; `OperatorError` where one is missing."""
        following = first
        while following <= last:
            begun = following
            for number, packed in self._log.scan(following, min(last, following + SCANNED_AT_ONCE - 1)):
                if number != following:
                    break
                yield number, packed
                following += 1
            if following == begun:
                raise OperatorError(
                    f"block {following} is neither in the block log nor in the archive: `ledgerd archive fetch` gets "
                    "the past from others"
                )


class PastHistory:
    """The history from the first block on, until the node has it."""

    def __init__(
        self,
        data_dir: Path,
        network: ChainParameters,
        settings: HistorySettings,
        log: BlockLogReader,
        space: Space,
    ) -> None:
        self._offer = handing_over.PastOffer(data_dir)
        self._folder = data_dir / handing_over.PAST_FOLDER
        self._former = data_dir / (HISTORY_FOLDER + handing_over.FORMER_SUFFIX)
        self._network = network
        self._settings = settings
        self._log = log
        self._space = space
        self._source = HistorySource(data_dir, settings)

    def needs(self, archive: Path, state: Path) -> int:
        files = [*archive.glob("blocks-*.log"), self._log.path]
        blocks = sum(file.stat().st_size for file in files if file.exists())
        wanted = TIMES_BLOCKS * blocks + taken_bytes(state / DATA_FILE) + MORE_PAGES
        return max(0, wanted - sum(map(taken_bytes, self._folder.rglob("*"))))

    def run(self, advance: Callable[[int], None] = lambda _: None) -> bool:
        """Record all of it, and hand it over; whether a node has accepted it."""
        self._prepare()
        while True:
            self._fill(advance)
            outcome = self._offered()
            if outcome is not handing_over.OfferOutcome.NOT_YET:
                break
        if outcome is handing_over.OfferOutcome.ACCEPTED:
            self.clear()
        return outcome is handing_over.OfferOutcome.ACCEPTED

    def close(self) -> None:
        self._source.close()

    def clear(self) -> None:
        for folder in (self._folder, self._former):
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def is_whole(self) -> bool:
        return self._begins_and_head()[0] == 1

    @property
    def head(self) -> int:
        return self._begins_and_head()[1]

    def _prepare(self) -> None:
        if self._settings.count_blocks != ALL_BLOCKS:
            raise OperatorError("the history is to keep its latest blocks only (history-count-blocks)")
        self._begins_and_head()  # the history of the node is in its place, and nothing of it is aside
        next(PastBlocks(self._log, 1).scan(1, 1))
        wanted, file = msgspec.json.encode(self._settings), self._folder / handing_over.WANTED
        if file.exists() and file.read_bytes() == wanted and not self._offer.is_accepted:
            return
        self.clear()
        self._folder.mkdir(parents=True)
        file.write_bytes(wanted)

    def _fill(self, advance: Callable[[int], None]) -> None:
        self._offer.withdraw()
        while True:
            begins, head = self._begins_and_head()
            with self._opened() as store:
                while begins <= store.head_number + 1 and store.head_number < head:
                    self._copy(store)
                    advance(store.head_number)
                    begins, head = self._begins_and_head()
                reached = store.head_number
            if reached >= head:
                return
            last = min(begins - 1, self._log.head_number)
            if last <= reached:
                raise PastRefused(
                    f"the history of the node begins after block {begins - 1}, which is not irreversible yet: "
                    "try again later"
                )
            self._replay(last, advance)

    def _begins_and_head(self) -> tuple[int, int]:
        with self._source() as facts:
            return handing_over.copyable_from(facts, self._settings), facts.head

    def _opened(self) -> EmbeddedStore:
        return EmbeddedStore(self._folder / HISTORY_FOLDER, self._settings, self._log, self._space)

    def _copy(self, store: EmbeddedStore) -> None:
        with self._source() as facts:
            common = min(store.head_number, facts.head)
            while common > facts.irreversible and store.block(common) != facts.packed(common):
                common -= 1  # the node has switched to another branch
            store.truncate(common)
            handing_over.copy_blocks(facts, store, min(facts.head, common + BLOCKS_AT_ONCE))

    def _replay(self, last: int, advance: Callable[[int], None]) -> None:
        folder = self._folder
        with (
            Chain.open(folder, self._network, clock=time.monotonic, space=self._space) as chain,
            self._opened() as store,
        ):
            if store.head_number < chain.head_number:
                raise PastRefused(f"what is in {folder} does not fit together: delete it, and begin again")
            follow_with_balances(chain, store, self._settings)
            advance(chain.head_number)
            reapply(chain, PastBlocks(self._log, last), advance)

    def _offered(self) -> handing_over.OfferOutcome:
        self._offer.make()
        alone = 0
        while alone < POLLS_WITHOUT_NODE:
            outcome = self._offer.outcome()
            if outcome is not None and outcome is not handing_over.OfferOutcome.NO_NODE:
                return outcome
            alone = alone + 1 if outcome is handing_over.OfferOutcome.NO_NODE else 0
            time.sleep(POLL_SECONDS)
        return handing_over.OfferOutcome.NO_NODE
