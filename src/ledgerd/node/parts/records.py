"""What is written down of the chain for those who ask: the history, and the file of `block_info`.

Both hang on the chain's commits: attached before anything is told, and closed when it is closed.
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
    """The history of operations, kept in step with the chain."""

    def __init__(self, configuration: Configuration, chain: ChainPart) -> None:
        super().__init__("operation_history")
        self._settings = configuration.history
        self._folder = configuration.invocation.data_dir / HISTORY_FOLDER
        self._chain = chain
        self._store: EmbeddedStore | None = None

    async def start(self) -> None:
        """Bring it into step, and keep it there."""
        await self._chain.attach(self._follow)

    def _follow(self, chain: Chain) -> None:
        self._close()
        self._store = open_history(chain, self._folder, self._settings)

    def truncate(self, number: int) -> None:
        """Forget every block above this one, while the log still has them; on the thread of the chain."""
        if self._store is not None:
            self._store.truncate(number)

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    async def stop(self) -> None:
        """Close it, when the chain tells nothing any more."""
        await self._chain.run(self._close)


class BlockInfoPart(Part):
    """The file of `block_info`."""

    def __init__(self, chain: ChainPart) -> None:
        super().__init__("block_info")
        self._chain = chain
        self._recorder: BlockRecorder | None = None

    async def start(self) -> None:
        """Write down each block from now on."""
        await self._chain.attach(self._listen)

    def _listen(self, chain: Chain) -> None:
        if self._recorder is None:
            self._recorder = BlockRecorder(self._chain.folder)
        chain.precede(self._recorder.record)

    async def stop(self) -> None:
        """Let the file go."""
        if self._recorder is not None:
            await self._chain.run(self._recorder.close)
            self._recorder = None
