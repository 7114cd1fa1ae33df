"""Whose a folder with a state is: a node's, or a replica's, where all may be replaced at any time."""

from __future__ import annotations

from pathlib import Path

from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.disk import DATA_FILE

MARK = "replica"
"""A file that says that the folder is a replica's."""


def refuse_state_of_node(folder: Path) -> None:
    """A replica would replace it. `OperatorError`: a node has made the state in this folder."""
    if (folder / DATA_FILE).exists() and not (folder / MARK).exists():
        raise OperatorError(f"{folder} holds the state of a node: give the replica a --data-dir of its own")


def refuse_state_of_replica(folder: Path) -> None:
    """A node that starts on it could undo no block, and the replica would replace what it makes."""
    if (folder / MARK).exists():
        raise OperatorError(
            f"{folder} holds the copy of a state that a replica keeps (`ledgerd api --follow`): give the node a "
            "--data-dir of its own"
        )
