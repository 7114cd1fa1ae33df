"""Answers with an error become the class that says what to do next, by what both nodes were recorded to answer."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import Any

import pytest

from ledgerd.protocol.secrets import HIDDEN
from ledgerd.sdk import errors
from ledgerd.sdk.connection.error_answers import error_of
from ledgerd.sdk.errors import MOST_TEXT, NodeError
from tests.recorded import MARKET_PROBES, PROBES, recorded_probe
from tests.rpc.recorded_requests import NEWER, OLDER, recorded_exchanges

SECRET = "5JabcN9CeuSPvkA2rPLhvEHJ5pRqCt9xAhDkgvsnrmz3cVXtoB7"


def assertion(text: str, **values: object) -> dict[str, object]:
    """The error object of an assertion, as the reference frames it."""
    data = {"code": 10, "name": "assert_exception", "message": "Assert Exception"}
    return {
        "code": -32003,
        "message": f"Assert Exception (10)\n{text}\n",
        "data": {**data, "stack": [{"context": {}, "format": text, "data": values}]},
    }


def of_probe(fact: dict[str, Any]) -> dict[str, object] | None:
    """The error object of a transaction that was refused; facts of older recordings tell its parts only."""
    error, refused = fact.get("error"), fact.get("refused")
    if error and "kind" in error:
        number, _, rest = error["kind"].partition(" ")
        return {"code": -32000, "message": f"{rest.partition(': ')[2]} ({number})\n{error['message']}\n"}
    if error:
        return dict(error)
    if not refused:
        return None
    return {"code": -32000, "message": f"{refused['what']} ({refused['code']})\n{refused['message']}\n"}


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (3010000, "active", 'Missing Active Authority ["alice"]'),
        (3020000, "master", 'Missing Master Authority ["alice"]'),
        (3030000, "regular", 'Missing Regular Authority ["alice"]'),
    ],
)
@pytest.mark.parametrize("named", ["alice", ["alice"]])
def test_a_missing_authority_says_which_and_whose(number: int, kind: str, text: str, named: object) -> None:
    stack = [{"context": {}, "format": "Missing ${id}", "data": {"id": named}}, {"context": {}, "format": ""}]
    data = {"code": number, "name": f"tx_missing_{kind}_auth", "message": "missing", "stack": stack}

    found = error_of({"code": -32000, "message": f"missing ({number})\n{text}\n\n\n", "data": data}, "a.b")

    assert isinstance(found, errors.MissingAuthority)
    assert (found.authority, found.accounts) == (kind, ("alice",))
    assert (found.code, found.number, found.name) == (-32000, number, f"tx_missing_{kind}_auth")
    assert (str(found), found.message, found.method) == (f"a.b: {text}", text, "a.b")


def test_another_missing_authority_has_no_accounts() -> None:
    found = error_of({"code": -32000, "message": "missing required other authority (3040000)\nMissing Authority\n"})

    assert isinstance(found, errors.MissingAuthority)
    assert (found.authority, found.accounts) == ("other", ())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("now < trx.expiration: ", errors.Expired),
        ("trx.expiration <= now + fc::seconds(CHAIN_MAX_TIME_UNTIL_EXPIRATION): ", errors.ExpiresTooLate),
        ("trx.ref_block_prefix == tapos_block_summary.block_id._hash[1]: ", errors.UnknownReferenceBlock),
        ("has_bandwidth: Account exceeded maximum allowed bandwidth per vesting share.", errors.InsufficientBandwidth),
        ("rs <= max_rshares: Account does not have enough potential to fixed award.", errors.InsufficientEnergy),
        ("acct.balance >= o.amount: Account does not have sufficient funds for transfer.", errors.InsufficientFunds),
        ('acc != nullptr: Account "${a}" not found.', errors.UnknownAccount),
        ("aidx.find(o.account) != aidx.end(): Principal account ${a} does not exist", errors.UnknownAccount),
        ("args.args->size() == 1: Expected #s argument(s), was ${n}", errors.BadParameters),
        ("limit <= 1000: ", errors.BadParameters),
        ("amount.amount > 0: Cannot transfer a negative amount (aka: stealing)", errors.Rejected),
        ("20000 transactions are waiting already", errors.Overloaded),
    ],
)
def test_assertions_are_told_apart_by_their_texts(text: str, kind: type[NodeError]) -> None:
    assert type(error_of(assertion(text))) is kind


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (-32600, "A batch holds at most 1000 requests", errors.LimitExceeded),
        (-32600, 'jsonrpc value is not "2.0"', errors.BadParameters),
        (-32001, 'A member "params" does not exist', errors.BadParameters),
        (-32002, "Could not find method get_all", errors.UnknownMethod),
        (-32002, "v.size() == 2: method specification invalid. Should be api.method", errors.BadParameters),
        (-32000, "Unable to acquire READ lock", errors.Overloaded),
        (-32000, "Unable to acquire WRITE lock (13)\nUnable to acquire WRITE lock: \n", errors.Overloaded),
        (-32000, "This node is catching up, and takes no transactions: it has block 5 of 9", errors.NodeNotReady),
        (-32003, "Node is recovering from shared memory corruption, please retry later", errors.NodeNotReady),
        (-32000, "the state is being replaced", errors.NodeNotReady),
        (-32000, "There is no history in the data directory of this API node", errors.UnknownMethod),
        (-32000, "unknown key", errors.NotFound),
        (-32000, "something of tomorrow", errors.InternalError),
    ],
)
def test_errors_without_data_are_told_apart_too(code: int, message: str, kind: type[NodeError]) -> None:
    assert type(error_of({"code": code, "message": message})) is kind


def test_what_may_succeed_later_is_marked() -> None:
    later: tuple[type[errors.ClientError], ...] = (
        errors.InternalError,
        errors.NodeNotReady,
        errors.NodeUnavailable,
        errors.Overloaded,
        errors.WrongAnswer,
    )

    assert all(each.is_temporary for each in later)
    assert not errors.Rejected.is_temporary
    assert issubclass(errors.TimedOut, errors.NodeUnavailable)


def test_what_was_recorded_of_odd_requests_is_told_apart() -> None:
    found = Counter[str]()
    for file in (OLDER, NEWER):
        for each in recorded_exchanges(file):
            if '"error":' in each.answer:
                answers = json.loads(each.answer)
                given = [
                    each["error"] for each in (answers if isinstance(answers, list) else [answers]) if "error" in each
                ]
                found.update(type(error_of(each)).__name__ for each in given)

    assert set(found) == {"BadParameters", "NotFound", "Rejected", "UnknownAccount", "UnknownMethod"}
    assert found["BadParameters"] > 1_000


def test_every_recorded_refusal_of_a_transaction_is_one_of_a_rule() -> None:
    refusals = [
        error for name in (*PROBES, *MARKET_PROBES) for fact in recorded_probe(name) if (error := of_probe(fact))
    ]
    found = Counter(type(error_of(each)) for each in refusals)

    assert all(issubclass(each, errors.Rejected) for each in found)
    assert {errors.Duplicate, errors.InsufficientEnergy, errors.MissingAuthority, errors.WrongSignatures} < set(found)
    assert found[errors.InsufficientFunds] > 1_000


def test_an_account_that_the_reference_does_not_know_is_named() -> None:
    stack = [{"context": {}, "format": "${what}: ", "data": {"name": "no-such-account", "what": "unknown key"}}]
    data = {"code": 13, "name": "N5boost", "message": "unknown key", "stack": stack}

    found = error_of({"code": -32000, "message": "unknown key (13)\nunknown key: \n", "data": data})

    assert isinstance(found, errors.UnknownAccount)
    assert found.account == "no-such-account"


def test_a_memo_is_not_taken_for_a_rule() -> None:
    error = assertion("memo.size() < 2048: Memo is too large: ${m}", m="Duplicate transaction check failed")

    assert type(error_of(error)) is errors.Rejected


@pytest.mark.parametrize("length", range(MOST_TEXT * 2 - 60, MOST_TEXT * 2 + 10, 7))
def test_no_key_is_shown_wherever_the_text_is_cut(length: int) -> None:
    text = f"{SECRET} " * (length // (len(SECRET) + 1)) + f"{'x' * (length % (len(SECRET) + 1))} {SECRET} {'y' * 9_999}"
    found = error_of(assertion(text, key=SECRET, keys=[SECRET]), "a.b")

    for shown in (str(found), found.message, str(found.values)):
        assert "5Jabc" not in shown
        assert HIDDEN in shown


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"code": "x", "message": None, "data": []},
        {"code": True, "message": 5, "data": {"code": [], "stack": {}}},
        {"message": "m" * 10_000_000, "data": {"stack": [5], "name": {}}},
        {"message": "", "data": {"stack": [{"format": 7, "data": [1]}], "message": "\x1b[2J"}},
        {"message": "a", "data": {"stack": [{"data": {str(each): "v" * 9_999 for each in range(9_999)}}]}},
        {"message": "a", "data": {"stack": [{"data": {"id": ["a" * 9_999] * 9_999, "b": [[1], {}]}}]}},
    ],
)
def test_an_error_of_any_form_is_one_and_takes_little_room(odd: dict[str, object]) -> None:
    found = error_of(odd)

    assert isinstance(found, NodeError)
    assert len(str(found)) <= MOST_TEXT
    assert len(str(found.values)) < 10_000
    assert "\x1b" not in str(found)


def test_an_error_goes_from_one_process_to_another() -> None:
    found = error_of(assertion('acc != nullptr: Account "${a}" not found.', a="bob"), "a.b")
    back = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own

    assert (type(back), str(back), vars(back)) == (type(found), str(found), vars(found))
    assert vars(pickle.loads(pickle.dumps(errors.WrongChain("a", expected="b", found="c"))))["found"] == "c"  # noqa: S301
