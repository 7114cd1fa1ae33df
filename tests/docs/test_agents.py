"""docs/agents.md, done as it says: the bot may award, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.protocol.authorities.authority_check import Accounts, required_authorities
from ledgerd.protocol.authorities.operation_authority import TransactionKeys, verify_operations
from ledgerd.protocol.constants import MAX_AGENT_ADDONS, MAX_AGENTS_PER_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.accounts.agents import NEVER_DELEGABLE
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.variant import names_that_can_be_sent
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import AccountName
from tests.docs.guides import DOCUMENTS, Reader, lessons_of
from tests.docs.tutorials import DevPorts, go_through, program
from tests.strategies import values_of

DOCUMENT = (DOCUMENTS / "agents.md").read_text(encoding="utf-8")
OWNER, BOT = (PrivateKey(letter * 32).public for letter in (b"o", b"b"))
SENT = [each for each in OPERATIONS if name_of(each) in names_that_can_be_sent()]


def test_the_bot_may_award_and_nothing_else(tmp_path: Path) -> None:
    ports = DevPorts()
    with Reader(tmp_path) as reader:
        reader.take(program("send.py", ports))
        go_through(reader, lessons_of("agents.md", ports.running))

        alice = ports.ask("history_api.get_account_operations", "alice", {"types": ["award"]})["entries"]
        assert len(alice) == 1
        assert ports.ask("database_api.get_accounts", ["alice"])[0]["balance"] == "10000.000 VIZ"


def keys_of_bot(_principal: AccountName, operation: str) -> Iterator[PublicKey]:
    """What the grant of the page gives, in every account."""
    if operation == "award":
        yield BOT


@pytest.mark.parametrize("of", SENT, ids=name_of)
@settings(max_examples=10)
@given(st.data())
def test_of_all_operations_only_an_award_passes_with_the_key_of_the_bot(
    of: type[Operation], data: st.DataObject
) -> None:
    operation = data.draw(values_of(of))
    asked = required_authorities((operation,))
    owner = authority_of(OWNER)
    keys = TransactionKeys((BOT,), Accounts(lambda _: owner, lambda _: owner, lambda _: owner))

    if name_of(of) == "award":
        assert verify_operations((operation,), (asked,), keys, keys_of_bot).used == {BOT}
    else:
        with pytest.raises(RuleViolation):
            verify_operations((operation,), (asked,), keys, keys_of_bot)


def test_the_page_names_what_can_not_be_granted_and_the_limits() -> None:
    assert [name for name in NEVER_DELEGABLE if f"`{name}`" not in DOCUMENT] == []
    assert f"at most {MAX_AGENTS_PER_ACCOUNT} agents" in DOCUMENT
    assert (MAX_AGENT_ADDONS, "up to ten words" in DOCUMENT) == (10, True)
