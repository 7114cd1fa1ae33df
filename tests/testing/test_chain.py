"""The fixture `chain` as a test uses it."""

from __future__ import annotations

import json
import urllib.request

import pytest
from websockets.sync.client import connect

from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.sdk import Viz
from ledgerd.testing.chain import DevChain
from ledgerd.testing.errors import NoKey, RequestRefused
from tests.patience import PATIENCE

QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "database_api.get_config", "params": []}
AWARD = {"receiver": "bob", "energy": 10, "custom_sequence": 0, "memo": "", "beneficiaries": []}


def test_a_transfer_is_in_a_block_when_it_is_sent(chain: DevChain) -> None:
    before = chain.head.number

    receipt = chain.transfer("alice", "bob", "1.000 VIZ", "hello")

    assert receipt.block == chain.head.number == before + 1
    assert chain.balance("bob") == "10001.000 VIZ"
    assert ("transfer", {"from": "alice", "to": "bob", "amount": "1.000 VIZ", "memo": "hello"}) in chain.operations(
        receipt.block
    )


def test_equal_transfers_are_two(chain: DevChain) -> None:
    first, second = chain.transfer("alice", "bob", "1.000 VIZ"), chain.transfer("alice", "bob", "1.000 VIZ")

    assert first.id != second.id
    assert chain.balance("bob") == "10002.000 VIZ"


def test_amounts_of_the_client_are_taken_as_their_texts_are(chain: DevChain) -> None:
    rich = chain.new_account("rich", balance=Viz("5"), stake=Viz.from_units(2_000))
    chain.transfer(rich, "bob", Viz("1.5"))

    assert Viz(chain.balance(rich)) == Viz("3.5")


def test_operations_are_sent_together_as_json_and_as_records(chain: DevChain) -> None:
    alice = chain.accounts["alice"]
    record = Transfer(AccountName("bob"), AccountName("alice"), tokens(2_000), "")

    receipt = chain.send(("transfer_to_vesting", {"from": alice, "to": alice, "amount": "1.000 VIZ"}), record)

    assert [name for name, _ in chain.operations(receipt.block)][:2] == ["transfer_to_vesting", "transfer"]
    assert chain.balance("alice") == "10001.000 VIZ"


def test_what_breaks_a_rule_raises_the_rule_and_makes_no_block(chain: DevChain) -> None:
    before = chain.head

    with pytest.raises(RequestRefused, match="sufficient funds") as refused:
        chain.transfer("alice", "bob", "10000.001 VIZ")

    assert refused.value.name == "assert_exception"
    assert chain.head == before


def test_a_new_account_has_a_key_for_each_role_and_what_it_is_given(chain: DevChain) -> None:
    carol = chain.new_account("carol", balance="100.000 VIZ", stake="50.000 VIZ")

    assert chain.balance(carol) == "100.000 VIZ"
    assert float(chain.account(carol)["vesting_shares"].removesuffix(" SHARES")) == pytest.approx(
        51, abs=0.01
    )  # one is delegated
    assert len({carol.master, carol.active, carol.regular, carol.memo}) == 4
    chain.send(("award", {"initiator": carol, **AWARD}), by=carol.regular)
    chain.transfer(carol, "bob", "1.000 VIZ")
    with pytest.raises(RequestRefused, match="Missing Active Authority") as refused:
        chain.send(("transfer", {"from": carol, "to": "bob", "amount": "1.000 VIZ", "memo": ""}), by=carol.regular)
    assert refused.value.name == "tx_missing_active_auth"


def test_a_report_of_a_test_shows_no_key(chain: DevChain) -> None:
    assert repr(chain.new_account("carol")) == "'carol'"
    assert repr(chain) == f"DevChain({chain.url})"


def test_others_sign_where_they_are_named(chain: DevChain) -> None:
    award = ("award", {"initiator": "alice", **AWARD})

    chain.send(award, by=chain.agents["award-bot"])
    with pytest.raises(RequestRefused, match="Missing Regular Authority alice"):
        chain.send(award, by=[chain.agents["bet-bot"]])


def test_a_key_that_is_not_known_is_asked_for(chain: DevChain) -> None:
    with pytest.raises(NoKey, match="the active key of nobody is not known: name who signs, with by="):
        chain.transfer("nobody", "bob", "1.000 VIZ")
    with pytest.raises(KeyError):
        chain.account("nobody")


def test_blocks_come_three_seconds_apart_and_only_when_asked_for(chain: DevChain) -> None:
    before = chain.head

    after = chain.produce(200)

    assert (after.number, after.time) == (before.number + 200, before.time + 600)
    assert chain.head == after


def test_time_passes_as_far_as_it_is_told_to(chain: DevChain) -> None:
    before = chain.head

    assert chain.travel(days=2, minutes=1).time == before.time + 2 * 86_400 + 60
    assert parse_time_text(chain.time_in(hours=1)) == chain.head.time + 3_600


def test_no_time_passes_backwards(chain: DevChain) -> None:
    before = chain.head

    with pytest.raises(ValueError, match=r"travel goes forward only, not by -86340 seconds: .*snapshot\(\)"):
        chain.travel(days=-1, minutes=1)
    assert chain.head == before


def test_a_snapshot_within_a_test_undoes_what_follows_it(chain: DevChain) -> None:
    chain.transfer("alice", "bob", "1.000 VIZ")
    before = chain.head
    with chain.snapshot():
        chain.new_account("carol")
        with chain.snapshot():
            chain.transfer("alice", "bob", "5.000 VIZ")
        assert chain.balance("bob") == "10001.000 VIZ"
        assert "carol" in chain.accounts

    assert chain.head == before
    assert "carol" not in chain.accounts


def test_any_client_reaches_it_over_http_and_websocket(chain: DevChain) -> None:
    request = urllib.request.Request(chain.url, json.dumps(QUESTION).encode())  # noqa: S310 - it is http
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - it is http
        by_http = json.load(answer)["result"]
    with connect(chain.websocket_url, compression=None) as client:
        client.send(json.dumps(QUESTION))
        by_websocket = json.loads(client.recv(PATIENCE))["result"]

    assert by_http == by_websocket == chain.call("database_api", "get_config")
