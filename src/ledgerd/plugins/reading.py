"""The view of a plugin's method: the last commit of the node, through the tables and through the node's own methods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from ledgerd.codec import codec_of
from ledgerd.plugins.declarations import PluginError
from ledgerd.plugins.values import JsonValue, ReadView
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.call.declarations import Answering
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.errors import INVALID_PARAMETERS, OTHER
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.tables.tables import Entity, Table

PUBLISHED: dict[str, Table[Any]] = {table.name: table for table in TABLES}
LARGEST_ID = (1 << 63) - 1
"""The highest id of an object."""


class NodeReadView(ReadView):
    """Over one commit, which is opened at its first use."""

    def __init__(self, dispatcher: Dispatcher, view: ApiView, folder: Path) -> None:
        self._dispatcher = dispatcher
        self._opened: ApiView | None = view
        self._folder = folder

    def close(self) -> None:
        """End it with its call: a plugin that keeps it would keep a commit, and the file of the state would grow."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    @property
    def _view(self) -> ApiView:
        if self._opened is None:
            raise PluginError(OTHER, "the view was used after its call")
        return self._opened

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def _globals(self) -> DynamicGlobalProperty:
        return self._view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0)

    @property
    def head_number(self) -> int:
        return self._globals.head_block_number

    @property
    def head_time(self) -> int:
        return self._globals.time

    @property
    def irreversible_number(self) -> int:
        return self._globals.last_irreversible_block_num

    def call(self, api: str, method: str, *params: JsonValue) -> JsonValue:
        called = self._dispatcher.method(api, method)
        if called.answering is not Answering.AT_ONCE:
            raise PluginError(INVALID_PARAMETERS, f"{called.full_name} does not answer at once")
        with json_defaults_of(self._view.network):
            arguments = called.arguments(cast("Any", list(params)))
        return value_of(called.codec.to_json(called.function(self._view, *arguments)))

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(PUBLISHED)

    def row(self, table: str, object_id: int) -> dict[str, JsonValue] | None:
        if not 0 <= object_id <= LARGEST_ID:
            return None
        found: Entity | None = self._view.state.find(_table(table), object_id)
        return None if found is None else _row_of(found)

    def rows(self, table: str, after: int = -1) -> Iterator[dict[str, JsonValue]]:
        lower = max(0, after + 1)
        if lower <= LARGEST_ID:
            yield from map(_row_of, self._view.state.scan(_table(table), lower=(lower,)))

    def account(self, name: str) -> dict[str, JsonValue] | None:
        found = self._view.state.lookup(ACCOUNT_BY_NAME, AccountName(name))
        return None if found is None else _row_of(found)

    def properties(self) -> dict[str, JsonValue]:
        return _row_of(self._globals)


def _table(name: str) -> Table[Any]:
    found = PUBLISHED.get(name)
    if found is None:
        raise PluginError(INVALID_PARAMETERS, f"there is no table {name}")
    return found


def _row_of(entity: Entity) -> dict[str, JsonValue]:
    return cast("dict[str, JsonValue]", value_of(codec_of(type(entity)).to_json(entity)))


def value_of(text: str) -> JsonValue:
    """The value of a JSON text; parts that clients have written need not be UTF-8."""
    value: JsonValue = msgspec.json.decode(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return value
