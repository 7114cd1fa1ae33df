"""For every recorded chain, the operations of every block and the history of every account are the recorded ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from ledgerd.chain.ledger.events import AFTER_TRANSACTIONS
from ledgerd.chain.log.histories import HistoryView, TransactionPlace, entry_text
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName
from tests.history.histories import Question, closed_view, recorded_histories, shown_operations
from tests.recorded import ANSWERED, recorded_answers
from tests.rpc.api.serving import copy_followed

RESULT = '{"jsonrpc":"2.0","result":'


@pytest.fixture(scope="module", params=ANSWERED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def view(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HistoryView]:
    folder = tmp_path_factory.mktemp(name)
    copy_followed(name, ANSWERED[name], folder)
    with closed_view(folder) as view:
        yield view


def test_the_operations_of_every_block_are_the_recorded_ones(name: str, view: HistoryView) -> None:
    answers = recorded_answers(name, ANSWERED[name])["get_ops_in_block"]
    for (number, only_virtual), text in answers.items():
        assert shown_operations(view, number, only_virtual=only_virtual) == text, f"{name}, block {number}"


def test_what_is_told_of_blocks_in_part_is_part_of_the_recorded_operations(name: str, view: HistoryView) -> None:
    for (number, only_virtual), text in recorded_answers(name, ANSWERED[name])["get_ops_in_block"].items():
        if only_virtual:
            continue
        whole = json.loads(text)
        kinds = {(name_of(OPERATIONS[tag]), virtual): count for tag, virtual, count in view.kinds_of(number)}
        assert kinds == Counter((each["op"][0], each["virtual_op"] > 0) for each in whole)
        middle = len(whole) // 2
        for first, most in ((0, middle), (middle, 2), (middle, len(whole)), (len(whole), 1)):
            assert [json.loads(each) for each in view.part_of(number, first, most)] == whole[first : first + most]
        for place in {each["trx_in_block"] for each in whole} - {AFTER_TRANSACTIONS}:
            own = [each for each in whole if each["trx_in_block"] == place and each["virtual_op"]]
            for most in (1, len(whole)):
                found = view.followed_from(TransactionPlace(number, place), most)
                assert [json.loads(each) for each in found] == own[:most]


def test_the_history_of_every_account_is_the_recorded_one(name: str, view: HistoryView) -> None:
    assert sum(assert_recorded(view, *fact) for fact in recorded_histories(name).items()) > 100


def assert_recorded(view: HistoryView, question: Question, answer: str) -> int:
    """A history gives the recorded answer about an account; how many entries that has."""
    account, start, limit = question
    entries = view.range_of(AccountName(account))
    if not answer.startswith(RESULT):
        assert entries is None or start > entries.last
        return 0
    assert entries is not None
    last = entries.last if start < 0 else start
    first = max(last - limit, 0)
    found = view.entries_of(AccountName(account), first, last)
    text = f"[{','.join(map(entry_text, range(first, last + 1), found))}]"
    assert answer.startswith(f'{RESULT}{text},"id":'), f"{account} from {start}"
    return len(found)


def test_every_transaction_is_found_where_it_stands(name: str, view: HistoryView) -> None:
    found = 0
    for (number, only_virtual), text in recorded_answers(name, ANSWERED[name])["get_ops_in_block"].items():
        if only_virtual:
            continue
        for applied in json.loads(text):
            if applied["trx_in_block"] != 65535:
                place = view.place_of(TransactionId(bytes.fromhex(applied["trx_id"])))
                assert place == (number, applied["trx_in_block"])
                found += 1
    assert found > 100
    assert view.place_of(TransactionId(bytes(19) + b"\1")) is None
