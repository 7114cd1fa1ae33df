"""Connections of the simulator, and the weather that they live in.

Within one direction of a connection bytes keep their order, as TCP has it; between connections nothing does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from tests.sim.station import Station

LOSS_SECONDS = 3.0
"""What is lost is sent again, by the latest after so long; what follows waits for it."""
SILENCE_SECONDS = 90.0
"""Until both ends give a dead line up."""


@dataclass
class Weather:
    """How bad the network is."""

    delay: float = 0.2
    """What a frame takes from end to end, in seconds, give or take half of it."""
    resets: float = 0.0
    """How likely a frame is to break its connection."""
    losses: float = 0.0
    """How likely a frame is to be lost, and to arrive only when it was sent again; how likely a dial is to fail."""
    silences: float = 0.0
    """How likely a frame is to be the last: nothing more arrives, either way, and for long nobody notices."""

    def clear_up(self) -> None:
        """Good weather."""
        self.delay = min(self.delay, 0.2)
        self.resets = self.losses = self.silences = 0.0

    def latency(self, random: Random) -> float:
        """What the next frame takes."""
        took = self.delay * (0.5 + random.random())
        return took + LOSS_SECONDS * random.random() if random.random() < self.losses else took


class Wire:
    """One direction of a connection."""

    def __init__(self, target: Station, peer: int) -> None:
        self.target = target
        self.peer = peer
        self.run = target.runs
        self.arrives = 0.0
        """When the last that was sent arrives."""


class Connection:
    """Two stations, and what each calls the other."""

    def __init__(self, dialer: Station, dialer_peer: int, listener: Station, listener_peer: int) -> None:
        self.ends = {
            (dialer.name, dialer_peer): Wire(listener, listener_peer),
            (listener.name, listener_peer): Wire(dialer, dialer_peer),
        }
        self.nodes = frozenset({dialer.name, listener.name})
        self.is_open = True
        self.is_silent = False
