"""Data directories of a `vizd`, built from what was recorded of one."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

from tests.recorded import later_blocks, recorded_blocks, recorded_snapshot

CONFIGURATION = """\
webserver-http-endpoint = 127.0.0.1:8090
plugin = chain p2p database_api witness_api mongo_db
plugin = account_history operation_history
plugin = account_by_key committee_api invite_api paid_subscription_api custom_protocol_api block_info raw_block
seed-node = 192.0.2.1:2001
snapshot-pm-legacy-residual = 788
read-wait-micro = 500000
public-api = login_api
"""


def digests(folder: Path) -> dict[str, str]:
    """What is in every file of a directory."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def log_of(blocks: tuple[bytes, ...], first: int) -> tuple[bytes, bytes]:
    """A log's file and its index; that of a rolling log begins with the number of its first block."""
    data, places = bytearray(), []
    for packed in blocks:
        places.append(len(data).to_bytes(8, "little"))
        data += packed + places[-1]
    head = first.to_bytes(8, "little") if first > 1 else b""
    return bytes(data), head + b"".join(places)


def write_log(folder: Path, name: str, blocks: tuple[bytes, ...], first: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data, index = log_of(blocks, first)
    (folder / name).write_bytes(data)
    (folder / f"{name}.index").write_bytes(index)
    return folder / name


def with_full_log(folder: Path, chain: str, count: int, place: str = "state") -> Path:
    """One that has every block of a recorded chain up to some one; older programs keep them in `blockchain`."""
    write_log(folder / place, "block_log", recorded_blocks(chain)[:count])
    (folder / "config.ini").write_text(CONFIGURATION)
    return folder


def born_of_a_snapshot(folder: Path, count: int) -> Path:
    """One that began with the last state of `open-1`, and has some blocks after it."""
    write_log(folder / "state", "dlt_block_log", later_blocks()[: count + 1], 2718)
    (folder / "snapshots").mkdir()
    snapshot = zlib.compress(recorded_snapshot("open-1/state-2718"), 1)
    (folder / "snapshots" / "snapshot-block-2718.vizjson").write_bytes(snapshot)
    (folder / "config.ini").write_text(CONFIGURATION)
    return folder
