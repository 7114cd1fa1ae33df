"""Those who pay: proposals inside proposals, of many approvals, and without end; and clients who ask what all ask."""

from __future__ import annotations

from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate, ProposalUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.attack.forging import call_body, json_of, paid, post
from tests.attack.kind import PeerKind
from tests.attack.kinds.requests import ClientKind

DEPTH, INSIDE = 2, 40
A_DAY = 86_400


class Proposals(ClientKind):
    """Proposals without end, each with another inside and many operations, then approved by its author."""

    name, listens, pause = "proposals", 3.0, 1.0
    made_before = 40

    def prepare(self) -> None:
        """Signed by accounts whose key everybody knows."""
        self._made: list[bytes] = []
        for number in range(self.made_before):
            author = self.aim.holders[(self.number + number) % len(self.aim.holders)]
            title = f"{self.number}-{number}"
            for operation in (self._nested(author, title), _approval(author, title)):
                salt = self.number * self.made_before + number
                transaction = json_of(Transaction, paid(self.aim, author, operation, salt=salt))
                self._made.append(post(call_body("network_broadcast_api", "broadcast_transaction", transaction)))

    def _nested(self, author: str, title: str) -> Operation:
        """Transfers of every holder, in a proposal within a proposal."""
        holders = self.aim.holders
        inside: list[Operation] = [
            Transfer(AccountName(holders[place % len(holders)]), AccountName(author), tokens(1 + place), "")
            for place in range(INSIDE)
        ]
        for depth in range(DEPTH):
            inside = [
                ProposalCreate(
                    AccountName(author),
                    f"{title}-{depth}" if depth < DEPTH - 1 else title,
                    "",
                    self.aim.head_time + A_DAY,
                    tuple(OperationWrapper(each) for each in inside),
                    None,
                    (),
                )
            ]
        return inside[0]

    def requests(self) -> list[bytes]:
        """The next ten."""
        first = 10 * self.rounds
        return self._made[first : first + 10]


def _approval(author: str, title: str) -> Operation:
    name = AccountName(author)
    return ProposalUpdate(name, title, (name,), (), (), (), (), (), (), (), ())


class OrdinaryPeers(PeerKind):
    """For comparison: peers that greet, listen and read everything that they are sent."""

    name, row, stays, is_hostile = "ordinary-peers", "compare", 20.0, False


class OrdinaryClients(ClientKind):
    """For comparison: clients that ask what published clients ask, and read the answers."""

    name, row, listens, is_hostile = "ordinary-clients", "compare", 1.0, False

    def requests(self) -> list[bytes]:
        """A page of a wallet."""
        asked = [
            call_body("database_api", "get_dynamic_global_properties"),
            call_body("database_api", "get_accounts", list(self.aim.holders[:10])),
            call_body("account_history", "get_account_history", self.aim.holders[0], -1, 20),
            call_body("database_api", "get_block", self.aim.head_number),
        ]
        return [post(body) for body in asked] * 5
