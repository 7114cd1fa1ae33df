"""Accounts, who may sign for them, and what they say of themselves (spec 02, sections 3.1 to 3.3; spec 07, 11.1);
their agents (spec 07, section 10.17; spec 10, section 3), and what once could sign for them (spec 07, section 10.18;
spec 10, section 6). How a lost account is recovered is in `recovery`; whom its votes go to is in `validators`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from ledgerd.basics.durations import DAY
from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.types.numbers import Int16, ShareAmount, UInt8, UInt16, UInt32, UInt64
from ledgerd.protocol.crypto.keys import KEY_SIZE, NULL_KEY, PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.accounts.agents import SEPARATOR
from ledgerd.protocol.types.arrays import PROXY_DEPTH, ProxiedShares
from ledgerd.protocol.types.assets import Shares, Tokens, fits_int64
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import LATEST, Time
from ledgerd.state.tables.keys import BOOL, NAME_TEXT, NAME_WORD, OWN_ID, TIME, UINT8, UINT16, fixed_bytes
from ledgerd.state.tables.tables import Entity, Table, ordered, unique

NO_AUTHORITY = Authority(0, {}, {})
"""What an authority is until it is given."""


class Account(Entity):
    """A name with its balances. What it has in prediction markets is for display: no rule reads it.

    The last three fields are those that the reference's snapshots and raw JSON leave out.
    """

    name: AccountName = NO_NAME
    memo_key: PublicKey = NULL_KEY
    proxy: AccountName = NO_NAME
    referrer: AccountName = NO_NAME
    last_account_update: Time = 0
    created: Time = 0
    recovery_account: AccountName = NO_NAME
    last_account_recovery: Time = 0
    subcontent_count: UInt32 = 0
    vote_count: UInt32 = 0
    content_count: UInt32 = 0
    awarded_rshares: UInt64 = 0
    custom_sequence: UInt64 = 0
    custom_sequence_block_num: UInt64 = 0
    energy: Int16 = HUNDRED_PERCENT
    last_vote_time: Time = 0
    balance: Tokens = 0
    vesting_shares: Shares = 0
    delegated_vesting_shares: Shares = 0
    received_vesting_shares: Shares = 0
    vesting_withdraw_rate: Shares = 0
    next_vesting_withdrawal: Time = LATEST
    withdrawn: ShareAmount = 0
    to_withdraw: ShareAmount = 0
    withdraw_routes: UInt16 = 0
    curation_rewards: ShareAmount = 0
    posting_rewards: ShareAmount = 0
    proxied_vsf_votes: ProxiedShares = (0,) * PROXY_DEPTH
    validators_voted_for: UInt16 = 0
    last_root_post: Time = 0
    last_post: Time = 0
    average_bandwidth: ShareAmount = 0
    lifetime_bandwidth: ShareAmount = 0
    last_bandwidth_update: Time = 0
    valid: bool = True
    account_seller: AccountName = NO_NAME
    account_offer_price: Tokens = 0
    account_on_sale: bool = False
    account_on_sale_start_time: Time = 0
    reserved_balance: Tokens = 0
    target_buyer: AccountName = NO_NAME
    account_on_auction: bool = False
    current_bid: Tokens = 0
    current_bidder: AccountName = NO_NAME
    current_bidder_key: PublicKey = NULL_KEY
    last_bid: Tokens = 0
    subaccount_seller: AccountName = NO_NAME
    subaccount_offer_price: Tokens = 0
    subaccount_on_sale: bool = False
    pm_liquidity_committed: Tokens = 0
    pm_bets_staked: Tokens = 0
    pm_leverage_collateral: Tokens = 0
    receiver_awards: ShareAmount = 0
    benefactor_awards: ShareAmount = 0
    validators_vote_weight: ShareAmount = 0

    UNREFLECTED: ClassVar[tuple[str, ...]] = ("receiver_awards", "benefactor_awards", "validators_vote_weight")

    @property
    def effective_shares(self) -> int:
        """The shares that count for votes, awards and bandwidth."""
        return fits_int64(self.available_shares + self.received_vesting_shares)

    @property
    def available_shares(self) -> int:
        return fits_int64(self.vesting_shares - self.delegated_vesting_shares)

    @property
    def available_beside_withdrawal(self) -> int:
        """The shares that can be delegated while those that are being withdrawn are set aside."""
        return fits_int64(self.available_shares - fits_int64(self.to_withdraw - self.withdrawn))

    @property
    def vote_weight(self) -> int:
        """What each vote for a validator weighs before hardfork 4, and what is divided among them since."""
        return _sum(self.vesting_shares, self.proxied_vsf_votes)

    @property
    def fair_vote_weight_of_hf4(self) -> int:
        """What each vote weighs under hardfork 4: only the own shares are divided."""
        return _sum(_divided(self.vesting_shares, self.validators_voted_for), self.proxied_vsf_votes)

    @property
    def fair_vote_weight(self) -> int:
        """What each vote weighs from hardfork 5 on."""
        return _divided(self.vote_weight, self.validators_voted_for)


def _sum(start: int, amounts: tuple[int, ...]) -> int:
    total = start
    for amount in amounts:
        total = fits_int64(total + amount)
    return total


def _divided(amount: int, parts: int) -> int:
    """A part of an amount, as unsigned 128-bit numbers have it: those cannot be made of a negative amount."""
    if not parts:
        return 0
    require(amount >= 0, "hi == 0: ")
    return amount // parts


class AccountAuthority(Entity):
    """Who may sign for an account."""

    account: AccountName = NO_NAME
    master: Authority = NO_AUTHORITY
    active: Authority = NO_AUTHORITY
    regular: Authority = NO_AUTHORITY
    last_master_update: Time = 0


class AccountMetadata(Entity):
    """What an account says of itself; that of `anonymous` counts the accounts that it has made."""

    account: AccountName = NO_NAME
    json_metadata: str = ""


ACCOUNTS = Table(Account, number=1)
ACCOUNT_BY_NAME = unique(ACCOUNTS, "by_name", lambda account: (account.name,), (NAME_TEXT,), is_fixed=True)
ACCOUNT_BY_NEXT_WITHDRAWAL = unique(
    ACCOUNTS,
    "by_next_vesting_withdrawal",
    lambda account: (account.next_vesting_withdrawal, account.id),
    (TIME, OWN_ID),
)
ACCOUNT_BY_ON_SALE = ordered(ACCOUNTS, "by_account_on_sale", lambda account: (account.account_on_sale,), (BOOL,))
ACCOUNT_BY_SUBACCOUNT_ON_SALE = ordered(
    ACCOUNTS, "by_subaccount_on_sale", lambda account: (account.subaccount_on_sale,), (BOOL,)
)
ACCOUNT_BY_AUCTION_START = ordered(
    ACCOUNTS,
    "by_auction_start",
    lambda account: (account.account_on_auction, account.account_on_sale_start_time),
    (BOOL, TIME),
)
ACCOUNT_BY_DAY_OF_BANDWIDTH_UPDATE = unique(
    ACCOUNTS,
    "by_day_of_bandwidth_update",
    lambda account: (account.last_bandwidth_update // DAY, account.id),
    (UINT16, OWN_ID),
)
"""Ours: the accounts of the last days, without a walk over all there are (spec 02, section 4.13). By day, since every
transaction sets the time: its entry moves once a day.
"""

ACCOUNT_AUTHORITIES = Table(AccountAuthority, number=2)
AUTHORITY_BY_ACCOUNT = unique(
    ACCOUNT_AUTHORITIES, "by_account", lambda authority: (authority.account,), (NAME_WORD,), is_fixed=True
)

ACCOUNT_METADATA = Table(AccountMetadata, number=21)
METADATA_BY_ACCOUNT = unique(ACCOUNT_METADATA, "by_account", lambda text: (text.account,), (NAME_WORD,))


FOR_EVER = 0
"""Of an agent that does not expire."""


class AgentPermission(Entity):
    """What a key may sign for an account. Keys may be the same, names of an account's agents may not."""

    account: AccountName = NO_NAME
    agent_name: AccountName = NO_NAME
    agent_key: PublicKey = NULL_KEY
    operations: str = ""
    expiration: Time = FOR_EVER
    addons: str = ""

    def may_sign(self, operation: str) -> bool:
        wanted = f"{SEPARATOR}{operation}{SEPARATOR}"
        return bool(operation) and wanted in f"{SEPARATOR}{self.operations}{SEPARATOR}"

    def is_live(self, now: int) -> bool:
        return self.expiration == FOR_EVER or self.expiration > now


