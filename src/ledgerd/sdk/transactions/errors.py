"""What can go wrong with a transaction before a node sees it, and after it was sent."""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.sdk.errors import ClientError


class WrongParameter(ClientError, ValueError):
    """A parameter of an operation is of the wrong type or out of its range; the text begins with its name."""


class InvalidTransaction(ClientError):
    """The transaction breaks a rule that needs no node to be seen."""


class MixedAuthorities(InvalidTransaction):
    """Operations that need the regular authority stand with others, which no signatures can satisfy."""


class TransactionTooLarge(ClientError):
    """The transaction has more bytes than the network takes."""


class SignaturesMissing(ClientError):
    """The keys that are there do not suffice. The transaction can be exported, for others to sign it too."""

    def __init__(self, message: str, accounts: Iterable[str] = (), role: str = "") -> None:
        super().__init__(message)
        self.accounts = tuple(accounts)
        self.role = role
        """`regular`, `active` or `master`; empty for an authority that the operation spells out."""


class ForeignDraft(ClientError, ValueError):
    """A text is no transaction that was exported, or its parts contradict each other."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"the text {fault}")
        self.fault = fault
        """The fault, without a subject."""


class SignersUnknown(ClientError):
    """An exported transaction does not say who signs for an account."""


class OutcomeUnknown(ClientError):
    """What became of a transaction is not known yet: it may be in a block, or come into one. Ask again later."""

    is_temporary = True
