"""Writes the state of a chain to a snapshot file, which gets its name once it is complete."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.durable import put_in_place
from ledgerd.chain.chain import Chain
from ledgerd.projections.following import projections_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.file.export import Occasion, export


class ExportResult(NamedTuple):
    """The result of an export."""

    checksum: str
    size: int
    excess: int
    """The tokens in it above the supply."""


def write_snapshot(chain: Chain, path: Path, now: int, *, with_metadata: bool = False) -> ExportResult:
    """Write the state to a file, replacing an existing one; on the chain's thread."""
    if chain.assumption is not None:
        raise OperatorError(
            f"the state is provisional until the chain has block {chain.assumption.number} (assume-valid): "
            "no snapshot is written of it"
        )
    head = chain.block_at(chain.head_number)
    pending = {transaction.id for transaction in chain.waiting}
    partial = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            metadata = projections_of(chain) if with_metadata else None
            occasion = Occasion(chain.network.chain_id, now, head, pending, metadata)
            exported = export(chain.state, file, occasion, path.parent)
            size = file.tell()
        put_in_place(partial, path)
    except OSError as problem:
        partial.unlink(missing_ok=True)
        raise OperatorError(f"{path} cannot be written: {problem.strerror}") from problem
    return ExportResult(exported.checksum, size, exported.tally.excess)
