"""A node of a chain in a test: requests, blocks, time, snapshots, transactions. Of others it knows nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ledgerd.basics.closing import Closing
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.time_text import parse_time_text, time_text
from ledgerd.testing.accounts import KeyedAccount, KnownAccounts, agent_keys, creation
from ledgerd.testing.errors import NodeFailed
from ledgerd.testing.markets import Market, open_market
from ledgerd.testing.requests import Requests
from ledgerd.testing.running.process import NodeProcess
from ledgerd.testing.sending import Sending, Signer, as_json, signed_transaction

if TYPE_CHECKING:
    from ledgerd.sdk.amounts import Viz

LIFETIME, LIFETIMES = 600, 2_400
"""Seconds until a transaction expires: from the first on, so many others, lest two that are equal have one id."""

NOTHING = "0.000 VIZ"


class ChainHead(NamedTuple):
    """The head of a chain."""

    number: int
    time: int
    """Seconds since 1970, by the chain's clock."""
    id: str


class Receipt(NamedTuple):
    """A transaction that is in a block."""

    id: str
    block: int


class ChainNode(Closing):
    """One node of a chain whose time and blocks the test makes.

    Each transaction has a block at once. No time passes between two blocks but what `travel` lets pass, so a test runs
    the same at any hour and on any machine.
    """

    def __init__(self, process: NodeProcess, accounts: KnownAccounts) -> None:
        self._process = process
        self.accounts = accounts
        """The accounts whose keys are known, by name: `chain.accounts["alice"].active`."""
        listening = process.listening()
        self.url = f"http://127.0.0.1:{listening.http}"
        """The URL at which the node answers JSON-RPC over HTTP, to any client in any language."""
        self.websocket_url = f"ws://127.0.0.1:{listening.websocket}"
        self._requests = Requests(self.url)
        self._sent = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url})"

    # -- reading

    def call(self, api: str, method: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON, whose form the test knows
        """The result of a request, such as `call("database_api", "get_block", 5)`. `RequestRefused`: the node
        answers with an error.
        """
        try:
            return self._requests.call(api, method, *arguments)
        except NodeFailed as problem:
            raise NodeFailed(f"{problem}; the last lines of the node's log:\n{self._process.log_since()}") from None

    @property
    def head(self) -> ChainHead:
        found = self._properties()
        return ChainHead(found["head_block_number"], parse_time_text(found["time"]), found["head_block_id"])

    @property
    def irreversible(self) -> int:
        """The number of the last irreversible block; without a fork it is that of the head."""
        return int(self._properties()["last_irreversible_block_num"])

    def _properties(self) -> Any:  # noqa: ANN401 - JSON of the API
        return self.call("database_api", "get_dynamic_global_properties")

    @property
    def agents(self) -> dict[str, str]:
        """The private keys of the agents that the chain begins with, by name."""
        return agent_keys()

    def account(self, name: str) -> Any:  # noqa: ANN401 - the record of the API
        """The account as the API gives it. `KeyError`: there is none."""
        found = self.call("database_api", "get_accounts", [str(name)])
        if not found:
            raise KeyError(name)
        return found[0]

    def balance(self, name: str) -> str:
        """The balance of an account, as `"10000.000 VIZ"`."""
        return str(self.account(name)["balance"])

    def block_id(self, number: int) -> str:
        """The id of a block; empty if there is none."""
        head = self.head
        if number >= head.number:
            return head.id if number == head.number else ""
        return str(self.call("database_api", "get_block_header", number + 1)["previous"])

    def operations(self, block: int) -> list[tuple[str, dict[str, Any]]]:
        """All operations of a block with their fields, those of the chain itself among them."""
        rows = self.call("operation_history", "get_ops_in_block", block, False)
        return [(row["op"][0], row["op"][1]) for row in rows]

    def time_in(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> str:
        """A time so long after the head block's, as operations have it: `"2030-01-31T12:00:00"`."""
        return time_text(self.head.time + _seconds(days, hours, minutes, seconds))

    # -- blocks and time

    def produce(self, blocks: int = 1) -> ChainHead:
        """Make so many blocks, three seconds of the chain apart."""
        self.call("dev_api", "mine_blocks", blocks)
        return self.head

    def travel(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> ChainHead:
        """Let so much time pass, and make a block then."""
        passing = _seconds(days, hours, minutes, seconds)
        if passing < 0:
            raise ValueError(f"travel goes forward only, not by {passing} seconds: snapshot() is what goes back")
        self.call("dev_api", "move_time", passing)
        return self.head

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Whatever happens to the chain within `with` is undone at its end: blocks, time, accounts, even what is
        irreversible. Snapshots may be nested.
        """
        number = self.take_snapshot()
        accounts = self.accounts.copy()
        try:
            yield
        finally:
            self.revert(number, accounts)

    def take_snapshot(self) -> int:
        number: int = self.call("dev_api", "snapshot")["snapshot"]
        return number

    def revert(self, number: int, accounts: KnownAccounts) -> None:
        """Go back to a snapshot, which stays; later ones are gone."""
        self.call("dev_api", "revert", number)
        self.accounts = accounts.copy()

    # -- transactions

    def send(self, *operations: Sending, by: Signer | list[Signer] | tuple[Signer, ...] = ()) -> Receipt:
        """Send operations in one transaction, which gets a block at once. `RequestRefused`: it breaks a rule.

        An operation is a record of `ledgerd.protocol`, or its name and fields: `("award", {...})`.
        It is signed with the keys of those whom the operations need, or by those who are named: accounts, or private
        keys as WIF texts.
        """
        found = self._properties()
        self._sent += 1
        expiration = parse_time_text(found["time"]) + LIFETIME + self._sent % LIFETIMES
        # Of a block that no fork undoes, so that the transaction is valid on either branch.
        reference = BlockId(bytes.fromhex(found["last_irreversible_block_id"]))
        signers = [by] if isinstance(by, str) else list(by)
        transaction = signed_transaction(reference, expiration, operations, self.accounts, signers)
        confirmed = self.call("network_broadcast_api", "broadcast_transaction_synchronous", as_json(transaction))
        return Receipt(confirmed["id"], confirmed["block_num"])

    def transfer(self, sender: str, recipient: str, amount: Viz | str, memo: str = "") -> Receipt:
        """Transfer an amount, such as `"1.000 VIZ"`."""
        fields = {"from": str(sender), "to": str(recipient), "amount": str(amount), "memo": memo}
        return self.send(("transfer", fields))

    def new_account(self, name: str, balance: Viz | str = NOTHING, stake: Viz | str = NOTHING) -> KeyedAccount:
        """Make an account with keys of its own, so many tokens, and so many more turned into shares."""
        account = KeyedAccount.with_password(name)
        self.send(*creation(account, str(balance), str(stake)))
        self.accounts.add(account)
        return account

    # -- prediction markets

    def market(
        self,
        creator: str = "alice",
        outcomes: Sequence[str] = ("Yes", "No"),
        *,
        oracle: str = "oracle",
        betting: int = 600,
        **fields: object,
    ) -> Market:
        """Open a market, on which bets are taken for so many seconds; other fields of `pm_create_market` by name.

        The account `oracle` takes every market at once. That of another oracle may wait for `pm_oracle_accept_market`.
        """
        return open_market(self, (creator, oracle), outcomes, betting, fields)

    def oracle(self, account: str, insurance: str = "5000.000 VIZ", **fields: object) -> None:
        """Register an account as an oracle that takes every market; fields of `pm_oracle_register` by name."""
        registered = {"owner": account, "insurance": insurance, "fee_percent": 100, "fixed_fee": NOTHING}
        self.send(("pm_oracle_register", registered | {"rules_url": "", "auto_accept": True} | fields))

    # -- the process

    @property
    def folder(self) -> Path:
        """The folder of the chain and its log; it is gone when the node has ended."""
        return self._process.folder

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    def log_size(self) -> int:
        return self._process.log_size()

    def log_since(self, offset: int = 0) -> str:
        """The last lines of the node's log, of those after an offset."""
        return self._process.log_since(offset)

    def close(self) -> None:
        self._requests.close()
        self._process.close()


def _seconds(days: float, hours: float, minutes: float, seconds: float) -> int:
    return round(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
