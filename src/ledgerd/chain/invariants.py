"""What must be true of any sound state: sums that add up, counters that agree, a log that fits (`ledgerd check`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ledgerd.chain.chain import Chain
from ledgerd.codec import codec_of
from ledgerd.protocol.block import Block
from ledgerd.state.objects.accounts import ACCOUNTS
from ledgerd.state.objects.escrow import ESCROWS
from ledgerd.state.objects.invites import INVITES
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS
from ledgerd.state.objects.vesting import (
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    WITHDRAW_VESTING_ROUTES,
)

Problems = Iterator[str]
Check = Callable[[Chain], Problems]


def supply_adds_up(chain: Chain) -> Problems:
    """Every token that was issued and not burnt is somewhere."""
    ledger = chain.ledger
    globals_, store = ledger.globals, ledger.store
    found = globals_.total_vesting_fund + globals_.total_reward_fund + globals_.committee_fund
    # A live bid is out of the bidder's balance, and stands in `reserved_balance` until it is paid or given back.
    found += sum(account.balance + account.reserved_balance for account in store.scan(ACCOUNTS))
    found += sum(escrow.token_balance + escrow.pending_fee for escrow in store.scan(ESCROWS))
    found += sum(invite.balance for invite in store.scan(INVITES))
    found += sum(validator.pending_stakeholder_reward for validator in store.scan(VALIDATORS))
    if found != globals_.current_supply:
        yield f"the supply is {globals_.current_supply}, but all balances together are {found}"


def shares_add_up(chain: Chain) -> Problems:
    """The shares of all accounts are the total."""
    found = sum(account.vesting_shares for account in chain.store.scan(ACCOUNTS))
    total = chain.ledger.globals.total_vesting_shares
    if found != total:
        yield f"there are {total} shares, but all accounts together have {found}"


def delegations_agree(chain: Chain) -> Problems:
    """What accounts have delegated and received is what the delegations say."""
    delegated: Counter[str] = Counter()
    received: Counter[str] = Counter()
    for delegation in chain.store.scan(VESTING_DELEGATIONS):
        delegated[delegation.delegator] += delegation.vesting_shares
        received[delegation.delegatee] += delegation.vesting_shares
    for returning in chain.store.scan(VESTING_DELEGATION_EXPIRATIONS):
        delegated[returning.delegator] += returning.vesting_shares
    for account in chain.store.scan(ACCOUNTS):
        if account.delegated_vesting_shares != delegated[account.name]:
            yield f"{account.name} delegates {account.delegated_vesting_shares}, not {delegated[account.name]} shares"
        if account.received_vesting_shares != received[account.name]:
            yield f"{account.name} received {account.received_vesting_shares}, not {received[account.name]} shares"


def votes_agree(chain: Chain) -> Problems:
    """The counters of votes and routes at accounts are the numbers of their votes and routes."""
    votes = Counter(vote.account for vote in chain.store.scan(VALIDATOR_VOTES))
    routes = Counter(route.from_account for route in chain.store.scan(WITHDRAW_VESTING_ROUTES))
    for account in chain.store.scan(ACCOUNTS):
        if account.validators_voted_for != votes[account.id]:
            yield f"{account.name} votes for {votes[account.id]} validators, not {account.validators_voted_for}"
        if account.withdraw_routes != routes[account.id]:
            yield f"{account.name} has {routes[account.id]} withdrawal routes, not {account.withdraw_routes}"


def vote_weights_agree(chain: Chain) -> Problems:
    """A validator has the votes that its voters give it, as far as they were not cut off at zero."""
    ledger = chain.ledger
    if not ledger.hardfork(5):
        return
    given: Counter[int] = Counter()
    for vote in ledger.store.scan(VALIDATOR_VOTES):
        given[vote.validator] += ledger.store.get(ACCOUNTS, vote.account).validators_vote_weight
    for validator in ledger.store.scan(VALIDATORS):
        if validator.votes < given[validator.id]:
            yield f"validator {validator.owner} has {validator.votes} votes, but is given {given[validator.id]}"


def indexes_agree(chain: Chain) -> Problems:
    """Every object stands in its indexes where it belongs, and nothing else does."""
    yield from chain.store.verify()


def log_agrees(chain: Chain) -> Problems:
    """The log reaches up to the irreversible block, and its last blocks are those that the state remembers."""
    last = chain.block_log.head_number
    if last < chain.irreversible:
        yield f"the block log ends at {last}, below the irreversible block {chain.irreversible}"
    for number in range(max(1, last - 99), min(last, chain.head_number) + 1):
        packed = chain.block_log.read(number)
        if packed is None:
            yield f"block {number} is missing from the block log"
        elif codec_of(Block).decode(packed).id != chain.blocks.id_at(number):
            yield f"block {number} of the block log is not the one that the state was made with"


CHECKS: tuple[Check, ...] = (
    supply_adds_up,
    shares_add_up,
    delegations_agree,
    votes_agree,
    vote_weights_agree,
    indexes_agree,
    log_agrees,
)


def check(chain: Chain) -> list[str]:
    """All that is wrong with a state; nothing, where it is sound."""
    return [problem for each in CHECKS for problem in each(chain)]
