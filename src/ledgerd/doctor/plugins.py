"""Findings on plugins of others: one that is enabled and does not load, and one under a name of the node's own."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.doctor.examined_node import ExaminedNode
from ledgerd.doctor.finding import Finding, error, warning


def plugins(node: ExaminedNode) -> Iterator[Finding]:
    for each in node.plugins:
        if each.is_shadowed:
            yield warning(
                "plugin-name-taken",
                what=f"{each.distribution} {each.version} has a plugin {each.name}, which is the name of one of the "
                "node's own",
                why="the node's own is used; the other one cannot be enabled",
                do="remove the distribution, or get one whose plugin has another name",
            )
        elif each.is_enabled and each.fault:
            yield error(
                "plugin-refused",
                what=f"the plugin {each.name} of {each.distribution} {each.version} does not load: {each.fault}",
                why="the node runs without it",
                do="get a version of it that fits, or remove it from `plugin`; docs/plugins.md says what a node runs",
            )
