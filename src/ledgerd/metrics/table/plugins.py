"""Metrics of plugins of others, by name. Requests of their methods are counted with those of all others."""

from __future__ import annotations

from ledgerd.metrics.families import LabelSource, MetricLabel, counter, gauge

MOST_PLUGINS = 8
"""Plugins of others that are enabled."""

PLUGIN = MetricLabel(
    "plugin", source=LabelSource.PLUGINS, about=f"plugins of others that are enabled, by name: {MOST_PLUGINS} at most"
)

PLUGIN_RUNNING = gauge("ledgerd_plugin_running", "1 where the process of a plugin is there.", PLUGIN)
PLUGIN_STARTS = counter("ledgerd_plugin_starts_total", "Starts of the process of a plugin.", PLUGIN)
PLUGIN_PARKED = gauge(
    "ledgerd_plugin_parked", "1 where a plugin is not started again before the node is; the log says why.", PLUGIN
)
PLUGIN_BEHIND = gauge("ledgerd_plugin_behind_blocks", "Blocks that an observer is behind the head.", PLUGIN)
