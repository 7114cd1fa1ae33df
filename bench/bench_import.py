"""What a program pays before its first line runs: imports in fresh interpreters, their own start left out.

Warm: all files are in memory. Cold: the system has forgotten them, as after a boot (Linux, and files on a disk). Not
compiled: no module has bytecode yet, as at the first start after some installers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

RUNS = 9
FEW_RUNS = 3
TARGETS = {
    "import ledgerd.codec": None,
    "import ledgerd.protocol.blocks.block": 250,
    "import ledgerd.client.pool": None,
    "import ledgerd.sdk": None,
    "import asyncio, ssl, msgspec": None,  # what a client cannot do without
    "from ledgerd.sdk import Client": 150,
    "from ledgerd.sdk import Client; Client('http://node').database": 150,
    "from ledgerd.sdk import *": 150,  # what it loads when it is first used, too
}
"""Milliseconds, warm."""

SCRIPT = """
import sys
from time import perf_counter, process_time
wall, used = perf_counter(), process_time()
{statement}
print((perf_counter() - wall) * 1e3, (process_time() - used) * 1e3)
for module in [*sys.modules.values()]:
    for name in ("__file__", "__cached__"):
        if file := getattr(module, name, None):
            print(file)
"""


class Run(NamedTuple):
    """One import."""

    milliseconds: float
    processor: float
    files: tuple[str, ...]
    """What is read for it, the interpreter's own among them."""


def run(statement: str, *options: str) -> Run:
    """Import in an interpreter that has just started."""
    command = [sys.executable, "-I", *options, "-c", SCRIPT.format(statement=statement)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()  # noqa: S603 - ours
    wall, used = map(float, told[0].split())
    return Run(wall, used, tuple(told[1:]))


def cold(statement: str, files: tuple[str, ...]) -> Run:
    """Import after the system was asked to forget the files."""
    for file in filter(os.path.isfile, files):
        with Path(file).open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return run(statement)


def not_compiled(statement: str) -> Run:
    """Import where no bytecode was kept, neither of ours nor of Python's own modules."""
    with TemporaryDirectory() as folder:
        return run(statement, "-X", f"pycache_prefix={folder}")


def main() -> None:
    """Print a line for each import."""
    print(f"{'milliseconds (median)':64}{'warm':>8}{'processor':>11}{'cold':>8}{'not compiled':>14}")
    for statement, target in TARGETS.items():
        files = run(statement).files
        warm = [run(statement) for _ in range(RUNS)]
        taken, used = median(each.milliseconds for each in warm), min(each.processor for each in warm)
        if hasattr(os, "posix_fadvise"):
            forgotten = f"{median(cold(statement, files).milliseconds for _ in range(FEW_RUNS)):.0f}"
        else:
            forgotten = "-"
        first = median(not_compiled(statement).milliseconds for _ in range(FEW_RUNS))
        wanted = "" if target is None else f"  <= {target} warm{'' if taken <= target else '  MISSED'}"
        print(f"{statement:64}{taken:>8.1f}{used:>11.1f}{forgotten:>8}{first:>14.0f}{wanted}", flush=True)
