"""A sound node to prepare faults on: its directory, its machine and its context."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.doctor.disk import LITTLE
from ledgerd.doctor.examination import examine
from ledgerd.doctor.examined_node import ExaminedNode
from ledgerd.doctor.finding import Finding
from ledgerd.doctor.ports import record_inbound
from ledgerd.producer.signing.signer_place import CertifiedPlace, SignerPlace
from ledgerd.producer.signing.signing_frames import SignerStatus
from tests.chain.networks import OTHERS, SEVEN, SMALL, key_of, start_seven
from tests.doctor.doubles import SectionContext, closed_port

NAME = OTHERS[0]
KEY = key_of(NAME)

UNIT = """[Service]
ExecStart=/usr/local/bin/ledgerd --data-dir /var/lib/ledgerd
Restart=on-failure
RestartPreventExitStatus=2
TimeoutStopSec=40
LimitNOFILE=65536
"""
MEMORY = "MemTotal:       8000000 kB\nMemFree:         100000 kB\nMemAvailable:   {} kB\n"


class Usage(NamedTuple):
    """What `shutil.disk_usage` gives."""

    total: int
    used: int
    free: int


class BrokenNode:
    """One node. A test changes its files, its machine, its context or its configuration."""

    def __init__(self, folder: Path, around: SectionContext, monkeypatch: pytest.MonkeyPatch) -> None:
        self.around = around
        self.monkeypatch = monkeypatch
        self.data_dir, self.root = folder / "node", folder / "root"
        self.key_file = self.data_dir / "signing.key"
        self.key_file.write_text(f"{KEY.wif}\n")
        self.key_file.chmod(0o600)
        self.unit = self.root / "etc/systemd/system/ledgerd.service"
        self.unit.parent.mkdir(parents=True)
        self.unit.write_text(UNIT)
        (self.root / "proc").mkdir()
        self.set_memory(4_000_000)
        self.set_free(100 * LITTLE)
        monkeypatch.setattr("ledgerd.doctor.disk.time_of_write", lambda _: 0.002)
        record_inbound(self.data_dir, around.now - 60)
        self.node = ExaminedNode(
            data_dir=self.data_dir,
            state_dir=self.data_dir / "state",
            log_dir=self.data_dir / "state",
            configuration_file=self.data_dir / "config.ini",
            network=SEVEN,
            p2p_endpoint=closed_port(),
            max_connections=50,
            seeds=tuple(each.endpoint for each in around.seeds),
            http_endpoint=closed_port(),
            websocket_endpoint=None,
            metrics_endpoint=None,
            explorer_endpoint=None,
            time_servers=tuple(each.endpoint for each in around.time_servers),
            snapshot_peers=(around.snapshot_peer.endpoint,),
            key_files=(self.key_file,),
            validators=(NAME,),
            signing_keys=frozenset([KEY.public]),
            signer=None,
            process=None,
        )

    def change(self, **changes: object) -> None:
        """Configure it otherwise."""
        self.node = replace(self.node, **changes)

    def run(self) -> None:
        """Have it run: its ports are open, and it answers."""
        self.change(process=4242, p2p_endpoint=self.around.seeds[0].endpoint, http_endpoint=self.around.ready.endpoint)
        limits = self.root / "proc/4242/limits"
        limits.parent.mkdir()
        limits.write_text(
            "Limit                     Soft Limit           Hard Limit\nMax open files            65536    65536\n"
        )

    def use_signer(self, status: SignerStatus | None) -> None:
        """Have the keys at a signer that says this of itself; nothing where it is away."""
        place = SignerPlace(path=self.root / "signer")
        self.change(signing_keys=frozenset(), signer=CertifiedPlace(place))

        async def answered(*_: object) -> tuple[SignerStatus | None, str]:
            return status, "" if status else "Connection refused"

        self.monkeypatch.setattr("ledgerd.doctor.keys.status_of", answered)

    def set_memory(self, kilobytes: int) -> None:
        (self.root / "proc/meminfo").write_text(MEMORY.format(kilobytes))

    def set_free(self, free: int) -> None:
        self.monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free * 2, free, free))

    @contextmanager
    def chain(self) -> Iterator[Chain]:
        """Its chain, to change the state."""
        with Chain.open(self.data_dir, SEVEN, clock=lambda: 0.0, space=SMALL) as chain:
            yield chain

    def findings(self) -> list[Finding]:
        return [*examine(self.node, self.around.wall, self.root)]

    def names(self) -> list[str]:
        return [each.name for each in self.findings()]


def built(folder: Path) -> int:
    """Make the data directory of a node; the time of its head."""
    network = start_seven(folder, blocks=40)
    time = network.chain.head_time
    network.chain.close()
    return time
