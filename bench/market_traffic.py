"""Mixed traffic for a node over a large state of markets (`market_rows`), as clients send it: over HTTP, one by one."""

from __future__ import annotations

import http.client
import json
from calendar import timegm
from collections import Counter
from time import strptime
from typing import Any

from bench.market_plan import DAY, Scale, outcomes_of, scatter, stake_of
from bench.market_rows import member
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.bets import PmCancelBet, PmCommitBet, PmPlaceBet
from ledgerd.protocol.operations.markets.leverage import PmLeverageOpen
from ledgerd.protocol.operations.markets.liquidity import PmAddLiquidity, PmLazyDeposit
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId, Commitment
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import VIZ_KEY
from tests.node.processes import NodeProcess
from tests.sim.market_grounds import open_market

OPERATIONS_A_BLOCK = 10
LIFETIME = 1_800
PATIENCE = 60.0
STAKE = 2_000

QUESTIONS: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("database_api", "get_accounts", (["viz", "committee"],)),
    ("database_api", "lookup_accounts", ("member-5", 50)),
    ("database_api", "get_block", (5,)),
    ("operation_history", "get_ops_in_block", (20, False)),
    ("validator_api", "get_validators_by_vote", ("", 10)),
)


class Traffic:
    """Sends transactions and questions to a node of `ledgerd dev`, and asks it for blocks."""

    def __init__(self, node: NodeProcess, scale: Scale) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", node.port(), timeout=PATIENCE)
        self._scale = scale
        self.taken: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        """By what the node said."""
        self.answers = 0

    def block(self, number: int) -> None:
        """Transactions and questions, then the block that takes them in."""
        head = self._ask("database_api", "get_dynamic_global_properties")
        head_id = BlockId(bytes.fromhex(head["head_block_id"]))
        now = timegm(strptime(head["time"], "%Y-%m-%dT%H:%M:%S"))
        for place in range(OPERATIONS_A_BLOCK):
            turn = number * OPERATIONS_A_BLOCK + place
            self._send(head_id, now, self._operation(turn, place, now))
            api, method, arguments = QUESTIONS[turn % len(QUESTIONS)]
            self._ask(api, method, *arguments)
            self._ask("database_api", "get_accounts", [member(scatter(turn, 30) % self._scale.accounts)])
            self.answers += 2
        self._ask("dev_api", "mine_blocks", 1)

    def _send(self, head_id: BlockId, now: int, operation: Operation) -> None:
        draft = unsigned_transaction(head_id, now + LIFETIME, (operation,))
        text = codec_of(Transaction).to_json(draft.signed(TESTNET.chain_id, [VIZ_KEY]))
        error = self._call("network_broadcast_api", "broadcast_transaction", json.loads(text)).get("error")
        if error is None:
            self.taken[type(operation).__name__] += 1
        else:
            self.refused[f"{type(operation).__name__}: {error['message']}"] += 1

    def _ask(self, api: str, method: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON of any kind
        answer = self._call(api, method, *arguments)
        if "error" in answer:
            raise ValueError(f"{api}.{method}: {answer['error']}")
        return answer["result"]

    def _call(self, api: str, method: str, *arguments: object) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "method": "call", "params": [api, method, arguments], "id": 1}
        self._connection.request("POST", "/", json.dumps(body))
        found: dict[str, Any] = json.loads(self._connection.getresponse().read())
        return found

    def _operation(self, turn: int, place: int, now: int) -> Operation:
        """Mostly bets."""
        scale = self._scale
        account = member(scatter(turn, 31) % scale.accounts)
        market = scale.due + scatter(turn, 32) % scale.markets
        match place:
            case 0:
                return Transfer(account, member(scatter(turn, 33) % scale.accounts), tokens(1 + turn), "")
            case 1:
                number = scatter(turn, 34) % scale.bets
                return PmCancelBet(member(stake_of(number, scale).account), number, 0, ())
            case 2:
                ends: dict[str, Any] = {"betting_expiration": now + DAY, "result_expiration": now + 2 * DAY}
                return open_market(account, account, now, 2 + turn // OPERATIONS_A_BLOCK % 2, **ends)
            case 3:
                return _fourth(turn, account, market, scale)
            case _:
                outcomes = outcomes_of(market)
                chosen = scatter(turn, 35) % outcomes
                side, outcome = (chosen, -1) if outcomes == 2 else (-1, chosen)
                return PmPlaceBet(account, market, side, outcome, tokens(STAKE + turn), 0, 0, ())


def _fourth(turn: int, account: AccountName, market: int, scale: Scale) -> Operation:
    """What is rarer: one of five in turn."""
    match turn // OPERATIONS_A_BLOCK % 5:
        case 0:
            return PmLazyDeposit(account, tokens(100_000), ())
        case 1:
            return PmAddLiquidity(account, market, tokens(1_000_000), ())
        case 2:
            return PmCommitBet(account, market, Commitment(turn.to_bytes(32, "big")), tokens(5_000), 2_000, ())
        case 3:
            binary = market - market % 10 if market % 10 >= 7 or market % 1_000 == 999 else market
            return PmLeverageOpen(account, max(scale.due, binary), 0, tokens(100_000), tokens(100_000), 0, 10, ())
        case _:
            return TransferToVesting(account, account, tokens(10_000))
