"""The client for programs: a typed way to read the chain and to send to it, through one node or several.

What is heavy is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledgerd.sdk.amounts import Shares, Viz
    from ledgerd.sdk.blocking import BlockingClient
    from ledgerd.sdk.client import Client
    from ledgerd.sdk.connection.limits import ClientLimits
    from ledgerd.sdk.keys.keyring import KeyRing
    from ledgerd.sdk.transactions.prepared import PreparedTransaction

__all__ = ["BlockingClient", "Client", "ClientLimits", "KeyRing", "PreparedTransaction", "Shares", "Viz"]

_PLACES = {
    "BlockingClient": "blocking",
    "Client": "client",
    "ClientLimits": "connection.limits",
    "KeyRing": "keys.keyring",
    "PreparedTransaction": "transactions.prepared",
    "Shares": "amounts",
    "Viz": "amounts",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
