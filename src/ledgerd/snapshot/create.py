"""Writes a snapshot of the last commit of a state, while a node writes to that state."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.codec import codec_of
from ledgerd.projections.reading import reading_both
from ledgerd.protocol.block import Block
from ledgerd.protocol.parameters import ChainParameters
from ledgerd.snapshot.directory import PARTIAL, put_in_place
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.export import Exported, Occasion, export
from ledgerd.state import View
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.reversible import REVERSIBLE_BY_NUMBER


class Written(NamedTuple):
    """A written snapshot."""

    number: int
    """The head block of its state, which may be later than the block of the request."""
    size: int
    exported: Exported


def create(
    state: Path, logs: Path, network: ChainParameters, path: Path, created: int, *, with_metadata: bool = False
) -> Written:
    """Write the state of a folder into a file, which gets its name when it is complete."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with reading_both(state) as (view, kept):
            number = view.get(DYNAMIC_GLOBAL_PROPERTIES, 0).head_block_number
            metadata = kept if with_metadata else None
            occasion = Occasion(network.chain_id, created, _block(view, logs, number), projections=metadata)
            with partial.open("wb") as file:
                exported = export(view, file, occasion, path.parent)
            size = partial.stat().st_size
        put_in_place(partial, path)
    except OSError as problem:
        raise SnapshotError(f"{path} cannot be written: {problem.strerror or problem}") from problem
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return Written(number, size, exported)


def _block(view: View, logs: Path, number: int) -> Block | None:
    """The head block of the state, from the reversible blocks or a log."""
    kept = view.lookup(REVERSIBLE_BY_NUMBER, number)
    packed = None if kept is None else kept.packed
    for kind in (RollingBlockLogReader, BlockLogReader):
        if packed is None:
            log = kind.open(logs)
            packed = log.read(number)
            log.close()
    return None if packed is None else codec_of(Block).decode_exactly(packed)
