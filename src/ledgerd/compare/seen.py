"""What the random reads ask for: values seen in the answers to the earlier questions, by what they are."""

from __future__ import annotations

from random import Random

from ledgerd.codec.json_text import Json

KEY_FIELDS = {"signing_key", "memo_key", "invite_key"}
HIGHEST_ID = 300
"""Ids of objects are asked for up to this one, where no answer told of any."""

MOST_SEEN = 500_000
"""Values of a kind that are remembered."""
LONGEST_SEEN = 64
"""Characters of a value; a key has 53."""

UNKNOWN = "nobody-has-this"
"""A name that no account has."""


class SeenValues:
    """Names, keys, and the numbers of blocks and transactions."""

    def __init__(self, last_block: int, first_block: int = 1) -> None:
        self.names: list[str] = []
        self.keys: list[str] = []
        self.transactions: list[str] = []
        self._first = first_block
        self._last = last_block

    def add_account(self, account: Json) -> None:
        if not isinstance(account, dict):
            return
        _add(self.names, account.get("name"))
        for field, value in account.items():
            if field in KEY_FIELDS:
                _add(self.keys, value)
            elif isinstance(value, dict) and isinstance(value.get("key_auths"), list):
                self._add_weights(value["key_auths"])

    def _add_weights(self, weights: Json) -> None:
        for each in weights if isinstance(weights, list) else []:
            if isinstance(each, list) and each:
                _add(self.keys, each[0])

    def add_transaction(self, operation: Json) -> None:
        name = operation.get("trx_id") if isinstance(operation, dict) else None
        if isinstance(name, str) and name.strip("0"):
            _add(self.transactions, name)

    def name(self, random: Random) -> str:
        """The name of an account, now and then of none."""
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


def _add(values: list[str], value: Json) -> None:
    if isinstance(value, str) and len(value) <= LONGEST_SEEN and len(values) < MOST_SEEN:
        values.append(value)
