"""What every operation has: tag, name, stateless checks, authorities, extensions (none exist yet; spec 01, 2.7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Annotated, ClassVar, NamedTuple

import msgspec

from ledgerd.codec import Void, one_of, sorted_by
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.roles import Role, Words, fields_marked
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName


def by_alternative(value: object) -> str:
    """Variants are ordered, and equal, by their alternative alone; of equals the first stays (spec 01, section 2.7)."""
    return type(value).__name__


FutureExtension = Annotated[Void, one_of(memory=8)]

Extensions = Annotated[tuple[FutureExtension, ...], sorted_by(by_alternative)]


class Authorities(NamedTuple):
    """The accounts and keys that must sign an operation (spec 01, section 10.1)."""

    active: tuple[AccountName, ...] = ()
    master: tuple[AccountName, ...] = ()
    regular: tuple[AccountName, ...] = ()
    other: tuple[Authority, ...] = ()

    @property
    def names(self) -> tuple[AccountName, ...]:
        return self.active + self.master + self.regular


def active(*names: AccountName) -> Authorities:
    return _made(Authorities, (names, (), (), ()))


def master(*names: AccountName) -> Authorities:
    return _made(Authorities, ((), names, (), ()))


def regular(*names: AccountName) -> Authorities:
    return _made(Authorities, ((), (), names, ()))


_made = tuple.__new__
"""Half the time of a call of the class: chains ask for the authorities of every operation."""
_SIGNERS = {Role.ACTIVE: active, Role.MASTER: master, Role.REGULAR: regular}


class Fee(msgspec.Struct, frozen=True):
    """A fee that an operation does not name itself."""

    property: str
    """The chain property that is the fee."""
    is_once: bool = False
    """Whether it is paid the first time alone."""


class Operation(msgspec.Struct, frozen=True):
    """One action of a transaction, or of the chain itself (a virtual one).

    The class keyword `tag` is the number on the wire; the order of the fields is the order on the wire. What else the
    program does with an operation follows from what its fields are marked with (`roles`) and from these words.
    """

    EN: ClassVar[Words]
    RU: ClassVar[Words]
    """The sentences of the explorer, in each of its languages."""
    COMMAND: ClassVar[str] = ""
    """A plain name of its command in the wallet, where its own name is long or obscure; both are commands."""
    FEE: ClassVar[Fee | None] = None
    VIRTUAL: ClassVar[bool] = False
    DEPRECATED: ClassVar[bool] = False
    """Whether the chain refuses it now; its tag stays, since old blocks have it."""
    CARRIES_DATA: ClassVar[bool] = False
    """Whether it carries data of any size, for which more bandwidth is counted since hardfork 6."""

    def check(self, network: ChainParameters) -> None:
        """Raise unless the operation is valid by itself, without the state (the reference's `validate`)."""
        raise NotImplementedError

    def authorities(self) -> Authorities:
        """The required authorities: of the accounts in fields that are marked so, unless the declaration overrides
        this.
        """
        return _REQUIRED[type(self)](self)


class _Required(dict[type[Operation], Callable[[Operation], Authorities]]):
    """The required authorities of operations of one kind, compiled at the first one."""

    def __missing__(self, kind: type[Operation]) -> Callable[[Operation], Authorities]:
        found = [(field, asked) for role, asked in _SIGNERS.items() for field in fields_marked(kind, role)]
        if len(found) != 1:
            raise TypeError(f"{kind.__name__} marks no signer, or several, and has no authorities of its own")
        ((field, asked),) = found
        signer = attrgetter(field.attribute)
        self[kind] = lambda operation: asked(signer(operation))
        return self[kind]


_REQUIRED = _Required()


class VirtualOperation(Operation, frozen=True):
    """An action of the chain itself, which is never part of a transaction (spec 01, section 7.8)."""

    VIRTUAL = True

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        raise RuleViolation("false: This is a virtual operation")

    def authorities(self) -> Authorities:
        return Authorities()


def tag_of(operation: type[Operation]) -> int:
    tag = operation.__struct_config__.tag
    if not isinstance(tag, int):
        raise TypeError(f"{operation.__name__} has no tag")
    return tag


@cache
def name_of(operation: type[msgspec.Struct]) -> str:
    """The name of an operation in JSON: that of its class, in lower case with underscores."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operation.__name__).lower()
