"""What must be true of any sound state: sums that add up, counters that agree, a log that fits (`ledgerd check`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import add

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.discrepancies import recorded
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.log.files import LogDamaged
from ledgerd.chain.offline.audit import excess_routes, excess_tokens, excess_votes
from ledgerd.chain.offline.market_books import Problems, markets_agree
from ledgerd.protocol.types.arrays import PROXY_DEPTH
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.globals import AWARD_SHARES_EXPIRE
from ledgerd.state.objects.money import vesting
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS

StateCheck = Callable[[Ledger], Problems]
LogCheck = Callable[[Chain], Problems]


def supply_adds_up(ledger: Ledger) -> Problems:
    """Every token that was issued and not burnt is somewhere; and those that fixed awards have paid beyond."""
    beyond, by_right = excess_tokens(ledger).get(0, 0), recorded(ledger, Sum.TOKENS).get(0, 0)
    if beyond != by_right:
        supply = ledger.globals.current_supply
        yield f"the supply is {supply}, but all balances together are {supply + beyond - by_right}"


def shares_add_up(ledger: Ledger) -> Problems:
    found = sum(
        account.vesting_shares for account in ledger.store.uncached.scan_fields(ACCOUNTS, "id", "vesting_shares")
    )
    total = ledger.globals.total_vesting_shares
    if found != total:
        yield f"there are {total} shares, but all accounts together have {found}"


def delegations_agree(ledger: Ledger) -> Problems:
    """What accounts have delegated and received is what the delegations say."""
    if ledger.hardfork(7) and not ledger.hardfork(8):
        return  # hardfork 7 takes off them what hardfork 6 had counted in other shares; hardfork 8 sums up again
    delegated: Counter[str] = Counter()
    received: Counter[str] = Counter()
    for delegation in ledger.store.uncached.scan(vesting.VESTING_DELEGATIONS):
        delegated[delegation.delegator] += delegation.vesting_shares
        received[delegation.delegatee] += delegation.vesting_shares
    for returning in ledger.store.uncached.scan(vesting.VESTING_DELEGATION_EXPIRATIONS):
        delegated[returning.delegator] += returning.vesting_shares
    counted = ("name", "delegated_vesting_shares", "received_vesting_shares")
    for account in ledger.store.uncached.scan_fields(ACCOUNTS, *counted):
        if account.delegated_vesting_shares != delegated.get(account.name, 0):
            yield f"{account.name} delegates {account.delegated_vesting_shares}, not {delegated[account.name]} shares"
        if account.received_vesting_shares != received.get(account.name, 0):
            yield f"{account.name} received {account.received_vesting_shares}, not {received[account.name]} shares"


def votes_agree(ledger: Ledger) -> Problems:
    """The counters of votes and routes at accounts are the numbers of their votes and routes."""
    votes = Counter(vote.account for vote in ledger.store.uncached.scan(VALIDATOR_VOTES))
    excess, by_right = excess_routes(ledger), recorded(ledger, Sum.ROUTES)
    counted_at = ("id", "name", "validators_voted_for", "withdraw_routes")
    for account in ledger.store.uncached.scan_fields(ACCOUNTS, *counted_at):
        if account.validators_voted_for != votes.get(account.id, 0):  # a counter itself is slow with what it has not
            yield f"{account.name} votes for {votes[account.id]} validators, not {account.validators_voted_for}"
        wrong = excess.get(account.id, 0) - by_right.get(account.id, 0)
        if wrong:
            counted = account.withdraw_routes
            yield f"{account.name} has {counted - wrong} withdrawal routes, not {counted}"


def vote_weights_agree(ledger: Ledger) -> Problems:
    """Since hardfork 5, a validator has the votes that its voters give it, and the drift that they have left."""
    if not ledger.hardfork(5):
        return
    excess, by_right = excess_votes(ledger), recorded(ledger, Sum.VOTES)
    for validator in ledger.store.uncached.scan(VALIDATORS):
        wrong = excess.get(validator.id, 0) - by_right.get(validator.id, 0)
        if wrong:
            yield f"validator {validator.owner} has {validator.votes} votes, but should have {validator.votes - wrong}"


def proxied_votes_agree(ledger: Ledger) -> Problems:
    """An account votes with the shares of those whose proxy it is, and with what is proxied to them, hop by hop."""
    passed_on: dict[str, tuple[int, ...]] = {}
    nothing = (0,) * PROXY_DEPTH
    for account in ledger.store.uncached.scan_fields(ACCOUNTS, "proxy", "vesting_shares", "proxied_vsf_votes"):
        if account.proxy:
            own = (account.vesting_shares, *account.proxied_vsf_votes[:-1])
            passed_on[account.proxy] = tuple(map(add, passed_on.get(account.proxy, nothing), own))
    for account in ledger.store.uncached.scan_fields(ACCOUNTS, "name", "proxied_vsf_votes"):
        found = passed_on.get(account.name, nothing)
        if account.proxied_vsf_votes != found:
            yield f"{account.name} is proxied {list(found)} shares, not {list(account.proxied_vsf_votes)}"


def reward_shares_add_up(ledger: Ledger) -> Problems:
    """Since hardfork 4, the claims on the reward fund are those of the awards that have not expired."""
    total = ledger.globals.total_reward_shares
    found = sum(award.rshares for award in ledger.store.uncached.scan(AWARD_SHARES_EXPIRE))
    if found != total and ledger.hardfork(4):
        yield f"there are {total} reward shares, but all awards together have {found}"


def market_books_agree(ledger: Ledger) -> Problems:
    """Since hardfork 14, markets, their pool and the accounts in them say what their rows hold."""
    if ledger.hardfork(14):
        yield from markets_agree(ledger.store.uncached)


def indexes_agree(ledger: Ledger) -> Problems:
    yield from ledger.store.verify()


def log_agrees(chain: Chain) -> Problems:
    """The log reaches up to the irreversible block, and its last blocks are those that the state remembers."""
    last = chain.block_log.head_number
    if last < chain.irreversible and not (chain.is_rolling and last == 0):
        yield f"the block log ends at {last}, below the irreversible block {chain.irreversible}"
    first = max(1, chain.block_log.first_number, last - 99)  # a rolling log begins where the state began
    for number in range(first, min(last, chain.head_number) + 1):
        try:
            block = chain.block_log.block(number)
        except LogDamaged:
            continue  # the check of all blocks names it
        if block is None:
            yield f"block {number} is missing from the block log"
        elif block.id != chain.id_at(number):
            yield f"block {number} of the block log is not the one that the state was made with"


def log_is_sound(chain: Chain) -> Problems:
    """Each block of the log follows the one before it, has the transactions of its header, and is in its place."""
    yield from chain.block_log.faults()


STATE_CHECKS: tuple[StateCheck, ...] = (
    supply_adds_up,
    shares_add_up,
    delegations_agree,
    votes_agree,
    vote_weights_agree,
    proxied_votes_agree,
    reward_shares_add_up,
    market_books_agree,
    indexes_agree,
)

LOG_CHECKS: tuple[LogCheck, ...] = (log_agrees, log_is_sound)


def check(chain: Chain, progress: Callable[[int], None] = lambda _done: None) -> list[str]:
    """All that is wrong with a state and its log; nothing, where they are sound."""
    problems: list[str] = []
    for done, of_state in enumerate(STATE_CHECKS):
        progress(done)
        problems += of_state(chain.parts.ledger)
    for done, of_log in enumerate(LOG_CHECKS, len(STATE_CHECKS)):
        progress(done)
        problems += of_log(chain)
    progress(len(STATE_CHECKS) + len(LOG_CHECKS))
    return problems


def faults_of_state(ledger: Ledger, progress: Callable[[int, int], None], indexes: StateCheck) -> Problems:
    """All that is wrong with a state, also with one that has no log yet; `progress` gets the checks made, of all. The
    indexes are checked in a way of the caller's own, with the same findings.
    """
    for done, each in enumerate((*STATE_CHECKS[:-1], indexes)):
        progress(done, len(STATE_CHECKS))
        yield from each(ledger)
    progress(len(STATE_CHECKS), len(STATE_CHECKS))
