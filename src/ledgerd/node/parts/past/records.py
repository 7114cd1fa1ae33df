"""What is recorded of the chain for clients: the history, and the file of `block_info`.

Both write with each commit of the chain: attached before its first event, closed when it is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.history.embedded import EmbeddedStore
from ledgerd.history.following import HISTORY_FOLDER, open_history
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.parts.chain import ChainPart
from ledgerd.rpc.blocks.records import BlockRecorder
from ledgerd.supervision.part import Part

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain


class HistoryPart(Part):
    """The history of operations, written with each commit of the chain."""

    def __init__(self, configuration: Configuration, chain: ChainPart) -> None:
        super().__init__("operation_history")
        self._settings = configuration.history
        self._folder = configuration.invocation.data_dir / HISTORY_FOLDER
        self._chain = chain
        self._store: EmbeddedStore | None = None

    async def start(self) -> None:
        """Attach the history to the chain: it catches up, then records each commit."""
        await self._chain.attach(self._follow)

    def _follow(self, chain: Chain) -> None:
        self._close()
        self._store = open_history(chain, self._folder, self._settings)

    @property
    def head(self) -> int | None:
        """The last block in it, for the chain's thread; None while there is none."""
        return None if self._store is None else self._store.head_number

    def truncate(self, number: int) -> None:
        """Delete every block above this one from the history, while the log still has them; on the chain's thread."""
        if self._store is not None:
            self._store.truncate(number)

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    async def stop(self) -> None:
        """Close the history after the last event of the chain."""
        await self._chain.run(self._close)


class BlockInfoPart(Part):
    """The file of `block_info`."""

    def __init__(self, chain: ChainPart) -> None:
        super().__init__("block_info")
        self._chain = chain
        self._recorder: BlockRecorder | None = None

    async def start(self) -> None:
        """Record each block from now on."""
        await self._chain.attach(self._listen)

    def _listen(self, chain: Chain) -> None:
        if self._recorder is None:
            self._recorder = BlockRecorder(self._chain.folder)
        chain.precede(self._recorder.record)

    async def stop(self) -> None:
        """Close the file."""
        if self._recorder is not None:
            await self._chain.run(self._recorder.close)
            self._recorder = None
