"""The options of the explorer that a node starts beside it: pages about the chain for people."""

from __future__ import annotations

from ledgerd.explorer.settings import ExplorerOptions
from ledgerd.node.config.options.declaration import Option, OptionSection
from ledgerd.node.config.values.endpoints import ENDPOINT, NETWORK

EXPLORER = OptionSection(
    "explorer",
    "Pages about the chain for people, from a process of its own; docs/explorer.md says what is on them.",
    ExplorerOptions,
    (
        Option(
            "explorer-endpoint",
            ENDPOINT,
            "The host and port to serve the pages on. Without it, there are none. Each visitor may have so much, and "
            "they ask the node as any client does.",
            example="127.0.0.1:8093",
            ours=True,
        ),
        Option(
            "explorer-trusted-proxies",
            NETWORK,
            "Trusted proxies in front of the explorer, besides this machine: only from these, X-Forwarded-For names "
            "the visitor.",
            repeatable=True,
            words=True,
            ours=True,
        ),
    ),
    prefixes=("explorer-",),
)
