"""Pending transactions of this node's clients, and which of them each peer was sent.

Nothing tells us whether a pushed transaction has arrived: a peer that syncs is sent none, one that writes a snapshot
discards them, a connection breaks or is closed as a duplicate. So each is sent once over every connection, as soon as
that is fit for transactions, and again every ten blocks, until a block has it or it expires. What a peer is sent is
limited by its address (`p2p.shared.allowances`): another node counts what we send.
"""

from __future__ import annotations

from bisect import bisect_right

from ledgerd.basics.quotas import Quota
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.talk.relay import push_set
from ledgerd.p2p.wire.frames import pack_frame
from ledgerd.p2p.wire.messages import TransactionMessage
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.types.identifiers import TransactionId

ROUND_BLOCKS = 10
FRESH_BLOCKS = 5
"""A transaction is not repeated within so many blocks: most are in one of the next blocks."""
MARGIN_SECONDS = 2
"""A transaction that expires so soon is not sent: by a peer's clock it may have expired, which is a strike."""
BYTES_OF_UNIT = 512
"""A transaction costs one for each signature, and no less than one for each so many bytes."""


class OfferedTransaction:
    """A transaction of a client."""

    __slots__ = ("cost", "is_received", "left_at", "since", "transaction")

    def __init__(self, transaction: Transaction, since: int) -> None:
        self.transaction = transaction
        self.cost = max(1, len(transaction.signatures), -(-len(transaction.packed) // BYTES_OF_UNIT))
        self.since = since
        self.is_received = False
        self.left_at = 0
        """The number of the head when it was seen in a block, or otherwise no longer pending; 0 while it is pending. It
        is kept until that block is irreversible: an undone block gives its transactions back.
        """


class OfferProgress:
    """The last offers that were sent over a connection, by their numbers."""

    __slots__ = ("repeated", "round_began", "round_end", "sent")

    def __init__(self, head: int) -> None:
        self.sent = 0
        """The number of the last offer that was sent over this connection."""
        self.repeated = self.round_end = 0
        """The last offer that was repeated in this round, and the offer with which the round ends."""
        self.round_began = head
        """The number of the head block when the round began."""


class Offers:
    """The pending transactions of clients, numbered in the order in which they were sent first."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._offers: dict[int, OfferedTransaction] = {}
        """The offers by their numbers, in rising order."""
        self._numbers: dict[TransactionId, int] = {}
        self._last = 0
        self._bytes = 0
        self._progress: dict[int, OfferProgress] = {}
        """How far each peer was served, by its id, which is that of its connection."""

    def __len__(self) -> int:
        return len(self._offers)

    @property
    def pending(self) -> int:
        return sum(not offer.left_at for offer in self._offers.values())

    @property
    def unconfirmed(self) -> int:
        """The number of transactions that no peer has: sent over no connection that is still open, and received over
        none.
        """
        sent = max((progress.sent for progress in self._progress.values()), default=0)
        return sum(
            number > sent and not offer.left_at and not offer.is_received for number, offer in self._offers.items()
        )

    def add(self, transaction: Transaction) -> None:
        self._drop(transaction.id)
        core = self._core
        peers = [(peer, self._progress.get(peer.id) or self.serve(peer)) for peer in push_set(core)]
        self._last += 1
        offer = OfferedTransaction(transaction, core.chain.head_number)
        if self._has_room(transaction):
            self._offers[self._last] = offer
            self._numbers[transaction.id] = self._last
            self._bytes += len(transaction.packed)
        for peer, progress in peers:
            if progress.sent == self._last - 1 and self._has_sent(peer, offer, peer.allowance.offered):
                progress.sent = self._last

    def record_received(self, transaction_id: TransactionId) -> None:
        number = self._numbers.get(transaction_id)
        if number is not None:
            self._offers[number].is_received = True

    def include(self, transaction_id: TransactionId) -> None:
        number = self._numbers.get(transaction_id)
        if number is not None:
            self._offers[number].left_at = self._core.chain.head_number

    def forget(self, peer: Peer) -> None:
        """A connection has ended: what was sent over it may be lost."""
        self._progress.pop(peer.id, None)

    def tick(self) -> None:
        self._review()
        head = self._core.chain.head_number
        for peer in push_set(self._core):
            progress = self.serve(peer)
            if progress.repeated >= progress.round_end and head - progress.round_began >= ROUND_BLOCKS:
                progress.repeated, progress.round_end, progress.round_began = 0, progress.sent, head
            limit = peer.allowance.repeated
            progress.repeated = self._send(peer, progress.repeated, progress.round_end, limit, head - FRESH_BLOCKS)

    def serve_all(self) -> None:
        for peer in push_set(self._core):
            self.serve(peer)

    def serve(self, peer: Peer) -> OfferProgress:
        """Send the requested transactions, as far as the peer's limit allows; the rest follows at a tick."""
        head = self._core.chain.head_number
        progress = self._progress.setdefault(peer.id, OfferProgress(head))
        progress.sent = self._send(peer, progress.sent, self._last, peer.allowance.offered, head)
        return progress

    def _send(self, peer: Peer, after: int, last: int, limit: Quota, since: int) -> int:
        """Send the pending offers with numbers above `after` up to `last`, if they came before block `since`. Returns
        the number up to which nothing is left to send.
        """
        if after >= last:
            return after
        numbers = list(self._offers)
        for number in numbers[bisect_right(numbers, after) : bisect_right(numbers, last)]:
            offer = self._offers[number]
            if offer.left_at or offer.since > since:
                continue
            if not self._has_sent(peer, offer, limit):
                return number - 1
        return last

    def _has_sent(self, peer: Peer, offer: OfferedTransaction, limit: Quota) -> bool:
        """Send an offer, or skip one that expires; `False` if it has to wait."""
        core, transaction = self._core, offer.transaction
        if transaction.expiration <= core.now + MARGIN_SECONDS:
            return True
        if core.room(peer.id) <= 0 or not limit.spend(offer.cost, core.now):
            return False
        core.send_frame(peer, TransactionMessage.NUMBER, pack_frame(TransactionMessage.NUMBER, transaction.packed))
        return True

    def _has_room(self, transaction: Transaction) -> bool:
        settings, size = self._core.settings, len(transaction.packed)

        def is_fitting() -> bool:
            return len(self._offers) < settings.mempool_max_tx and self._bytes + size <= settings.mempool_max_bytes

        if not is_fitting():
            for offer in [offer for offer in self._offers.values() if offer.left_at]:
                self._drop(offer.transaction.id)
        return is_fitting()

    def _review(self) -> None:
        if not self._offers:
            return
        chain = self._core.chain
        waiting = chain.waiting_ids()
        head, irreversible = chain.head_number, chain.lib_number
        for transaction_id, number in list(self._numbers.items()):
            offer = self._offers[number]
            if transaction_id in waiting:
                offer.left_at = 0
            elif not offer.left_at:
                offer.left_at = head
            has_left = 0 < offer.left_at <= irreversible
            if has_left or offer.transaction.expiration <= self._core.now:
                self._drop(transaction_id)

    def _drop(self, transaction_id: TransactionId) -> None:
        number = self._numbers.pop(transaction_id, None)
        if number is not None:
            self._bytes -= len(self._offers.pop(number).transaction.packed)
