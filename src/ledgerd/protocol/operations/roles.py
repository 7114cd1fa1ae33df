"""What the fields of an operation mean, as marks on their declarations, and what people read of it: a title and a
sentence of a language, with places for its fields. History, tables in SQL, the wallet and the explorer follow from
them, so that none of these lists operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Annotated

import msgspec

from ledgerd.codec import record_kind
from ledgerd.codec.types.containers import Optional
from ledgerd.codec.types.numbers import Int64, UInt16, UInt32
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.names import AccountName


class Role(Enum):
    """The relation of an account to an operation. The history of the account has the operation, unless it is `ABSENT`
    as well.
    """

    ACTIVE = auto()
    MASTER = auto()
    REGULAR = auto()
    """The authority of this kind is required of the account."""
    ACTOR = auto()
    """The account that acts, though no account is asked to sign: the operation is outgoing for it."""
    SENDER = auto()
    RECIPIENT = auto()
    """The subject of the operation goes from the sender to the recipient."""
    PAYER = auto()
    PAYEE = auto()
    """Tokens or shares leave the balance of the one, or come to that of the other, by this operation itself."""
    TOUCHED = auto()
    """The account has none of these roles, and yet its history has the operation (spec 05, section 13.1; spec 07,
    section 13).
    """
    TOUCHED_IF_NAMED = auto()
    """The same as `TOUCHED`, if the field is not empty."""
    ABSENT = auto()
    """The history of the account does not have the operation."""
    TAKER = auto()
    """The operation is incoming for it even where it acts itself; for the sender, where the field is empty."""


class Meaning(Enum):
    """The meaning of any other field."""

    AMOUNT = auto()
    """The amount, where that is not the first one."""
    PAID = auto()
    """The amount that the payer pays and the payee gets, if it is not the field for the amount."""
    MEMO = auto()
    """A text for the recipient, which a wallet may encrypt."""
    REMARK = auto()
    """A text that explains the operation to all."""
    SECRET = auto()
    """A private key: never shown, never typed as an argument."""
    URL = auto()
    HUNDREDTHS = auto()
    WHOLE_PERCENT = auto()
    """The number counts hundredths of a percent, or percents."""
    WEIGHT = auto()
    """The weight of a vote; a value that is not a number counts as one unless it is empty."""
    NEW_NAME = auto()
    """The name of an account that does not exist yet."""
    LABEL = auto()
    """Written like the name of an account, but none."""
    OPTIONAL = auto()
    """Usually empty, or zero: a person need not give it."""


class IdOf(Enum):
    """The kind of thing that the number in a field identifies."""

    MARKET = auto()
    BET = auto()
    COMMIT = auto()
    LIQUIDITY = auto()
    POSITION = auto()
    ESCROW = auto()
    REQUEST = auto()


class VoteOn(msgspec.Struct, frozen=True):
    """The field is what is voted on, or a part of it, in a kind of votes."""

    kind: str


ActiveSigner = Annotated[AccountName, Role.ACTIVE]
MasterSigner = Annotated[AccountName, Role.MASTER]
RegularSigner = Annotated[AccountName, Role.REGULAR]
Sender = Annotated[AccountName, Role.SENDER]
Recipient = Annotated[AccountName, Role.RECIPIENT]
PaidRecipient = Annotated[AccountName, Role.RECIPIENT, Role.PAYEE]
Payee = Annotated[AccountName, Role.PAYEE]
Touched = Annotated[AccountName, Role.TOUCHED]

Memo = Annotated[str, Meaning.MEMO, Meaning.OPTIONAL]
Remark = Annotated[str, Meaning.REMARK]
Url = Annotated[str, Meaning.URL]
Percent = Annotated[UInt16, Meaning.HUNDREDTHS]

MarketId = Annotated[Int64, IdOf.MARKET]
BetId = Annotated[Int64, IdOf.BET]
CommitId = Annotated[Int64, IdOf.COMMIT]
LiquidityId = Annotated[Int64, IdOf.LIQUIDITY]
PositionId = Annotated[Int64, IdOf.POSITION]
RequestId = Annotated[UInt32, IdOf.REQUEST]


def fields_marked(record: type[msgspec.Struct], *marks: object) -> Iterator[Field]:
    return (field for field in record_kind(record).fields if any(mark in field.marks for mark in marks))


def field_marked(record: type[msgspec.Struct], mark: object) -> Field | None:
    return next(fields_marked(record, mark), None)


def amount_field(record: type[msgspec.Struct]) -> Field | None:
    """The field of the amount: the one that is marked so, or the first that holds an asset."""
    return field_marked(record, Meaning.AMOUNT) or next(filter(_holds_asset, record_kind(record).fields), None)


def _holds_asset(field: Field) -> bool:
    kind = field.kind.inner if isinstance(field.kind, Optional) else field.kind
    return isinstance(kind, RecordKind) and kind.record is Asset


NO = "no_"
"""Begins the name of a case that holds if a field has nothing in it: no amount, false, or its default."""


class Words(msgspec.Struct, frozen=True):
    """An operation in one language."""

    title: str
    """The title of the operation, in a word or two."""
    sentence: str
    """`{name}` stands for the field of this name in JSON, or for a property of the operation."""
    cases: Mapping[str, str]
    """Sentences for operations of which something holds; the first one that fits is taken."""


def words(title: str, sentence: str, **cases: str) -> Words:
    """A case is named by a property of the operation, or `no_FIELD`: where nothing is in the field."""
    return Words(title, sentence, cases)
