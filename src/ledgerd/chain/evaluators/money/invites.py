"""The rules of invites: tokens behind a key, for whoever knows its secret (spec 02, section 12)."""

from __future__ import annotations

from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.new_accounts import open_account
from ledgerd.chain.rules.money.balances import adjust_balance, create_vesting
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, wif_secret
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.money import invites
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.money.invites import CLAIMED, INVITE_BY_KEY, INVITES, REGISTERED, UNUSED, VESTED, Invite


@evaluates(invites.CreateInvite)
def create_invite(ledger: Ledger, operation: invites.CreateInvite) -> None:
    creator, balance = ledger.account(operation.creator), operation.balance
    require(creator.balance >= balance.amount, "creator.balance >= o.balance: Insufficient balance to create invite.")
    require(operation.invite_key != NULL_KEY, "o.invite_key != public_key_type(): Invite key cannot be blank.")
    least = "create_invite_min_balance" if ledger.hardfork(9) else "account_creation_fee"
    median = ledger.median
    required = median.create_invite_min_balance if ledger.hardfork(9) else median.account_creation_fee
    require(
        balance >= required,
        f"o.balance >= median_props.{least}: Invite balance must be more or equal consensus {least}.",
    )
    require(
        ledger.store.lookup(INVITE_BY_KEY, operation.invite_key) is None,
        "itr == idx.end(): Invite with same key was found. Use another invite key.",
    )
    adjust_balance(ledger, creator, -balance.amount)
    invite = Invite(
        creator=operation.creator,
        invite_key=operation.invite_key,
        balance=balance.amount,
        create_time=ledger.now,
    )
    ledger.store.create(INVITES, invite)


@evaluates(invites.ClaimInviteBalance)
def claim_invite_balance(ledger: Ledger, operation: invites.ClaimInviteBalance) -> None:
    ledger.account(operation.initiator)
    receiver = ledger.account(operation.receiver)
    _require_secret(operation.invite_secret)
    invite = _unused_invite(ledger, operation.invite_secret)
    adjust_balance(ledger, receiver, invite.balance)
    _use_up(ledger, invite, CLAIMED, operation.invite_secret, operation.receiver)


@evaluates(invites.InviteRegistration)
def invite_registration(ledger: Ledger, operation: invites.InviteRegistration) -> None:
    """Open an account whose shares are an invite's tokens; who made the invite can recover it."""
    _require_secret(operation.invite_secret)
    ledger.account(operation.initiator)
    invite = _unused_invite(ledger, operation.invite_secret)
    account = Account(name=operation.new_account_name, recovery_account=invite.creator, referrer=invite.creator)
    open_account(ledger, account, operation.new_account_key)
    create_vesting(ledger, account, invite.balance)
    _use_up(ledger, invite, REGISTERED, operation.invite_secret, operation.new_account_name)


@evaluates(invites.UseInviteBalance)
def use_invite_balance(ledger: Ledger, operation: invites.UseInviteBalance) -> None:
    require(ledger.hardfork(9), "_db.has_hardfork(CHAIN_HARDFORK_9): use_invite_balance not enabled until HF 9")
    ledger.account(operation.initiator)
    receiver = ledger.account(operation.receiver)
    _require_secret(operation.invite_secret)
    invite = _unused_invite(ledger, operation.invite_secret)
    create_vesting(ledger, receiver, invite.balance)
    _use_up(ledger, invite, VESTED, operation.invite_secret, operation.receiver)


def _require_secret(secret: str) -> None:
    require(secret, "o.invite_secret.size(): Invite secret cannot be blank.")


def _unused_invite(ledger: Ledger, wif: str) -> Invite:
    secret = wif_secret(wif)
    if secret is None:
        raise RuleViolation("invite_secret: Invite secret must be WIF.")
    invite = ledger.store.lookup(INVITE_BY_KEY, PrivateKey(secret).public)
    if invite is None:
        raise RuleViolation("itr != idx.end(): Invite was not found.")
    require(invite.status == UNUSED, "false: Invite already claimed.")
    return invite


def _use_up(ledger: Ledger, invite: Invite, status: int, secret: str, receiver: AccountName) -> None:
    """Record who received the tokens; the secret is public from now on."""
    with ledger.editing(invite):
        invite.status = status
        invite.invite_secret = secret
        invite.receiver = receiver
        invite.claimed_balance = invite.balance
        invite.balance = 0
        invite.claim_time = ledger.now
