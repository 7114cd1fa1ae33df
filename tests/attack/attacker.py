"""A process of attackers, at idle priority: makes its messages, waits to be told, and attacks until its input ends.

Its arguments are the aim, a group of addresses, a niceness, and kinds with their numbers of attackers: `branches=64`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.attack.aim import Aim, address_of, read_aim
from tests.attack.catalogue import BY_NAME
from tests.attack.kind import Kind

READY, GO = "ready", "go"
IDLE = 19


def attackers_of(aim: Aim, group: int, wanted: Sequence[tuple[str, int]]) -> list[Kind]:
    """All attackers of a process, each with an address of its own, with their messages made."""
    made = []
    for place, (name, count) in enumerate(wanted):
        for number in range(count):
            kind = BY_NAME[name](aim, number, address_of(group + place, number + 1))
            kind.prepare()
            made.append(kind)
    return made


async def attack(kinds: Sequence[Kind], rounds: int | None = None) -> None:
    """All together."""
    async with asyncio.TaskGroup() as tasks:
        for kind in kinds:
            tasks.create_task(kind.go_on(rounds))


async def _until_told(kinds: Sequence[Kind]) -> None:
    """Until the standard input ends."""
    attacking = asyncio.ensure_future(attack(kinds))
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await asyncio.wait([attacking, ended], return_when=asyncio.FIRST_COMPLETED)
    attacking.cancel()
    await asyncio.wait([attacking], timeout=5)


def rest(nice: int) -> None:
    """Give way to others on this machine's processors: at 19, to everybody."""
    os.nice(nice)
    if nice == IDLE and hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    with suppress(OSError):  # a kernel that shares processors out by sessions looks at this first
        Path("/proc/self/autogroup").write_text(str(nice), encoding="ascii")


def main() -> None:
    """Make, wait, attack, and print what was done."""
    aim, group, nice = read_aim(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
    wanted = [(name, int(count)) for name, _, count in (word.partition("=") for word in sys.argv[4:])]
    kinds = attackers_of(aim, group, wanted)
    rest(nice)
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != GO:
        return
    before = os.times()
    asyncio.run(_until_told(kinds))
    after = os.times()
    told = {
        "processor_seconds": after.user + after.system - before.user - before.system,
        "rounds": sum(kind.rounds for kind in kinds),
        "sent": sum(kind.sent for kind in kinds),
        "received": sum(kind.received for kind in kinds),
    }
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    os._exit(0)  # a thread still waits for the standard input


if __name__ == "__main__":
    main()
