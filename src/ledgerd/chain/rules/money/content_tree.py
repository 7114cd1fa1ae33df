"""Posts and the replies to them: what a change of one means for those above it (spec 02, sections 4.10 and 17)."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.chain.ledger.arithmetic import uint32, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.content import CONTENT_BY_PERMLINK, Content


def ancestors(ledger: Ledger, content: Content) -> Iterator[Content]:
    while content.parent_author:
        content = ledger.store.at(CONTENT_BY_PERMLINK, content.parent_author, content.parent_permlink)
        yield content


def count_reply(ledger: Ledger, content: Content, change: int) -> None:
    for above in ancestors(ledger, content):
        with ledger.editing(above):
            above.children = uint32(above.children + change)
            above.active = ledger.now


def change_reward_shares(ledger: Ledger, content: Content, change: int) -> None:
    for each in (content, *ancestors(ledger, content)):
        with ledger.editing(each):
            each.children_rshares = uint128(each.children_rshares + change)
    globals_ = ledger.globals
    with ledger.editing(globals_):
        globals_.total_reward_shares = uint128(globals_.total_reward_shares + change)
