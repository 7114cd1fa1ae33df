"""The rules of proposing operations, approving of them, and withdrawing them (spec 02, section 15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.transactions import proposals
from ledgerd.protocol.authorities.authority_check import in_word_order, required_authorities
from ledgerd.protocol.constants import MAX_PROPOSAL_DEPTH, MAX_PROPOSAL_LIFETIME_SEC
from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations import Authorities, Operation
from ledgerd.protocol.operations.accounts.proposals import ProposalCreate, ProposalDelete, ProposalUpdate
from ledgerd.protocol.types.authority import key_order
from ledgerd.protocol.types.names import AccountName, word_order
from ledgerd.state.objects.accounts.proposals import (
    PROPOSAL_BY_AUTHOR,
    PROPOSALS,
    REQUIRED_APPROVALS,
    Proposal,
    RequiredApproval,
)

KINDS = ("active", "master", "regular", "key")
"""Of approvals, in the order in which the reference checks them."""

_creations: ContextVar[int] = ContextVar("proposals that are being created inside each other", default=0)
_updates: ContextVar[int] = ContextVar("proposals that are being updated inside each other", default=0)


@contextmanager
def _nested(ledger: Ledger, depth: ContextVar[int]) -> Iterator[None]:
    """Proposals may stand inside proposals, of which new transactions may have few."""
    token = depth.set(depth.get() + 1)
    try:
        if ledger.is_producing:
            require(
                depth.get() <= MAX_PROPOSAL_DEPTH,
                "depth_ <= CHAIN_MAX_PROPOSAL_DEPTH: You can't create more than ${depth} nested proposals",
                depth=MAX_PROPOSAL_DEPTH,
            )
        yield
    finally:
        depth.reset(token)


@evaluates(ProposalCreate)
def proposal_create(ledger: Ledger, operation: ProposalCreate) -> None:
    with _nested(ledger, _creations):
        ledger.account(operation.author)
        require(
            ledger.store.lookup(PROPOSAL_BY_AUTHOR, operation.author, operation.title) is None,
            "nullptr == _db.find_proposal(o.author, o.title): Proposal already exists.",
        )
        _require_times(ledger, operation)
        operations = tuple(proposed.op for proposed in operation.proposed_operations)
        required = _required(operations)
        everybody = in_word_order({*required.master, *required.active, *required.regular})
        for name in everybody:
            require(
                ledger.find_account(name) is not None,
                "nullptr != _db.find_account(account): Account '${account}' for proposed operation doesn't exist",
                account=name,
            )
        proposals.try_out(ledger, operations)
    proposal = ledger.store.create(
        PROPOSALS,
        Proposal(
            author=operation.author,
            title=operation.title,
            memo=operation.memo,
            expiration_time=operation.expiration_time,
            review_period_time=operation.review_period_time,
            proposed_operations=proposals.PROPOSED.encode(operations),
            required_active_approvals=required.active,
            required_master_approvals=required.master,
            required_regular_approvals=required.regular,
        ),
    )
    for name in everybody:
        ledger.store.create(REQUIRED_APPROVALS, RequiredApproval(account=name, proposal=proposal.id))


def _require_times(ledger: Ledger, operation: ProposalCreate) -> None:
    now, expiration, review = ledger.now, operation.expiration_time, operation.review_period_time
    require(expiration > now, "o.expiration_time > now: Proposal has already expired on creation.")
    require(
        expiration <= now + MAX_PROPOSAL_LIFETIME_SEC,
        "o.expiration_time <= now + CHAIN_MAX_PROPOSAL_LIFETIME_SEC: "
        "Proposal expiration time is too far in the future.",
    )
    if review is not None:
        require(
            review > now,
            "!o.review_period_time || *o.review_period_time > now: Proposal review period has expired on creation.",
        )
        require(
            review < expiration,
            "!o.review_period_time || *o.review_period_time < o.expiration_time: "
            "Proposal review period must be less than its overall lifetime.",
        )


def _required(operations: Sequence[Operation]) -> Authorities:
    """The authorities that the operations need; an account needed as master is not needed besides."""
    asked = required_authorities(operations)
    require(not asked.other, "other.size() == 0: ")
    active = tuple(name for name in asked.active if name not in asked.master)
    require(
        bool(asked.regular) != bool(active or asked.master),
        "required_regular.empty() != required_total.empty(): "
        "Can't combine operations required regular authority and active or master authority",
    )
    return asked._replace(active=active)


@evaluates(ProposalUpdate)
def proposal_update(ledger: Ledger, operation: ProposalUpdate) -> None:
    """A failed execution is tried once more at the proposal's end; with a time of review it happens only then."""
    with _nested(ledger, _updates):
        proposal = ledger.store.at(PROPOSAL_BY_AUTHOR, operation.author, operation.title)
        is_in_review = proposal.review_period_time is not None and ledger.now >= proposal.review_period_time
        require(
            not (is_in_review and _adds_any(operation)),
            "o.active_approvals_to_add.empty() && o.master_approvals_to_add.empty() && "
            "o.regular_approvals_to_add.empty() && o.key_approvals_to_add.empty(): "
            "This proposal is in its review period. No new approvals may be added.",
        )
        _require_known(proposal, operation)
        _record_approvals(ledger, proposal, operation)
        if proposal.review_period_time is not None:
            if is_in_review and not _has_any(proposal):
                proposals.remove_proposal(ledger, proposal.id)
            return
        proposals.require_relevant(ledger, proposal, operation)
        if proposals.is_authorized(ledger, proposal):
            with suppress(RuleViolation):
                proposals.execute(ledger, proposal)


