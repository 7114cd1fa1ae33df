"""A data directory of ours, made from what was found in the other; killed on the way, it goes on at the next run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import msgspec

from ledgerd.adopt.history import FoundHistory
from ledgerd.adopt.translation import TranslatedLine, written
from ledgerd.adopt.vizd_directory import AdoptionRefused
from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip, SkipFlags
from ledgerd.chain.log.source import LogSource
from ledgerd.chain.offline.replay import replay
from ledgerd.history.embedded.following import open_history
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.network import network_of
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.datadir.opening import files_of, space_of
from ledgerd.node.datadir.projections import project_for_plugins, record_blocks
from ledgerd.node.datadir.state_import import import_state
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.settings import Terms

RECORD = "adoption.json"
CONFIGURATION = "config.ini"

FIRST_BLOCKS = 100
"""The first blocks that are checked: a log of another network fails with its first transactions or its schedule."""

Advance = Callable[[int], None]


class Record(msgspec.Struct):
    """The input with which an unfinished adoption was begun: it goes on only with the same."""

    source: str
    chain: str
    snapshot: str
    log: str


class Adoption:
    """The adoption of one data directory of `vizd`."""

    def __init__(self, folder: Path, record: Record, found: FoundHistory) -> None:
        self._folder = folder
        self._record = record
        self._found = found

    def require_room(self) -> None:
        existing = next(place for place in (self._folder, *self._folder.absolute().parents) if place.exists())
        free = shutil.disk_usage(existing).free
        if free < self._found.needed_bytes and not self.is_begun():
            raise AdoptionRefused(
                f"{existing} has {in_bytes(free)} free, and about {in_bytes(self._found.needed_bytes)} are needed"
            )

    def is_begun(self) -> bool:
        if not self._folder.exists() or not any(self._folder.iterdir()):
            return False
        try:
            known = msgspec.json.decode((self._folder / RECORD).read_bytes(), type=Record)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            raise AdoptionRefused(f"{self._folder} is not empty: name a directory that does not exist yet") from None
        if known != self._record:
            raise AdoptionRefused(
                f"{self._folder} was begun with {known.snapshot or known.log} of {known.source} on {known.chain}: "
                "give the same again, or another directory"
            )
        return True

    def begin(self, lines: list[TranslatedLine], chain: str) -> None:
        if self.is_begun() and (self._folder / CONFIGURATION).exists():
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        # The record comes first: whatever else is in the directory is then known as ours, and is written again.
        partial = self._folder.with_name(f"{self._folder.name}.{RECORD}.part")
        partial.write_bytes(msgspec.json.encode(self._record))
        partial.replace(self._folder / RECORD)
        fresh = self._folder / f"{CONFIGURATION}.part"
        fresh.write_text(written(lines, chain, self._record.source), encoding="utf-8")
        fresh.replace(self._folder / CONFIGURATION)

    def import_snapshot(self) -> None:
        configuration = self._configuration()
        files = files_of(configuration)
        if self._found.snapshot is None or files.exists:
            return
        files.make_folders()
        options = configuration.snapshot
        terms = Terms(options.pm_legacy_residual, options.knows_pm_meta)
        import_state(files, self._found.snapshot, network_of(configuration), terms)

    def apply_log(
        self, progress: Callable[[int, int], AbstractContextManager[Advance]], *, is_trusted: bool
    ) -> tuple[int, str]:
        with self._opened() as chain:
            if self._found.log is not None:
                with (
                    LogSource(self._found.log, up_to_damage=True) as source,
                    progress(chain.head_number, source.head_number) as advance,
                ):
                    self._apply(chain, source, VERIFIED_BEFORE if is_trusted else Skip.NOTHING, advance)
            return chain.head_number, chain.head_id.hex()

    def _apply(self, chain: Chain, source: LogSource, skip: SkipFlags, advance: Advance) -> None:
        try:
            replay(chain, source, skip=skip, progress=advance)
        except OperatorError as problem:
            if chain.head_number >= FIRST_BLOCKS:
                raise
            raise AdoptionRefused(f"{problem}: is the log of another network than {self._record.chain}?") from problem

    def end(self) -> None:
        (self._folder / RECORD).unlink()

    def _configuration(self) -> Configuration:
        given = {"data-dir": [str(self._folder)], "config-file": [str(self._folder / CONFIGURATION)]}
        return read_configuration(given, Path.cwd())

    @contextmanager
    def _opened(self) -> Iterator[Chain]:
        configuration = self._configuration()
        chain = Chain.open(
            self._folder,
            network_of(configuration),
            clock=time.monotonic,
            genesis_time=int(time.time()),
            checkpoints=dict(configuration.chain.checkpoints),
            rolling_blocks=configuration.chain.dlt_block_log_max_blocks,
            space=space_of(configuration),
        )
        with chain:
            project_for_plugins(chain, configuration)
            has_history = OPERATION_HISTORY in configuration.application.plugins
            folder = self._folder / HISTORY_FOLDER
            history = open_history(chain, folder, configuration.history) if has_history else nullcontext()
            record_blocks(chain, configuration)
            with history:
                yield chain


def in_bytes(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{max(1, count >> 20)} MiB"
