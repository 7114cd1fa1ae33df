"""What a process does for itself: its limits, its priority, its searches for cycles, and its start."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import msgspec
import pytest

from ledgerd.supervision.this_process import give_way, read_arguments

FILES = """
import resource
from ledgerd.supervision.this_process import files_allowed
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(files_allowed({needed}), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(
    ("soft", "hard", "needed", "said"),
    [(64, 256, 200, "200 200"), (64, 256, 1000, "256 256"), (128, 256, 100, "100 128")],
)
def test_the_soft_limit_is_raised_as_far_as_it_takes_and_may(soft: int, hard: int, needed: int, said: str) -> None:
    program = FILES.format(soft=soft, hard=hard, needed=needed)

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own program

    assert done.stdout.strip() == said


PROGRAM = """
import gc
from ledgerd.supervision.this_process import lasting_modules

with lasting_modules():
    print(gc.isenabled())
    class Lasting: pass
print(gc.isenabled(), Lasting in gc.get_objects(), gc.get_freeze_count() > 1_000)

class Later: pass
print(Later in gc.get_objects())
try:
    with lasting_modules():
        import ledgerd.missing
except ModuleNotFoundError:
    print(gc.isenabled(), Later in gc.get_objects())
"""

RARELY = """
import gc
from ledgerd.supervision.this_process import SEARCHED_AT, search_rarely

searches = []
gc.callbacks.append(lambda phase, _: searches.append(phase))
search_rarely()
kept = [[] for _ in range(SEARCHED_AT // 2)]
print(len(searches))
kept += [[] for _ in range(SEARCHED_AT)]
print(len(searches))
"""


def run(program: str) -> list[str]:
    """In a process of its own: the collector of this one has other things to do."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()


def test_where_blocks_are_applied_there_are_few_searches() -> None:
    assert run(RARELY) == ["0", "2"]


def test_what_is_loaded_to_stay_is_never_searched_and_the_rest_is() -> None:
    assert run(PROGRAM) == ["False", "True False True", "True", "True True"]


def test_a_process_gives_way() -> None:
    program = "import os; from ledgerd.supervision.this_process import give_way; give_way(3); print(os.nice(0))"
    before = os.nice(0)

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own program

    assert int(said.stdout) == min(19, before + 3)


def test_a_system_that_forbids_it_is_told_of_and_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_steps: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "nice", refuse)
    give_way(5)

    assert "the priority of this process cannot be lowered: Operation not permitted" in caplog.text


WORKERS = (
    "ledgerd.rpc.worker",
    "ledgerd.snapshot.importing.job",
    "ledgerd.node.workers.precompute_worker",
    "ledgerd.node.workers.beside.explorer_worker",
    "ledgerd.node.workers.beside.history_feeder",
    "ledgerd.node.workers.beside.replica_follower",
    "ledgerd.node.workers.beside.replica_server",
    "ledgerd.node.workers.beside.webhook_worker",
)


class Order(msgspec.Struct):
    name: str


@pytest.mark.parametrize(
    ("module", "said"), [*((module, b"") for module in WORKERS), (WORKERS[0], b'{"'), (WORKERS[-1], b'{"')]
)
def test_a_process_that_is_told_nothing_or_a_part_ends_without_a_word(module: str, said: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(said)
        ours.shutdown(socket.SHUT_WR)
        ended = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-m", module],
            stdin=theirs.fileno(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert (ended.stdout, ended.stderr) == ("", "")
    assert ended.returncode in {0, 1}


def test_an_order_is_read_and_a_wrong_one_is_a_fault_of_ours() -> None:
    assert read_arguments(b'{"name": "alice"}', Order) == Order("alice")
    with pytest.raises(msgspec.ValidationError):
        read_arguments(b'{"name": 1}', Order)
    with pytest.raises(SystemExit):
        read_arguments(b'{"name": "al', Order)
