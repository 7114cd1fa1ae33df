"""Content of the era before hardfork 4: replies (spec 02, sections 4.10 and 17), and what it is paid, once, a day
after it was written (spec 03, section 15.22).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import fits_uint64, int64, uint32, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance, create_vesting
from ledgerd.chain.rules.money.rewards import claim_content_reward
from ledgerd.protocol.operations import virtual
from ledgerd.protocol.types.assets import fits_int64, shares, tokens
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.accounts.content import (
    CONTENT_BY_CASHOUT,
    CONTENT_BY_PERMLINK,
    CONTENT_VOTE_BY_WEIGHT,
    Content,
)


def ancestors(ledger: Ledger, content: Content) -> Iterator[Content]:
    while content.parent_author:
        content = ledger.store.at(CONTENT_BY_PERMLINK, content.parent_author, content.parent_permlink)
        yield content


def count_reply(ledger: Ledger, content: Content, change: int) -> None:
    for above in ancestors(ledger, content):
        ledger.remember(above)
        above.children = uint32(above.children + change)
        above.active = ledger.now


def change_reward_shares(ledger: Ledger, content: Content, change: int) -> None:
    for each in (content, *ancestors(ledger, content)):
        ledger.remember(each)
        each.children_rshares = uint128(each.children_rshares + change)
    globals_ = ledger.globals
    ledger.remember(globals_)
    globals_.total_reward_shares = uint128(globals_.total_reward_shares + change)


class Paid(NamedTuple):
    """What has been paid of a content's reward: the tokens that are gone from it, the shares that they became."""

    tokens: int
    shares: int


def cash_out_due(ledger: Ledger) -> None:
    while True:
        content = ledger.store.first(CONTENT_BY_CASHOUT, upper=(ledger.now,))
        if content is None:
            return
        _cash_out(ledger, content)


def _cash_out(ledger: Ledger, content: Content) -> None:
    if content.net_rshares > 0:
        reward = claim_content_reward(ledger, content.net_rshares)
        if reward > 0:
            _pay(ledger, content, reward)
        change_reward_shares(ledger, content, -content.net_rshares)
    with ledger.editing(content):
        content.net_rshares = min(content.net_rshares, 0)
        content.abs_rshares = 0
        content.vote_rshares = 0
        content.total_vote_weight = 0
        content.cashout_time = LATEST
        content.last_payout = ledger.now
    ledger.emit(virtual.ContentPayoutUpdate(content.author, content.permlink))


def _pay(ledger: Ledger, content: Content, reward: int) -> None:
    """Curators first, then beneficiaries; the author has the rest, half of it in shares."""
    median = ledger.median
    percent = max(min(content.curation_percent, median.max_curation_percent), median.min_curation_percent)
    curators = _pay_curators(ledger, content, fits_uint64(uint128(reward * percent) // HUNDRED_PERCENT))
    beneficiaries = _pay_beneficiaries(ledger, content, fits_int64(reward - curators.tokens))
    rest = fits_int64(reward - curators.tokens - beneficiaries.tokens)
    author, liquid = ledger.account(content.author), rest // 2
    vested = create_vesting(ledger, author, rest - liquid)
    adjust_balance(ledger, author, liquid)
    ledger.remember(content)
    content.payout_value = fits_int64(content.payout_value + liquid)
    content.shares_payout_value = fits_int64(content.shares_payout_value + vested)
    content.curator_payout_value = fits_int64(content.curator_payout_value + curators.shares)
    content.beneficiary_payout_value = fits_int64(content.beneficiary_payout_value + beneficiaries.shares)
    ledger.emit(virtual.AuthorReward(content.author, content.permlink, tokens(liquid), shares(vested)))
    ledger.emit(virtual.ContentReward(content.author, content.permlink, tokens(reward)))
    with ledger.editing(content, author):
        content.author_rewards = fits_int64(content.author_rewards + rest)
        content.consensus_curation_percent = percent
        author.posting_rewards = fits_int64(author.posting_rewards + rest)


def _pay_curators(ledger: Ledger, content: Content, reward: int) -> Paid:
    """Voters share by weight, the heaviest first; what nobody claims stays with the author."""
    total, paid, vested = content.total_vote_weight, 0, 0
    if total == 0:
        return Paid(0, 0)
    for vote in ledger.store.under(CONTENT_VOTE_BY_WEIGHT, content.id):
        claim = int64(fits_uint64(uint128(reward * vote.weight) // total))
        if claim <= 0:
            continue
        voter = ledger.store.get(ACCOUNTS, vote.voter)
        reward_shares = create_vesting(ledger, voter, claim)
        ledger.emit(virtual.CurationReward(voter.name, shares(reward_shares), content.author, content.permlink))
        ledger.remember(voter)
        voter.curation_rewards = fits_int64(voter.curation_rewards + claim)
        paid, vested = fits_int64(paid + claim), fits_int64(vested + reward_shares)
    return Paid(paid, vested)


def _pay_beneficiaries(ledger: Ledger, content: Content, reward: int) -> Paid:
    paid = vested = 0
    for each in content.beneficiaries:
        part = fits_int64(reward * each.weight) // HUNDRED_PERCENT
        reward_shares = create_vesting(ledger, ledger.account(each.account), part)
        ledger.emit(
            virtual.ContentBenefactorReward(each.account, content.author, content.permlink, shares(reward_shares))
        )
        paid, vested = fits_int64(paid + part), fits_int64(vested + reward_shares)
    return Paid(paid, vested)
