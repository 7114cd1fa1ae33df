"""`invite_api`: the invites (spec 05, section 16)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import Int64, UInt16
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.rpc.api.shared.kinds import existing
from ledgerd.rpc.call.counts import from_to
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.money.invites import INVITE_BY_KEY, INVITE_BY_STATUS, INVITES, Invite
from ledgerd.state.tables.tables import ObjectId

INVITE_API = Api("invite_api", "Invites: tokens for whoever knows the secret of a key.")


@INVITE_API.method(args=from_to(1, 1), examples=[[0]])
def get_invites_list(view: ApiView, status: UInt16) -> tuple[ObjectId, ...]:
    """The ids of the invites with a status."""
    return tuple(invite.id for invite in view.state.under(INVITE_BY_STATUS, status))


@INVITE_API.method(args=from_to(1, 1), examples=[[0]])
def get_invite_by_id(view: ApiView, id: Int64) -> Invite:  # noqa: A002 - the name that clients read in the documents
    """The invite with an id."""
    return existing(view.state.find(INVITES, id), "itr != idx.end(): Invite id not found.")


@INVITE_API.method(args=from_to(1, 1), examples=[["VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"]])
def get_invite_by_key(view: ApiView, invite_key: PublicKey) -> Invite:
    """The invite with a key; of several, the first one created."""
    return existing(view.state.lookup(INVITE_BY_KEY, invite_key), "itr != idx.end(): Invite key not found.")
