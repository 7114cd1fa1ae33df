"""The rules of validators, of the properties they vote on, and of the votes for them (spec 02, section 9)."""

from __future__ import annotations

from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import pay_fee
from ledgerd.chain.rules.validators import votes
from ledgerd.protocol import constants
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.validators import (
    AccountValidatorProxy,
    AccountValidatorVote,
    ChainPropertiesUpdate,
    SetRewardSharing,
    ValidatorUpdate,
    VersionedChainPropertiesUpdate,
)
from ledgerd.protocol.properties import (
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesHf14,
    ChainPropertiesInit,
    default_properties,
)
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects import validators
from ledgerd.state.objects.accounts.accounts import Account

PROPERTIES_SINCE: dict[type[ChainPropertiesInit], tuple[int, str]] = {
    ChainPropertiesHf4: (4, "chain_properties_hf4"),
    ChainPropertiesHf6: (6, "chain_properties_hf6"),
    ChainPropertiesHf9: (9, "chain_properties_hf9"),
    ChainPropertiesHf13: (13, "chain_properties_hf13"),
    ChainPropertiesHf14: (14, "chain_properties_pm"),
}
"""The hardfork from which on each version may be voted on, and its name in the reference; the first one always may."""


@evaluates(ValidatorUpdate)
def validator_update(ledger: Ledger, operation: ValidatorUpdate) -> None:
    owner = ledger.account(operation.owner)
    validator = ledger.find_validator(operation.owner)
    if validator is None:
        if ledger.hardfork(9):
            pay_fee(ledger, owner, "validator_declaration_fee", "declare himself as validator", "owner")
        validator = _new_validator(ledger, operation.owner)
        validator.url, validator.signing_key = operation.url, operation.block_signing_key
        ledger.store.create(validators.VALIDATORS, validator)
        return
    with ledger.editing(validator):
        validator.url, validator.signing_key = operation.url, operation.block_signing_key


@evaluates(ChainPropertiesUpdate)
def chain_properties_update(ledger: Ledger, operation: ChainPropertiesUpdate) -> None:
    ledger.account(operation.owner)
    _vote_on_properties(ledger, operation.owner, operation.props)


@evaluates(VersionedChainPropertiesUpdate)
def versioned_chain_properties_update(ledger: Ledger, operation: VersionedChainPropertiesUpdate) -> None:
    require(
        ledger.hardfork(4),
        "_db.has_hardfork(CHAIN_HARDFORK_4): versioned_chain_properties_update_evaluator not enabled until HF 4",
    )
    ledger.account(operation.owner)
    version = PROPERTIES_SINCE.get(type(operation.props))
    if version is not None:
        since, title = version
        require(ledger.hardfork(since), f"_db.has_hardfork(CHAIN_HARDFORK_{since}): {title}")
    _vote_on_properties(ledger, operation.owner, operation.props)


def _vote_on_properties(ledger: Ledger, owner: AccountName, properties: ChainPropertiesInit) -> None:
    """Whoever is no validator yet becomes one without a fee, a page and a key (spec 02, section 9.2, quirk)."""
    validator = ledger.find_validator(owner)
    if validator is None:
        validator = _new_validator(ledger, owner)
        validator.props = properties.apply_to(validator.props)
        ledger.store.create(validators.VALIDATORS, validator)
        return
    with ledger.editing(validator):
        validator.props = properties.apply_to(validator.props)


def _new_validator(ledger: Ledger, owner: AccountName) -> validators.Validator:
    return validators.Validator(owner=owner, created=ledger.now, props=default_properties(ledger.network))


@evaluates(SetRewardSharing)
def set_reward_sharing(ledger: Ledger, operation: SetRewardSharing) -> None:
    """Change the shared part of a validator's rewards, from the next block on."""
    require(ledger.hardfork(13), "db().has_hardfork(13): set_reward_sharing_operation is not enabled until HF 13")
    ledger.account(operation.owner)
    validator = ledger.find_validator(operation.owner)
    if validator is None:
        raise RuleViolation("itr != idx.end(): Account ${a} is not a registered validator", a=operation.owner)
    ledger.remember(validator)
    validator.sharing_rate = operation.sharing_rate


