"""What is asked of accounts that list each other: transfers with wrong keys, valid ones, proposals, and questions."""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.p2p.wire.messages import TransactionMessage
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate, ProposalUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.protocol.types.names import AccountName
from tests.attack.aim import Aim
from tests.attack.forging import call_body, json_of, paid, post
from tests.attack.kind import PeerKind
from tests.attack.kinds.requests import ClientKind
from tests.chain.webs import MASTER, STRANGER, key_in_web

MADE, A_ROUND = 60, 10
"""Transactions of an attacker, and those that it sends in a round."""
TRANSFERS = 130
PROPOSED = 6
"""Proposals of an attacker: with those of all others they leave room in the blocks, which whoever pays may fill."""
A_DAY = 86_400


def signed(aim: Aim, salt: int, operations: Iterable[Operation], key: PrivateKey, lifetime: int = 2_000) -> Transaction:
    """A transaction of accounts of the web; its salt makes it another one."""
    draft = unsigned_transaction(aim.head, aim.head_time + lifetime + salt % 600, tuple(operations))
    return draft.signed(ChainId(bytes.fromhex(aim.chain_id)), [key])


def gifts(aim: Aim, salt: int, count: int = 1) -> list[Operation]:
    """Transfers of as many accounts of the web, each of another amount."""
    names = [AccountName(aim.web[(salt + place) % len(aim.web)]) for place in range(count)]
    return [Transfer(name, name, tokens(1 + salt), "") for name in names]


def false_ones(aim: Aim, first: int) -> list[Transaction]:
    """Single transfers with a wrong key; each fourth has expired."""
    salts = range(first, first + MADE)
    return [signed(aim, salt, gifts(aim, salt), STRANGER, lifetime=2_000 if salt % 4 else -2_000) for salt in salts]


def valid_ones(aim: Aim, first: int) -> list[Transaction]:
    """Valid transactions of 130 transfers, whose members are all asked in vain before the master key counts."""
    return [signed(aim, salt, gifts(aim, salt, TRANSFERS), MASTER) for salt in range(first, first + MADE)]


def broadcast(transaction: Transaction) -> bytes:
    """As a client sends it."""
    return post(call_body("network_broadcast_api", "broadcast_transaction", json_of(Transaction, transaction)))


class WebOfClients(ClientKind):
    """Transfers of accounts that list each other, with a wrong key; some have expired."""

    name, listens, needs_web = "web-client", 3.0, True

    def prepare(self) -> None:
        """Sixty, for rounds of ten."""
        self._made = [broadcast(each) for each in false_ones(self.aim, MADE * self.number)]

    def requests(self) -> list[bytes]:
        """The next ten."""
        first = A_ROUND * self.rounds % MADE
        return self._made[first : first + A_ROUND]


class WebOfPeers(PeerKind):
    """The same by peers."""

    name, needs_web = "web-peer", True

    def prepare(self) -> None:
        """Sixty, for rounds of ten."""
        first = MADE * (1_000 + self.number)
        self._made = [TransactionMessage(each).frame for each in false_ones(self.aim, first)]

    def frames(self) -> list[bytes]:
        """The next ten."""
        first = A_ROUND * self.rounds % MADE
        return self._made[first : first + A_ROUND]


class WebPayments(WebOfClients):
    """Valid transactions of 130 transfers by accounts that list each other."""

    name = "web-payments"

    def prepare(self) -> None:
        """The same number."""
        self._made = [broadcast(each) for each in valid_ones(self.aim, MADE * self.number)]


class WebPaymentsOfPeers(WebOfPeers):
    """The same by peers."""

    name = "web-payments-peer"

    def prepare(self) -> None:
        """The same number."""
        first = MADE * (1_000 + self.number)
        self._made = [TransactionMessage(each).frame for each in valid_ones(self.aim, first)]


class WebQuestions(ClientKind):
    """Questions about who could sign, and whether those suffice who have."""

    name, listens, needs_web = "web-questions", 5.0, True

    def prepare(self) -> None:
        """Four questions about each of a few accounts."""
        self._made: list[bytes] = []
        for salt in range(A_ROUND):
            (gift,) = gifts(self.aim, salt + self.number)
            asked = json_of(Transaction, signed(self.aim, salt, [gift], STRANGER))
            key = public_key_text(STRANGER.public)
            questions = (
                ("get_potential_signatures", asked),
                ("verify_authority", asked),
                ("get_required_signatures", asked, [key]),
                ("verify_account_authority", self.aim.web[salt], [key]),
            )
            self._made += [post(call_body("database_api", *each)) for each in questions]

    def requests(self) -> list[bytes]:
        """All of them."""
        return self._made


class WebProposals(ClientKind):
    """Proposals of transfers by accounts that list each other, and keys of a few of them as approvals."""

    name, listens, pause, needs_web = "web-proposals", 3.0, 1.0, True

    def prepare(self) -> None:
        """Signed by accounts whose key everybody knows."""
        self._made: list[bytes] = []
        for number in range(PROPOSED):
            author = self.aim.holders[(self.number + number) % len(self.aim.holders)]
            salt, title = self.number * PROPOSED + number, f"web {self.number}-{number}"
            for operation in (self._proposal(author, title, salt), self._approval(author, title, salt)):
                self._made.append(broadcast(paid(self.aim, author, operation, salt=salt)))

    def _proposal(self, author: str, title: str, salt: int) -> Operation:
        wrapped = tuple(OperationWrapper(each) for each in gifts(self.aim, salt, A_ROUND))
        return ProposalCreate(AccountName(author), title, "", self.aim.head_time + A_DAY, wrapped, None, ())

    def _approval(self, author: str, title: str, salt: int) -> Operation:
        keys = {key_in_web(AccountName(name)).public for name in self.aim.web[salt % 50 : salt % 50 + A_ROUND]}
        return ProposalUpdate(AccountName(author), title, (), (), (), (), (), (), tuple(sorted(keys)), (), ())

    def requests(self) -> list[bytes]:
        """All of them."""
        return self._made
