"""`ledgerd doctor`: what is wrong with a node, running or not, and how to right it; nothing if all is well."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.started import Start, given_to_node, start_of
from ledgerd.doctor.examination import doubtful, examine, wrong
from ledgerd.doctor.examined_node import ExaminedPlugin
from ledgerd.doctor.finding import Finding, Severity
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.node.datadir.examined_node import examined_node_of
from ledgerd.node.workers.beside.plugin_examination import examined_plugins
from ledgerd.protocol.errors import OperatorError

SOUND = 0
ERRORS = 1
WRONG_CONFIGURATION = 2
WARNINGS = 3
FORMAT = 1


def run(chosen: argparse.Namespace, expected: Collection[str] = ()) -> int:
    """Findings of these names are left out: they say what whoever asks knows."""
    try:
        configuration = _configuration_of(chosen)
        node = examined_node_of(configuration)
    except OperatorError as problem:
        faults = problem.problems if isinstance(problem, ConfigurationError) else [str(problem)]
        _print([*wrong(faults)], as_json=chosen.json)
        return WRONG_CONFIGURATION
    node = replace(node, plugins=examined_plugins(configuration))
    findings = [*doubtful(configuration.remarks, configuration.without_meaning)]
    findings += (each for each in examine(node, lambda: time.time_ns() // 1_000) if each.name not in expected)
    _print(findings, node.plugins, as_json=chosen.json)
    if not findings:
        return SOUND
    return ERRORS if any(each.severity is Severity.ERROR for each in findings) else WARNINGS


def _configuration_of(chosen: argparse.Namespace) -> Configuration:
    if chosen.options:
        start: Start | None = Start(given_to_node(chosen.options), Path.cwd(), dict(os.environ))
    else:
        start = start_of(chosen.data_dir)
    return configuration_of(chosen, start)


def _print(findings: Iterable[Finding], plugins: Iterable[ExaminedPlugin] = (), *, as_json: bool) -> None:
    if as_json:
        shown = {"format": FORMAT, "findings": [*findings], "plugins": [*plugins]}
        text = msgspec.json.format(msgspec.json.encode(shown)).decode()
        sys.stdout.write(f"{text}\n")
        return
    for each in (*findings, *plugins):
        sys.stdout.write(f"{each}\n")
