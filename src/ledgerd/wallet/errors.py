"""What can go wrong with a wallet, each with its own text: nothing was changed and nothing was sent."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError


class WalletError(OperatorError):
    """The wallet refuses; the text says what to do."""


class WrongPassword(WalletError):
    """The password does not open the file."""


class DamagedWallet(WalletError):
    """The file is a wallet, but was cut short or changed."""


class ForeignWallet(WalletError):
    """The file is no wallet of this program."""


class ChangedPassword(WalletError):
    """Another wallet has changed the password of the file since this one was unlocked."""


class LockedWallet(WalletError):
    """The wallet is locked."""


class KeyNotFound(WalletError):
    """The wallet does not have a key that is needed."""


class NotAsked(WalletError):
    """A person would have to be asked, and there is no terminal."""


class NodeUnreachable(WalletError):
    """A node does not answer, or not as a node does. What was sent may have arrived or not."""


class NodeRefused(WalletError):
    """A node answers with an error."""

    def __init__(self, message: str, data: object = None) -> None:
        super().__init__(message)
        self.data = data


class UntrustedNode(WalletError):
    """A node says what cannot be true: another chain, another time, a head that went back."""
