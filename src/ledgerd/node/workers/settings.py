"""What the main process tells an API worker of the configuration, in texts.

Apart from `api_worker`, which reads them, so that a worker need not load what only the main process runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.history.following import HISTORY_FOLDER
from ledgerd.node.config.history_settings import history_settings
from ledgerd.node.parts.records import HISTORY_PLUGIN

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration


def worker_settings(configuration: Configuration) -> dict[str, str]:
    """The settings of every worker of a node; without a history, its folder is none."""
    options, plugins = configuration.webserver, configuration.application.plugins
    data_dir = configuration.invocation.data_dir
    return {
        "state": str(configuration.chain.shared_file_dir),
        "logs": str(data_dir / STATE_FOLDER),
        "chain": configuration.application.chain,
        "plugins": " ".join(plugins),
        "history": str(data_dir / HISTORY_FOLDER) if HISTORY_PLUGIN in plugins else "",
        "history_settings": msgspec.json.encode(history_settings(configuration)).decode(),
        "cache": str(options.cache_size if options.cache_enabled else 0),
    }
