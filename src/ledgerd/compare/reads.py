"""Random reads of every API, made from the declarations: a new method is there by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import NamedTuple

from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.declarations import Answering, Api, Method, Parameter

KEY_FIELDS = {"signing_key", "memo_key", "invite_key"}
HIGHEST_ID = 300
"""Ids of objects are asked for up to this one, where no answer told of any."""

MOST_SEEN = 500_000
"""Values of one kind that are remembered to ask for."""
LONGEST_SEEN = 64
"""Characters of a value; a key has 53."""

UNKNOWN = "nobody-has-this"


class SeenValues:
    """Names, keys, and the numbers of blocks and transactions."""

    def __init__(self, last_block: int, first_block: int = 1, most: int | None = None) -> None:
        self.names: list[str] = []
        self.keys: list[str] = []
        self.transactions: list[str] = []
        self._first = first_block
        self._last = last_block
        self._most = MOST_SEEN if most is None else most

    def move_to(self, first_block: int, last_block: int) -> None:
        """Record that both nodes have these blocks now."""
        self._first, self._last = first_block, last_block

    def add_account(self, account: Json) -> None:
        if not isinstance(account, dict):
            return
        self._add(self.names, account.get("name"))
        for field, value in account.items():
            if field in KEY_FIELDS:
                self._add(self.keys, value)
            elif isinstance(value, dict) and isinstance(value.get("key_auths"), list):
                self._add_weights(value["key_auths"])

    def _add_weights(self, weights: Json) -> None:
        for each in weights if isinstance(weights, list) else []:
            if isinstance(each, list) and each:
                self._add(self.keys, each[0])

    def add_transaction(self, operation: Json) -> None:
        name = operation.get("trx_id") if isinstance(operation, dict) else None
        if isinstance(name, str) and name.strip("0"):
            self._add(self.transactions, name)

    def name(self, random: Random) -> str:
        return random.choice(self.names) if self.names and random.random() < 0.95 else UNKNOWN

    def key(self, random: Random) -> str | None:
        return random.choice(self.keys) if self.keys else None

    def transaction(self, random: Random) -> str | None:
        return random.choice(self.transactions) if self.transactions else None

    def block(self, random: Random) -> int:
        return random.randint(self._first, max(self._first, self._last))

    def id(self, random: Random) -> int:
        """An id of an object; small ones are likelier to exist."""
        return random.randint(0, random.choice((3, 30, HIGHEST_ID)))

    def _add(self, values: list[str], value: Json) -> None:
        if isinstance(value, str) and len(value) <= LONGEST_SEEN and len(values) < self._most:
            values.append(value)


NOT_COMPARED = {
    "database_api.get_config": "constants of the program, compared by version at the beginning",
    "database_api.get_database_info": "the memory of the machine",
    "database_api.get_dynamic_global_properties": "asked at every comparison of heads",
    "prediction_market_api.get_market_kline": "kept since the start of the node that is asked",
    "prediction_market_api.get_market_meta": "kept since the start of the node that is asked",
    "prediction_market_api.get_market_categories": "counted since the start of the node that is asked",
    "prediction_market_api.get_category_tag_counts": "counted since the start of the node that is asked",
    "prediction_market_api.list_markets_by_category": "by metadata kept since the start of the node that is asked",
}
"""Reads that two sound nodes may answer differently, and why."""

Maker = Callable[[SeenValues, Random], object]


def _one_of(*values: object) -> Maker:
    return lambda _seen, random: random.choice(values)


def _keys(seen: SeenValues, random: Random) -> object:
    return [seen.key(random) for _ in range(random.randint(1, 3))] if seen.keys else None


NAME: Maker = SeenValues.name
KEY: Maker = SeenValues.key
ID: Maker = SeenValues.id
BLOCK: Maker = SeenValues.block

MAKERS: Mapping[str, Maker] = {
    "account": NAME,
    "block_num": BLOCK,
    "category": _one_of("", "sports", "crypto", "politics"),
    "collateral": _one_of(1, 1_000, 1_000_000),
    "count": _one_of(1, 2, 10),
    "creator": NAME,
    "custom_protocol_id": _one_of("V", "follow", "none"),
    "escrow_id": ID,
    "event": _one_of("", "e1"),
    "from": _one_of(0, 0, 1, 10, 100),
    "id": ID,
    "ids": lambda seen, random: [seen.id(random) for _ in range(random.randint(0, 10))],
    "invite_key": KEY,
    "key": KEY,
    "keys": _keys,
    "limit": _one_of(1, 2, 10, 50, 100),
    "lower_bound_name": NAME,
    "market": ID,
    "name_prefix": lambda seen, random: seen.name(random)[: random.randint(0, 2)],
    "names": lambda seen, random: [seen.name(random) for _ in range(random.randint(0, 20))],
    "offset": _one_of(0, 0, 1, 10),
    "only_virtual": _one_of(False, True),
    "open_only": _one_of(False, True),
    "oracle": NAME,
    "order": _one_of("newest", "oldest"),
    "outcome_index": _one_of(0, 1, 2),
    "owner": NAME,
    "position": ID,
    "request_id": ID,
    "sender": NAME,
    "show_risky": _one_of(False, True),
    "signers": _keys,
    "start_block_num": BLOCK,
    "status": _one_of(0, 1, 2, 3, 4, 5),
    "subscriber": NAME,
    "transaction_id": SeenValues.transaction,
    "votes_count": _one_of(-1, 0, 10),
}

BY_METHOD: Mapping[str, Maker] = {
    "account_history.get_account_history.from": _one_of(-1, -1, 10, 100),
    "database_api.get_expiring_vesting_delegations.start": _one_of("1970-01-01T00:00:00", "2030-01-01T00:00:00"),
    "database_api.get_key_history.start": _one_of(0, 1, 10),
    "database_api.get_proposed_transactions.start": _one_of(0, 1),
    "database_api.get_vesting_delegations.start": NAME,
    "database_api.get_vesting_delegations.type": _one_of("delegated", "received"),
    "database_api.get_withdraw_routes.type": _one_of("incoming", "outgoing", "all"),
    "validator_api.get_validators_by_counted_vote.start": NAME,
    "validator_api.get_validators_by_vote.start": NAME,
}
"""Values for parameters whose name alone does not say what they are, by method."""


class Read(NamedTuple):
    """A question for both nodes."""

    api: str
    method: str
    arguments: list[object]

    @property
    def words(self) -> str:
        return f"{self.api}.{self.method}({', '.join(map(repr, self.arguments))})"


def comparable(apis: Iterable[Api]) -> dict[str, list[Method]]:
    found: dict[str, list[Method]] = {}
    for api in apis:
        for method in api:
            if method.answering is Answering.AT_ONCE and method.full_name not in NOT_COMPARED and is_made(method):
                found.setdefault(api.name, []).append(method)
    return found


def is_made(method: Method) -> bool:
    """Whether arguments can be made for a method; not where it takes a whole transaction."""
    return not method.alias_of and all(maker_of(method, each) for each in method.parameters if each.is_required)


def maker_of(method: Method, parameter: Parameter) -> Maker | None:
    name = parameter.name.rstrip("_")
    return BY_METHOD.get(f"{method.full_name}.{name}") or MAKERS.get(name)


def random_read(method: Method, seen: SeenValues, random: Random) -> Read | None:
    """A random read of a method; None if the chain has not shown any value for an argument."""
    arguments: list[object] = []
    for parameter in method.parameters:
        maker = maker_of(method, parameter)
        if maker is None:
            break
        value = maker(seen, random)
        if value is None:
            return None
        arguments.append(value)
    return Read(method.api, method.name, arguments)
