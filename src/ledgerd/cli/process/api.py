"""`ledgerd api`: answers requests from a data directory that another process writes."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec.structs import replace

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.cli.arguments.process_arguments import FOLLOWED_FILES, HTTP, METRICS, WS
from ledgerd.cli.shared.configured import ending_for_good, given_in
from ledgerd.client.address import read_address
from ledgerd.node.config.configuration import Configuration, configuration_text, read_configuration
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.workers.api_node.process import run_api_node
from ledgerd.producer.signing.signer_place import PlaceFault, tls_context
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY, holds_key
from ledgerd.replica.copies.ownership import refuse_state_of_node
from ledgerd.replica.settings import StreamSettings, read_stream_place

STATE_FOLDER_OPTION = "shared-file-dir"


def run(chosen: argparse.Namespace) -> int:
    with ending_for_good():
        if chosen.node:
            read_address(chosen.node)
        configuration = configuration_of(chosen)
        followed = followed_of(chosen, configuration)
    set_up_logging(configuration.logging, configuration.application.log_format)
    return run_api_node(configuration, chosen.node, followed)


def followed_of(chosen: argparse.Namespace, configuration: Configuration) -> StreamSettings:
    """The node that is followed, where one is; all that can be known of it before it is asked is checked."""
    given = [getattr(chosen, f"follow_{name.replace('-', '_')}") for name in FOLLOWED_FILES]
    files = [None if path is None else path.absolute() for path in given]
    try:
        settings = StreamSettings(read_stream_place(chosen.follow) if chosen.follow else None, *files)
        if settings.fault:
            raise OperatorError(f"--follow: {settings.fault}")
        if settings.files is not None:
            tls_context(settings.files, is_signer=False)
    except PlaceFault as fault:
        raise OperatorError(f"--follow {fault}") from fault
    if settings.place is not None:
        state = configuration.invocation.data_dir / STATE_FOLDER
        if configuration.chain.shared_file_dir != state:
            raise OperatorError(f"--follow keeps the state in {state}: leave {STATE_FOLDER_OPTION} out")
        refuse_state_of_node(state)
    return settings


def configuration_of(chosen: argparse.Namespace) -> Configuration:
    """The configuration: that of the node, where no other is named, but for the addresses and the files of the log."""
    words = vars(chosen)
    given = {name: [*texts] for name, texts in words.items() if "-" in name or name == "plugin" if texts}
    given |= given_in(chosen)
    configuration = read_configuration(given, Path.cwd())
    _refuse_keys(configuration.file)
    if chosen.config_file is None:
        web, metrics = configuration.webserver, configuration.metrics
        web = replace(
            web,
            http_endpoint=web.http_endpoint if HTTP in given else None,
            ws_endpoint=web.ws_endpoint if WS in given else None,
        )
        metrics = replace(metrics, endpoint=metrics.endpoint if METRICS in given else None)
        configuration = replace(configuration, webserver=web, metrics=metrics, logging=None)
    if configuration.webserver.http_endpoint is None and configuration.webserver.ws_endpoint is None:
        raise OperatorError("there is nothing to listen on: give --http HOST:PORT, --ws HOST:PORT or both")
    return configuration


def _refuse_keys(file: Path) -> None:
    """Refuse a file with keys: a process that answers strangers must not read any."""
    try:
        text = configuration_text(file)
    except OSError:
        return
    if holds_key(text.replace(PUBLISHED_COMMITTEE_KEY, "")):
        raise OperatorError(
            f"{file} holds a private key, which an API node has no use for: give it a file of its own "
            "with --config-file"
        )
