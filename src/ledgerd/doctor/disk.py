"""Findings on the disk: room, time until it is full, whether and how fast it takes a write that must be durable."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Annotated

import msgspec

from ledgerd.basics.durable import read_file, sync
from ledgerd.basics.durations import DAY
from ledgerd.doctor.finding import Finding, error, warning

GIBIBYTE = 1 << 30
LEAST, LITTLE = GIBIBYTE // 4, 2 * GIBIBYTE
"""Bytes free below which the node is about to stop, and below which there is a warning."""

SOON, VERY_SOON = 14 * DAY, 2 * DAY
SHORTEST_SPAN = DAY // 4
"""Seconds between the first and the last sample that say something about growth."""

SLOW = 0.1
"""Seconds of one durable write: a block needs several within its slot of three seconds."""
WRITES, WRITTEN = 5, bytes(4096)
PROBE = ".doctor-write"

GROWTH_FILE = "disk_growth"
LARGEST_GROWTH = 65_536
"""Bytes."""
MOST_SAMPLES = 168
SAMPLE_EVERY = 3_600
"""Seconds: a week of samples."""

Sampled = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Samples = list[tuple[Sampled, Sampled]]


class Growth(msgspec.Struct, frozen=True):
    """The content of the file."""

    samples: Samples


def disk(data_dir: Path, now: int) -> Iterator[Finding]:
    """All findings on the disk; a small file is written and removed again."""
    yield from room(data_dir, now)
    yield from written(data_dir, lambda: time_of_write(data_dir))


def room(data_dir: Path, now: int) -> Iterator[Finding]:
    free = shutil.disk_usage(data_dir).free
    yield from space(data_dir, free)
    yield from growth(data_dir, free, read_samples(data_dir), now)


def space(data_dir: Path, free: int) -> Iterator[Finding]:
    if free >= LITTLE:
        return
    make = error if free < LEAST else warning
    yield make(
        "disk-nearly-full",
        what=f"{free / GIBIBYTE:.2f} GiB are free on the disk of {data_dir}",
        why="the node ends with `no room left for the state` when the disk is full; the last commit stands",
        do="delete old snapshots and logs, keep fewer blocks of history (history-count-blocks), or move to a larger "
        "disk; `du -sh DIR/*` shows what takes the room",
    )


def growth(data_dir: Path, free: int, samples: Samples, now: int) -> Iterator[Finding]:
    if len(samples) < 2:
        return
    (first, before), (last, after) = samples[0], samples[-1]
    if last - first < SHORTEST_SPAN or after <= before or now - last > DAY:
        return
    left = free * (last - first) // (after - before)
    if left >= SOON:
        return
    make = error if left < VERY_SOON else warning
    yield make(
        "disk-full-soon",
        what=f"the disk of {data_dir} is full in {left / DAY:.1f} days, at "
        f"{(after - before) * DAY / (last - first) / GIBIBYTE:.2f} GiB a day",
        why="the node ends when the disk is full",
        do="make room, or move to a larger disk, before then; see disk-nearly-full",
    )


def written(data_dir: Path, write: Callable[[], float]) -> Iterator[Finding]:
    try:
        seconds = median(write() for _ in range(WRITES))
    except OSError as problem:
        yield not_writable(data_dir, problem)
        return
    if seconds > SLOW:
        yield warning(
            "disk-slow",
            what=f"a durable write to {data_dir} takes {seconds * 1000:.0f} ms",
            why="every block is made durable: a validator may be late for its slot, and catching up takes long",
            do="use an SSD of this machine, no network disk; see what else writes (`iotop`)",
        )


def not_writable(data_dir: Path, problem: OSError) -> Finding:
    return error(
        "disk-not-writable",
        what=f"{data_dir} cannot be written: {problem.strerror or problem}",
        why="the node cannot start, or ends at its next commit",
        do="see to the owner (`chown -R`), to a disk that was mounted read-only after a fault (`dmesg`), and to "
        "free space; run the command as the user of the node",
    )


def time_of_write(data_dir: Path) -> float:
    file = data_dir / PROBE
    began = time.monotonic()
    try:
        with file.open("wb") as probe:
            probe.write(WRITTEN)
            sync(probe)
        return time.monotonic() - began
    finally:
        file.unlink(missing_ok=True)


def read_samples(data_dir: Path) -> Samples:
    try:
        return msgspec.json.decode(read_file(data_dir / GROWTH_FILE, LARGEST_GROWTH), type=Growth).samples
    except (OSError, msgspec.MsgspecError):
        return []


def record_sample(data_dir: Path, now: int) -> None:
    samples = read_samples(data_dir)
    if samples and 0 <= now - samples[-1][0] < SAMPLE_EVERY:
        return
    samples.append((now, _held(data_dir)))
    fresh = data_dir / f"{GROWTH_FILE}.new"
    fresh.write_bytes(msgspec.json.encode(Growth(samples[-MOST_SAMPLES:])))
    fresh.replace(data_dir / GROWTH_FILE)


def _held(folder: Path) -> int:
    """The bytes that files take on the disk: the state's file is longer than what is in it."""
    total = 0
    for path in folder.rglob("*"):
        try:
            found = path.lstat()
        except OSError:
            continue  # it was removed meanwhile
        total += found.st_blocks * 512 if hasattr(found, "st_blocks") else found.st_size
    return total
