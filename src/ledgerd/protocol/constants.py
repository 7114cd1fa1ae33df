"""The constants that all networks share (spec 01, section 13), under the reference's names without `CHAIN_`. Amounts
are in the smallest units, times in seconds unless the name says otherwise. Not here: what networks choose and the
hardforks (`parameters`), chain properties (`properties`), and what stands beside the one rule that it belongs to.
"""

from __future__ import annotations

from ledgerd.protocol.types.names import AccountName

# Percents are counted in hundredths.
ONE_PERCENT = 100

# Time and blocks.
BLOCK_INTERVAL = 3
BLOCKS_PER_HOUR = 1_200
BLOCKS_PER_DAY = 28_800
BLOCKS_PER_YEAR = 10_512_000
SECONDS_PER_YEAR = 31_536_000

# Supply and inflation.
INIT_SUPPLY = 50_000_000_000
MAX_SHARE_SUPPLY = 1_000_000_000_000_000
FIXED_INFLATION = 1_000
"""The inflation of the first era, a year."""
VESTING_FUND_PERCENT = 1_000
REWARD_FUND_PERCENT = 3_500
COMMITTEE_FUND_PERCENT = 3_500
"""The split of the inflation of the first era; the rest is the validator's."""
DIGITAL_ASSET_ISSUED_PER_BLOCK = 1_000
CASHOUT_WINDOW_SECONDS = 86_400
"""The time until content is paid, and until a delegation that was taken back is returned."""

# The size of blocks and transactions.
MAX_TRANSACTION_SIZE = 65_536
MIN_BLOCK_SIZE_LIMIT = 65_536
MAX_BLOCK_SIZE_LIMIT = 2_097_152
"""Between these two validators may vote."""
BLOCK_SIZE = 6_291_456
"""The limit until the first vote counts."""
MAX_TIME_UNTIL_EXPIRATION = 3_600
BLOCK_GENERATION_POSTPONED_TX_LIMIT = 5
"""Transactions too large for what is left of a block; a producer stops looking after so many."""
PENDING_TRANSACTION_EXECUTION_LIMIT_MICROSECONDS = 200_000

# Bandwidth.
BANDWIDTH_PRECISION = 1_000_000
BANDWIDTH_RESERVE_ACTIVE_TIME = 2_592_000
MAX_RESERVE_RATIO = 20_000

# Validators and their schedule.
MAX_VALIDATOR_MISSED_BLOCKS = 200
"""A validator that missed so many is shut down."""
EMERGENCY_MISSED_ROUNDS = 5
"""Rounds of missed blocks that shut a validator down in an emergency."""
EMERGENCY_CONSENSUS_TIMEOUT_SEC = 1_200
MAX_BLOCK_POST_VALIDATION_COUNT = 20
MAX_ACCOUNT_VALIDATOR_VOTES = 100
MAX_ACCOUNT_VALIDATOR_VOTES_PRE_HF4 = 2
MAX_PROXY_RECURSION_DEPTH = 4
VALIDATOR_MAX_SHARING_RATE = 10_000
MIN_STAKEHOLDER_REWARD_PAYOUT = 1
IRREVERSIBLE_THRESHOLD = 7_500
IRREVERSIBLE_SUPPORT_MIN_RUN = 2
"""A validator that comes back must have made so many blocks before its support counts again."""
MAX_UNDO_HISTORY = 10_000

# Accounts, and the limits on what is stored of them.
ACCOUNT_RECOVERY_REQUEST_EXPIRATION_PERIOD = 86_400
MAX_WITHDRAW_ROUTES = 10
MAX_URL_LENGTH = 256
MAX_VALIDATOR_URL_LENGTH = 2_048
"""Texts must be shorter than these."""
ACCOUNT_AUCTION_MIN_STEP = 1_000
"""Hundredths of a percent."""
ACCOUNT_AUCTION_EXTENSION_TIME = 300

# Content, of the first era.
MAX_VOTE_CHANGES = 5
MAX_COMMENT_BENEFICIARIES = 64
MAX_COMMENT_DEPTH = 65_520

# Proposals, committee, subscriptions.
MAX_PROPOSAL_LIFETIME_SEC = 2_419_200
MAX_PROPOSAL_DEPTH = 2
COMMITTEE_MAX_DURATION = 2_592_000
COMMITTEE_MAX_REQUIRED_AMOUNT = 500_000_000
PAID_SUBSCRIPTION_MAX_LEVEL = 1_000
PAID_SUBSCRIPTION_MAX_PERIOD_DAYS = 1_000

# Prediction markets: bytes of texts, which may be as long as this, and how many of a thing a market may have.
MAX_PM_PROFILE_URL_LENGTH = 256
MAX_PM_DECISION_URL_LENGTH = 256
MAX_PM_MARKET_TITLE_LENGTH = 256
MAX_PM_DISPUTE_REASON_LENGTH = 1_024
MAX_PM_OUTCOME_LABEL_LENGTH = 64
MAX_PM_OUTCOMES_PER_MARKET = 128
MAX_PM_DEFERRED_CLAIMS_PER_MARKET = 10_000
MAX_PM_OPEN_COMMITS_PER_MARKET = 10_000

# Agents: how many others an account may have when it takes one more, and the bytes of what it may do.
MAX_AGENTS_PER_ACCOUNT = 16
MAX_AGENT_ADDONS = 10
MAX_AGENT_ADDON_LENGTH = 63
MAX_AGENT_OPERATION_NAME_LENGTH = 64

# What the reference's `get_config` tells of chain properties.
MIN_ACCOUNT_CREATION_FEE = 1_000
BANDWIDTH_RESERVE_PERCENT = 1_000
BANDWIDTH_RESERVE_BELOW = 500_000_000

# Accounts that exist on every chain from the start.
NULL_ACCOUNT = AccountName("null")
"""Tokens that it receives are destroyed."""
COMMITTEE_ACCOUNT = AccountName("committee")
"""Tokens that it receives go to the committee fund; in an emergency it is the validator."""
ANONYMOUS_ACCOUNT = AccountName("anonymous")
"""A transfer to it creates an account."""
INVITE_ACCOUNT = AccountName("invite")
"""The account whose key is public, so that anybody can claim an invite with it."""
INITIATOR_ACCOUNT = AccountName("viz")
"""The account that gets the rest of the supply after the initial distribution."""
BUILT_IN_ACCOUNTS = (NULL_ACCOUNT, COMMITTEE_ACCOUNT, ANONYMOUS_ACCOUNT, INVITE_ACCOUNT, INITIATOR_ACCOUNT)
"""The built-in accounts, in the order of their ids."""
NUM_INITIATORS = 0
"""Further accounts of the initiator."""

# Reserved names, which no account has.
PROXY_TO_SELF_ACCOUNT = AccountName("")
ROOT_POST_PARENT = AccountName("")
