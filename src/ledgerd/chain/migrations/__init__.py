"""Migrations: what a hardfork changes in the state when it is applied; a function for each that changes anything.

A new hardfork with a change of its own is a new module and a new line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hf4 import end_content_era
from ledgerd.chain.migrations.hf5 import make_votes_fair
from ledgerd.chain.migrations.hf6 import convert_shares
from ledgerd.chain.migrations.hf7 import remove_invalid_accounts
from ledgerd.chain.migrations.hf8 import recount_delegations
from ledgerd.chain.migrations.hf9 import remove_spam
from ledgerd.chain.migrations.hf11 import make_accounts_valid
from ledgerd.chain.migrations.hf14 import begin_lazy_pool

MIGRATIONS: Mapping[int, Callable[[Ledger], None]] = {
    4: end_content_era,
    5: make_votes_fair,
    6: convert_shares,
    7: remove_invalid_accounts,
    8: recount_delegations,
    9: remove_spam,
    11: make_accounts_valid,
    14: begin_lazy_pool,
}
