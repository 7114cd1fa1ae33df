"""The handling of each message (spec 04, sections 7 to 17): one method a message, one table of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ledgerd.basics.printable import printable
from ledgerd.basics.quotas import Quota
from ledgerd.p2p.shared.allowances import MEMBERS_OF_A_SIGNATURE, signatures_of_time
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Cause, Mode
from ledgerd.p2p.shared.peer import Life, LifeEvent, Peer
from ledgerd.p2p.sync.intake import Intake
from ledgerd.p2p.sync.serving import serve_block, serve_gap, serve_probe, serve_range
from ledgerd.p2p.sync.watch import BEHIND_BLOCKS
from ledgerd.p2p.talk.contacts import Contacts
from ledgerd.p2p.talk.handshake import answer, loser_of_duplicates, may_go_on
from ledgerd.p2p.talk.mempool import Admitted
from ledgerd.p2p.talk.peer_exchange import PeerExchange
from ledgerd.p2p.talk.relay import push_transaction
from ledgerd.p2p.wire import messages

REASON_LENGTH = 100
LONGEST_REFUSAL = 3600
"""The longest soft ban of a peer that we keep to, in seconds."""
REFUSED_COST = 10
SIGNATURES_AT_ONCE, SIGNATURES_A_SECOND = 5_000, 1_000
"""Signatures of transactions, over all peers; as many again for addresses whose transactions are mostly accepted."""
MOST_REPUTATION = 1_000
"""The highest reputation of an address; the lowest is as far below zero."""


class Dialogue:
    """Handles the messages of peers, one after the other."""

    def __init__(self, core: Core, contacts: Contacts, intake: Intake) -> None:
        self._core = core
        self._contacts = contacts
        self._intake = intake
        self.exchange = PeerExchange(core, contacts)
        self._signatures = Quota(SIGNATURES_AT_ONCE, SIGNATURES_A_SECOND, core.now)
        self._trusted_signatures = Quota(SIGNATURES_AT_ONCE, SIGNATURES_A_SECOND, core.now)
        self._handlers: dict[type[messages.Message], Callable[[Peer, Any], None]] = {
            messages.Hello: self._hello,
            messages.HelloReply: self._hello_reply,
            messages.RangeRequest: lambda peer, message: serve_probe(core, peer, message),
            messages.RangeReply: lambda peer, _: core.good(peer),  # this program never sends the request
            messages.GetBlockRange: lambda peer, message: serve_range(core, peer, message),
            messages.BlockRangeReply: intake.blocks_of_range,
            messages.GetBlock: lambda peer, message: serve_block(core, peer, message),
            messages.BlockReply: intake.block,
            messages.NotAvailable: lambda peer, _: core.good(peer),
            messages.ForkStatus: self._fork_status,
            messages.PeerExchangeRequest: lambda peer, _: self.exchange.serve(peer),
            messages.PeerExchangeReply: self.exchange.receive,
            messages.PeerExchangeRateLimited: lambda peer, _: self.exchange.refused(peer),
            messages.TransactionMessage: self._transaction,
            messages.SoftBan: self._soft_ban,
            messages.GapFillRequest: lambda peer, message: serve_gap(core, peer, message),
            messages.GapFillReply: intake.blocks_of_gap,
        }

    def handle(self, peer: Peer, message: messages.Message) -> None:
        """Handle a message; before the hello no other is accepted (spec 04, section 27, item 4)."""
        core = self._core
        if not peer.is_greeted and not isinstance(message, messages.Hello | messages.SoftBan):
            core.strike(peer, f"a message of type {message.NUMBER} before the hello")
        else:
            self._handlers[type(message)](peer, message)

    def _hello(self, peer: Peer, hello: messages.Hello) -> None:
        """Spec 04, section 7.2."""
        core = self._core
        if hello.node_id == core.node_id:
            contact = self._contacts.of_peer(peer.id)
            peer.refusal = LONGEST_REFUSAL if contact is not None else None
            core.close(peer, "connected to ourselves")
            return
        peer.describe(hello)
        loser = loser_of_duplicates(core, peer)
        if loser is not None:
            core.close(loser, "duplicate node_id")
            if loser is peer:
                return
        peer.head_id, peer.head_number = hello.head_block_id, core.credible(hello.head_block_num)
        peer.lib_id, peer.lib_number = hello.lib_block_id, core.credible(hello.lib_block_num)
        peer.earliest, peer.latest = hello.dlt_earliest_block, core.credible(hello.dlt_latest_block)
        reply = answer(core, hello)
        peer.exchange, peer.is_aligned = reply.exchange_enabled, reply.fork_alignment
        core.send(peer, reply)
        if may_go_on(core, hello, is_aligned=reply.fork_alignment):
            peer.advance(LifeEvent.WELCOMED, core.now)
        core.good(peer)
        self._ask(peer)

    def _hello_reply(self, peer: Peer, reply: messages.HelloReply) -> None:
        """Spec 04, section 7.3."""
        core = self._core
        peer.exchange |= reply.exchange_enabled
        peer.is_aligned |= reply.fork_alignment
        if peer.life is not Life.SYNCING:
            peer.advance(LifeEvent.ANSWERED, core.now)
        core.good(peer)
        if peer.exchange and core.height_of(peer) > core.chain.head_number + BEHIND_BLOCKS:
            self._intake.change_mode(self._intake.watch.answered_from_ahead())
        self._ask(peer)

    def _ask(self, peer: Peer) -> None:
        """Request missing blocks; switch to FORWARD if there are none to request (spec 04, section 9.1, row b)."""
        core, intake = self._core, self._intake
        if core.mode is not Mode.SYNC:
            return
        intake.ranges.plan_for(peer)
        head = core.chain.head_number
        partners = [peer for peer in core.live() if peer.exchange and peer.head_number > 0]
        is_nobody_ahead = bool(partners) and all(core.reach_of(peer) <= head for peer in core.trusted())
        if head > 0 and is_nobody_ahead and intake.ranges.is_idle and not intake.is_busy:
            intake.change_mode(Cause.NOBODY_AHEAD)

    def _fork_status(self, peer: Peer, status: messages.ForkStatus) -> None:
        """Spec 04, section 15."""
        core = self._core
        was_syncing = peer.node_status == messages.SYNC
        peer.fork_status, peer.node_status = status.fork_status, status.node_status
        peer.claimed = max(status.head_block_num, status.dlt_latest_block)
        peer.head_id, peer.head_number = status.head_block_id, core.credible(status.head_block_num)
        peer.lib_id, peer.lib_number = status.lib_block_id, core.credible(status.lib_block_num)
        peer.earliest, peer.latest = status.dlt_earliest_block, core.credible(status.dlt_latest_block)
        has_joined = was_syncing and status.node_status == messages.FORWARD and peer.life is Life.ACTIVE
        if not peer.exchange and has_joined and peer.head_number > 0 and core.chain.is_known(peer.head_id):
            peer.exchange = peer.is_aligned = True
        core.good(peer)
        self._intake.ranges.plan_for(peer)
        if core.height_of(peer) > core.chain.head_number + BEHIND_BLOCKS:
            self._intake.request_gap()

    def _soft_ban(self, peer: Peer, ban: messages.SoftBan) -> None:
        """The time that we respect is limited, and the text is cleaned before it is logged."""
        reason = printable(ban.reason[:REASON_LENGTH])[:REASON_LENGTH]
        peer.refusal = min(ban.ban_duration_sec, LONGEST_REFUSAL)
        self._core.close(peer, f"remote: {reason}")

    def _transaction(self, peer: Peer, message: messages.TransactionMessage) -> None:
        """Relay a transaction after the chain has accepted it (spec 04, section 14; the reference relays it before)."""
        core, mempool, transaction = self._core, self._intake.mempool, message.trx
        cost = max(1, len(transaction.signatures))
        if not peer.allowance.signatures.spend(cost, core.now):
            return
        self._intake.offers.record_received(transaction.id)
        verdict = mempool.judge(transaction, core.now)
        if verdict is Admitted.UNFIT:
            core.strike(peer, "a transaction that is expired, expires too late or is too large")
        if verdict is not Admitted.YES:
            return
        if not core.chain.is_signable(transaction):
            core.strike(peer, "a transaction with keys that nothing asks for")
            return
        allowance = peer.allowance
        # Addresses whose transactions are mostly accepted have a limit of their own, which a flood cannot use up.
        everybody = self._trusted_signatures if allowance.reputation > 0 else self._signatures
        if not everybody.spend(cost, core.now):
            return
        is_accepted = core.chain.accept_transaction(transaction)
        lookups = core.chain.members_checked // MEMBERS_OF_A_SIGNATURE
        if lookups:
            allowance.signatures.spend(lookups, core.now)
            everybody.spend(lookups, core.now)
        if is_accepted:
            allowance.reputation = min(allowance.reputation + 1, MOST_REPUTATION)
            peer.record_useful(core.now)
            mempool.add(transaction, is_provisional=core.mode is Mode.SYNC)
            push_transaction(core, message, peer)
        else:
            allowance.reputation = max(allowance.reputation - REFUSED_COST, -MOST_REPUTATION)
            mempool.refuse(transaction, core.now)
            taken = signatures_of_time(core.chain.seconds_spent)
            allowance.signatures.spend(REFUSED_COST * (cost + lookups + taken), core.now)
            everybody.spend(REFUSED_COST * taken, core.now)
