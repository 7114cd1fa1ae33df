"""Random webs of authorities, and what is asked of them: each made from a number, and the same from the same number."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from ledgerd.protocol.authorities.authority_check import Accounts, Approvals, in_word_order
from ledgerd.protocol.authorities.authority_web import PRE_APPROVED, GetAuthority, Lookups
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountUpdate
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.base import Authorities
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NO_NAME, AccountName, text_order

ACCOUNTS = (1, 2, 3, 4, 4, 5, 6, 8, 12)
MANY_ACCOUNTS = 40
GHOST = AccountName("ghost")
"""An account that does not exist."""

A = AccountName("a")
OPERATIONS: tuple[Operation, ...] = (
    Transfer(A, A, tokens(1), ""),
    Custom((A,), (), "V", "{}"),
    AccountUpdate(A, None, None, None, NULL_KEY, ""),  # which no agent may sign
)


class RandomWeb:
    """Accounts with three authorities each, keys that signed, approvals and agents.

    Authorities are dense or sparse; names and keys few, so that cycles, chains and shared keys are common; thresholds
    are zero, low, just reached, and just not.
    """

    def __init__(self, number: int) -> None:
        self.random = random = Random(number)  # noqa: S311 - to be repeated
        count = MANY_ACCOUNTS if random.random() < 0.02 else random.choice(ACCOUNTS)
        names = [AccountName(f"n{place:02}") for place in range(count)]
        if random.random() < 0.3:
            names.append(PRE_APPROVED)
        self.names = sorted(names, key=text_order)
        self.all_keys = [PublicKey(bytes([2, *[0] * 31, place])) for place in range(random.choice((1, 2, 3, 5)))]
        self.density, self.key_density = random.choice((0.2, 0.5, 0.8, 1.0)), random.choice((0.05, 0.2, 0.5))
        self.most = random.choice((1, 1, 2, 3, 1_000))
        if count == MANY_ACCOUNTS:
            self.density = min(self.density, 0.5)
        self.members = [*self.names, *([NO_NAME] if random.random() < 0.02 else [])]
        self.tables = [{name: self.authority() for name in self.members} for _ in range(3)]
        self.keys = tuple(key for key in self.all_keys if random.random() < 0.6)
        self.fetched: set[tuple[int, AccountName]] = set()
        """The authorities that were looked up."""

    def authority(self) -> Authority:
        """Any one."""
        random = self.random
        accounts = {name: self._weight() for name in self.members if random.random() < self.density}
        keys = {key: self._weight() for key in self.all_keys if random.random() < self.key_density}
        if random.random() < 0.01:
            accounts[GHOST] = 1
        total = sum(accounts.values()) + sum(keys.values())
        threshold = random.choice((0, 1, 1, 1, 2, 3, total // 2, total, total + 1, random.randint(0, max(1, total))))
        ordered = {name: accounts[name] for name in sorted(accounts, key=text_order)}
        return Authority(threshold, ordered, keys)

    def _weight(self) -> int:
        return self.random.choice((0, 1, 1, self.random.randint(1, self.most)))

    def accounts(self, lookups: Lookups | None = None) -> Accounts:
        """The way of looking them up."""

        def getter(place: int) -> GetAuthority:
            def get(name: AccountName) -> Authority:
                self.fetched.add((place, name))
                if name not in self.tables[place]:
                    raise RuleViolation("unknown key: ")
                return self.tables[place][name]

            return get

        return Accounts(getter(0), getter(1), getter(2), lookups)

    def some_names(self, most: int) -> tuple[AccountName, ...]:
        """A few accounts, each once."""
        count = self.random.randint(0, min(most, len(self.names)))
        return in_word_order(self.random.sample(self.names, count))

    def required(self) -> Authorities:
        """What an operation may ask for: mostly of one account, rarely of all kinds at once."""
        random, one = self.random, (self.random.choice(self.names),)
        other = tuple(self.authority() for _ in range(random.randint(1, 2)))
        return random.choice(
            (
                Authorities(active=one),
                Authorities(active=one),
                Authorities(regular=one),
                Authorities(master=one),
                Authorities(active=self.some_names(4)),
                Authorities(regular=self.some_names(4)),
                Authorities(active=self.some_names(3), master=self.some_names(3)),
                Authorities(active=self.some_names(2), other=other),
                Authorities(other=other),
                Authorities(active=one, regular=one),
            )
        )

    def approvals(self) -> Approvals:
        """None, or a few of each kind."""
        if self.random.random() < 0.5:
            return Approvals()
        return Approvals(self.some_names(2), self.some_names(2), self.some_names(2))

    def operations(self) -> tuple[tuple[Operation, ...], tuple[Authorities, ...]]:
        """Those of a transaction, and what they ask for; the same again is common."""
        count = self.random.choice((1, 1, 2, 3, 5))
        regular = self.random.random() < 0.3
        asked: list[Authorities] = []
        for _ in range(count):
            each = self.required()
            if asked and self.random.random() < 0.3:
                each = self.random.choice(asked)
            elif regular and self.random.random() < 0.98:
                each = Authorities(regular=(*each.active, *each.regular, *each.master)[:3])
            elif self.random.random() < 0.98:
                each = each._replace(active=each.active or each.regular, regular=())
            asked.append(each)
        return tuple(self.random.choice(OPERATIONS) for _ in asked), tuple(asked)

    def agents(self) -> set[tuple[AccountName, PublicKey, str]]:
        """Account, key and name of the operation."""
        titles = ("transfer", "custom", "account_update")
        return {(name, self.random.choice(self.all_keys), self.random.choice(titles)) for name in self.some_names(3)}


def agent_keys_of(
    agents: Iterable[tuple[AccountName, PublicKey, str]], name: AccountName, title: str
) -> list[PublicKey]:
    """The keys of an account's agents for an operation."""
    return sorted(key for principal, key, operation in agents if (principal, operation) == (name, title))
