"""What of the house is built, read from the house itself. Goes when there is a node to start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import ledgerd

ROOMS = {
    "codec": "Python types to and from bytes and JSON",
    "protocol": "names, assets, keys, operations, transactions, blocks",
    "state": "the store: objects, indexes, undo, durable commit",
    "chain": "the law: evaluators, the steps of a block, forks",
    "rpc": "JSON-RPC over HTTP and WebSocket",
    "p2p": "peers",
    "producer": "block production",
    "history": "operations by block and by account",
    "snapshot": "export, import, serve, fetch",
    "node": "configuration, wiring, lifecycle",
}

LIFE_OF_THE_NODE = Path("node", "lifecycle.py")
"""Without it, a configuration can be read and no node be started."""


def modules(room: str) -> int:
    """How many modules stand in a room; a room with nothing but its door has none."""
    folders = (Path(folder) / room for folder in ledgerd.__path__)
    return sum(path.name != "__init__.py" for folder in folders for path in folder.rglob("*.py"))


def measure(room: str) -> str:
    """The state of one room in a word or two."""
    count = modules(room)
    return f"{count} module{'s' if count > 1 else ''}" if count else "not built"


def lines(version: str) -> Iterator[str]:
    """The description, line by line."""
    yield f"ledgerd {version}: a full node for the VIZ Ledger, under construction."
    yield ""
    for room, purpose in ROOMS.items():
        yield f"  {room:<10}{measure(room):<13}{purpose}"
    yield ""
    if not any(Path(folder, LIFE_OF_THE_NODE).exists() for folder in ledgerd.__path__):
        yield "There is no node to start yet. `make test` proves what there is."


def describe(version: str) -> str:
    """The rooms of the house with what stands in each."""
    return "\n".join(lines(version)) + "\n"
