"""What can go wrong in the store: rules of the law that only it can see, and failures of the disk under it.

The first kind is a `RuleViolation` with the texts that clients match on (spec 02, section 1.5). The second is a
`StorageError`: its text says what the operator should do. The third, `StoreMisuse`, is a fault of ours.
"""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError, RuleViolation


class UnknownKey(RuleViolation):
    """No object has this id or key."""

    code = 13
    name = "N5boost10wrapexceptISt12out_of_rangeEE"
    what = "unknown key"

    def __init__(self) -> None:
        super().__init__("unknown key: ")


class NotUnique(RuleViolation):
    """Another object already has a key that only one may have."""

    code = 13
    name = "N5boost10wrapexceptISt11logic_errorEE"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: ")
        self.what = what

    @classmethod
    def on_create(cls) -> NotUnique:
        """A new object that cannot be taken in."""
        return cls("could not insert object, most likely a uniqueness constraint was violated")

    @classmethod
    def on_edit(cls) -> NotUnique:
        """A change that cannot be kept."""
        return cls("Could not modify object, most likely a uniqueness constraint was violated")


class StorageError(OperatorError):
    """The state on disk cannot be used or written; the text says what to do about it."""


class StoreLocked(StorageError):
    """Another process writes this state."""


class StoreFull(StorageError):
    """The disk took no more; the state on it is that of the last commit, and opens again."""


class StoreCorrupt(StorageError):
    """The files are damaged, or are no state of ours."""


def unreadable(what: str) -> StoreCorrupt:
    """What to say of files that are damaged, or strange."""
    return StoreCorrupt(
        f"the state is damaged or is none of this program ({what}): remove its folder, then replay the block log "
        "or import a snapshot"
    )


class StoreOutdated(StorageError):
    """The files are a state whose tables differ from those of this program."""


class StoreMisuse(Exception):
    """The caller broke the contract of the store: a bug, which must stop the node."""
