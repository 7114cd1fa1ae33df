"""Recorded chains as the chain's tests use them: their networks, their logs laid out in a folder, their states."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip, SkipFlags
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.chain_file import load_parameters
from ledgerd.protocol.networks.hardforks import known_until
from ledgerd.protocol.networks.parameters import TESTNET, ChainParameters
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.state import Store, Table
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT
from tests.additions import METADATA, state_with_additions
from tests.chain.networks import put_genesis
from tests.recorded import CHAINS, FOLDER, recorded_blocks, recorded_sections

if TYPE_CHECKING:
    from ledgerd.state import View

STATES = {
    "open-1": (14, 200, 600, 1200, 1800, 2718),
    "open-2": (120, 200, 330, 617),
    "open-hf0": (120, 336),
    "open-main": (40, 330, 480, 620, 900),
}
MARKET_STATES = {
    "open-pm": (13, 14, 15, 16, 60, 300, 700, 1200, 2027),
    "open-pm2": (18, 200, 463),
    "open-big": (
        *(207, 1347, 1348, 1349, 1350, 1351, 1352, 1353, 1355, 1357, 1359),
        *(1361, 1362, 1363, 1364, 1365, 1366, 1423, 1430, 1488),
    ),
    "open-main15": (40, 314, 315, 330, 336, 700, 1216),
}
"""The heights at which the complete state was recorded."""

LATER_STATES = (2742, 2852, 3002, 3152)
"""Those of the chain that began with a state of another."""

BLOCKS_AT_ONCE = 50

SUMMARIES = "block_summary"
"""The section of the ids of past blocks: 65,536 in every state, nine tenths of its records."""

SUMMARIES_AHEAD = 1_300
"""Of blocks that tests apply to a recorded state."""

LIKE_THE_RECORDING = Skip.TRANSACTION_DUPES
"""The recording nodes had replayed, and so knew no transactions of before (spec 03, section 26.3)."""

BELIEVED = VERIFIED_BEFORE | LIKE_THE_RECORDING
"""Of blocks of which it is proven elsewhere that they pass all checks: `test_recorded_chains` makes those of all."""


ON_MAINNET = ("open-hf0", "open-main", "open-main15")
"""Chains with mainnet's constants."""


def network_of(name: str) -> ChainParameters:
    """The network of a chain, as the program that made it knew it: that of the older ones stops at hardfork 13."""
    network = load_parameters(FOLDER.parent / "open-main.toml") if name in ON_MAINNET else TESTNET
    return until_hardfork_13(network) if name in CHAINS else network


def until_hardfork_13(network: ChainParameters) -> ChainParameters:
    """A network whose nodes do not know what came after it."""
    return msgspec.structs.replace(network, hardforks=known_until(network.hardforks, 13))


def open_chain(name: str, folder: Path) -> Chain:
    """Its clock stands still: how many waiting transactions a popped block leaves applied is not up to the machine."""
    network = network_of(name)
    put_genesis(folder, network)
    return Chain.open(folder, network, clock=lambda: 0.0)


def advance(chain: Chain, name: str, to: int, skip: SkipFlags = BELIEVED) -> None:
    """Apply the recorded blocks up to a height, without checks that change nothing."""
    while chain.head_number < to:
        packed = recorded_blocks(name)[chain.head_number : min(to, chain.head_number + BLOCKS_AT_ONCE)]
        for outcome in chain.push_blocks([codec_of(Block).decode(each) for each in packed], skip):
            outcome.or_raise()
    chain.commit()


def recorded_state(name: str, height: int) -> dict[str, Any]:
    """A recorded state in today's form."""
    sections = recorded_sections(f"{name}/state-{height}")
    sections.pop(METADATA, None)
    return state_with_additions(sections) if name in CHAINS else sections


def light_state(name: str, height: int) -> dict[str, Any]:
    """A recorded state to begin with, without the ids of blocks that are far from coming: those are zero."""
    state = recorded_state(name, height)
    state[SUMMARIES] = state[SUMMARIES][: height + SUMMARIES_AHEAD]
    return state


class FewSummaries:
    """A store as an export sees it, with the first of the ids of past blocks only."""

    def __init__(self, store: Store, count: int) -> None:
        self._store = store
        self._count = count
        self.get = store.get

    def scan(self, table: Table[Any]) -> Iterator[Any]:
        rows = self._store.scan(table)
        return islice(rows, self._count) if table is BLOCK_SUMMARIES else rows


def exported_state(chain: Chain, summaries: int = BLOCK_SUMMARY_COUNT) -> dict[str, Any]:
    """The state of a chain of ours, in the reference's form, with so many ids of past blocks."""
    file, view = BytesIO(), cast("View", FewSummaries(chain.parts.store, summaries))
    export(view, file, Occasion(chain.network.chain_id, 0, chain.block_at(chain.head_number)))
    return dict(json.loads(zlib.decompress(file.getvalue()).decode("utf-8", "surrogateescape"))["state"])


def difference_from(recorded: dict[str, Any], chain: Chain, label: str = "", *, is_whole: bool = False) -> str | None:
    """Where the state of a chain differs from a recorded one.

    Unless the whole is asked for, the ids of blocks that are not there yet are left out: they are zero since the
    genesis, no rule changes them, and the last state of each chain is compared with all of them.
    """
    count = BLOCK_SUMMARY_COUNT if is_whole else chain.head_number + 2
    recorded[SUMMARIES] = recorded[SUMMARIES][:count]
    return difference(exported_state(chain, count), recorded, label)


def difference(ours: Any, recorded: Any, path: str = "") -> str | None:
    """Where two JSON values first differ: in a value, its kind, or the order of keys."""
    # The text of a whole state is made in a fiftieth of the time that a look at each of its values takes.
    return None if _text(ours) == _text(recorded) else _first_difference(ours, recorded, path)


def _text(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # bytes that are no UTF-8 stand in it as surrogates
        return json.dumps(value).encode()


def _first_difference(ours: Any, recorded: Any, path: str) -> str | None:
    if type(ours) is type(recorded) and isinstance(ours, dict) and list(ours) == list(recorded):
        pairs = [(f"{path}.{key}", ours[key], recorded[key]) for key in ours]
    elif type(ours) is type(recorded) and isinstance(ours, list):
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(ours, recorded, strict=False))]
        if len(ours) != len(recorded):
            pairs.append((f"{path}.length", len(ours), len(recorded)))
    elif type(ours) is type(recorded) and not isinstance(ours, dict) and ours == recorded:
        return None
    else:
        return f"{path}: {ours!r:.300} instead of {recorded!r:.300}"
    return next((found for place, a, b in pairs if (found := _first_difference(a, b, place))), None)
