"""A real node makes blocks with a signer and holds no key anywhere; the same search first finds a planted one."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.chain.ledger.skip import Skip
from ledgerd.producer.signing.double_sign import FILE
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.signer.folder import SignerFolder
from tests.chain.networks import VIZ, VIZ_KEY, Network
from tests.node.processes import PROGRAM, NodeProcess
from tests.signer.processes import traces_of, words_of_signer

OWN_KEY = PrivateKey(hashlib.sha256(b"a key of this test").digest())
VALIDATED = re.compile(r"Validated block #(\d+) ")


def prepared(folder: Path) -> None:
    """The data of a network of one validator, up to now, with a signing key that is published nowhere."""
    network = Network(folder, genesis=int(time.time()) // 3 * 3 - 60)
    network.start()
    network.send(ValidatorUpdate(VIZ, "https://example.test", OWN_KEY.public))
    when = network.chain.slot_time(1)
    network.follow([network.chain.generate_block(when, VIZ, VIZ_KEY, Skip.VALIDATOR_SIGNATURE)])
    network.keys[VIZ] = OWN_KEY
    network.produce(2)
    network.chain.close()


@contextmanager
def ready_signer(folder: Path, node: Path) -> Iterator[NodeProcess]:
    """A signer that has signed before and was stopped cleanly, so that it signs at once."""
    with SignerFolder(folder) as kept:
        network = Network(node)
        block = network.chain.block_at(network.chain.head_number)
        network.chain.close()
        assert block is not None
        kept.record.record(block)
        kept.mark_clean()
    with NodeProcess(*words_of_signer(folder, OWN_KEY, VIZ), program=PROGRAM) as running:
        running.wait_for("listens on")
        yield running


def words_of_node(folder: Path, *more: str) -> tuple[str, ...]:
    return (
        f"--data-dir={folder}",
        "--chain=testnet",
        "--plugin=validator",
        "--plugin=webserver",
        "--webserver-http-endpoint=127.0.0.1:0",
        f'--validator="{VIZ}"',
        "--enable-stale-production=true",
        "--required-participation=0",
        "--shared-file-size=64M",
        "--webserver-thread-pool-size=1",
        *more,
    )


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size < 1 << 24]


def children_of(process: int) -> list[int]:
    """The processes that it has started."""
    found = Path(f"/proc/{process}/task").glob("*/children")
    return [int(number) for each in found for number in each.read_text().split()]


def test_a_node_with_a_signer_makes_blocks_and_holds_no_key(tmp_path: Path) -> None:
    """The only process that holds it is the signer; where a node is given the key, the same search finds it there."""
    data, home = tmp_path / "node", tmp_path / "signer"
    prepared(data)
    with ready_signer(home, data) as signer:
        with NodeProcess(*words_of_node(data, f"--validator-signer=unix:{home}/socket"), program=PROGRAM) as node:
            node.wait_for("Validated block #", count=2)
            log = tmp_path / "node.log"
            log.write_text(node.log)
            found = traces_of(OWN_KEY, node.process.pid, log, *files_of(data))
            workers = children_of(node.process.pid)
            found += [each for worker in workers for each in traces_of(OWN_KEY, worker)]
            assert workers, "those that answer requests"
            assert node.stop() == 0
        assert found == []
        log.write_text(signer.log)
        at_signer = traces_of(OWN_KEY, signer.process.pid, log)
        assert "raw in memory" in at_signer
        assert not [each for each in at_signer if not each.endswith("memory")], "no argument, environment or log has it"
        numbers = [int(number[1]) for line in node.lines if (number := VALIDATED.search(line))]
        assert signer.log.count("signed the slot") >= len(numbers) >= 2
        assert (home / FILE).exists()
        assert signer.stop() == 0

    with NodeProcess(*words_of_node(data, f"--private-key={OWN_KEY.wif}"), program=PROGRAM) as planted:
        planted.wait_for("Launching block production")
        found = traces_of(OWN_KEY, planted.process.pid)
        assert planted.stop() == 0
    assert {"raw in memory", "WIF in cmdline", "WIF in memory"} <= set(found)
