"""`ledgerd api`: answers requests from a data directory that another process writes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration
    from ledgerd.replica.settings import StreamSettings

HTTP, WS, METRICS = "webserver-http-endpoint", "webserver-ws-endpoint", "metrics-endpoint"
SHORT = {
    "http": (HTTP, "HOST:PORT", "serve HTTP here"),
    "ws": (WS, "HOST:PORT", "serve WebSocket here; both on one port where it is that of --http"),
    "workers": ("webserver-thread-pool-size", "N", "processes that answer requests (default: 2)"),
    "history": ("history-store", "postgresql://...", "the database of the history, instead of the one in DIR"),
}
"""Options of the node under short names: which, what they take, and what they do."""
OTHERS = ("plugin", METRICS, "shared-file-dir", "block-archive-dir", "log-format")
"""Options of the node besides those of the section `webserver`."""
STATE_FOLDER_OPTION = "shared-file-dir"
FOLLOWED_FILES = {
    "certificate": "the certificate that is shown to the followed node",
    "certificate-key": "the key of that certificate; only its owner may be able to read it",
    "authority": "the certificate that the followed node must show, or that of the authority which has signed it",
}


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    from ledgerd.cli.data_directory import add_data_directory  # noqa: PLC0415 - not loaded for other commands
    from ledgerd.cli.node_arguments import add_option  # noqa: PLC0415
    from ledgerd.node.config.options import BY_NAME  # noqa: PLC0415
    from ledgerd.node.config.options.webserver import WEBSERVER  # noqa: PLC0415

    arguments = commands.add_parser(
        "api",
        help="answer requests from a data directory that a running node writes",
        description="Serves the API of a data directory which another process writes: a node, or what follows one. "
        "It only reads. Any number may run beside one node. docs/api-nodes.md says how they stand behind nginx or "
        "HAProxy, and what they answer otherwise than a node.",
    )
    add_data_directory(arguments)
    for name, (long, takes, does) in SHORT.items():
        arguments.add_argument(f"--{name}", dest=long, action="append", metavar=takes, help=does)
    arguments.add_argument(
        "--node", default="", metavar="URL", help="the HTTP endpoint of the node that broadcasts are sent on to"
    )
    following = arguments.add_argument_group("another machine", "A copy of a node's state is kept in DIR.")
    following.add_argument(
        "--follow",
        default="",
        metavar="PLACE",
        help="follow the node whose state-stream-endpoint this is: tcp://HOST:PORT or unix:/PATH",
    )
    for name, does in FOLLOWED_FILES.items():
        following.add_argument(f"--follow-{name}", type=Path, metavar="FILE", help=does)
    group = arguments.add_argument_group("options of the node", "They may stand in the file of --config-file too.")
    for option in (*WEBSERVER.with_meaning, *(BY_NAME[name] for name in OTHERS)):
        add_option(group, option)
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.client.address import read_address  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.node.config.logging.setup import set_up_logging  # noqa: PLC0415
    from ledgerd.node.workers.api_node.process import run_api_node  # noqa: PLC0415

    if chosen.node:
        read_address(chosen.node)
    configuration = configuration_of(chosen)
    followed = followed_of(chosen, configuration)
    set_up_logging(configuration.logging, configuration.application.log_format)
    return run_api_node(configuration, chosen.node, followed)


def followed_of(chosen: argparse.Namespace, configuration: Configuration) -> StreamSettings:
    """The node that is followed, where one is; all that can be known of it before it is asked is checked."""
    from ledgerd.chain.chain import STATE_FOLDER  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.producer.signer_place import PlaceFault, tls_context  # noqa: PLC0415
    from ledgerd.replica.ownership import refuse_state_of_node  # noqa: PLC0415
    from ledgerd.replica.settings import StreamSettings, read_stream_place  # noqa: PLC0415

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
    from msgspec.structs import replace  # noqa: PLC0415 - not loaded for `--help`

    from ledgerd.node.config.configuration import read_configuration  # noqa: PLC0415

    words = vars(chosen)
    given = {name: [*texts] for name, texts in words.items() if "-" in name or name == "plugin" if texts}
    given["data-dir"] = [str(chosen.data_dir.absolute())]
    if chosen.config_file is not None:
        given["config-file"] = [str(chosen.config_file.absolute())]
    if chosen.chain is not None:
        file = Path(chosen.chain)
        given["chain"] = [str(file.absolute()) if file.is_file() else chosen.chain]
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
    """Who answers strangers does not read keys."""
    from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY, holds_key  # noqa: PLC0415 - not loaded for `--help`

    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return
    if holds_key(text.replace(PUBLISHED_COMMITTEE_KEY, "")):
        raise OperatorError(
            f"{file} holds a private key, which an API node has no use for: give it a file of its own "
            "with --config-file"
        )
