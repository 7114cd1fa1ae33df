"""Escrows (spec 05, section 9.15)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.money.escrow import ESCROW_BY_SENDER, Escrow


@DATABASE_API.method(args=exactly(2), examples=[["alice", 1]])
def get_escrow(view: ApiView, sender: AccountName, escrow_id: UInt32) -> Escrow | None:
    """The escrow that an account has given this number."""
    return view.state.lookup(ESCROW_BY_SENDER, sender, escrow_id)
