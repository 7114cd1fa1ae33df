"""The rules of awards: energy buys a part of the reward fund, which is paid out in shares (spec 02, section 10)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import DivideByZero, fits_uint64, int16, uint32, uint128
from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.energy import energy_now
from ledgerd.chain.rules.money.balances import create_vesting
from ledgerd.chain.rules.money.rewards import award_worth, claim_award
from ledgerd.protocol.constants import MAX_COMMENT_BENEFICIARIES
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.money.awards import Award, FixedAward
from ledgerd.protocol.operations.virtual import BenefactorAward, ReceiveAward
from ledgerd.protocol.types.assets import MAX_AMOUNT, fits_int64, shares, tokens
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.discrepancies import Sum


@evaluates(Award)
def award(ledger: Ledger, operation: Award) -> None:
    require(ledger.hardfork(4), "_db.has_hardfork(CHAIN_HARDFORK_4): award_evaluator not enabled until HF 4")
    initiator, receiver = ledger.account(operation.initiator), ledger.account(operation.receiver)
    energy = _energy_of(ledger, initiator)
    require(
        operation.energy <= energy,
        "used_energy <= current_energy: Account does not have enough energy to award. "
        "Current energy: ${e}, used energy: ${u}",
        e=energy,
        u=operation.energy,
    )
    reward_shares = _reward_shares(initiator, operation.energy)
    is_counted = reward_shares >= ledger.median.vote_accounting_min_rshares
    reward = claim_award(ledger, reward_shares) if is_counted else 0
    _spend_energy(ledger, initiator, energy - operation.energy)
    if reward > 0:
        _pay(ledger, operation, reward, reward, receiver)


@evaluates(FixedAward)
def fixed_award(ledger: Ledger, operation: FixedAward) -> None:
    require(ledger.hardfork(11), "_db.has_hardfork(CHAIN_HARDFORK_11): fixed_award_evaluator not enabled until HF 11")
    initiator, receiver = ledger.account(operation.initiator), ledger.account(operation.receiver)
    energy, wanted = _energy_of(ledger, initiator), operation.reward_amount.amount
    require(
        operation.max_energy <= energy,
        "max_energy <= current_energy: Account does not have enough energy to award. "
        "Current energy: ${e}, max energy: ${u}",
        e=energy,
        u=operation.max_energy,
    )
    needed = _energy_needed(ledger, initiator, operation.max_energy, wanted)
    reward_shares = _reward_shares(initiator, needed)
    is_counted = reward_shares >= ledger.median.vote_accounting_min_rshares
    worth = award_worth(ledger, reward_shares) if is_counted else 0
    # A reward that does not count is, in the reference, an amount of shares.
    require(
        worth >= wanted,
        "tokens.amount >= o.reward_amount.amount: Calculated reward is lesser than fixed reward amount. "
        "Calculated reward: ${cr}, fixed reward amount: ${fra}",
        cr=str(tokens(worth) if is_counted else shares(0)),
        fra=str(operation.reward_amount),
    )
    reward = claim_award(ledger, reward_shares)
    _spend_energy(ledger, initiator, energy - needed)
    _pay(ledger, operation, reward, wanted, receiver)
    donation = reward - wanted
    if donation > 0:
        globals_ = ledger.globals
        ledger.remember(globals_)
        globals_.committee_fund = fits_int64(globals_.committee_fund + donation)


def _energy_of(ledger: Ledger, initiator: Account) -> int:
    energy = energy_now(ledger, initiator)
    require(
        energy > 0,
        "current_energy > 0: Account currently does not have voting energy. Current energy: ${e}",
        e=energy,
    )
    return energy


def _reward_shares(initiator: Account, energy: int) -> int:
    """What an account weighs with so much of its energy; debts of shares weigh nothing, they fail."""
    return fits_uint64(uint128(initiator.effective_shares * energy) // HUNDRED_PERCENT)


def _energy_needed(ledger: Ledger, initiator: Account, max_energy: int, wanted: int) -> int:
    """The energy that a set reward takes, a point more for what divisions lose (spec 02, section 10.2, quirk)."""
    globals_ = ledger.globals
    largest = _reward_shares(initiator, max_energy)
    largest_reward = award_worth(ledger, largest)
    require(
        largest_reward >= wanted,
        "max_reward >= o.reward_amount.amount.value: Max available reward: ${r}, requested reward amount: ${u}",
        r=largest_reward,
        u=wanted,
    )
    if globals_.total_reward_fund == wanted:
        raise DivideByZero("")
    reward_shares = wanted * globals_.total_reward_shares // (globals_.total_reward_fund - wanted)
    require(
        reward_shares <= MAX_AMOUNT,
        "rs_calc <= u256(uint64_t(std::numeric_limits<int64_t>::max())): ",
    )
    require(
        reward_shares <= largest,
        "rs <= max_rshares: Account does not have enough potential to fixed award. Current rs: ${rs}, max rs: ${mrs}",
        rs=reward_shares,
        mrs=largest,
    )
    return min(reward_shares * max_energy // largest + 1, HUNDRED_PERCENT)


def _spend_energy(ledger: Ledger, initiator: Account, left: int) -> None:
    ledger.remember(initiator)
    initiator.energy = int16(left)
    initiator.last_vote_time = ledger.now
    initiator.vote_count = uint32(initiator.vote_count + 1)


def _pay(ledger: Ledger, operation: Award | FixedAward, reward: int, for_receiver: int, receiver: Account) -> None:
    """A fixed award's parts include the donation's: more may be paid than claimed (spec 02, section 10.2, quirk)."""
    if ledger.is_producing:
        require(
            len(operation.beneficiaries) <= MAX_COMMENT_BENEFICIARIES,
            "o.beneficiaries.size() <= CHAIN_MAX_COMMENT_BENEFICIARIES: Cannot specify more than ${m} beneficiaries.",
            m=MAX_COMMENT_BENEFICIARIES,
        )
    for each in operation.beneficiaries:
        benefactor = ledger.find_account(each.account)
        if benefactor is None:
            raise RuleViolation('acc != nullptr: Beneficiary "${a}" must exist.', a=each.account)
        part = fits_int64(reward * each.weight) // HUNDRED_PERCENT
        vested = create_vesting(ledger, benefactor, part)
        ledger.remember(benefactor)
        benefactor.benefactor_awards = fits_int64(benefactor.benefactor_awards + part)
        ledger.emit(
            BenefactorAward(
                operation.initiator,
                each.account,
                operation.receiver,
                operation.custom_sequence,
                operation.memo,
                shares(vested),
            )
        )
        for_receiver -= part
    record_discrepancy(ledger, Sum.TOKENS, max(0, -for_receiver))
    if for_receiver > 0:
        vested = create_vesting(ledger, receiver, for_receiver)
        ledger.remember(receiver)
        receiver.receiver_awards = fits_int64(receiver.receiver_awards + for_receiver)
        ledger.emit(
            ReceiveAward(
                operation.initiator, operation.receiver, operation.custom_sequence, operation.memo, shares(vested)
            )
        )
