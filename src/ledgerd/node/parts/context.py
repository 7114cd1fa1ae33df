"""What every part of a node is made with, besides the parts that it needs."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.parts.validators.signing import SigningPermit
from ledgerd.node.time_source import TimeSource
from ledgerd.protocol.parameters import ChainParameters
from ledgerd.supervision.work import Work


class PartContext(NamedTuple):
    """The same for all parts of a node, except for `work`."""

    work: Work
    """Runs the tasks of the part, named and restarted as the table of parts says."""
    configuration: Configuration
    network: ChainParameters
    time: TimeSource
    signing: SigningPermit
    newer_state: asyncio.Event
    """Set when there is another state to use: every part stops, it is put in place, and the node starts again."""
