"""Operations that move tokens and vested shares (spec 01, section 7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import field

from ledgerd.protocol.assets import SHARES_SYMBOL, Asset
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.errors import require
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import Authorities, Operation, active, master
from ledgerd.protocol.texts import require_memo

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters


class Transfer(Operation, frozen=True, tag=2):
    """Moves tokens from one account to another."""

    sender: AccountName = field(name="from")
    recipient: AccountName = field(name="to")
    amount: Asset
    memo: str

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Names, symbol, amount, memo."""
        require_valid_name(self.sender)
        require_valid_name(self.recipient)
        require(
            self.amount.symbol != SHARES_SYMBOL, "amount.symbol != SHARES_SYMBOL: transferring of SHARES is not allowed."
        )
        require(
            self.amount.amount > 0, "amount.amount > 0: Cannot transfer a negative amount (aka: stealing)"
        )
        require_memo(self.memo)

    def authorities(self) -> Authorities:
        """Active; the symbol SHARES would ask for master, but is refused before."""
        return master(self.sender) if self.amount.is_shares else active(self.sender)


OPERATIONS: tuple[type[Operation], ...] = (Transfer,)