AGENT_PERMISSIONS = Table(AgentPermission, number=48)
AGENT_BY_ACCOUNT = unique(
    AGENT_PERMISSIONS,
    "by_permission_account",
    lambda agent: (agent.account, agent.agent_name),
    (NAME_TEXT, NAME_TEXT),
)


class Role(IntEnum):
    """What a key is for."""

    MASTER = 0
    ACTIVE = 1
    REGULAR = 2
    MEMO = 3


class KeyHistory(Entity):
    """A member of an authority until this block: a key or an account, or neither where there was none."""

    account: AccountName = NO_NAME
    role: UInt8 = Role.MASTER
    key: PublicKey = NULL_KEY
    auth_account: AccountName = NO_NAME
    weight: UInt16 = 0
    weight_threshold: UInt32 = 0
    valid_until_block: UInt32 = 0
    valid_until_time: Time = 0


KEY_HISTORY = Table(KeyHistory, number=49)
KEY_HISTORY_BY_ROLE = unique(
    KEY_HISTORY,
    "by_account_role",
    lambda entry: (entry.account, entry.role, entry.id),
    (NAME_TEXT, UINT8, OWN_ID),
)
KEY_HISTORY_BY_KEY = unique(KEY_HISTORY, "by_key", lambda entry: (entry.key, entry.id), (fixed_bytes(KEY_SIZE), OWN_ID))
