"""A node whose peers a test plays."""

from __future__ import annotations

from itertools import count
from random import Random

from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.shared.actions import Close, Dial, Send
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.frames import FrameReader
from ledgerd.p2p.wire.messages import Hello, HelloReply, Message, NodeId, read_message
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.p2p.receiving import receive_all

OWN_ID = NodeId(b"\2" + bytes(31) + b"\1")


class Talk:
    """A scripted conversation: sends messages to a node, and collects its answers and actions."""

    def __init__(self, chain: Chain, settings: Settings | None = None) -> None:
        self.chain = chain
        self.now = float(chain.head_time + 3)
        random = Random(1)  # noqa: S311 - the same in every run
        self.network = NetworkState(ChainAccess(chain, self.now), settings or Settings(), OWN_ID, random, self.now)
        self.sent: dict[int, list[Message]] = {}
        self.closed: dict[int, str] = {}
        self.dialled: dict[int, Endpoint] = {}
        self._hosts = count(1)

    def is_in(self, mode: Mode) -> bool:
        return self.network.core.mode is mode

    # -- what happens to it

    def accept(self, host: str = "") -> int | None:
        """An inbound connection, from a subnet of its own."""
        number = next(self._hosts)
        host = host or f"62.{number // 200}.{number % 200}.9"
        peer = self.network.accepted(self.now, Endpoint(host, 50_000 + number))
        self.look()
        return peer

    def meet(self, host: str = "", **hello: object) -> int:
        """A peer that stands where we do, or says that it stands elsewhere, and has shaken hands."""
        peer = self.accept(host)
        assert peer is not None
        self.say(peer, self.hello(peer, **hello))
        self.say(peer, HelloReply(True, True, NO_BLOCK, NO_BLOCK, 0, 0, 0, 1))
        return peer

    def hello(self, peer: int, **other: object) -> Hello:
        """The hello of a peer at our own height."""
        chain = self.chain
        hello = Hello(
            head_block_id=chain.head_id,
            head_block_num=chain.head_number,
            lib_block_num=chain.irreversible,
            dlt_latest_block=chain.head_number,
            node_status=Mode.FORWARD,
            node_id=NodeId(b"\3" + peer.to_bytes(32, "big")),
        )
        return replace(hello, **other)

    def say(self, peer: int, *messages: Message) -> list[Message]:
        """Send a message of a peer; returns the answers."""
        before = len(self.sent.get(peer, ()))
        for message in messages:
            self.send_bytes(peer, message.frame)
        return self.sent.get(peer, [])[before:]

    def send_bytes(self, peer: int, data: bytes) -> None:
        receive_all(self.network, self.now, peer, data)
        self.run_actions()

    def wait(self, seconds: float) -> None:
        """Time goes by, and the periodic task runs in it."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 5)
            self.network.tick(self.now)
            self.run_actions()

    def run_actions(self) -> None:
        """Let all work be done."""
        while self.network.work(self.now):
            self.look()
        self.look()

    def look(self) -> None:
        """Take down what it does."""
        for action in self.network.actions():
            match action:
                case Send(peer, _, frame):
                    reader = FrameReader()
                    reader.receive(frame, 0)
                    parsed = reader.next_frame(0)
                    assert parsed is not None
                    self.sent.setdefault(peer, []).append(read_message(parsed))
                case Close(peer, reason):
                    self.closed[peer] = reason
                case Dial(peer, endpoint):
                    self.dialled[peer] = endpoint
