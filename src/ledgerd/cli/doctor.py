"""`ledgerd doctor`: what is wrong with a node, running or not, and how to right it; nothing where all is well."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.cli.data_directory import add_command, configuration_of
from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.doctor.finding import Finding
    from ledgerd.node.config.configuration import Configuration

SOUND = 0
ERRORS = 1
WRONG_CONFIGURATION = 2
WARNINGS = 3
FORMAT = 1


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = add_command(
        commands,
        "doctor",
        run,
        "say what is wrong with a node, running or not, and how to right it",
        "Checks configuration, ports, clock, disk, memory, limits, seeds, keys, state and log. Prints nothing where "
        "all is well. Exit code: 0 all is well, 1 errors, 2 a wrong configuration, 3 only warnings.",
    )
    arguments.add_argument(
        "options",
        nargs="*",
        metavar="-- OPTIONS",
        help="options that the node is started with besides its configuration file (default: those of the running "
        "node, or of the systemd unit that starts one with this data directory)",
    )
    arguments.add_argument("--json", action="store_true", help="print one JSON object (docs/doctor.md)")


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.doctor.configuration import doubtful, wrong  # noqa: PLC0415 - none is loaded for `--help`
    from ledgerd.doctor.examination import examine  # noqa: PLC0415
    from ledgerd.node.config.given import ConfigurationError  # noqa: PLC0415
    from ledgerd.node.datadir.examined_node import examined_node_of  # noqa: PLC0415

    try:
        configuration = _configuration_of(chosen)
        node = examined_node_of(configuration)
    except OperatorError as problem:
        faults = problem.problems if isinstance(problem, ConfigurationError) else [str(problem)]
        _print([*wrong(faults)], as_json=chosen.json)
        return WRONG_CONFIGURATION
    findings = [*doubtful(configuration.remarks, configuration.without_meaning)]
    findings += examine(node, lambda: time.time_ns() // 1_000)
    _print(findings, as_json=chosen.json)
    return _code(findings)


def _configuration_of(chosen: argparse.Namespace) -> Configuration:
    """The configuration of the node as it was started, or is going to be."""
    from ledgerd.cli.started import Start, given_to_node, start_of  # noqa: PLC0415 - not loaded for `--help`

    if chosen.options:
        start: Start | None = Start(given_to_node(chosen.options), Path.cwd(), dict(os.environ))
    else:
        start = start_of(chosen.data_dir)
    return configuration_of(chosen, start)


def _code(findings: Sequence[Finding]) -> int:
    from ledgerd.doctor.finding import Severity  # noqa: PLC0415 - not loaded for `--help`

    if not findings:
        return SOUND
    return ERRORS if any(each.severity is Severity.ERROR for each in findings) else WARNINGS


def _print(findings: Iterable[Finding], *, as_json: bool) -> None:
    import msgspec  # noqa: PLC0415 - not loaded for `--help`

    if as_json:
        text = msgspec.json.format(msgspec.json.encode({"format": FORMAT, "findings": [*findings]})).decode()
        sys.stdout.write(f"{text}\n")
        return
    for each in findings:
        sys.stdout.write(f"{each}\n")
