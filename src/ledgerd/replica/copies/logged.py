"""The blocks of a replica: a rolling block log of irreversible ones, and the file of `block_info`."""

from __future__ import annotations

from pathlib import Path

from ledgerd.chain.log.rolling import ROLLING_BLOCKS, RollingBlockLog, trim
from ledgerd.codec import CodecError, codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.replica.copies.state_copy import require_room
from ledgerd.replica.messages import LoggedBlocks
from ledgerd.rpc.blocks.records import FILE_NAME, RECORD_BYTES, BlockRecorder
from ledgerd.state.files.change_frames import ChangeFault

END = 1 << 32
"""Blocks have lower numbers."""


class LoggedCopy:
    """Written as a node writes its own; a block is in the log before the state may forget it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = RollingBlockLog.open(folder)
        self._records = BlockRecorder(folder)

    @property
    def head(self) -> int:
        """The last block of the log, 0 without any."""
        return self._log.head_number

    @property
    def head_id(self) -> bytes:
        block = self._log.block(self.head)
        return b"" if block is None else bytes(block.id)

    def continue_from(self, number: int) -> None:
        """The next block has this number: a log that ends elsewhere begins anew, and so does the file beside it."""
        if number != self.head + 1:
            self._log.reset()
            self._records.close()
            (self._folder / FILE_NAME).unlink(missing_ok=True)
            self._records = BlockRecorder(self._folder)

    def append(self, blocks: LoggedBlocks) -> None:
        """`ChangeFault`: they are no blocks, or do not follow. `StoreFull`: there is no room for them."""
        require_room(self._folder)
        for number, packed in enumerate(blocks.blocks, blocks.first):
            try:
                block = codec_of(Block).decode_exactly(packed)
            except CodecError as fault:
                raise ChangeFault(f"block {number} is none: {fault}") from fault
            if self.head and number > self.head + 1:
                self._log.reset()
            if block.number != number or number <= self.head:
                raise ChangeFault(f"block {block.number} where block {max(number, self.head + 1)} should be")
            self._log.append(number, packed)
        trim(self._log, ROLLING_BLOCKS)

    def append_records(self, first: int, records: bytes) -> None:
        """Append records of `block_info`. `ChangeFault`: no block can have such a number. `StoreFull`: there is no room
        for them.
        """
        if not 0 < first <= END - len(records) // RECORD_BYTES:
            raise ChangeFault(f"records of block {first}")
        require_room(self._folder)
        self._records.put(first, records)

    def close(self) -> None:
        self._log.sync()
        self._log.close()
        self._records.close()
