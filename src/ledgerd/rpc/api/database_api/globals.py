"""The chain as a whole: constants, properties, hardforks, database (spec 05, sections 9.3 to 9.8, 9.24)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import UInt32, UInt64
from ledgerd.projections.tables.custom_protocols import CUSTOM_PROTOCOLS
from ledgerd.projections.tables.key_references import KEY_REFERENCES
from ledgerd.protocol.config_document import config_of
from ledgerd.protocol.types.times import Time
from ledgerd.protocol.types.versions import HardforkVersion
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.api.shared.properties import ShownProperties, hardfork_of_properties, shown
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import AnyValue
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.errors import UnknownKey
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, HARDFORK_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.objects.validators import VALIDATOR_SCHEDULES
from ledgerd.state.tables.tables import Table

PLUGIN_TABLES: dict[str, Table[Any]] = {
    "graphene::plugins::account_by_key::key_lookup_object": KEY_REFERENCES,
    "graphene::plugins::custom_protocol_api::custom_protocol_object": CUSTOM_PROTOCOLS,
}


class GlobalProperties(DynamicGlobalProperty):
    """The head of the chain, its funds and its load, and the first block that this node has."""

    earliest_available_block_num: UInt32 = 0


GlobalPropertiesText = Annotated[str, Printed(GlobalProperties)]


class ScheduledHardfork(msgspec.Struct, frozen=True):
    """The next hardfork, and the time before which it cannot be applied."""

    hf_version: HardforkVersion
    live_time: Time


class TableInfo(msgspec.Struct, frozen=True):
    """A table of the state, under the reference's name."""

    name: str
    record_count: UInt64


class DatabaseInfo(msgspec.Struct, frozen=True):
    """The size of the state, and the free space on the disk, in bytes."""

    total_size: UInt64
    free_size: UInt64
    reserved_size: UInt64
    used_size: UInt64
    index_list: tuple[TableInfo, ...]


class Storage:
    """The folder of a state, whose file grows as needed until the disk is full."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sizes(self) -> tuple[int, int]:
        return (self._folder / DATA_FILE).stat().st_size, shutil.disk_usage(self._folder).free


@DATABASE_API.method(examples=[[]])
def get_config(view: ApiView) -> AnyValue:
    """The constants of the network, by the names that clients know."""
    return config_of(view.network)


@DATABASE_API.method(examples=[[]])
def get_dynamic_global_properties(view: ApiView) -> GlobalPropertiesText:
    """The head block, the funds and the load of the chain."""
    printed = view.state.derived(_print_globals, DYNAMIC_GLOBAL_PROPERTIES.by_id, 0)
    if printed is None:
        raise UnknownKey
    head, opening = printed
    return f"{opening}{view.service(KeptBlocks).earliest(head)}}}"


def _print_globals(now: DynamicGlobalProperty) -> tuple[int, str]:
    text = codec_of(GlobalProperties).to_json(GlobalProperties(**asdict(now)))
    return now.head_block_number, text[: -len("0}")]


@DATABASE_API.method(examples=[[]])
def get_chain_properties(view: ApiView) -> ShownProperties:
    """The chain properties in force: the medians of the validators' votes."""
    medians = view.state.get(VALIDATOR_SCHEDULES, 0).median_props
    return shown(medians, hardfork_of_properties(view.state))


@DATABASE_API.method(examples=[[]])
def get_hardfork_version(view: ApiView) -> HardforkVersion:
    """The version of the last applied hardfork."""
    return view.state.get(HARDFORK_PROPERTIES, 0).current_hardfork_version


@DATABASE_API.method(examples=[[]])
def get_next_scheduled_hardfork(view: ApiView) -> ScheduledHardfork:
    """The next hardfork."""
    hardforks = view.state.get(HARDFORK_PROPERTIES, 0)
    return ScheduledHardfork(hardforks.next_hardfork, hardforks.next_hardfork_time)


@DATABASE_API.method(args=exactly(0), examples=[[]])
def get_database_info(view: ApiView) -> DatabaseInfo:
    """The size of the state, and the number of objects in each table."""
    used, free = view.service(Storage).sizes()
    own = (TableInfo(f"graphene::chain::{table.name}_object", view.state.count(table)) for table in TABLES)
    plugins = (TableInfo(name, view.projections.count(table)) for name, table in PLUGIN_TABLES.items())
    return DatabaseInfo(used + free, free, 0, used, (*own, *plugins))
