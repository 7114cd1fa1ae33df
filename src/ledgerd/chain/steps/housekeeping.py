"""What ends by time: awards, lent shares, escrows, recovery of accounts, used invites, closed requests (spec 03,
sections 15.15, 15.16, 15.19, 15.24 and 15.25); and the accounts that are emptied (section 15.27).
"""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32, uint128
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.energy import spend_energy_with_shares
from ledgerd.chain.rules.money.balances import adjust_balance, adjust_delegated, burn
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT, COMMITTEE_ACCOUNT, NULL_ACCOUNT
from ledgerd.protocol.operations.virtual import ExpireEscrowRatification, ReturnVestingDelegation
from ledgerd.protocol.types.assets import fits_int64, shares, tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts import recovery
from ledgerd.state.objects.globals import AWARD_SHARES_BY_EXPIRATION
from ledgerd.state.objects.money.committee import COMMITTEE_VOTE_BY_REQUEST, REQUEST_BY_CONCLUSION
from ledgerd.state.objects.money.escrow import ESCROW_BY_DEADLINE
from ledgerd.state.objects.money.invites import INVITE_BY_CLAIM_TIME
from ledgerd.state.objects.money.vesting import RETURN_BY_EXPIRATION


def expire_award_shares(ledger: Ledger, _context: BlockContext) -> None:
    """The shares of an award count for as long as its energy takes to come back."""
    globals_ = ledger.globals
    for expiring in ledger.store.scan(AWARD_SHARES_BY_EXPIRATION, upper=(ledger.now,)):
        ledger.remember(globals_)
        globals_.total_reward_shares = uint128(globals_.total_reward_shares - expiring.rshares)
        ledger.store.remove(expiring)


def return_delegations(ledger: Ledger, _context: BlockContext) -> None:
    """Since hardfork 10 shares come back without energy, which whoever borrowed them may have used."""
    for due in ledger.store.scan(RETURN_BY_EXPIRATION, upper=(ledger.now - 1,)):
        delegator = ledger.account(due.delegator)
        adjust_delegated(ledger, delegator, -due.vesting_shares)
        if ledger.hardfork(10):
            spend_energy_with_shares(ledger, delegator, due.vesting_shares)
        ledger.emit(ReturnVestingDelegation(due.delegator, shares(due.vesting_shares)))
        ledger.store.remove(due)


def expire_escrows(ledger: Ledger, _context: BlockContext) -> None:
    """Their tokens and fees go back. One that both have agreed to never ends by itself."""
    for escrow in ledger.store.scan(ESCROW_BY_DEADLINE, lower=(False,), upper=(False, ledger.now)):
        sender = ledger.account(escrow.sender)
        adjust_balance(ledger, sender, escrow.token_balance)
        adjust_balance(ledger, sender, escrow.pending_fee)
        ledger.emit(
            ExpireEscrowRatification(
                sender=escrow.sender,
                recipient=escrow.recipient,
                agent=escrow.agent,
                escrow_id=escrow.escrow_id,
                token_amount=tokens(escrow.token_balance),
                fee=tokens(escrow.pending_fee),
                ratification_deadline=escrow.ratification_deadline,
            )
        )
        ledger.store.remove(escrow)


def expire_recovery_requests(ledger: Ledger, _context: BlockContext) -> None:
    for request in ledger.store.scan(recovery.RECOVERY_REQUEST_BY_EXPIRATION, upper=(ledger.now,)):
        ledger.store.remove(request)


def forget_master_authorities(ledger: Ledger, _context: BlockContext) -> None:
    """In the order in which they were replaced, until the first that is young enough."""
    store, period = ledger.store, ledger.network.master_auth_recovery_period
    while (oldest := store.oldest(recovery.MASTER_AUTHORITY_HISTORY)) is not None:
        if uint32(oldest.last_valid_time + period) >= ledger.now:
            break
        store.remove(oldest)


def change_recovery_accounts(ledger: Ledger, _context: BlockContext) -> None:
    for request in ledger.store.scan(recovery.CHANGE_RECOVERY_BY_EFFECTIVE_DATE, upper=(ledger.now,)):
        account = ledger.account(request.account_to_recover)
        ledger.remember(account)
        account.recovery_account = request.recovery_account
        ledger.store.remove(request)


def clear_used_invites(ledger: Ledger, _context: BlockContext) -> None:
    """From then on their keys may be used again."""
    last = ledger.now - ledger.network.clear_used_invite_delay
    for invite in ledger.store.scan(INVITE_BY_CLAIM_TIME, lower=(True,), upper=(True, last - 1)):
        ledger.store.remove(invite)


def clear_closed_committee_requests(ledger: Ledger, _context: BlockContext) -> None:
    """Requests that were cancelled or rejected go with the votes on them; those that were paid stay."""
    last = ledger.now - ledger.network.clear_closed_committee_request_delay
    for request in ledger.store.scan(REQUEST_BY_CONCLUSION, lower=(True,), upper=(True, last - 1)):
        number = request.request_id
        for vote in ledger.store.under(COMMITTEE_VOTE_BY_REQUEST, number):
            ledger.store.remove(vote)
        ledger.store.remove(request)


def clear_null_account(ledger: Ledger, _context: BlockContext) -> None:
    burn(ledger, _empty(ledger, NULL_ACCOUNT))


def clear_anonymous_account(ledger: Ledger, _context: BlockContext) -> None:
    """What made no account is burned."""
    burn(ledger, _empty(ledger, ANONYMOUS_ACCOUNT))


def claim_committee_account(ledger: Ledger, _context: BlockContext) -> None:
    taken = _empty(ledger, COMMITTEE_ACCOUNT)
    if taken > 0:
        globals_ = ledger.globals
        ledger.remember(globals_)
        globals_.committee_fund = fits_int64(globals_.committee_fund + taken)


def _empty(ledger: Ledger, name: AccountName) -> int:
    """An account's tokens, and what its shares are worth; votes that count those shares stay as they are."""
    account, globals_ = ledger.account(name), ledger.globals
    taken = 0
    if account.balance > 0:
        taken = account.balance
        ledger.remember(account)
        account.balance = 0
    if account.vesting_shares > 0:
        converted = globals_.tokens_for(account.vesting_shares)
        with ledger.editing(globals_, account):
            globals_.total_vesting_shares = fits_int64(globals_.total_vesting_shares - account.vesting_shares)
            globals_.total_vesting_fund = fits_int64(globals_.total_vesting_fund - converted)
            account.vesting_shares = 0
        taken = fits_int64(taken + converted)
    return taken
