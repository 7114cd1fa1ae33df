"""What can go wrong for a program that asks nodes: one class for each thing that it may want to do next.

The classes alone; `error_answers` chooses among those of `NodeError`. No text of them has a private key in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, TypeAlias

from ledgerd.basics.printable import printable_lines
from ledgerd.protocol.secrets import without_keys

MOST_TEXT = 2_000
"""Characters of a node's text that are kept: an error repeats the values of a request, and a request may be large."""

AUTHORITIES = {3010000: "active", 3020000: "master", 3030000: "regular", 3040000: "other"}
"""The reference's numbers of missing authorities."""

Value: TypeAlias = str | int | tuple[str, ...]
"""A value in the message of an error."""

_LAST_WORD = re.compile(r"\S*$")


def kept_text(text: str) -> str:
    """The part of a text that an error keeps: without control characters, and without any part of a private key."""
    start = text[: 2 * MOST_TEXT]
    if len(start) < len(text):
        start = _LAST_WORD.sub("", start)  # half of a key could not be told from another word
    shown = printable_lines(without_keys(start))
    return shown if len(shown) <= MOST_TEXT else f"{shown[: MOST_TEXT - 3]}..."


class ClientError(Exception):
    """The root of all of them. `is_temporary`: the same may succeed later, or with another node."""

    is_temporary: ClassVar[bool] = False

    def __init__(self, message: str = "") -> None:
        super().__init__(kept_text(message))


# -- no answer, or none that can be believed


class NodeUnavailable(ClientError):
    """No node could be reached, or the connection ended before the answer. What was sent may have arrived."""

    is_temporary = True


class TimedOut(NodeUnavailable):
    """The answer did not come in time. What was sent may have arrived."""


class WrongAnswer(ClientError):
    """What came is no answer of a node to what was asked: a page, half a message, JSON of another form, too much."""

    is_temporary = True


class WrongChain(ClientError):
    """The node is of another chain than the one that is asked for."""

    def __init__(self, message: str = "", *, expected: str = "", found: str = "") -> None:
        super().__init__(message)
        self.expected = expected
        """The id of the chain that is asked for."""
        self.found = found
        """The id of the node's chain."""


# -- answers with an error


class NodeError(ClientError):
    """A node answers with an error; of a kind that has no class of its own, if this is its class."""

    def __init__(
        self,
        message: str = "",
        *,
        code: int = 0,
        number: int = 0,
        name: str = "",
        values: Mapping[str, Value] | None = None,
        method: str = "",
    ) -> None:
        super().__init__(f"{method}: {message}" if method else message)
        self.message = kept_text(message)
        """The node's message, without the reference's frame around it; assertions begin with their condition."""
        self.code = code
        """The code of JSON-RPC, such as -32003."""
        self.number = number
        """The reference's number of the exception, such as 3010000; 0 if it gives none."""
        self.name = name
        """The reference's name of it, such as `tx_missing_active_auth`; empty if it gives none."""
        self.values = values or {}
        """The values in the message, by the reference's names for them; not the large ones."""
        self.method = method
        """The method that was called, such as `database_api.get_accounts`."""


class InternalError(NodeError):
    """The node failed, and no rule was broken."""

    is_temporary = True


class NodeNotReady(NodeError):
    """The node starts, stops, catches up or has no state: another one, or the same later, will answer."""

    is_temporary = True


class Overloaded(NodeError):
    """The node has no time or no room for it now."""

    is_temporary = True


# -- rejections


class Rejected(NodeError):
    """A rule of the network, of the method or of this node is against it; asked again, it is rejected again."""


class LimitExceeded(Rejected):
    """The request, or its answer, is larger than this node lets it be: ask for less at once."""


class UnknownMethod(Rejected):
    """The node does not have the API or the method: its plugin is off, or the node is older."""


class BadParameters(Rejected):
    """The parameters are too many, too few, of the wrong type, or out of their range."""


class NotFound(Rejected):
    """The requested thing does not exist."""


class UnknownAccount(NotFound):
    """An account does not exist."""

    @property
    def account(self) -> str:
        """The name of the account; empty if the node does not say it."""
        found = next((self.values[key] for key in ("name", "a", "account") if key in self.values), "")
        return found if isinstance(found, str) else ""


# -- rejections of transactions


class MissingAuthority(Rejected):
    """The signatures do not give an authority that the transaction needs."""

    @property
    def authority(self) -> str:
        """`active`, `master`, `regular`, or `other`, which the operation spells out."""
        return AUTHORITIES.get(self.number, "other")

    @property
    def accounts(self) -> tuple[str, ...]:
        """The accounts whose authority is missing; empty for `other`."""
        found = self.values.get("id", ())
        return (found,) if isinstance(found, str) else found if isinstance(found, tuple) else ()


class WrongSignatures(Rejected):
    """A signature or an approval is there twice, or is not needed."""


class InsufficientFunds(Rejected):
    """An account has too few tokens or shares for it."""


class InsufficientEnergy(Rejected):
    """An account has too little energy for it now; energy comes back with time."""


class InsufficientBandwidth(Rejected):
    """An account has sent more than its shares pay for; bandwidth comes back with time."""


class Expired(Rejected):
    """The transaction's time is over: it is in no block, and can't come into one any more."""


class ExpiresTooLate(Rejected):
    """The transaction's expiration is more than an hour ahead of the chain's time: a clock is wrong, maybe."""


class UnknownReferenceBlock(Rejected):
    """The transaction refers to a block that the chain does not have: it was made on another fork, or long ago."""


class Duplicate(Rejected):
    """The same transaction was received already, and waits or is in a block: it does not have to be sent again."""
