"""Keeps what a release writes: `python -m scripts.keep_release 1.0.0` makes `tests/upgrades/kept/1.0.0.tar.xz`.

It is made by the program of that release, once, and stays as it is: tests have every later version open it. Until the
release is out, it is made again when a format changes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import lzma
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import lmdb

from ledgerd.archive.writer import ArchiveWriter
from ledgerd.chain.chain import Chain
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.history.webhooks.position import HookPosition, write_position
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.runtime import Runtime
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.projections.kept import FOLDER as PROJECTIONS
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.signer.folder import SignerFolder
from ledgerd.state.files.disk import DATA_FILE, LOCKS, MAX_DATABASES
from ledgerd.wallet.keys.sealing import Cost
from ledgerd.wallet.keys.wallet_file import WalletFile
from tests.chain.recorded_chains import advance, exported_state
from tests.recorded import FOLDER, recorded_blocks
from tests.signer.headers import NOW
from tests.signer.test_record import block_of

KEPT = Path(__file__).resolve().parents[1] / "tests" / "upgrades" / "kept"
CHAIN, HEAD = "open-main15", 400
"""A recorded chain of 21 validators, whose last blocks can be undone, at a block with markets and most operations."""
PLUGINS = "operation_history account_history account_by_key custom_protocol_api prediction_market_api block_info"
CONFIGURATION = f"""\
chain = chain.toml
plugin = chain p2p webserver database_api {PLUGINS}
shared-file-size = 64M
webserver-http-endpoint = 127.0.0.1:0
webserver-ws-endpoint = 127.0.0.1:0
p2p-endpoint = 127.0.0.1:0
"""
PASSWORD, KEY, LABEL, WATCHED = b"a password of a release", PrivateKey(b"\7" * 32), "signing", "alice"
SIGNED_SLOTS = 3
HOOK = HookPosition(HEAD - 10, 2, {HEAD: "aa"}, (HEAD,))
ARCHIVED_A_FILE = 100


def digest_of(chain: Chain) -> str:
    """Of the state in the reference's form, which no format of ours changes."""
    return hashlib.sha256(json.dumps(exported_state(chain, HEAD + 2), sort_keys=True).encode()).hexdigest()


def runtime_of(folder: Path) -> Runtime:
    """The node of a kept folder, to be run in this process."""
    return Runtime(read_configuration({"data-dir": [str(folder)]}, folder))


def keep(folder: Path) -> None:
    """Write into a folder what a release writes."""
    node = folder / "node"
    node.mkdir()
    (node / "config.ini").write_text(CONFIGURATION)
    shutil.copy(FOLDER.parent / "open-main.toml", node / "chain.toml")
    facts = asyncio.run(_run(node))
    for each in (node / "state", node / "state" / PROJECTIONS, node / HISTORY_FOLDER):
        _compact(each)
    signed = LastSigned(node, bytes.fromhex(facts["chain id"]))
    signed.record(block_of(SIGNED_SLOTS))
    write_position(node / "position.json", HOOK)
    _archive(node / "archive")
    with SignerFolder(folder / "signer") as signer:
        for number in range(1, SIGNED_SLOTS + 1):
            signer.record.record(block_of(number))
        signer.mark_clean()
    wallet = WalletFile.create(folder / "wallet", PASSWORD, Cost(n=1 << 10))
    wallet.change(lambda contents: contents.with_key(KEY, LABEL).with_watched(WATCHED))
    facts["signed slot"] = str(NOW + 3 * SIGNED_SLOTS)
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")


async def _run(folder: Path) -> dict[str, str]:
    runtime = runtime_of(folder)
    await runtime.start()
    try:
        return await runtime.chain.run(lambda: _advanced(runtime.chain.chain))
    finally:
        await runtime.stop()


def _advanced(chain: Chain) -> dict[str, str]:
    advance(chain, CHAIN, HEAD)
    return {"chain id": chain.network.chain_id.hex(), "head id": chain.head_id.hex(), "state": digest_of(chain)}


def _compact(folder: Path) -> None:
    """Leave out the pages that are free, and the map that is not filled."""
    packed = folder / "packed"
    packed.mkdir()
    with lmdb.Environment(str(folder), readonly=True, max_dbs=MAX_DATABASES) as environment:
        environment.copy(str(packed), compact=True)
    (packed / DATA_FILE).replace(folder / DATA_FILE)
    packed.rmdir()
    (folder / LOCKS).unlink()


def _archive(folder: Path) -> None:
    archive = ArchiveWriter(folder, ARCHIVED_A_FILE)
    for number, packed in enumerate(recorded_blocks(CHAIN)[:HEAD], 1):
        archive.append(number, packed)
    archive.close()


def pack(folder: Path, target: Path) -> None:
    """All files of a folder, in an order and with times that depend on nothing."""
    with lzma.open(target, "wb", preset=9 | lzma.PRESET_EXTREME) as file, tarfile.open(fileobj=file, mode="w") as made:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = made.gettarinfo(path, str(path.relative_to(folder)))
                entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
                with path.open("rb") as content:
                    made.addfile(entry, content)


def main(versions: list[str]) -> int:
    """Keep what the program of today writes under the number of a release."""
    (version,) = versions
    KEPT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        keep(Path(folder))
        pack(Path(folder), KEPT / f"{version}.tar.xz")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
