"""What recorded nodes of 4.1.0 wrote into their headers, ours would have written: its version, and its votes for
hardforks 1 to 15 (spec 03, section 22; spec 10, section 8.3).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.skip import Skip
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block, HardforkVote
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import VIZ_KEY
from tests.chain.recorded_chains import LIKE_THE_RECORDING, open_chain
from tests.recorded import recorded_blocks

UNTIL = {"open-pm": 20, "open-main15": 360}
"""A few blocks, or a round, after hardfork 15."""


@pytest.mark.parametrize("name", UNTIL)
def test_our_headers_say_what_the_recorded_ones_say(name: str, tmp_path: Path) -> None:
    votes = []
    with open_chain(name, tmp_path) as chain:
        for packed in recorded_blocks(name)[: UNTIL[name]]:
            block: Block = codec_of(Block).decode(packed)
            validator = AccountName(block.validator)
            ours = chain.generate_block(block.timestamp, validator, VIZ_KEY, Skip.VALIDATOR_SIGNATURE)
            assert ours.extensions == block.extensions, block.number
            votes += [each.vote.version for each in block.extensions if isinstance(each, HardforkVote)]
            assert chain.push_block(block, LIKE_THE_RECORDING, commit=False).has_moved
        assert set(votes) == {hardfork.version for hardfork in chain.network.hardforks[1:]}
        assert chain.last_hardfork == 15
