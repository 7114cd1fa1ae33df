"""The last block that has changed a projection: it is undone with what the block has changed."""

from __future__ import annotations

from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.state.tables.tables import Entity, Table


class ProjectedBlock(Entity):
    """There is one."""

    block_id: BlockId = NO_BLOCK


PROJECTED_BLOCK = Table(ProjectedBlock, number=112)
