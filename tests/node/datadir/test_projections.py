"""What plugins keep while a chain is applied, by whomever."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.cli import main
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.node.datadir.verified_copy import VerifiedCopy
from ledgerd.projections.custom_protocols import CustomProtocols
from ledgerd.projections.following import follow, projections_of
from ledgerd.projections.kept import FOLDER
from ledgerd.projections.reading import ProjectionReader
from ledgerd.projections.tables.custom_protocols import PROTOCOL_BY_ACCOUNT
from ledgerd.projections.tables.key_references import REFERENCE_BY_KEY
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.rpc.blocks.records import BlockRecords
from tests.chain.networks import SMALL, VIZ, Network
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


def uses(chain: Chain) -> list[int]:
    """How often each protocol was used by an account."""
    kept = projections_of(chain)
    assert kept is not None
    return [each.custom_sequence for each in kept.scan(PROTOCOL_BY_ACCOUNT)]


def use(folder: Path, times: int) -> list[int]:
    """Use a protocol in so many blocks of a chain that projections follow; how often it was used before that."""
    network = Network(folder)
    if not network.chain.head_number:
        network.start()
    follow(network.chain, [CustomProtocols()])
    before = uses(network.chain)
    for _ in range(times):
        network.send(Custom(required_active_auths=(), required_regular_auths=(VIZ,), id="V", json="{}"))
        network.produce()
    network.chain.close()
    return before


def test_a_node_that_goes_back_to_its_verified_state_has_the_projections_of_that(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state = tmp_path / "state"
    files = StateFiles(state, state, SMALL)
    use(tmp_path, 2)
    caplog.clear()
    VerifiedCopy(files).keep(1_000)
    use(tmp_path, 3)
    VerifiedCopy(files).begin_going_back(())
    VerifiedCopy(files).go_back()
    assert use(tmp_path, 1) == [2]
    assert use(tmp_path, 0) == [3]
    assert "begins after block" not in caplog.text


def test_projections_of_a_new_state_are_put_in_its_place_also_after_a_kill(tmp_path: Path) -> None:
    node, other = tmp_path / "node", tmp_path / "other"
    use(node, 2)
    use(other, 5)
    state = node / "state"
    files = StateFiles(state, state, SMALL)
    fresh = files.fresh_folder()
    (other / "state" / "data.mdb").replace(fresh / "data.mdb")
    shutil.copytree(other / "state" / FOLDER, fresh / FOLDER)
    files.finish()  # the new state is not in its place yet: nothing is done
    assert (fresh / FOLDER / "data.mdb").exists()
    (fresh / "data.mdb").replace(state / "data.mdb")  # and here the node was killed
    (state / "lock.mdb").unlink()
    files.finish()
    assert use(node, 0) == [5]
