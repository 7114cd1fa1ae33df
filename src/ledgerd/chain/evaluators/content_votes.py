"""The rule of votes on content, until hardfork 4 (spec 02, section 17.3)."""

from __future__ import annotations

from ledgerd.basics.durations import DAY
from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import fits_uint64, int16, uint32, uint64, uint128
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.energy import energy_now
from ledgerd.chain.rules.money.content_tree import change_reward_shares
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.constants import MAX_VOTE_CHANGES
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.content import Vote
from ledgerd.protocol.times import LATEST
from ledgerd.state.objects.accounts import ACCOUNTS, Account
from ledgerd.state.objects.content import (
    CONTENT_BY_PERMLINK,
    CONTENT_VOTE_BY_VOTER,
    CONTENT_VOTES,
    Content,
    ContentVote,
)

AFTER_PAYOUT = -1
"""The number of changes of a vote that cannot be changed."""


@evaluates(Vote)
def vote(ledger: Ledger, operation: Vote) -> None:
    require(not ledger.hardfork(4), "!_db.has_hardfork(CHAIN_HARDFORK_4): vote is deprecated as of HF 4")
    content = ledger.store.at(CONTENT_BY_PERMLINK, operation.author, operation.permlink)
    voter = ledger.account(operation.voter)
    earlier = ledger.store.lookup(CONTENT_VOTE_BY_VOTER, content.id, voter.id)
    energy = energy_now(ledger, voter)
    require(energy > 0, "current_energy > 0: Account currently does not have voting energy.")
    used = _energy_used(ledger, operation.weight)
    require(used <= energy, "used_energy <= current_energy: Account does not have enough energy to vote.")
    weight = _weight(ledger, voter, used)
    cast = ContentVote(
        voter=voter.id,
        content=content.id,
        rshares=-weight if operation.weight < 0 else weight,
        vote_percent=operation.weight,
        last_update=ledger.now,
    )
    if earlier is not None:
        _change(ledger, content, earlier, cast, energy - used)
        return
    require(operation.weight != 0, "o.weight != 0: Vote weight cannot be 0.")
    _spend(ledger, voter, weight, energy, energy - used)
    if content.cashout_time == LATEST:
        _award_author(ledger, content, cast)
    else:
        _count(ledger, content, cast)


def _energy_used(ledger: Ledger, weight: int) -> int:
    """What a vote costs: so many full ones a day, and a vote against something costs more."""
    votes_a_day = ledger.globals.vote_regeneration_per_day
    divisor = votes_a_day * ledger.network.energy_regeneration_seconds // DAY
    used = abs(weight)
    if weight < 0:
        used += used * ledger.median.flag_energy_additional_cost // HUNDRED_PERCENT
    return used // max(divisor, 1)


def _weight(ledger: Ledger, voter: Account, energy: int) -> int:
    """The reward shares of a vote; few count as none."""
    weight = fits_uint64(uint128(voter.effective_shares * energy) // HUNDRED_PERCENT)
    return weight if weight >= ledger.median.vote_accounting_min_rshares else 0


def _spend(ledger: Ledger, voter: Account, weight: int, energy: int, left: int) -> None:
    """Pay for a vote with what the voter was awarded, if that is enough, else with energy.

    Before hardfork 3 the first left the energy as it was, and yet took the time since as regained (spec 02,
    section 17.3).
    """
    with ledger.editing(voter):
        if voter.awarded_rshares < weight:
            voter.energy = int16(left)
        else:
            voter.awarded_rshares -= weight
            if ledger.hardfork(3):
                voter.energy = int16(energy)
        voter.last_vote_time = ledger.now
        voter.vote_count = uint32(voter.vote_count + 1)


def _award_author(ledger: Ledger, content: Content, cast: ContentVote) -> None:
    """Once content was paid, a vote lets its author vote for as much, and stays."""
    require(cast.vote_percent > 0, "o.weight > 0: Cannot flag post after payout window")
    author = ledger.account(content.author)
    with ledger.editing(author):
        author.awarded_rshares = uint64(author.awarded_rshares + abs(cast.rshares))
    cast.num_changes = AFTER_PAYOUT
    ledger.store.create(CONTENT_VOTES, cast)


def _count(ledger: Ledger, content: Content, cast: ContentVote) -> None:
    """A vote without weight counts as one against (spec 02, section 17.3)."""
    before = max(content.net_rshares, 0)
    with ledger.editing(content):
        content.net_rshares = fits_int64(content.net_rshares + cast.rshares)
        content.abs_rshares = fits_int64(content.abs_rshares + abs(cast.rshares))
        if cast.rshares > 0:
            content.vote_rshares = fits_int64(content.vote_rshares + cast.rshares)
        content.net_votes += 1 if cast.rshares > 0 else -1
        if cast.rshares > 0 and content.last_payout == 0:
            cast.weight = cast.rshares
            content.total_vote_weight = uint64(content.total_vote_weight + cast.weight)
    ledger.store.create(CONTENT_VOTES, cast)
    change_reward_shares(ledger, content, max(content.net_rshares, 0) - before)


def _change(ledger: Ledger, content: Content, earlier: ContentVote, cast: ContentVote, left: int) -> None:
    """A changed vote no longer takes part in the curators' reward; less of a vote costs no energy."""
    require(earlier.num_changes != AFTER_PAYOUT, "false: Cannot vote again on a content after payout.")
    require(
        earlier.num_changes < MAX_VOTE_CHANGES,
        "itr->num_changes < CHAIN_MAX_VOTE_CHANGES: Voter has used the maximum number of vote changes on this content.",
    )
    require(
        earlier.vote_percent != cast.vote_percent,
        "itr->vote_percent != o.weight: You have already voted in a similar way.",
    )
    voter = ledger.store.get(ACCOUNTS, cast.voter)
    with ledger.editing(voter):
        if earlier.vote_percent < cast.vote_percent:
            voter.energy = int16(left)
        voter.last_vote_time = ledger.now
    before = max(content.net_rshares, 0)
    with ledger.editing(content):
        content.net_rshares = fits_int64(fits_int64(content.net_rshares - earlier.rshares) + cast.rshares)
        content.abs_rshares = fits_int64(content.abs_rshares + abs(cast.rshares))
        content.net_votes += _sign(cast.rshares) - _sign(earlier.rshares)
        content.total_vote_weight = uint64(content.total_vote_weight - earlier.weight)
    with ledger.editing(earlier):
        earlier.rshares = cast.rshares
        earlier.vote_percent = cast.vote_percent
        earlier.last_update = cast.last_update
        earlier.weight = 0
        earlier.num_changes += 1
    change_reward_shares(ledger, content, max(content.net_rshares, 0) - before)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
