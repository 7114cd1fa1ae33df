"""The accounts of a development chain and their first tokens, all with published keys (spec 06, section 16.3)."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.producer.testnet_start import LIFETIME, PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT, INITIATOR_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.accounts.accounts import AccountCreate
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.markets.oracles import PmOracleRegister
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.operations.validators import VersionedChainPropertiesUpdate
from ledgerd.protocol.properties import ChainPropertiesHf14, default_properties
from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName

ORACLE = AccountName("oracle")
ALICE = AccountName("alice")

CREATION_FEE = tokens(1_000)
DELEGATION = shares(1_000_000_000)
ORACLE_STAKE = tokens(1_000_000)
ORACLE_TOKENS = tokens(50_000_000)
INSURANCE = tokens(20_000_000)
FEE_PERCENT = 100

NEVER = 0


class DevAgent(NamedTuple):
    """A key that may sign some operations for an account."""

    account: AccountName
    name: AccountName
    operations: tuple[str, ...]

    @property
    def key(self) -> PrivateKey:
        """The key of the account, which is the same on every development chain."""
        return PrivateKey.from_password(self.account, self.name, "ledgerd dev")


AGENTS = (
    DevAgent(ALICE, AccountName("award-bot"), ("award",)),
    DevAgent(ALICE, AccountName("bet-bot"), ("pm_cancel_bet", "pm_place_bet")),
    DevAgent(ORACLE, AccountName("result-bot"), ("pm_no_contest", "pm_resolve_market")),
)


def market_times(network: ChainParameters) -> ChainPropertiesHf14:
    """An hour is the least that the rules allow for the time in which a result can be disputed."""
    return replace(
        default_properties(network),
        pm_oracle_accept_window_sec=60,
        pm_dispute_grace_sec=3_600,
        pm_oracle_dispute_response_sec=30,
        pm_dispute_vote_period_sec=60,
        pm_dispute_auto_close_sec=300,
        pm_batch_epoch_blocks=2,
        pm_reveal_window_blocks=5,
        pm_lazy_lock_sec=60,
        pm_leverage_expiration_buffer_sec=60,
    )


def prepare_markets(chain: Chain, key: PrivateKey) -> None:
    initiator = PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY)
    operations: tuple[Operation, ...] = (
        VersionedChainPropertiesUpdate(INITIATOR_ACCOUNT, market_times(chain.network)),
        new_account(ORACLE, key.public),
        TransferToVesting(INITIATOR_ACCOUNT, ORACLE, ORACLE_STAKE),
        Transfer(INITIATOR_ACCOUNT, ORACLE, ORACLE_TOKENS, ""),
    )
    send(chain, initiator, *operations)
    send(chain, key, _registration(), *(_grant(each) for each in AGENTS))


def _registration() -> PmOracleRegister:
    return PmOracleRegister(
        ORACLE, INSURANCE, FEE_PERCENT, tokens(0), "", NO_NAME, NO_NAME, auto_accept=True, extensions=()
    )


def _grant(agent: DevAgent) -> SetAgentPermission:
    return SetAgentPermission(agent.account, agent.name, agent.key.public, agent.operations, NEVER, (), ())


def new_account(name: AccountName, key: PublicKey) -> AccountCreate:
    authority = authority_of(key)
    return AccountCreate(
        CREATION_FEE, DELEGATION, INITIATOR_ACCOUNT, name, authority, authority, authority, key, "", NO_NAME, ()
    )


def send(chain: Chain, key: PrivateKey, *operations: Operation) -> None:
    draft = unsigned_transaction(chain.head_id, chain.head_time + LIFETIME, operations)
    chain.push_transaction(draft.signed(chain.network.chain_id, [key]))


PUBLISHED_ACCOUNTS_KEY = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"

POCKET_MONEY = 10_000_000
"""Tokens for each of these accounts, in thousandths, besides their shares."""

FOUNDING_BLOCKS = 20
"""A testnet has applied all hardforks after sixteen blocks."""

FIRST, SIXTEENTH = 1, 15
"""Blocks after which something is sent, counted from 0: as soon as there are accounts, and all hardforks."""


class DevAccount(NamedTuple):
    """An account with a published key."""

    name: AccountName
    key: str
    use: str


ORACLE_ACCOUNT = DevAccount(ORACLE, PUBLISHED_ACCOUNTS_KEY, "an oracle that takes every market")


def dev_accounts(network: ChainParameters) -> tuple[DevAccount, ...]:
    return (
        DevAccount(INITIATOR_ACCOUNT, PUBLISHED_INITIATOR_KEY, "holds most tokens, and makes the blocks"),
        DevAccount(COMMITTEE_ACCOUNT, PUBLISHED_COMMITTEE_KEY, "made the first blocks"),
        *(
            DevAccount(AccountName(each.name), PUBLISHED_ACCOUNTS_KEY, "for you to play with")
            for each in network.genesis_accounts
        ),
    )


def dev_producers(network: ChainParameters) -> dict[AccountName, str]:
    players = {AccountName(each.name): PUBLISHED_ACCOUNTS_KEY for each in network.genesis_accounts}
    return {COMMITTEE_ACCOUNT: PUBLISHED_COMMITTEE_KEY, INITIATOR_ACCOUNT: PUBLISHED_INITIATOR_KEY, **players}


def equip(chain: Chain, number: int) -> None:
    """Send the transactions that a new chain gets after its block `number`, counted from 0."""
    if number == FIRST:
        fund(chain)
    elif number == SIXTEENTH:
        prepare_markets(chain, PrivateKey.from_wif(PUBLISHED_ACCOUNTS_KEY))


def fund(chain: Chain) -> None:
    """Send tokens to the accounts of the initial distribution, which have only shares."""
    players = [AccountName(each.name) for each in chain.network.genesis_accounts]
    transfers = (Transfer(INITIATOR_ACCOUNT, each, tokens(POCKET_MONEY), "") for each in players)
    send(chain, PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY), *transfers)
