"""The node that is examined: the part of its configuration that checks need, and the machine that it is on."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.basics.addresses import reached_at
from ledgerd.producer.signing.signer_place import CertifiedPlace
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.names import AccountName

SECONDS = 3.0
"""The longest wait for a connection or an answer."""

BASE_FILES = 256


class ExaminedPlugin(msgspec.Struct, frozen=True):
    """A plugin of others that is installed."""

    name: str
    distribution: str
    version: str
    is_enabled: bool
    api_version: str = ""
    """The version of the plugin API that the plugin is made for, if it says so."""
    fault: str = ""
    """Why it does not load."""
    is_shadowed: bool = False
    """Whether the node has a plugin or an API of its own under this name."""

    def __str__(self) -> str:
        use = "enabled" if self.is_enabled else "not enabled"
        state = self.fault or f"made for version {self.api_version} of the plugin API"
        return f"plugin {self.name} of {self.distribution} {self.version}: {use}, {state}"


class ExaminedNode(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a node that checks need."""

    data_dir: Path
    state_dir: Path
    log_dir: Path
    configuration_file: Path
    network: ChainParameters
    p2p_endpoint: Endpoint | None
    max_connections: int
    seeds: tuple[Endpoint, ...]
    http_endpoint: Endpoint | None
    websocket_endpoint: Endpoint | None
    metrics_endpoint: Endpoint | None
    explorer_endpoint: Endpoint | None
    time_servers: tuple[Endpoint, ...]
    snapshot_peers: tuple[Endpoint, ...]
    key_files: tuple[Path, ...]
    validators: tuple[AccountName, ...]
    """The validators whose blocks this node makes, without the committee."""
    signing_keys: frozenset[PublicKey]
    signer: CertifiedPlace | None
    plugins: tuple[ExaminedPlugin, ...] = ()
    process: int | None
    """The number of the running node's process; 0 if it is not known, and None while no node runs."""

    @property
    def is_running(self) -> bool:
        return self.process is not None


def local(endpoint: Endpoint) -> Endpoint:
    """The address at which this machine reaches a listening endpoint."""
    return Endpoint(reached_at(endpoint.host), endpoint.port)
