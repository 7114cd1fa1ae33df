"""The filter of operations in requests, and its translation for a history."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ledgerd.chain.log.histories import Direction, Wanted
from ledgerd.codec import record_kind
from ledgerd.codec.errors import BAD_CAST, DecodeError
from ledgerd.codec.json.scalars import as_object, as_string
from ledgerd.codec.types.strings import Text
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of, tag_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import LATEST, Time
from ledgerd.rpc.api.shared.kinds import EnumKind

TAGS = {name_of(each): tag_of(each) for each in OPERATIONS}

MOST_NAMES = 100
"""Accounts in one filter."""


class OperationName(Text):
    """The name of an operation, as in its JSON."""

    title = "operation name"

    def parse(self, value: object) -> str:
        name = as_string(value)
        if name not in TAGS:
            raise DecodeError(f"Invalid operation name: {name}")
        return name


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Selects operations: each given condition must hold."""

    types: tuple[Annotated[str, OperationName()], ...] | None = None
    accounts: tuple[AccountName, ...] | None = None
    direction: Annotated[Direction, EnumKind(Direction, "direction")] | None = None
    since: Time | None = None
    until: Time | None = None
    irreversible: bool | None = None

    @classmethod
    def from_json(cls, value: object) -> Filter:
        """Read a filter from JSON. An unknown key is refused, since its condition would be ignored."""
        given = as_object(value)
        fields = {field.name: field for field in record_kind(cls).fields}
        made = {}
        for name, condition in given.items():
            if name not in fields:
                raise DecodeError(f"filter: there is no field {name}; there are {', '.join(fields)}", BAD_CAST)
            try:
                made[name] = fields[name].kind.parse(condition)
            except DecodeError as problem:
                raise DecodeError(f"filter.{problem.within(name)}", BAD_CAST) from None
        read = cls(**made)
        if len(read.accounts or ()) > MOST_NAMES:
            raise DecodeError(f"filter.accounts: at most {MOST_NAMES} accounts can be looked for at once", BAD_CAST)
        return read

    @property
    def wanted(self) -> Wanted:
        return Wanted(
            tags=None if self.types is None else frozenset(TAGS[name] for name in self.types),
            accounts=frozenset(self.accounts or ()),
            direction=self.direction or Direction.ANY,
            since=self.since or 0,
            until=LATEST + 1 if self.until is None else self.until,
        )


NO_FILTER = Filter()
