"""The shadow of a running node, by lines of its configuration: with `shadow-required` it signs by leave of it alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock, MagicMock, patch

import pytest

from ledgerd.metrics.table import shadow as table
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.shadow import ShadowPart
from ledgerd.node.parts.clients.webserver import WebserverPart
from ledgerd.node.parts.watching.metrics import MetricsPart
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.rpc.link.topics import SHADOW_GATE, unpacked
from ledgerd.shadow.gate import GateReport
from ledgerd.shadow.keeping.record import (
    EqualBlock,
    FirstDifference,
    ShadowRecord,
    SnapshotCounts,
    record_file,
    write_record,
)
from ledgerd.shadow.settings import FOLDER
from ledgerd.supervision.part import Supervisor
from tests.metrics.memories import node_memory
from tests.node.contexts import context_of
from tests.node.processes import NodeProcess, words_of_testnet
from tests.ports import free_port

URL = "http://127.0.0.1:9"
NEEDED = {"plugin": ["webserver database_api"], "webserver-http-endpoint": ["127.0.0.1:8090"]}
HEAD = bytes(20)


def part_in(folder: Path, **more: list[str]) -> ShadowPart:
    (folder / FOLDER).mkdir()
    given = {"data-dir": [str(folder)], "shadow": [URL], "shadow-required": ["true"], **NEEDED, **more}
    chain = MagicMock(spec=ChainPart)
    chain.chain = SimpleNamespace(head_number=7, head_id=HEAD, block_at=lambda _: None)
    webserver = MagicMock(spec=WebserverPart, addresses=[("127.0.0.1", 8090)])
    context = context_of(ShadowPart, read_configuration(given, folder))
    return ShadowPart(context, chain, webserver, MagicMock(), MagicMock(spec=MetricsPart))


def noted(part: ShadowPart, folder: Path, record: ShadowRecord) -> str:
    """What is said before a block when the process has written a record."""
    write_record(record_file(folder / FOLDER, URL), record, durably=False)
    asyncio.run(part.look())
    return part._signing.refusal  # noqa: SLF001 - as the producer asks it


def test_a_node_signs_while_its_shadow_is_equal_and_answers_for_itself(tmp_path: Path) -> None:
    port = free_port()
    words = words_of_testnet(tmp_path, f"--shadow=http://127.0.0.1:{port}", "--shadow-required=true")
    words = [f"--webserver-http-endpoint=127.0.0.1:{port}" if "http-endpoint" in each else each for each in words]
    with NodeProcess(*words, "--shadow-rate=50") as node:
        node.wait_for("Validated block #2 ")
        assert node.stop() == 0
    (file,) = (tmp_path / FOLDER).glob("record-*.json")
    record = json.loads(file.read_text())
    assert record["equal"]["number"] >= 1
    assert record["questions"] > 50
    assert record["first"] is None
    assert "Traceback" not in node.log


def test_what_the_shadow_has_found_decides_whether_a_block_is_signed(tmp_path: Path) -> None:
    part = part_in(tmp_path)
    supervisor = Supervisor()
    supervisor.add(part)
    assert part._signing.refusal == "shadow-required: the shadow has compared nothing yet"  # noqa: SLF001 - as above

    record = ShadowRecord(equal=EqualBlock(7, HEAD.hex(), 1))
    assert noted(part, tmp_path, record) == ""
    record.equal = EqualBlock(6, HEAD.hex(), 1)
    record.apart = "theirs is away"
    assert "both were last found equal at block 6" in noted(part, tmp_path, record)
    assert supervisor.health.warnings == (f"not compared with {URL}: theirs is away",)

    record.first = FirstDifference(True, "words", 7, 1, "FILE")
    record.of_consensus, record.apart = 1, ""
    assert "has found a difference" in noted(part, tmp_path, record)
    assert supervisor.health.down == {}, "a difference stops nothing else"
    assert supervisor.health.warnings == (f"a difference of consensus to {URL}: ledgerd shadow report FILE",)
    with node_memory() as memory:
        part._sample(memory.main())  # noqa: SLF001 - as the metrics do
        values = memory.values()
        assert values[table.SHADOW_DIFFERENCES.name]["consensus",] == [1]
        assert values[table.SHADOW_EQUAL_BLOCK.name][()] == [6]

    (tmp_path / FOLDER / "override").write_text("99999999999\n")
    assert noted(part, tmp_path, record) == ""
    assert "blocks are signed whatever the shadow says" in supervisor.health.warnings


def test_the_page_is_told_why_no_block_is_signed_once_for_each_change(tmp_path: Path) -> None:
    part = part_in(tmp_path)
    published: list[tuple[str, bytes]] = []
    with (
        patch.object(part._chain, "run", AsyncMock(side_effect=["first", "first", "", "second"])),  # noqa: SLF001 - a double
        patch.object(part._metrics, "publish_retained", lambda *each: published.append(each)),  # noqa: SLF001 - as well
    ):
        for _ in range(4):
            asyncio.run(part.report())

    assert [topic for topic, _ in published] == [SHADOW_GATE] * 3
    assert [unpacked(payload, GateReport) for _, payload in published] == [
        GateReport(True, 0, words) for words in ("first", "", "second")
    ]


def test_a_damaged_record_closes_the_gate_and_is_a_warning(tmp_path: Path) -> None:
    part = part_in(tmp_path)
    supervisor = Supervisor()
    supervisor.add(part)
    record_file(tmp_path / FOLDER, URL).write_text("{")
    asyncio.run(part.look())

    assert part._signing.refusal != ""  # noqa: SLF001 - as above
    assert "is no record of a shadow" in supervisor.health.warnings[0]


def test_a_bundle_shows_no_option_but_those_that_change_answers(tmp_path: Path) -> None:
    key = PrivateKey(bytes(range(32))).wif
    part = part_in(tmp_path, validator=["alice"], **{"private-key": [key], "history-count-blocks": ["77"]})
    order = part.order()

    assert order.ours == "http://127.0.0.1:8090"
    assert order.configuration["history-count-blocks"] == "77"
    assert "private-key" not in order.configuration
    assert key not in str(order)


def test_the_shadow_is_told_whose_snapshots_to_compare_and_how_our_states_are_made(tmp_path: Path) -> None:
    key = PrivateKey(bytes(range(32))).wif
    more = {"shadow-snapshots": ["127.0.0.1:8092"], "shadow-snapshots-hours": ["2"], "private-key": [key]}
    task = part_in(tmp_path, validator=["alice"], **more).order().snapshots

    assert task is not None
    assert (task.theirs, task.ours, task.seconds) == ("127.0.0.1:8092", str(tmp_path / "snapshots"), 7_200)
    assert task.node["data-dir"] == [str(tmp_path)]
    assert read_configuration(task.node, tmp_path).snapshot.directory == tmp_path / "snapshots"
    assert key not in str(task)


def test_a_snapshot_that_was_not_compared_is_a_warning_and_metrics_tell_of_those_that_were(tmp_path: Path) -> None:
    part = part_in(tmp_path)
    supervisor = Supervisor()
    supervisor.add(part)
    record = ShadowRecord(snapshots=SnapshotCounts(2, 1_000, block=7, equal=6, problem="it has no snapshot"))
    noted(part, tmp_path, record)

    assert supervisor.health.warnings == (f"no snapshot of {URL} was compared: it has no snapshot",)
    with node_memory() as memory:
        part._sample(memory.main())  # noqa: SLF001 - as the metrics do
        values = memory.values()
        assert values[table.SHADOW_SNAPSHOT_EQUAL_BLOCK.name][()] == [6]
        assert values[table.SHADOW_SNAPSHOT_FAILED.name][()] == [1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shadow-snapshots": ["a:1"]}, "shadow-snapshots: there is nothing to compare with: add shadow"),
        ({"shadow": [URL], "shadow-snapshots": ["host:0"], **NEEDED}, "shadow-snapshots"),
        ({"shadow-required": ["true"]}, "shadow-required: there is nothing to compare with: add shadow"),
        ({"shadow": [URL]}, "shadow: this node is asked as well: add webserver-http-endpoint"),
        ({"shadow": ["http://a:b@127.0.0.1"], **NEEDED}, "shadow"),
        ({"shadow": ["ftp://127.0.0.1"], **NEEDED}, "shadow"),
    ],
)
def test_a_shadow_that_cannot_be_is_refused(tmp_path: Path, given: dict[str, list[str]], words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_configuration({"data-dir": [str(tmp_path)], **given}, tmp_path)
    assert words in str(refused.value)
