"""The state after a block, made by the node of this project: what our adapter offers where `ledgerd` is installed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.source import LogSource
from ledgerd.chain.offline.replay import replay
from ledgerd.codec.json.text import Json
from ledgerd.protocol.networks.chain_file import parameters_of
from ledgerd.protocol.networks.hardforks import known_until
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.snapshot.file.export import create


def state_after(given: dict[str, Json]) -> Json:
    """Write the state after a block into a file beside the log of blocks, and name it.

    A log that was replayed before goes on from where it was, up to a greater height.
    """
    log, height = Path(str(given["block_log"])), int(str(given["height"]))
    network, folder = _network_of(given), log.parent / "replayed"
    folder.mkdir(exist_ok=True)
    with LogSource(log) as source, Chain.open(folder, network, clock=lambda: 0.0) as chain:
        # The recording nodes had replayed too, and knew no transactions of before (spec 03, section 26.3).
        replay(chain, source, to=height, skip=Skip.TRANSACTION_DUPES)
    path = log.parent / f"state-{height}.vizjson"
    create(folder / STATE_FOLDER, folder / STATE_FOLDER, network, path, created=0)
    return str(path)


def _network_of(given: dict[str, Json]) -> ChainParameters:
    network, last = parameters_of(str(given["network"])), given.get("last_hardfork")
    if last is None:
        return network
    return msgspec.structs.replace(network, hardforks=known_until(network.hardforks, int(str(last))))