@evaluates(AccountValidatorVote)
def account_validator_vote(ledger: Ledger, operation: AccountValidatorVote) -> None:
    """Since hardfork 4 a proxy ends with the first vote of one's own."""
    voter = ledger.account(operation.account)
    if ledger.hardfork(4):
        if voter.proxy:
            votes.adjust_proxied_votes_by_depth(ledger, voter, _votes_withdrawn(voter))
            ledger.remember(voter)
            voter.proxy = constants.PROXY_TO_SELF_ACCOUNT
    else:
        require(
            not voter.proxy,
            "voter.proxy.size() == 0: A proxy is currently set, please clear the proxy before voting for a validator.",
        )
    validator = ledger.validator(operation.validator)
    vote = ledger.store.lookup(validators.VALIDATOR_VOTE_BY_ACCOUNT, voter.id, validator.id)
    if vote is None:
        require(
            operation.approve,
            "o.approve: Vote doesn't exist, user must indicate a desire to approve validator.",
        )
        _require_room_for_vote(ledger, voter)
    else:
        require(
            not operation.approve,
            "!o.approve: Vote currently exists, user must indicate a desire to reject validator.",
        )
    if ledger.hardfork(4):
        _weigh_votes(ledger, voter, -1)
        _change_vote(ledger, voter, validator, vote)
        if ledger.hardfork(5):
            ledger.remember(voter)
            voter.validators_vote_weight = voter.fair_vote_weight
        _weigh_votes(ledger, voter, +1)
    else:
        votes.adjust_validator_vote(ledger, validator, voter.vote_weight if vote is None else -voter.vote_weight)
        _change_vote(ledger, voter, validator, vote)


def _require_room_for_vote(ledger: Ledger, voter: Account) -> None:
    limit, constant = (
        (constants.MAX_ACCOUNT_VALIDATOR_VOTES, "CHAIN_MAX_ACCOUNT_VALIDATOR_VOTES")
        if ledger.hardfork(4)
        else (constants.MAX_ACCOUNT_VALIDATOR_VOTES_PRE_HF4, "CHAIN_MAX_ACCOUNT_VALIDATOR_VOTES_PRE_HF4")
    )
    require(
        voter.validators_voted_for < limit,
        f"voter.validators_voted_for < {constant}: Account has voted for too many validators.",
    )


def _change_vote(
    ledger: Ledger, voter: Account, validator: validators.Validator, vote: validators.ValidatorVote | None
) -> None:
    if vote is None:
        ledger.store.create(
            validators.VALIDATOR_VOTES,
            validators.ValidatorVote(validator=validator.id, account=voter.id, vote_created_block=ledger.head_number),
        )
    else:
        ledger.store.remove(vote)
    ledger.remember(voter)
    voter.validators_voted_for = voter.validators_voted_for + (1 if vote is None else -1) & 0xFFFF


def _weigh_votes(ledger: Ledger, voter: Account, sign: int) -> None:
    weight = voter.validators_vote_weight if ledger.hardfork(5) else voter.fair_vote_weight_of_hf4
    votes.adjust_each_vote(ledger, voter, sign * weight)


def _votes_withdrawn(account: Account) -> list[int]:
    """What its validators lose when an account's votes go elsewhere: its own shares, then those proxied to it."""
    return [-account.vesting_shares, *(-shares for shares in account.proxied_vsf_votes)]


@evaluates(AccountValidatorProxy)
def account_validator_proxy(ledger: Ledger, operation: AccountValidatorProxy) -> None:
    """Let another account vote with this one's shares, instead of its own votes, which are deleted.

    What the validators lose is divided again here, so the drift of the votes' weights stays with them; and without a
    proxy the earlier votes do not come back (spec 02, section 9.6, quirks).
    """
    account = ledger.account(operation.account)
    require(account.proxy != operation.proxy, "account.proxy != o.proxy: Proxy must change.")
    withdrawn = _votes_withdrawn(account)
    votes.adjust_proxied_votes_by_depth(ledger, account, withdrawn)
    if operation.proxy:
        _require_short_chain(ledger, account, ledger.account(operation.proxy))
        votes.clear_votes(ledger, account)
    ledger.remember(account)
    account.proxy = operation.proxy
    if operation.proxy:
        votes.adjust_proxied_votes_by_depth(ledger, account, [-shares for shares in withdrawn])


def _require_short_chain(ledger: Ledger, account: Account, proxy: Account) -> None:
    """Proxies of proxies end after a few hops, and not where they began."""
    chain = {account.id, proxy.id}
    while proxy.proxy:
        proxy = ledger.account(proxy.proxy)
        require(
            proxy.id not in chain,
            "proxy_chain.insert(next_proxy.id).second: This proxy would create a proxy loop.",
        )
        chain.add(proxy.id)
        require(
            len(chain) <= constants.MAX_PROXY_RECURSION_DEPTH,
            "proxy_chain.size() <= CHAIN_MAX_PROXY_RECURSION_DEPTH: Proxy chain is too long.",
        )