def _adds_any(operation: ProposalUpdate) -> bool:
    return any(getattr(operation, f"{kind}_approvals_to_add") for kind in KINDS)


def _has_any(proposal: Proposal) -> bool:
    return any(getattr(proposal, f"available_{kind}_approvals") for kind in KINDS)


def _require_known(proposal: Proposal, operation: ProposalUpdate) -> None:
    """Only approvals that were given can be removed, and only new ones added."""
    for kind in KINDS:
        given = getattr(proposal, f"available_{kind}_approvals")
        for each in getattr(operation, f"{kind}_approvals_to_remove"):
            require(
                each in given,
                "dst.find(a) != dst.end(): Can't remove the non existing approval '${id}'",
                id=_text(each),
            )
    for kind in KINDS:
        given = getattr(proposal, f"available_{kind}_approvals")
        for each in getattr(operation, f"{kind}_approvals_to_add"):
            require(
                each not in given,
                "dst.find(a) == dst.end(): Can't add already exist approval '${id}'",
                id=_text(each),
            )


def _text(approval: AccountName | PublicKey) -> str:
    return public_key_text(approval) if isinstance(approval, bytes) else approval


def _record_approvals(ledger: Ledger, proposal: Proposal, operation: ProposalUpdate) -> None:
    with ledger.editing(proposal):
        for kind in KINDS:
            field = f"available_{kind}_approvals"
            changed = {*getattr(proposal, field), *getattr(operation, f"{kind}_approvals_to_add")}
            changed.difference_update(getattr(operation, f"{kind}_approvals_to_remove"))
            setattr(proposal, field, tuple(sorted(changed, key=key_order if kind == "key" else word_order)))


@evaluates(ProposalDelete)
def proposal_delete(ledger: Ledger, operation: ProposalDelete) -> None:
    """Withdraw a proposal, which its author may do and everybody whose agreement it needs."""
    proposal, requester = ledger.store.at(PROPOSAL_BY_AUTHOR, operation.author, operation.title), operation.requester
    require(
        requester == proposal.author
        or requester in proposal.required_active_approvals
        or requester in proposal.required_master_approvals
        or requester in proposal.required_regular_approvals,
        "proposal.author == o.requester || "
        "proposal.required_active_approvals.count(o.requester) || "
        "proposal.required_master_approvals.count(o.requester) || "
        "proposal.required_regular_approvals.count(o.requester): "
        "Provided authority is not authoritative for this proposal.",
    )
    proposals.remove_proposal(ledger, proposal.id)
