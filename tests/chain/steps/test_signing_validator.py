"""The producer of a block is there again."""

from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.header import update_signing_validator
from tests.chain.empty_blocks import block_after, on_its_way
from tests.chain.ledgers import ALICE, HEAD, change, create_validator


@pytest.mark.parametrize(("run", "supported"), [(0, 7), (1, 7), (2, HEAD + 1), (9, HEAD + 1)])
def test_a_validator_supports_blocks_from_the_third_of_a_run_on(ledger: Ledger, run: int, supported: int) -> None:
    alice = create_validator(ledger, ALICE, current_run=run, last_supported_block_num=7)
    change(ledger, ledger.globals, current_aslot=1_234)

    update_signing_validator(ledger, on_its_way(ledger, block_after(ALICE)))

    assert (alice.current_run, alice.last_supported_block_num) == (run + 1, supported)
    assert (alice.last_confirmed_block_num, alice.last_aslot) == (HEAD + 1, 1_234)
