"""What the main process of an API node tells its workers. It imports this alone, not what the workers need."""

from __future__ import annotations

import msgspec

from ledgerd.history.settings import HistorySettings
from ledgerd.node.config.options.application import LogFormat
from ledgerd.node.workers.settings import NO_METRICS

API_NODE_PARTS = "ledgerd.node.workers.api_node.worker:logged_service"


class ApiNodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of an API node."""

    data_dir: str
    state: str
    archive: str
    """The directory of the archive, which may be missing."""
    chain: str
    plugins: tuple[str, ...]
    cached_answers: int
    history: HistorySettings
    node: str = ""
    """The HTTP endpoint of the node that takes broadcasts; empty where they are refused."""
    log_format: LogFormat = "text"
    metrics: int = NO_METRICS
    """The descriptor of the memory for metrics."""
