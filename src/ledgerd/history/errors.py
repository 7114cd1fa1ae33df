"""The error of a damaged history, which can be rebuilt; the chain does not need it."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError

REMEDY = "the chain does not need it; stop the node and run `ledgerd history rebuild` to make it again"


class HistoryDamaged(OperatorError):
    """The stored data is inconsistent, or does not match the block log."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the history is damaged ({what}): {REMEDY}")
        self.what = what


class HistoryNewer(HistoryDamaged):
    """A newer version of this program has written it: it is not to be changed, nor moved aside."""

    def __init__(self, what: str) -> None:
        OperatorError.__init__(self, what)
        self.what = what


class PastRefused(OperatorError):
    """A history that was made beside the node is not one that the node can go on with."""
