"""What can go wrong with a wallet: nothing was changed and nothing was sent. `docs/wallet.md` lists the exit codes."""

from __future__ import annotations

from typing import ClassVar

from ledgerd.protocol.errors import OperatorError


class WalletError(OperatorError):
    """The wallet refuses; the text says what to do."""

    EXIT_CODE: ClassVar[int] = 1


class WrongPassword(WalletError):
    """The password does not open the file."""

    EXIT_CODE = 3


class DamagedWallet(WalletError):
    """The file is a wallet, but was cut short or changed."""

    EXIT_CODE = 4


class ForeignWallet(WalletError):
    """The file is no wallet of this program."""

    EXIT_CODE = 4


class ChangedPassword(WalletError):
    """Another wallet has changed the password of the file since this one was unlocked."""

    EXIT_CODE = 3


class LockedWallet(WalletError):
    """The wallet is locked."""

    EXIT_CODE = 3


class KeyNotFound(WalletError):
    """The wallet does not have a key that is needed."""

    EXIT_CODE = 5


class NotAsked(WalletError):
    """A person would have to be asked, and there is no terminal."""

    EXIT_CODE = 2


class NodeUnreachable(WalletError):
    """A node does not answer, or not as a node does. What was sent may have arrived or not."""

    EXIT_CODE = 6


class NodeRefused(WalletError):
    """A node answers with an error."""

    EXIT_CODE = 7

    def __init__(self, message: str, data: object = None) -> None:
        super().__init__(message)
        self.data = data


class UntrustedNode(WalletError):
    """A node says what cannot be true: another chain, another time, a head that went back."""


class OtherChain(UntrustedNode):
    """A node is of another chain than the one that this wallet has used so far."""

    EXIT_CODE = 8


class WrongClock(UntrustedNode):
    """The time of a node's head block is too far from the clock of this machine."""

    EXIT_CODE = 9


class HeadWentBack(UntrustedNode):
    """A node's head block is below one that this wallet has seen."""

    EXIT_CODE = 10


class NodesDisagree(UntrustedNode):
    """Two nodes have different irreversible blocks of one number."""

    EXIT_CODE = 11


class WrongAmount(WalletError):
    """An amount has the wrong number of decimals, or a symbol that does not exist."""

    EXIT_CODE = 12


class NoSuchAccount(WalletError):
    """An account that is named does not exist."""

    EXIT_CODE = 13


class RuleBroken(WalletError):
    """The operation breaks a rule of the network; the text is the network's."""

    EXIT_CODE = 14


class NotConfirmed(WalletError):
    """A person was asked, and did not say yes."""

    EXIT_CODE = 15


class NotSent(WalletError):
    """The transaction is in no block, and cannot come into one any more."""

    EXIT_CODE = 16


class UnknownOutcome(WalletError):
    """Whether the transaction is in a block could not be found out."""

    EXIT_CODE = 17


class ExpiredTransaction(WalletError):
    """The transaction has expired before it was sent."""

    EXIT_CODE = 19


class FeeChanged(WalletError):
    """A node names another fee than the one that was confirmed."""

    EXIT_CODE = 20


class ForeignFile(WalletError):
    """A file is no transaction, or its parts contradict each other."""

    EXIT_CODE = 18
