"""A digest of what a node has committed, to the byte."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.projections.kept import FOLDER
from ledgerd.state.files.disk import environment_to_read
from ledgerd.testing.node import ChainNode

OF_THE_STATE = (STATE_FOLDER, f"{STATE_FOLDER}/{FOLDER}")
"""The state, what undoes its last blocks, and its projections."""
ALL = (*OF_THE_STATE, HISTORY_FOLDER)


def digest_of(node: ChainNode, folders: Sequence[str] = ALL) -> str:
    digest = sha256()
    for folder in folders:
        with environment_to_read(node.folder / folder) as environment, environment.begin() as read:
            for name, _ in read.cursor():
                digest.update(name)
                for row in read.cursor(environment.open_db(name, txn=read, create=False)):
                    digest.update(b"%d:%b%d:%b" % (len(row[0]), row[0], len(row[1]), row[1]))
    return digest.hexdigest()
