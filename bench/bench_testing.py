"""A hundred tests of one transfer each, by `ledgerd.testing`: from the start of pytest to its end, the node's included.

Each is a process of its own over ten new files of ten tests, so that nothing is compiled or started before.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, perf_counter

from bench.bench_chain import verdict
from ledgerd.testing.chain import DevChain

FILES, TESTS = 10, 10
MOST_SECONDS = 10.0
RUNS = 3
PATIENCE = 300.0
TURNS = 50

SAMPLE = """\
import pytest


@pytest.mark.parametrize("number", range({tests}))
def test_a_transfer(chain, number):
    chain.transfer("alice", "bob", "1.000 VIZ", f"{{number}}")
    assert chain.balance("bob") == "10001.000 VIZ"
"""


def main() -> None:
    """Print the figures."""
    for title, words in (("one process", ()), ("two processes of xdist", ("-n", "2"))):
        spent, processor = min(seconds_of_run(words) for _ in range(RUNS))
        print(
            f"  {FILES * TESTS} tests of a transfer, {title:<24} {spent:.2f} s ({verdict(spent, MOST_SECONDS, 's')}), "
            f"with {processor:.2f} s of processor time"
        )
    show_parts()


def seconds_of_run(words: tuple[str, ...]) -> tuple[float, float]:
    """From the start of pytest to its end, and those of the processor, the node's too; all tests must have passed."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            (Path(folder) / f"test_{number}.py").write_text(SAMPLE.format(tests=TESTS), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", *words]
        began, used = monotonic(), processor_seconds()
        run = subprocess.run(  # noqa: S603 - our own program
            command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        spent = monotonic() - began, processor_seconds() - used
    if f"{FILES * TESTS} passed" not in run.stdout:
        raise RuntimeError(f"pytest has failed:\n{run.stdout}{run.stderr}")
    return spent


def processor_seconds() -> float:
    """Of all processes that this one and theirs have waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def show_parts() -> None:
    """What the tests consist of."""
    began = perf_counter()
    with DevChain.start() as chain:
        print(f"  start of a chain                             {perf_counter() - began:.2f} s")
        sent = undone = 0.0
        for _ in range(TURNS):
            with chain.isolated():
                began = perf_counter()
                chain.transfer("alice", "bob", "1.000 VIZ")
                sent += perf_counter() - began
                began = perf_counter()
            undone += perf_counter() - began
        print(f"  a transfer                                   {sent / TURNS * 1e3:.1f} ms")
        print(f"  back to the beginning                        {undone / TURNS * 1e3:.1f} ms")
        began = perf_counter()
        with chain.fork():
            print(f"  a fork                                       {perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
