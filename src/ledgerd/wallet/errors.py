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


class OtherChain(UntrustedNode):
    """A node is of another chain than the one that this wallet has used so far."""


class WrongClock(UntrustedNode):
    """The time of a node's head block is too far from the clock of this machine."""


class HeadWentBack(UntrustedNode):
    """A node's head block is below one that this wallet has seen."""


class NodesDisagree(UntrustedNode):
    """Two nodes have different irreversible blocks of one number."""


class WrongAmount(WalletError):
    """An amount has the wrong number of decimals, or a symbol that does not exist."""


class NoSuchAccount(WalletError):
    """An account that is named does not exist."""


class RuleBroken(WalletError):
    """The operation breaks a rule of the network; the text is the network's."""


class NotConfirmed(WalletError):
    """A person was asked, and did not say yes."""


class NotSent(WalletError):
    """The transaction is in no block, and cannot come into one any more."""


class UnknownOutcome(WalletError):
    """Whether the transaction is in a block could not be found out."""


class ExpiredTransaction(WalletError):
    """The transaction has expired before it was sent."""


class FeeChanged(WalletError):
    """A node names another fee than the one that was confirmed."""


class ForeignFile(WalletError):
    """A file is no transaction, or its parts contradict each other."""
