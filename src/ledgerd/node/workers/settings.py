"""What the main process hands its workers: the function that assembles each service, by name, and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ledgerd.explorer.settings import ExplorerSettings
from ledgerd.history.settings import HistorySettings
from ledgerd.history.webhooks.settings import WebhookSettings
from ledgerd.node.config.options.application import LogFormat

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration

API_PARTS = "ledgerd.node.workers.api_worker:logged_service"
METRICS_PARTS = "ledgerd.node.workers.metrics_worker:logged_service"
NO_METRICS = -1
"""Instead of the descriptor of the memory for metrics: nothing is counted."""


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of an API worker."""

    data_dir: str
    state: str
    archive: str
    chain: str
    plugins: tuple[str, ...]
    cached_answers: int
    history: HistorySettings
    log_format: LogFormat = "text"
    metrics: int = NO_METRICS
    is_api_node: bool = False
    """Whether another process writes the directory, or makes it at some time."""
    installed: tuple[str, ...] = ()
    """Plugins of others that run."""
    node: str = ""
    """The HTTP endpoint of the node that takes the broadcasts of an API node; empty if they are refused."""


def worker_settings(configuration: Configuration) -> WorkerSettings:
    return WorkerSettings(
        data_dir=str(configuration.invocation.data_dir),
        state=str(configuration.chain.shared_file_dir),
        archive=str(configuration.chain.block_archive_dir),
        chain=configuration.application.chain,
        plugins=configuration.application.plugins,
        cached_answers=configuration.webserver.cached_answers,
        history=configuration.history,
        log_format=configuration.application.log_format,
        installed=configuration.application.installed,
    )


class MetricsWorkerSettings(msgspec.Struct, frozen=True):
    """The settings of the process that answers scrapes."""

    chain: str
    memory: int
    log_format: LogFormat = "text"
    followed: str = ""
    """The data directory of an API node, which may follow a node."""
    shadow: str = ""
    """The folder of the shadow of a node, whose page is served."""
    installed: tuple[str, ...] = ()
    """Plugins of others that run."""


class FeedOrder(msgspec.Struct, frozen=True):
    """The order of the process that feeds PostgreSQL: what it feeds, and the database in its settings."""

    data_dir: str
    chain_id: bytes
    settings: HistorySettings
    log_format: LogFormat


class ExplorerArguments(msgspec.Struct, frozen=True):
    """The arguments of the explorer process, which come on its standard input."""

    settings: ExplorerSettings
    node: int
    """The process id of the node."""
    log_format: LogFormat = "text"


class WebhookArguments(msgspec.Struct, frozen=True):
    """The arguments of the process that sends webhooks, read from standard input."""

    folder: str
    logs: str
    history_folder: str
    history: HistorySettings
    webhooks: WebhookSettings
    node: int
    """The process id of the node."""
    log_format: LogFormat = "text"
