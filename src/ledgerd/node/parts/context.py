"""What every part of a node is made with, besides the parts that it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.time_source import TimeSource
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.supervision.part import Part
from ledgerd.supervision.work import Work


class SigningPermit:
    """Parts that start before production may forbid it; from any thread."""

    def __init__(self) -> None:
        self._forbidden: dict[str, str] = {}
        self._checks: tuple[Callable[[], str], ...] = ()
        self.seconds_to_our_slot: Callable[[], int | None] = lambda: None
        """Seconds until this node's next slot, or None if it signs nothing. Set by production, called on the chain's
        thread.
        """

    def forbid(self, name: str, reason: str) -> None:
        self._forbidden = {**self._forbidden, name: reason}

    def allow(self, name: str) -> None:
        self._forbidden = {each: reason for each, reason in self._forbidden.items() if each != name}

    def ask(self, check: Callable[[], str]) -> None:
        """Have a part say before each block, on the thread of the chain, why it may not be signed; empty if it may."""
        self._checks = (*self._checks, check)

    @property
    def refusal(self) -> str:
        reasons = (*self._forbidden.values(), *(check() for check in self._checks))
        return "; ".join(filter(None, reasons))


class PartContext(NamedTuple):
    """What every part of a node gets. It is the same for all parts, except for `work`."""

    work: Work
    configuration: Configuration
    network: ChainParameters
    time: TimeSource
    signing: SigningPermit
    newer_state: asyncio.Event
    """Set when there is another state to use: every part stops, it is put in place, and the node starts again."""


class NodePart(Part):
    """A part that keeps what it was made with."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context.work)
        self._configuration, self._time = context.configuration, context.time
        self._signing, self._newer_state = context.signing, context.newer_state
        self._data_dir = context.configuration.invocation.data_dir
