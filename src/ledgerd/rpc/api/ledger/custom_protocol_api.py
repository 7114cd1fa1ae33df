"""`custom_protocol_api`: how often accounts have used a protocol of custom operations (spec 05, section 18)."""

from __future__ import annotations

from ledgerd.projections.tables.custom_protocols import PROTOCOL_BY_ACCOUNT
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.names import cut_name
from ledgerd.rpc.api.shared.account_record import AccountText, changed_account_text
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME

CUSTOM_PROTOCOL_API = Api(
    "custom_protocol_api", "Accounts as the followers of a protocol of custom operations see them."
)


@CUSTOM_PROTOCOL_API.method(args=exactly(2, "_S"), examples=[["alice", "V"]])
def get_account(view: ApiView, account: str, custom_protocol_id: str) -> AccountText:
    """An account whose sequence and last block of custom operations are those of one protocol.

    The empty protocol means all custom operations. A protocol without a record gives zeros.
    """
    # A view decodes a new object for each call, so this one may be changed.
    found = view.state.lookup(ACCOUNT_BY_NAME, cut_name(account))
    if found is None:
        raise RuleViolation('false: Account with name "${name}" not found.', name=account)
    if custom_protocol_id:
        used = view.projections.lookup(PROTOCOL_BY_ACCOUNT, found.name, cut_name(custom_protocol_id))
        found.custom_sequence = used.custom_sequence if used else 0
        found.custom_sequence_block_num = used.custom_sequence_block_num if used else 0
    return changed_account_text(view.state, found)
