"""The step that pays content; until hardfork 4 (spec 03, section 15.22)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.content_payout import cash_out_due


def pay_contents(ledger: Ledger, _progress: BlockContext) -> None:
    cash_out_due(ledger)
