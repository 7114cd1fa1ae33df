"""What the doctor is told of a node: the part of its configuration that checks need."""

from __future__ import annotations

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.doctor.examined_node import ExaminedNode
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.network import network_of
from ledgerd.node.config.options.validator import EMERGENCY_VALIDATOR
from ledgerd.state.files.lock import holder_of


def examined_node_of(configuration: Configuration) -> ExaminedNode:
    """The node of a configuration, whether it runs or not. `OperatorError`: the file of its network is wrong."""
    data_dir, plugins = configuration.invocation.data_dir, configuration.application.plugins
    validator = configuration.validator
    names = validator.names if "validator" in plugins else ()
    return ExaminedNode(
        data_dir=data_dir,
        state_dir=configuration.chain.shared_file_dir,
        log_dir=data_dir / STATE_FOLDER,
        configuration_file=configuration.file,
        network=network_of(configuration),
        p2p_endpoint=configuration.p2p.endpoint,
        max_connections=configuration.p2p.max_connections,
        seeds=configuration.p2p.seeds,
        http_endpoint=configuration.webserver.http_endpoint,
        websocket_endpoint=configuration.webserver.ws_endpoint,
        metrics_endpoint=configuration.metrics.endpoint,
        explorer_endpoint=configuration.explorer.endpoint,
        time_servers=validator.ntp.servers,
        snapshot_peers=configuration.snapshot.trusted_peers if "snapshot" in plugins else (),
        key_files=validator.key_files,
        validators=tuple(name for name in names if name != EMERGENCY_VALIDATOR),
        signing_keys=frozenset(validator.keys),
        signer=validator.signer if names and validator.is_signed_elsewhere else None,
        process=holder_of(data_dir),
    )
