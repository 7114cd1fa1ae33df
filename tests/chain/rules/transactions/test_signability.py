"""How many signatures a transaction can use, counted before a key is recovered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.transactions.bounds import IDLE, require_usable
from ledgerd.protocol.authorities.authority_check import IrrelevantSignature
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.accounts.accounts import AccountUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AGENT_PERMISSIONS, AgentPermission
from tests.chain.ledgers import ALICE, BOB, create_account, key_of
from tests.chain.networks import VIZ, VIZ_KEY, Network
from tests.p2p.noise import noise

CAROL = AccountName("carol")
MANY = [PrivateKey.from_password(CAROL, "active", str(place)) for place in range(IDLE + 20)]


@pytest.fixture
def network(network: Network) -> Network:
    network.create_account(CAROL, VIZ_KEY)
    network.produce()
    return network


def signed_with(network: Network, count: int) -> Transaction:
    return replace(network.signed(Transfer(VIZ, VIZ, tokens(1), "")), signatures=noise(count))


def test_more_signatures_than_keys_are_refused_without_recovering_one(network: Network) -> None:
    transaction = signed_with(network, 1_000)
    with pytest.raises(IrrelevantSignature):
        network.chain.push_transaction(transaction)
    assert transaction.known_signers(network.chain.network.chain_id) is None


def test_a_few_idle_signatures_are_left_to_the_rules_and_their_texts(network: Network) -> None:
    transaction = signed_with(network, IDLE)
    require_usable(network.chain.parts.ledger, transaction)


def test_all_keys_of_an_authority_and_of_its_members_may_sign(network: Network) -> None:
    """An account with very many keys, and one that has that account as a member."""
    keys = dict.fromkeys(sorted(key.public for key in MANY), 1)
    master = Authority(len(MANY), {}, keys)
    network.send(AccountUpdate(CAROL, None, master, None, VIZ_KEY.public, ""))
    network.send(AccountUpdate(VIZ, None, Authority(1, {CAROL: 1}, {VIZ_KEY.public: 1}), None, VIZ_KEY.public, ""))
    network.produce()
    chain = network.chain
    for name in (CAROL, VIZ):
        transaction = network.signed(Transfer(name, VIZ, tokens(1), ""))
        many = replace(transaction, signatures=()).signed(chain.network.chain_id, MANY)
        require_usable(chain.parts.ledger, many)
    network.chain.push_transaction(
        replace(network.signed(Transfer(CAROL, VIZ, tokens(1), "")), signatures=()).signed(chain.network.chain_id, MANY)
    )


def test_an_account_that_is_not_there_has_no_keys(network: Network) -> None:
    ledger = network.chain.parts.ledger
    nobody = replace(network.signed(Transfer("nobody", VIZ, tokens(1), "")), signatures=noise(IDLE + 1))  # type: ignore[arg-type]
    with pytest.raises(IrrelevantSignature):
        require_usable(ledger, nobody)


def test_the_keys_of_agents_may_sign_too(ledger_at: Callable[[int], Ledger]) -> None:
    """Two accounts with 16 agents each may have 34 signatures of use, though they have two keys of their own."""
    ledger = ledger_at(15)
    for name in (ALICE, BOB):
        create_account(ledger, name)
        for number in range(16):
            agent = AgentPermission(account=name, agent_name=AccountName(f"a{number}"))
            agent.agent_key, agent.operations = key_of(f"{name} {number}"), "transfer"
            ledger.store.create(AGENT_PERMISSIONS, agent)
    operations = tuple(Transfer(name, ALICE, tokens(1), "") for name in (ALICE, BOB))
    require_usable(ledger, Transaction(0, 0, 0, operations, (), noise(34)))
    with pytest.raises(IrrelevantSignature):
        require_usable(ledger, Transaction(0, 0, 0, operations, (), noise(34 + 1 + IDLE)))
