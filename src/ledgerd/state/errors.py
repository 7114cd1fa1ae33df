"""Errors of the store: broken rules that only the store can see, failures of the disk, and bugs of its callers.

The first kind is a `RuleViolation` with the texts that clients match on (spec 02, section 1.5). The second is a
`StorageError`: its text says what the operator should do. The third is `StoreMisuse`.
"""

from __future__ import annotations

from ledgerd.codec.errors import FOREIGN
from ledgerd.protocol.errors import OperatorError, RuleViolation


class UnknownKey(RuleViolation):
    """No object has this id or key."""

    code = FOREIGN
    name = "N5boost10wrapexceptISt12out_of_rangeEE"
    what = "unknown key"

    def __init__(self) -> None:
        super().__init__("${what}: ", what=self.what)


class NotUnique(RuleViolation):
    """Another object has the key already, and only one may have it."""

    code = FOREIGN
    name = "N5boost10wrapexceptISt11logic_errorEE"

    def __init__(self, what: str) -> None:
        super().__init__("${what}: ", what=what)
        self.what = what

    @classmethod
    def on_create(cls) -> NotUnique:
        return cls("could not insert object, most likely a uniqueness constraint was violated")

    @classmethod
    def on_edit(cls) -> NotUnique:
        return cls("Could not modify object, most likely a uniqueness constraint was violated")


class NotUniqueRow(NotUnique):
    """Two rows that were loaded have one key; the later one is told."""

    def __init__(self, table: str, object_id: int) -> None:
        super().__init__(NotUnique.on_create().what)
        self.table = table
        self.object_id = object_id


class StorageError(OperatorError):
    """The state on disk cannot be used or written; the text says what to do about it."""


class StoreLocked(StorageError):
    """Another process writes this state."""


class StoreFull(StorageError):
    """The disk is full; the state on it is that of the last commit, and can be opened again."""


class StoreCorrupt(StorageError):
    """The files are damaged, or were not written by this program."""


def unreadable(what: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"the state is damaged or is none of this program ({what}): remove its folder, then replay the block log "
        "or import a snapshot"
    )


class StoreOutdated(StorageError):
    """The files were written for other tables than this program has."""


class StoreNewer(StorageError):
    """The files were written by a newer version of this program: they are not to be changed, nor made again."""


class StoreMisuse(Exception):
    """The caller broke the contract of the store: a bug, which must stop the node."""
