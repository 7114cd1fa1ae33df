"""The accounts of a development chain and their first tokens, all with published keys (spec 06, section 16.3)."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.chain import Chain
from ledgerd.node.dev.markets import ORACLE, prepare_markets, send
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT, INITIATOR_ACCOUNT
from ledgerd.protocol.keys import PrivateKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.transfers import Transfer
from ledgerd.protocol.parameters import ChainParameters
from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY

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
    return {COMMITTEE_ACCOUNT: PUBLISHED_COMMITTEE_KEY, **players}


def equip(chain: Chain, number: int) -> None:
    """Send what a new chain gets after its block `number`, counted from 0."""
    if number == FIRST:
        fund(chain)
    elif number == SIXTEENTH:
        prepare_markets(chain, PrivateKey.from_wif(PUBLISHED_ACCOUNTS_KEY))


def fund(chain: Chain) -> None:
    """Send tokens to the accounts of the initial distribution, which have only shares."""
    players = [AccountName(each.name) for each in chain.network.genesis_accounts]
    transfers = (Transfer(INITIATOR_ACCOUNT, each, tokens(POCKET_MONEY), "") for each in players)
    send(chain, PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY), *transfers)
