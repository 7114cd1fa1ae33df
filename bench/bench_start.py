"""What starts cost: commands to their end, and a node of the testnet's template from its start to its first answer.

Processor time is the least of some runs, of all processes together; time by the clock is the median. Cold: the system
has forgotten the files of Python, of its packages and of this program, as after a boot (Linux, and files on a disk).
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

import ledgerd
from bench.bench_node import PROPERTIES, Start, processor_seconds, tree
from bench.nodes import start_node
from tests.node.processes import PROGRAM, words_of_testnet

RUNS, COLD_RUNS = 9, 3
COMMANDS = ("--version", "--help", "help", "wallet --help", "doctor --help")
SUFFIXES = {".py", ".pyc", ".so"}


def command(program: tuple[str, ...], words: str) -> Start:
    """Run a command to its end; what it prints is not shown."""
    began = monotonic()
    process = subprocess.Popen(  # noqa: S603 - our own program
        [*program, *words.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0  # it was waited for, here
    return Start(monotonic() - began, used.ru_utime + used.ru_stime)


def node(folder: Path) -> Start:
    """Start a node, ask it, and stop it."""
    began = monotonic()
    with start_node(*words_of_testnet(folder)) as running:
        running.call(*PROPERTIES)
        start = Start(monotonic() - began, sum(map(processor_seconds, tree(running.process.pid))))
        running.stop()
    return start


def doctor(folder: Path) -> Start:
    """Examine the data directory of a node that is not running; nothing leaves the machine."""
    words = f"doctor --data-dir {folder} --chain testnet -- --ntp-server 127.0.0.1:9"
    return command(PROGRAM, words)


def read_files() -> Iterator[Path]:
    """Whatever an interpreter may read to start a program of ours."""
    paths = {sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    for folder in {*map(Path, paths), Path(ledgerd.__file__).parent}:
        yield from (each for each in folder.rglob("*") if each.suffix in SUFFIXES)


def forget(files: tuple[Path, ...]) -> None:
    """Ask the system to forget files that nobody has mapped."""
    for file in files:
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def show(title: str, run: Callable[[], Start], files: tuple[Path, ...]) -> None:
    """Print a line of the table."""
    warm = [run() for _ in range(RUNS)]
    cold = []
    for _ in range(COLD_RUNS if files else 0):
        forget(files)
        cold.append(run().seconds)
    taken, used = median(each.seconds for each in warm), min(each.processor_seconds for each in warm)
    forgotten = f"{median(cold) * 1e3:8.0f}" if cold else "       -"
    print(f"  {title:44}{taken * 1e3:8.0f}{used * 1e3:11.0f}{forgotten}", flush=True)


def main() -> None:
    """Print a line for each command, and two for a node."""
    files = tuple(read_files()) if hasattr(os, "posix_fadvise") else ()
    print(f"  {'milliseconds':44}{'warm':>8}{'processor':>11}{'cold':>8}")
    show("python, which does nothing", partial(command, (sys.executable,), "-c pass"), files)
    for words in COMMANDS:
        show(f"ledgerd {words}", partial(command, PROGRAM, words), files)
    with TemporaryDirectory() as folder:
        data = Path(folder) / "node"
        node(data)
        show("ledgerd doctor", partial(doctor, data), files)
        show("a node to its first answer, existing state", partial(node, data), files)
    print("  of a node, processor time is of all its processes, and known to a hundredth of a second")


if __name__ == "__main__":
    main()
