"""The whole examination: every family of checks, in the order in which an operator should read the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from ledgerd.doctor.clock import clock
from ledgerd.doctor.disk import disk
from ledgerd.doctor.examined_node import ExaminedNode
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.doctor.keys import ask, keys, signer
from ledgerd.doctor.ledger import ledger
from ledgerd.doctor.machine import machine
from ledgerd.doctor.plugins import plugins
from ledgerd.doctor.ports import peers, ports
from ledgerd.doctor.service import service

MICRO = 1_000_000


def examine(node: ExaminedNode, wall: Callable[[], int], root: Path = Path("/")) -> Iterator[Finding]:
    """The findings on a node; `wall` is the machine's clock in microseconds, `root` where its files are read."""
    if not node.data_dir.is_dir():
        yield _without_data_dir(node)
        return
    now = wall() // MICRO
    network_now = node.network.clock.at(wall()) // MICRO
    asked = ask(node)
    if asked is not None:
        node = replace(node, signing_keys=asked.keys)
    yield from service(node)
    if asked is None or asked.status is not None:
        yield from ledger(node, network_now)
    else:
        yield from ledger(replace(node, validators=()), network_now)  # whether its keys are ours is not known
    yield from keys(node)
    if asked is not None:
        yield from signer(node, asked)
    yield from ports(node, now)
    if not node.network.clock.is_own:
        yield from clock(node.time_servers, wall)
    yield from _disks(node, now)
    yield from machine(node, root)
    yield from plugins(node)
    yield from peers(node.seeds, node.snapshot_peers)


def _without_data_dir(node: ExaminedNode) -> Finding:
    return error(
        "data-dir-missing",
        what=f"there is no directory {node.data_dir}",
        why="nothing of a node is there: it has never run here, or its disk is not mounted",
        do="correct --data-dir, mount the disk, or create the directory for the user of the node",
    )


def _disks(node: ExaminedNode, now: int) -> Iterator[Finding]:
    """The state may be on a disk of its own (shared-file-dir)."""
    yield from disk(node.data_dir, now)
    if node.state_dir.is_dir() and node.state_dir.stat().st_dev != node.data_dir.stat().st_dev:
        yield from disk(node.state_dir, now)


OPEN_KEYS = "chmod 600"
"""Remarks with these words are about open key files, which `keys` finds by itself."""


def wrong(problems: Iterable[str]) -> Iterator[Finding]:
    for problem in problems:
        yield error(
            "configuration-wrong",
            what=problem,
            why="the node ends at once with exit code 2, and its service is not started again",
            do="correct the option; `ledgerd --check-config` prints what is understood",
        )


def doubtful(remarks: Iterable[str], without_meaning: Iterable[str]) -> Iterator[Finding]:
    for remark in remarks:
        if OPEN_KEYS not in remark:
            yield warning(
                "configuration-doubtful",
                what=remark,
                why="the option probably does something else than was meant",
                do="look the option up in docs/configuration.md, and change or remove it",
            )
    ignored = ", ".join(without_meaning)
    if ignored:
        yield warning(
            "options-ignored",
            what=f"these options do nothing in this node: {ignored}",
            why="they are options of vizd; what they should do does not happen",
            do="remove them, or leave them if the file is shared with vizd",
        )
