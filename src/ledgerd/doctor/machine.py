"""Findings on the machine: memory, open files, and what systemd allows the service. Linux tells these in files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ledgerd.doctor.examined_node import BASE_FILES, ExaminedNode
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.supervision.this_process import files_allowed
from ledgerd.supervision.units import Unit, units

MEBIBYTE = 1 << 20
LEAST_MEMORY, LITTLE_MEMORY = 64 * MEBIBYTE, 256 * MEBIBYTE

STOP_TAKES = 30
"""Seconds that the unit should wait for a stop, besides what the guard of validators is configured to wait."""

UNITS_OF_TIME = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}
RESTARTS = {"on-failure", "always", "on-abnormal"}
WRONG_CONFIGURATION = "2"
ALONE = r"\A(\d+)\s*\Z"


def machine(node: ExaminedNode, root: Path = Path("/")) -> Iterator[Finding]:
    yield from memory(root)
    yield from descriptors(node, root)
    for unit in filter(Unit.starts_node, units(root)):
        yield from systemd(unit, node.max_connections + BASE_FILES)


def memory(root: Path) -> Iterator[Finding]:
    available = _found(r"^MemAvailable:\s+(\d+) kB", root / "proc/meminfo", 1024)
    limit, used = (_found(ALONE, root / "sys/fs/cgroup" / name) for name in ("memory.max", "memory.current"))
    if limit is not None and used is not None:
        available = min(limit - used, available if available is not None else limit)
    if available is None or available >= LITTLE_MEMORY:
        return
    make = error if available < LEAST_MEMORY else warning
    yield make(
        "memory-low",
        what=f"{available / MEBIBYTE:.0f} MiB of memory are available",
        why="the system ends processes when memory runs out (`Out of memory: Killed process` in `dmesg`)",
        do="stop other programs, lower webserver-thread-pool-size, or give the machine, container or service more",
    )


def descriptors(node: ExaminedNode, root: Path) -> Iterator[Finding]:
    """Whether the node may open as many files as its peers need: the running one, or one that is started from here."""
    needed = node.max_connections + BASE_FILES
    allowed = _found(r"^Max open files\s+(\d+)", root / f"proc/{node.process}/limits") if node.process else None
    if allowed is None and not node.is_running:
        allowed = files_allowed(needed)
    if allowed is not None and allowed < needed:
        yield few_files(f"ulimit -n is {allowed}", needed)


def few_files(what: str, needed: int) -> Finding:
    return error(
        "descriptors-few",
        what=f"{what}, and p2p-max-connections needs {needed}",
        why="the node does not start, or cannot take in peers and clients (`Too many open files`)",
        do="set LimitNOFILE=65536 in the unit or raise `ulimit -n`, or lower p2p-max-connections",
    )


def systemd(unit: Unit, needed: int) -> Iterator[Finding]:
    path = unit.path
    files = unit.last("limitnofile").partition(":")[0]
    if files.isdecimal() and int(files) < needed:
        yield few_files(f"{path} has LimitNOFILE={files}", needed)
    stop = _seconds(unit.last("timeoutstopsec") or unit.last("timeoutsec"))
    if stop is not None and 0 < stop < STOP_TAKES:
        yield warning(
            "stop-timeout-short",
            what=f"{path} gives a stop {stop:g} seconds",
            why="the node is killed before it has finished: snapshots that are being written are lost, and validators "
            "are not switched off",
            do=f"set TimeoutStopSec=40, and {STOP_TAKES} more than validator-guard-shutdown-grace in any case",
        )
    if unit.last("restart") not in RESTARTS:
        yield warning(
            "service-not-restarted",
            what=f"{path} does not start the node again after a failure",
            why="a node that has ended stays down until somebody notices",
            do="set Restart=on-failure and RestartSec=5",
        )
    elif WRONG_CONFIGURATION not in unit.words("restartpreventexitstatus"):
        yield warning(
            "service-restarted-in-vain",
            what=f"{path} starts the node again after exit code 2",
            why="2 is a wrong configuration, which does not mend itself: the service is started again without an end",
            do="set RestartPreventExitStatus=2",
        )


def _seconds(text: str) -> float | None:
    """A time of systemd in seconds; None for `infinity`, and for a text that is no time."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text)
    if not parts or any(unit not in UNITS_OF_TIME for _, unit in parts):
        return None
    return sum(float(number) * UNITS_OF_TIME[unit] for number, unit in parts)


def _found(number: str, file: Path, unit: int = 1) -> int | None:
    found = re.search(number, _text(file), re.MULTILINE)
    return None if found is None else int(found[1]) * unit


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
