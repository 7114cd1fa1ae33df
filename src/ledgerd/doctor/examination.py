"""The whole examination: every family of checks, in the order in which an operator should read the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from ledgerd.doctor.clock import clock
from ledgerd.doctor.disk import disk
from ledgerd.doctor.finding import Finding, error
from ledgerd.doctor.keys import ask, keys, signer
from ledgerd.doctor.ledger import ledger
from ledgerd.doctor.machine import machine
from ledgerd.doctor.patient import Patient
from ledgerd.doctor.peers import peers
from ledgerd.doctor.ports import ports
from ledgerd.doctor.service import service

MICRO = 1_000_000


def examine(patient: Patient, wall: Callable[[], int], root: Path = Path("/")) -> Iterator[Finding]:
    """The findings on a node; `wall` is the machine's clock in microseconds, `root` where its files are read."""
    if not patient.data_dir.is_dir():
        yield _without_data_dir(patient)
        return
    now = wall() // MICRO
    network_now = patient.network.clock.at(wall()) // MICRO
    asked = ask(patient)
    if asked is not None:
        patient = replace(patient, signing_keys=asked.keys)
    yield from service(patient)
    if asked is None or asked.status is not None:
        yield from ledger(patient, network_now)
    else:
        yield from ledger(replace(patient, validators=()), network_now)  # whether its keys are ours is not known
    yield from keys(patient)
    if asked is not None:
        yield from signer(patient, asked)
    yield from ports(patient, now)
    if not patient.network.clock.is_own:
        yield from clock(patient.time_servers, wall)
    yield from _disks(patient, now)
    yield from machine(patient, root)
    yield from peers(patient.seeds, patient.snapshot_peers)


def _without_data_dir(patient: Patient) -> Finding:
    return error(
        "data-dir-missing",
        what=f"there is no directory {patient.data_dir}",
        why="nothing of a node is there: it has never run here, or its disk is not mounted",
        do="correct --data-dir, mount the disk, or create the directory for the user of the node",
    )


def _disks(patient: Patient, now: int) -> Iterator[Finding]:
    """The state may be on a disk of its own (shared-file-dir)."""
    yield from disk(patient.data_dir, now)
    if patient.state_dir.is_dir() and patient.state_dir.stat().st_dev != patient.data_dir.stat().st_dev:
        yield from disk(patient.state_dir, now)
