"""All versions of the chain properties: one variant, and the defaults of the latest (spec 01, 8; spec 07, 8)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import one_of, record_kind
from ledgerd.protocol.market_properties import ChainPropertiesHf14
from ledgerd.protocol.parameters import ChainParameters
from ledgerd.protocol.properties import (
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesInit,
    json_defaults_of,
)

VersionedChainProperties = Annotated[
    ChainPropertiesInit
    | ChainPropertiesHf4
    | ChainPropertiesHf6
    | ChainPropertiesHf9
    | ChainPropertiesHf13
    | ChainPropertiesHf14,
    one_of(),
]
"""Properties of any version; the tag is the version's place in this row."""


def default_properties(network: ChainParameters) -> ChainPropertiesHf14:
    """The properties that a chain, and a validator who never voted, begins with."""
    with json_defaults_of(network):
        properties: ChainPropertiesHf14 = record_kind(ChainPropertiesHf14).default()
    return properties
