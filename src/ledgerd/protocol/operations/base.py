"""What every operation has: a tag, a name, checks that need no state, and the required authorities."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import msgspec

from ledgerd.protocol.authority import Authority
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.names import AccountName

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters


class Authorities(NamedTuple):
    """The accounts and keys that must sign an operation (spec 01, section 10.1)."""

    active: tuple[AccountName, ...] = ()
    master: tuple[AccountName, ...] = ()
    regular: tuple[AccountName, ...] = ()
    other: tuple[Authority, ...] = ()


def active(*names: AccountName) -> Authorities:
    return Authorities(names)


def master(*names: AccountName) -> Authorities:
    return Authorities((), names)


def regular(*names: AccountName) -> Authorities:
    return Authorities((), (), names)


class Operation(msgspec.Struct, frozen=True):
    """One action of a transaction, or of the chain itself (a virtual one).

    The class keyword `tag` is the number on the wire; the order of the fields is the order on the wire.
    """

    VIRTUAL: ClassVar[bool] = False
    DEPRECATED: ClassVar[bool] = False
    """Whether the chain refuses it now; its tag stays, since old blocks have it."""

    def check(self, network: ChainParameters) -> None:
        """Raise unless the operation is valid by itself, without the state (the reference's `validate`)."""
        raise NotImplementedError

    def authorities(self) -> Authorities:
        raise NotImplementedError


class VirtualOperation(Operation, frozen=True):
    """An action of the chain itself, which is never part of a transaction (spec 01, section 7.8)."""

    VIRTUAL: ClassVar[bool] = True

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        raise RuleViolation("false: This is a virtual operation")

    def authorities(self) -> Authorities:
        return Authorities()


def tag_of(operation: type[Operation]) -> int:
    """The number of an operation on the wire."""
    tag = operation.__struct_config__.tag
    if not isinstance(tag, int):
        raise TypeError(f"{operation.__name__} has no tag")
    return tag


def name_of(operation: type[Operation]) -> str:
    """The name of an operation in JSON: that of its class, in lower case with underscores."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operation.__name__).lower()
