"""What a model of the reference node's peer protocol stands on: connections, chain, marks and pushes (spec 04)."""

from __future__ import annotations

from ledgerd.chain.chain import Chain
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.wire.frames import FrameReader
from ledgerd.p2p.wire.messages import NO_NODE, SYNC, Message, NodeId, SoftBan, TransactionMessage
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId

HANDSHAKING, SYNCING, ACTIVE = range(3)
KNOWN_BLOCKS = 20


class Record:
    """What the reference keeps of one connection (section 6.1)."""

    def __init__(self, number: int, now: float) -> None:
        self.id = number
        self.state = HANDSHAKING
        self.since = now
        self.node_id = NO_NODE
        self.head_id, self.head_number = NO_BLOCK, 0
        self.earliest = self.latest = 0
        self.node_status = SYNC
        self.exchange = False
        self.strikes = self.most_strikes = 0
        self.expected = 0
        self.batch_at: float | None = None
        self.fork_batches = 0
        self.known: list[BlockId] = []
        self.reader = FrameReader()

    @property
    def is_live(self) -> bool:
        return self.state in (SYNCING, ACTIVE)


class ReferenceGround:
    """Connections and chain of one reference node."""

    def __init__(self, chain: Chain, name: bytes, now: float, *, serves_log: bool) -> None:
        self.chain = chain
        self.access = ChainAccess(chain, now)
        self.node_id = NodeId(b"\2" + name.ljust(32, b"\0"))
        self.now = now
        self.serves_log = serves_log
        """Whether it runs pruned (DLT mode): then it serves its log, and else only its fork database (section 5)."""
        self.records: dict[int, Record] = {}
        self.out: list[tuple[int, bytes]] = []
        self.closed: list[tuple[int, str]] = []
        self.mempool: set[bytes] = set()

    # -- where it stands (section 5)

    @property
    def head(self) -> int:
        return self.access.head_number

    @property
    def lib(self) -> int:
        return self.access.lib_number

    @property
    def earliest(self) -> int:
        return self.access.earliest if self.serves_log else 0

    @property
    def latest(self) -> int:
        return self.lib if self.serves_log else self.head

    def read(self, number: int) -> bytes | None:
        """Of several blocks of a height the one that came first; the full log is never looked at."""
        if self.serves_log and 0 < number <= self.lib:
            return self.access.read(number)
        items = self.chain.parts.forks.items_at(number)
        return items[0].block.packed if items else None

    # -- peers, their marks, and what is pushed to them (sections 11.1, 17)

    def live(self) -> list[Record]:
        return [record for record in self.records.values() if record.is_live]

    def to_all(self, frame: bytes, exclude: Record | None, block_id: BlockId | None) -> None:
        met = set()
        for record in self.records.values():
            if record is exclude or record.state != ACTIVE or not record.exchange or record.node_id in met:
                continue
            if record.node_status == SYNC if block_id is None else block_id in record.known:
                continue
            met.add(record.node_id)
            self.frame(record, frame)
            if block_id is not None:
                self.knows(record, block_id)

    def knows(self, record: Record, block_id: BlockId) -> None:
        record.known = [*record.known, block_id][-KNOWN_BLOCKS:]

    def good(self, record: Record) -> None:
        record.strikes = 0

    def strike(self, record: Record) -> None:
        record.strikes += 1
        record.most_strikes = max(record.most_strikes, record.strikes)
        if record.strikes >= 10:
            self.ban(record, "spam strike threshold exceeded")

    def ban(self, record: Record, reason: str) -> None:
        self.send(record, SoftBan(3600, reason))
        self.close(record, reason)

    def close(self, record: Record, reason: str) -> None:
        self.records.pop(record.id, None)
        self.closed.append((record.id, reason))

    def send(self, record: Record, message: Message) -> None:
        self.frame(record, message.frame)

    def frame(self, record: Record, frame: bytes) -> None:
        self.out.append((record.id, frame))

    # -- transactions (section 15)

    def send_transaction(self, transaction: Transaction) -> None:
        """A transaction of its own."""
        self.mempool.add(transaction.id)
        self.to_all(TransactionMessage(transaction).frame, None, None)

    def transaction(self, record: Record, message: TransactionMessage) -> None:
        transaction = message.trx
        if transaction.id in self.mempool:
            return
        if not int(self.now) <= transaction.expiration <= int(self.now) + 86_400 or len(transaction.packed) > 65_536:
            self.strike(record)
            return
        if not self.access.is_anchored(transaction):
            return
        self.mempool.add(transaction.id)
        self.to_all(message.frame, record, None)
        self.access.accept_transaction(transaction)
