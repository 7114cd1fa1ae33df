"""Plugins of others in a node: more methods of its API, and observers of its chain (docs/plugins.md).

What is named here is what authors build on; it changes as `API_VERSION` says. Everything else of this room is ours.
"""

from __future__ import annotations

from ledgerd.plugins.declarations import API_VERSION, ApiPlugin, ObserverPlugin, PluginError, PluginObserver
from ledgerd.plugins.values import JsonValue, ObservedBlock, ObservedOperation, ReadView

__all__ = [
    "API_VERSION",
    "ApiPlugin",
    "JsonValue",
    "ObservedBlock",
    "ObservedOperation",
    "ObserverPlugin",
    "PluginError",
    "PluginObserver",
    "ReadView",
]
