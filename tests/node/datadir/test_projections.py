"""What plugins keep while a chain is applied, by whomever."""

from __future__ import annotations

from pathlib import Path

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.cli import main
from ledgerd.projections.reading import ProjectionReader
from ledgerd.projections.tables.custom_protocols import PROTOCOL_BY_ACCOUNT
from ledgerd.projections.tables.key_references import REFERENCE_BY_KEY
from ledgerd.rpc.blocks.records import BlockRecords
from tests.chain.recorded_chains import advance
from tests.recorded import recorded_log
from tests.rpc.api.serving import followed_chain


def test_a_replay_keeps_what_the_plugins_of_the_node_answer_from(tmp_path: Path) -> None:
    log, data = str(tmp_path / "block_log"), str(tmp_path / "data")
    Path(log).write_bytes(recorded_log("open-2"))
    Path(data).mkdir()
    config = Path(data) / "config.ini"
    plugins = "account_by_key custom_protocol_api block_info"
    config.write_text(f"chain = testnet\nshared-file-size = 64M\nplugin = {plugins}\n")
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "60"])
    main(["replay", "--block-log", log, "--data-dir", data, "--to", "150"])

    (tmp_path / "followed").mkdir()
    with followed_chain("open-2", tmp_path / "followed") as chain:
        advance(chain, "open-2", 150)
    kept: list[tuple[list[str], list[str]]] = []
    for folder in (Path(data), tmp_path / "followed"):
        with ProjectionReader(folder / STATE_FOLDER) as reader, reader.snapshot() as state:
            keys = list(map(repr, state.scan(REFERENCE_BY_KEY)))
            protocols = list(map(repr, state.scan(PROTOCOL_BY_ACCOUNT)))
            kept.append((keys, protocols))
    assert kept[0] == kept[1]
    assert all(kept[0])
    blocks = list(BlockRecords(Path(data) / STATE_FOLDER).scan(1, 151))
    assert blocks == list(BlockRecords(tmp_path / "followed").scan(1, 151))
    assert all(each.is_known for each in blocks)
