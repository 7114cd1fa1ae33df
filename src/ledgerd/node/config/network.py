"""The network of a data directory: the configured one, with the initial distribution in a file there if it has one."""

from __future__ import annotations

from msgspec.structs import replace

from ledgerd.node.config.configuration import Configuration
from ledgerd.protocol.networks.chain_file import parameters_of
from ledgerd.protocol.networks.genesis_accounts import read_genesis
from ledgerd.protocol.networks.parameters import ChainParameters

GENESIS_FILE = "snapshot.json"
"""The genesis file in the data directory, as in the reference's (spec 06, section 16.4); without it, that of the
network counts.
"""


def network_of(configuration: Configuration) -> ChainParameters:
    network = parameters_of(configuration.application.chain)
    file = configuration.invocation.data_dir / GENESIS_FILE
    return replace(network, genesis=read_genesis(file)) if file.exists() else network
