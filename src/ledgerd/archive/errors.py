"""What goes wrong with an archive."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError


class ArchiveRefused(OperatorError):
    """A file is not what it should be: it is torn, of another range, or of another chain."""


class SourceFault(OperatorError):
    """A source of blocks does not answer, or answers with something else."""


class ArchiveUnwritable(OperatorError):
    """The disk does not take what is fetched, or another process writes there."""
