"""Each kind for a few rounds, all on one network of real processes: no slot missed, none ended, memory within bounds.

Nothing here says how long anything takes; `scripts/attack` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec
import pytest

from tests.attack.aim import Aim, read_aim
from tests.attack.attacker import attack, attackers_of
from tests.attack.catalogue import HOSTILE, KINDS
from tests.attack.figures import MAIN_MB, WORKER_MB, Figures, table
from tests.attack.ground import Chosen, Ground, ground, is_answered
from tests.attack.honest import Company, Heard, Load, load_of
from tests.attack.kind import Side
from tests.attack.kinds.servers import LyingTime
from tests.attack.measure import Memory
from tests.attack.run import shares_of
from tests.attack.web import found_web

SLOW_BLOCKS = 6.0
"""Seconds of a slot here: a machine that is busy with other tests has time for it."""
ROUNDS, EACH = 1, 2
TRANSACTIONS = 20
SECONDS = 9.0
LOG_BYTES = 200_000
"""Of a few rounds of every kind; with a line for each refusal it is many times that."""
WEB = 75
"""Accounts that list each other: with more members in all than are looked at."""
LARGE = ("large-requests", "batches", "client-large-answers")
"""These come one after the other."""


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The network, for all tests of this file."""
    with ground(tmp_path_factory.mktemp("attack"), Chosen(block_time=SLOW_BLOCKS, workers=1)) as made:
        yield made


async def attacked(aim: Aim, company: Company) -> tuple[Heard, int]:
    """Honest company beside a few rounds of every kind; what it has seen, and the rounds of all attackers."""
    small = [(kind.name, EACH) for kind in HOSTILE if kind is not LyingTime and kind.name not in LARGE]
    parts = [attackers_of(aim, 10, small), *(attackers_of(aim, 60, [(name, 1)]) for name in LARGE)]

    async def attack_all() -> None:
        for part in parts:
            await attack(part, ROUNDS)

    heard, _ = await asyncio.gather(company.run(), attack_all())
    return heard, sum(kind.rounds for part in parts for kind in part)


def test_a_few_rounds_of_every_kind_cost_no_slot_no_block_of_memory_and_no_honest_transaction(field: Ground) -> None:
    watch, node = field.network.watch, field.network.processes[0]
    found_web(field, WEB)
    aim = read_aim(field.aim())
    load = Load(TRANSACTIONS, SECONDS)
    company = Company(aim, load_of(aim, load), SECONDS, settles=2.5 * SLOW_BLOCKS)
    watch.inspect()
    missed, log = watch.missed(0), field.target.log.stat().st_size
    memory = Memory(node.pid)

    heard, rounds = asyncio.run(attacked(aim, company))

    memory.look()
    head = watch.head
    while watch.head < head + 2:  # what was sent last is in a block by then, and a missed slot is known
        watch.inspect()
    assert rounds >= len(HOSTILE)
    assert node.is_running
    assert is_answered(field.target)
    assert watch.missed(0) == missed
    assert watch.faults == []
    assert heard.sent == len(company.made)
    assert heard.accepted >= heard.sent * 9 // 10
    assert memory.main < MAIN_MB * 1e6
    assert memory.worker < WORKER_MB * 1e6
    assert field.target.log.stat().st_size - log < LOG_BYTES


def test_every_row_that_comes_from_outside_has_a_kind() -> None:
    rows = {row for kind in HOSTILE for row in kind.row.split(", ")} - {"-"}

    assert rows == {str(row) for row in (1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 14)}
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_attackers_are_dealt_out_to_the_kinds_of_a_side() -> None:
    dealt = dict(shares_of(HOSTILE, 64, 64))

    assert sum(dealt[kind.name] for kind in HOSTILE if kind.side is Side.PEER) == 64
    assert sum(dealt[kind.name] for kind in HOSTILE if kind.side is Side.CLIENT) == 64
    assert min(shares_of(HOSTILE, 1, 1)) >= ("", 1)


GOOD = Figures(
    kind="good", seconds=600, made=200, missed=0, apply_p99=0.2, apply_max=0.5, main_mb=100, worker_mb=100, workers=2,
    log_mb_an_hour=1, sent=100, accepted=96, health=0.1, broadcast=0.1, own_block=0.2, peer_block=0.2, lost=0,
    disk_mb=1, attackers_share=0.5, hostile_mb=10, rounds=10,
)  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"missed": 1}, "1 own slots missed"),
        ({"apply_p99": 0.3}, "p99 of block application 300 ms"),
        ({"main_mb": 400}, "main process 400 MB"),
        ({"worker_mb": 300}, "a worker 300 MB"),
        ({"log_mb_an_hour": 10}, "log 10.0 MB/h"),
        ({"accepted": 94}, "honest transactions 94.0% of 100.0%"),
        ({"health": 1}, "/health after 1.00 s"),
        ({"broadcast": 30}, "a broadcast after 30.00 s"),
        ({"peer_block": 1.5}, "an honest peer's block after 1.50 s"),
        ({"ended": "1: FATAL"}, "the node has ended: 1: FATAL"),
    ],
)
def test_a_broken_bound_is_named(fault: dict[str, object], told: str) -> None:
    broken = msgspec.structs.replace(GOOD, **fault)

    assert GOOD.broken() == []
    assert broken.broken() == [told]
    assert told in table([GOOD, broken]).splitlines()[2]
