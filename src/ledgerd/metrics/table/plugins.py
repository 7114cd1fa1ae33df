"""Metrics of plugins of others, each by its place among the options."""

from __future__ import annotations

from ledgerd.metrics.families import MetricLabel, counter, gauge

MOST_PLUGINS = 8

PLUGIN = MetricLabel("plugin", tuple(str(place) for place in range(1, MOST_PLUGINS + 1)))

PLUGIN_RUNNING = gauge("ledgerd_plugin_running", "1 where the process of a plugin is there.", PLUGIN)
PLUGIN_STARTS = counter("ledgerd_plugin_starts_total", "Starts of the process of a plugin.", PLUGIN)
PLUGIN_PARKED = gauge(
    "ledgerd_plugin_parked", "1 where a plugin is not started again before the node is; the log says why.", PLUGIN
)
PLUGIN_BEHIND = gauge("ledgerd_plugin_behind_blocks", "Blocks that an observer is behind the head.", PLUGIN)
