"""How a type of the APIs is written in the generated client: as the protocol's own type where it has one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import FixedArray, Optional, SortedMap, Vector
from ledgerd.codec.types.numbers import Boolean, Share, Signed, Unsigned, WideUnsigned
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.strings import FixedBytes, Text
from ledgerd.codec.types.variants import NamedVariant, Variant
from ledgerd.protocol.types.arrays import NamesInMemory, SharesInMemory
from ledgerd.protocol.types.assets import AmountOf
from ledgerd.protocol.types.names import NameKind
from ledgerd.protocol.types.times import TimeKind
from ledgerd.protocol.types.versions import HardforkVersionKind, VersionKind
from ledgerd.rpc.api.shared.kinds import EnumKind, Printed
from ledgerd.rpc.call.declarations import AnyJson, Nothing

RECORDS = "ledgerd.sdk.api.records"
NUMBERS = "ledgerd.codec.types.numbers"
STRINGS = "ledgerd.codec.types.strings"
TYPES = "ledgerd.protocol.types"

BYTES = {
    "block id": (f"{TYPES}.identifiers", "BlockId"),
    "transaction id": (f"{TYPES}.identifiers", "TransactionId"),
    "merkle root": (f"{TYPES}.identifiers", "MerkleRoot"),
    "commitment": (f"{TYPES}.identifiers", "Commitment"),
    "public key": ("ledgerd.protocol.crypto.keys", "PublicKey"),
    "signature": ("ledgerd.protocol.crypto.signatures", "Signature"),
}
"""Types of bytes, by their titles."""

OWN_NAMES = {"ChainPropertiesHf14": "MedianProperties"}
"""Records of the protocol that are another thing in answers: here the properties in force, of which an older node has
fewer; there what a validator votes for, whole.
"""

FAMILIES = (
    ("ChainPropertiesHf14", "chain"),
    ("AccountRecord", "accounts"),
    ("ValidatorRecord", "chain"),
    ("ledgerd.rpc.api.database_api.globals", "chain"),
    ("ledgerd.rpc.api.database_api", "accounts"),
    ("ledgerd.state.objects.accounts", "accounts"),
    ("ledgerd.rpc.api.shared.properties", "chain"),
    ("ledgerd.rpc.api.ledger.validator_api", "chain"),
    ("ledgerd.rpc.api.ledger", "money"),
    ("ledgerd.state.objects.money", "money"),
    ("ledgerd.rpc.api.blocks", "blocks"),
    ("ledgerd.rpc.blocks", "blocks"),
    ("ledgerd.rpc.api.node.network_broadcast_api", "blocks"),
    ("ledgerd.chain.log", "history"),
    ("ledgerd.rpc.api.history", "history"),
    ("ledgerd.rpc.api.node", "node"),
    ("ledgerd.state.objects.markets", "market_rows"),
    ("ledgerd.projections", "market_rows"),
    ("ledgerd.rpc.api.prediction_market", "market_answers"),
)
"""In which module of records a record stands: by its name, or by the module that declares it for the node."""

ABOUT = {
    "accounts": "Records about accounts: keys, votes, sales, proposals, delegations.",
    "blocks": "Records about blocks, and about transactions that were sent.",
    "chain": "Records about the chain as a whole: its properties, its validators, the database of a node.",
    "history": "Records of what happened: operations by account and by block, pages and messages of streams.",
    "market_answers": "Records about prediction markets that a node puts together for an answer.",
    "market_rows": "Records about prediction markets as the chain keeps them.",
    "money": "Records about the committee, invites, subscriptions, escrow and delegations.",
    "node": "Records about a node and about what it tried out.",
}


class Written(NamedTuple):
    """The text of a type, and what has to be imported for it: pairs of a module and a name."""

    text: str
    imports: frozenset[tuple[str, str]] = frozenset()


def named(module: str, name: str) -> Written:
    return Written(name, frozenset({(module, name)}))


def put_together(layout: str, *parts: Written, more: Iterable[tuple[str, str]] = ()) -> Written:
    """A type of others, each at its `{}`."""
    return Written(
        layout.format(*(each.text for each in parts)), frozenset(more).union(*(each.imports for each in parts))
    )


def family_of(record: type) -> str:
    """The module of records that a record stands in; a `StopIteration` for one that no line of the table is about."""
    return next(family for start, family in FAMILIES if record.__name__ == start or record.__module__.startswith(start))


def is_of_protocol(record: type) -> bool:
    return record.__module__.startswith("ledgerd.protocol.") and record.__name__ not in OWN_NAMES


def name_of(record: type) -> str:
    return OWN_NAMES.get(record.__name__, record.__name__)


def shown_kind(kind: Kind) -> Kind:
    """The type of a value, where the node prints it before it is asked for."""
    return shown_kind(kind.of) if isinstance(kind, Printed) else kind


def is_nothing(kind: Kind) -> bool:
    return isinstance(kind, RecordKind) and kind.record is Nothing


def written(kind: Kind) -> Written:
    """A type as records have it."""
    kind = shown_kind(kind)
    if isinstance(kind, AnyJson):
        return Written("object")
    if isinstance(kind, Optional):
        return put_together("{} | None", written(kind.inner))
    if isinstance(kind, SharesInMemory | NamesInMemory):
        return _in_memory(kind)
    if isinstance(kind, FixedArray):
        marks = [("typing", "Annotated"), ("ledgerd.codec", "array_of")]
        return put_together(f"Annotated[tuple[{{}}, ...], array_of({kind.size})]", written(kind.element), more=marks)
    if isinstance(kind, SortedMap):
        raise TypeError("a map in an answer is of a type of the protocol")
    if isinstance(kind, Vector):
        return _extensions(kind.element) or put_together("tuple[{}, ...]", written(kind.element))
    if isinstance(kind, NamedVariant):
        return named("ledgerd.protocol.operations", "Operation")
    if isinstance(kind, RecordKind):
        record = kind.record
        own = record.__module__ if is_of_protocol(record) else f"{RECORDS}.{family_of(record)}"
        return named(own, name_of(record))
    return _scalar(kind)


def _in_memory(kind: SharesInMemory | NamesInMemory) -> Written:
    if isinstance(kind, NamesInMemory):
        return named(f"{TYPES}.arrays", "NameRow")
    return named(f"{TYPES}.arrays", {4: "ProxiedShares", 8: "TimeClasses"}[kind.size])


def _extensions(element: Kind) -> Written | None:
    """The type of a set of extensions, which the protocol names; none for a row of anything else."""
    if not isinstance(element, Variant) or isinstance(element, NamedVariant):
        return None
    if len(element.kinds) == 1:
        return named("ledgerd.protocol.operations.base", "Extensions")
    return named("ledgerd.protocol.blocks.block", "HeaderExtensions")


def _scalar(kind: Kind) -> Written:
    if isinstance(kind, EnumKind):
        words = ", ".join(f'"{each.name.lower()}"' for each in kind.choices)
        marks = [("typing", "Annotated"), ("typing", "Literal"), (STRINGS, "Text")]
        return Written(f"Annotated[Literal[{words}], Text()]", frozenset(marks))
    if isinstance(kind, FixedBytes):
        if known := BYTES.get(kind.title):
            return named(*known)
        marks = [("typing", "Annotated"), (STRINGS, "FixedBytes")]
        return Written(f'Annotated[bytes, FixedBytes({kind.size}, "{kind.title}")]', frozenset(marks))
    for of, module, name in SCALARS:
        if isinstance(kind, of):
            return Written(name) if not module else named(module, name)
    if isinstance(kind, Unsigned | Signed):
        return named(NUMBERS, f"{'U' if isinstance(kind, Unsigned) else ''}Int{kind.memory * 8}")
    raise TypeError(f"no type for {kind.title or kind}")


SCALARS: tuple[tuple[type[Kind], str, str], ...] = (
    (AmountOf, f"{TYPES}.assets", "Asset"),
    (Share, NUMBERS, "ShareAmount"),
    (WideUnsigned, NUMBERS, "UInt128"),
    (Boolean, "", "bool"),
    (TimeKind, f"{TYPES}.times", "Time"),
    (HardforkVersionKind, f"{TYPES}.versions", "HardforkVersion"),
    (VersionKind, f"{TYPES}.versions", "Version"),
    (NameKind, f"{TYPES}.names", "AccountName"),
    (Text, "", "str"),
)
"""The first that a kind belongs to: special ones stand before those that they are made of."""


class Given(NamedTuple):
    """How a parameter is written: its type for who calls, and the expression of what is sent, of its name."""

    form: Written
    expression: str
    imports: frozenset[tuple[str, str]] = frozenset()


def given(kind: Kind) -> Given:
    """A type as parameters have it: plain texts and numbers wherever they say the same."""
    kind = shown_kind(kind)
    if isinstance(kind, EnumKind):
        words = ", ".join(f'"{each.name.lower()}"' for each in kind.choices)
        return Given(Written(f"Literal[{words}]", frozenset({("typing", "Literal")})), "{}")
    if isinstance(kind, Vector):
        of = given(kind.element)
        form = put_together("Sequence[{}]", of.form, more=[("collections.abc", "Sequence")])
        whole = "listed({})"
        each = whole if of.expression == "{}" else f"[{of.expression.format('each')} for each in {whole}]"
        return Given(form, each, of.imports)
    if isinstance(kind, TimeKind | FixedBytes | RecordKind):
        own = written(kind)
        form = own if isinstance(kind, RecordKind) else put_together("{} | str", own)
        form = put_together("int | str") if isinstance(kind, TimeKind) else form
        return Given(form, f"sent({own.text}, {{}})", own.imports)
    if isinstance(kind, AnyJson):
        return Given(Written("object"), "{}")
    return Given(Written(_plain(kind)), "{}")


def _plain(kind: Kind) -> str:
    if isinstance(kind, Boolean):
        return "bool"
    return "str" if isinstance(kind, Text) else "int"
