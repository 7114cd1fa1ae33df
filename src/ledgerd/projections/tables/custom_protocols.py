"""How often an account has used a protocol of custom operations. Ours, not consensus: kept by
`projections.custom_protocols` where it is wanted.
"""

from __future__ import annotations

from ledgerd.codec.types.numbers import UInt64
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.tables.keys import NAME_WORD, OWN_ID, UINT64, descending
from ledgerd.state.tables.tables import Entity, Table, ordered, unique


class CustomProtocol(Entity):
    """An account's count for one protocol, whose id is cut to the length of a name."""

    account: AccountName = NO_NAME
    custom_protocol_id: AccountName = NO_NAME
    custom_sequence: UInt64 = 0
    custom_sequence_block_num: UInt64 = 0


CUSTOM_PROTOCOLS = Table(CustomProtocol, number=103)
PROTOCOL_BY_LAST_BLOCK = ordered(
    CUSTOM_PROTOCOLS,
    "by_account_custom_sequence_block_num",
    lambda protocol: (protocol.account, protocol.custom_sequence_block_num),
    (NAME_WORD, descending(UINT64)),
)
PROTOCOL_BY_ACCOUNT = unique(
    CUSTOM_PROTOCOLS,
    "by_account_custom_protocol_id",
    lambda protocol: (protocol.account, protocol.custom_protocol_id, protocol.id),
    (NAME_WORD, NAME_WORD, OWN_ID),
)
