"""Findings on the clock, by what the configured time servers say of it."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from statistics import median

from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.producer.time.ntp import ALIKE, MICRO, NtpAnswer, Round, request
from ledgerd.protocol.types.endpoint import Endpoint

NOTICED = MICRO // 4
"""A block may be early by as much."""
TOO_MUCH = MICRO
ANSWER_SECONDS = 1.5
LONGEST_PACKET = 512


def clock(servers: Sequence[Endpoint], wall: Callable[[], int]) -> Iterator[Finding]:
    """Ask the servers; `wall` is our clock in microseconds."""
    if not servers:
        return
    offsets = [answer.offset for answer in asked(servers, wall).values()]
    names = ", ".join(map(str, servers))
    if not offsets:
        yield warning(
            "clock-unknown",
            what=f"no time server answers: {names}",
            why="whether the clock is right is not known; a validator with a wrong clock misses its slots",
            do="let UDP to port 123 out through the firewall, or name other servers with ntp-server",
        )
    elif max(offsets) - min(offsets) > ALIKE:
        shown = ", ".join(f"{offset / MICRO:+.3f} s" for offset in offsets)
        yield warning(
            "clock-sources-disagree",
            what=f"the time servers do not agree: our clock is behind by {shown}",
            why="at least one of them is wrong, so that none can be believed",
            do="name three or more servers of different operators with ntp-server, and leave out the one that is off",
        )
    else:
        yield from judged(int(median(offsets)))


def judged(offset: int) -> Iterator[Finding]:
    if abs(offset) <= NOTICED:
        return
    make = error if abs(offset) >= TOO_MUCH else warning
    direction = "behind" if offset > 0 else "ahead"
    yield make(
        "clock-wrong",
        what=f"the clock of this machine is {abs(offset) / MICRO:.3f} s {direction}",
        why="blocks are made within a quarter of a second before their slot and three quarters after, and blocks from "
        "the future are not taken",
        do="run a time service, such as `apt install chrony`; `timedatectl` shows whether one keeps the clock",
    )


def asked(servers: Sequence[Endpoint], wall: Callable[[], int]) -> dict[tuple[str, int], NtpAnswer]:
    round_, answers = Round(), dict[tuple[str, int], NtpAnswer]()
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as connection:
        connection.setblocking(False)
        waited = 0
        for server in servers:
            with suppress(OSError):
                found = socket.getaddrinfo(*server, family=socket.AF_INET, type=socket.SOCK_DGRAM)
                address = (str(found[0][4][0]), int(found[0][4][1]))
                packet = request(wall())
                round_.ask(address, packet)
                connection.sendto(packet, address)
                waited += 1
        until = time.monotonic() + ANSWER_SECONDS
        while len(answers) < waited and (left := until - time.monotonic()) > 0:
            if not select.select([connection], [], [], left)[0]:
                break
            with suppress(OSError):
                data, sender = connection.recvfrom(LONGEST_PACKET)
                answer = round_.answer(sender[:2], data, wall())
                if answer is not None:
                    answers.setdefault(sender[:2], answer)
    return answers
