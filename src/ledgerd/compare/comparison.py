"""The comparison of two nodes: blocks, supply, schedule, accounts and random reads, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import FoundDifference, Pair, head_of, require_block
from ledgerd.compare.blocks import compare_blocks, keeps_all
from ledgerd.compare.node import AnsweringNode, NotComparable
from ledgerd.compare.reads import Read, SeenValues, comparable, random_read
from ledgerd.rpc.call.declarations import Api, Method

NAMES_A_PAGE = 1_000
ACCOUNTS_A_PAGE = 100

MOST_ACCOUNTS = 10_000_000
"""Nodes that name more would never come to an end."""
LONGEST_NAME = 64
"""Characters of a name; one of an account has fewer."""

BLOCKS_FOR_TRANSACTIONS = 50

HISTORIES = frozenset({"account_history", "operation_history", "custom_protocol_api", "block_info", "account_by_key"})
"""APIs that answer from what a node has seen since it began: compared where both have every block."""

STATE = (
    Read("database_api", "get_dynamic_global_properties", []),
    Read("validator_api", "get_validator_schedule", []),
    Read("validator_api", "get_active_validators", []),
    Read("database_api", "get_chain_properties", []),
    Read("database_api", "get_hardfork_version", []),
    Read("database_api", "get_next_scheduled_hardfork", []),
    Read("database_api", "get_account_count", []),
)


class Scope(NamedTuple):
    """How much is compared."""

    seed: int
    reads: int
    """Random reads of each API."""
    skipped: frozenset[str] = frozenset()


class Comparison:
    """One comparison, stage by stage; each stage prints a line at its end."""

    def __init__(self, pair: Pair, apis: Sequence[Api], scope: Scope, report: Callable[[str], None]) -> None:
        self._pair = pair
        self._methods = {name: each for name, each in comparable(apis).items() if name not in scope.skipped}
        self._scope = scope
        self._random = Random(scope.seed)  # noqa: S311 - a seed that is printed, so that a run can be repeated
        self._report = report
        self._seen = SeenValues(0)
        self.irreversible = 0
        """The highest block that is irreversible at both when the comparison begins."""
        self.id = ""

    def run(self) -> FoundDifference | None:
        self._compare_versions()
        heads = []
        for node in self._nodes:
            head = head_of(node)
            require_block(node, head)
            heads.append(head)
        self.irreversible = min(head.irreversible for head in heads)
        stages = (self._blocks, self._state, self._accounts, self._reads)
        return next((found for stage in stages if (found := stage()) is not None), None)

    @property
    def _nodes(self) -> tuple[AnsweringNode, AnsweringNode]:
        return self._pair.first, self._pair.second

    def _compare_versions(self) -> None:
        first, second = (node.value("database_api", "get_config") for node in self._nodes)
        for name in ("CHAIN_ID", "CHAIN_NAME"):
            if _field(first, name) != _field(second, name):
                raise NotComparable(
                    f"the nodes are of different chains: {name} is {_field(first, name)} at {self._pair.first.url}, "
                    f"{_field(second, name)} at {self._pair.second.url}"
                )
        one, other = _field(first, "CHAIN_VERSION"), _field(second, "CHAIN_VERSION")
        self._pair.allows_one_sided = one != other
        if one != other:
            self._report(f"the versions differ, {one} and {other}: fields that one alone answers are listed at the end")

    def _blocks(self) -> FoundDifference | None:
        compared = compare_blocks(self._pair, self.irreversible)
        if compared.found is not None:
            return compared.found
        self.id = compared.id
        self._seen = SeenValues(self.irreversible, compared.first)
        self._report(f"blocks {compared.first:,} to {self.irreversible:,}: the same ids")
        return None

    def _state(self) -> FoundDifference | None:
        left_out = []
        for read in STATE:
            if read.api in self._scope.skipped or not self._pair.has(read):
                left_out.append(read.method)
                continue
            compared = self._pair.compare(read)
            if compared.found is not None:
                return compared.found
        beside = f", but for what was not asked of both: {', '.join(left_out)}" if left_out else ""
        self._report(f"supply, schedule, properties, hardforks: equal{beside}")
        return None

    def _accounts(self) -> FoundDifference | None:
        """Every account, by pages of names; `lookup_accounts` begins with the last name of the page before."""
        after, count = "", 0
        while True:
            page = self._pair.compare(Read("database_api", "lookup_accounts", [after, NAMES_A_PAGE]))
            if page.found is not None:
                return page.found
            given = page.value
            if not isinstance(given, list):
                raise NotComparable("neither node gives the names of accounts (database_api.lookup_accounts)")
            names = [str(name) for name in given if name != after]
            _require_onward(after, names)
            for start in range(0, len(names), ACCOUNTS_A_PAGE):
                batch = names[start : start + ACCOUNTS_A_PAGE]
                accounts = self._pair.compare(Read("database_api", "get_accounts", [batch]))
                if accounts.found is not None:
                    return accounts.found
                for account in accounts.value if isinstance(accounts.value, list) else []:
                    self._seen.add_account(account)
            count += len(names)
            if count > MOST_ACCOUNTS:
                raise NotComparable(f"the nodes name more than {MOST_ACCOUNTS:,} accounts")
            if len(given) < NAMES_A_PAGE or not names:
                break
            after = names[-1]
        self._report(f"{count:,} accounts: equal")
        return None

    def _reads(self) -> FoundDifference | None:
        self._find_transactions()
        for api, methods in self._methods.items():
            if api in HISTORIES and not all(map(keeps_all, self._nodes)):
                self._report(f"{api}: not compared, since one of the nodes does not have every block")
                continue
            asked = 0
            shared = [each for each in methods if self._is_shared(each)]
            for read in self._made(shared):
                found = self._pair.compare(read).found
                if found is not None:
                    return found
                asked += 1
            self._report(
                f"{api}: {asked:,} reads of {len(shared)} methods are equal" if shared else f"{api}: not at both"
            )
        return None

    def _is_shared(self, method: Method) -> bool:
        read = random_read(method, self._seen, self._random)
        return read is not None and self._pair.has(read)

    def _made(self, methods: Sequence[Method]) -> Iterator[Read]:
        for _ in range(self._scope.reads if methods else 0):
            read = random_read(self._random.choice(methods), self._seen, self._random)
            if read is not None:
                yield read

    def _find_transactions(self) -> None:
        """Ids of transactions, for the reads that take one; only the first node is asked."""
        for _ in range(BLOCKS_FOR_TRANSACTIONS):
            number = self._seen.block(self._random)
            answer = self._pair.first.ask("operation_history", "get_ops_in_block", [number, False])
            if answer.is_missing:
                return
            for operation in answer.value if isinstance(answer.value, list) else []:
                self._seen.add_transaction(operation)


def _require_onward(after: str, names: list[str]) -> None:
    """Require names in order, since pages that go back would never end, and none that is too long."""
    if any(len(name) > LONGEST_NAME for name in names):
        raise NotComparable(f"what the nodes name after {after!r} is no name of an account")
    if any(one >= other for one, other in pairwise([after, *names])):
        raise NotComparable(f"the names of accounts after {after!r} are not in order at either node")


def _field(config: Json, name: str) -> Json:
    return config.get(name) if isinstance(config, dict) else None
