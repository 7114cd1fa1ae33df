"""Findings on the running node, by its own `/ready`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ledgerd.client.blocking import page_of
from ledgerd.doctor.examined_node import SECONDS, ExaminedNode
from ledgerd.doctor.finding import Finding, error, warning

PATH = "/ready"
LONGEST = 1 << 16
OLD_HEAD = re.compile(r"the head block is \d+ seconds old")
DOWN = " is down: "


class Ready(msgspec.Struct):
    """The answer of `/ready`."""

    ready: bool = False
    reason: str = ""
    warning: str = ""


def service(node: ExaminedNode) -> Iterator[Finding]:
    """Findings that the running node reports itself; none if it does not run, or does not answer over HTTP."""
    if not node.is_running or node.http_endpoint is None:
        return
    try:
        page = page_of(node.http_endpoint, PATH, SECONDS, LONGEST)
        answer = msgspec.json.decode(page.body, type=Ready)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as problem:
        yield error(
            "no-answer",
            what=f"the node runs, and gives no answer on {node.http_endpoint}: {problem or type(problem).__name__}",
            why="clients are not served, and the node may hang",
            do="look at the last lines of its log; start it again if there are no new ones",
        )
        return
    yield from findings_in(answer)


def findings_in(answer: Ready) -> Iterator[Finding]:
    if OLD_HEAD.fullmatch(answer.reason):
        yield error(
            "head-old",
            what=f"the node runs, and {answer.reason}",
            why="the node is behind the network, or the network stands still",
            do="see in the log whether it is catching up (`syncing`); if not, look at its peers and its connection",
        )
    elif DOWN in answer.reason:
        yield error(
            "part-down",
            what=answer.reason,
            why="a part of the node does not work; what it is for does not happen",
            do="look its message up in docs/operating.md",
        )
    elif not answer.ready:
        yield warning(
            "node-starting",
            what=f"the node runs, and is not ready: {answer.reason or 'it is starting'}",
            why="while blocks are replayed or a snapshot is read, requests are refused",
            do="wait; the log tells how far it is",
        )
    if answer.warning:
        yield warning(
            "node-warns",
            what=answer.warning,
            why="the running node tells this in `/ready`",
            do="see to it; docs/operating.md explains the messages",
        )
