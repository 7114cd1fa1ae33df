"""What a part is made with, where a test makes one by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ledgerd.node.config.network import network_of
from ledgerd.node.part_table import PARTS
from ledgerd.node.parts.context import PartContext, SigningPermit
from ledgerd.node.time_source import TimeSource
from ledgerd.supervision.part import Part

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration


def context_of(kind: type[Part], configuration: Configuration, time: Any = None, **more: Any) -> PartContext:
    """The context of a part of the table; `more` replaces fields of it."""
    (spec,) = (spec for spec in PARTS if spec.kind is kind)
    usual = PartContext(
        work=spec.work(),
        configuration=configuration,
        network=more.pop("network", None) or network_of(configuration),
        time=time or TimeSource(),
        signing=SigningPermit(),
        newer_state=asyncio.Event(),
    )
    return usual._replace(**more)
