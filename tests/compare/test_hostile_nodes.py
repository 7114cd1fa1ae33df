"""A node that answers without end, too slowly, for another request or somewhere else ends the comparison, with the
reason, within a bound of time and bytes.
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from ledgerd.cli.main import main
from ledgerd.cli.tools.compare import NOT_COMPARED
from ledgerd.client.differing import LONGEST_PLACE, differences
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import MOST_ONE_SIDED, Pair
from ledgerd.compare.comparison import Comparison, Scope
from ledgerd.compare.node import LONGEST_ANSWER, SHOWN, ComparedNode, NobodyListens, NotComparable, Pace
from ledgerd.compare.reads import LONGEST_SEEN, Read, SeenValues
from tests.compare.doubles import listening
from tests.patience import PATIENCE
from tests.ports import free_port

HEAD = b"HTTP/1.1 200 OK\r\n"


def node_at(url: str) -> ComparedNode:
    return ComparedNode(url, Pace(1e9))


def ask(url: str) -> ComparedNode:
    """The node, after one request to it."""
    with node_at(url) as node:
        node.ask("database_api", "get_config", [])
        return node


@contextmanager
def sending(pieces: Callable[[], Iterator[bytes]]) -> Iterator[str]:
    """The address of a server that reads some of a request and sends these pieces, as long as they are taken."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        connection.recv(1 << 16)
                        for each in pieces():
                            connection.sendall(each)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE)


def _endless_body() -> Iterator[bytes]:
    yield HEAD + b"\r\n"
    yield from itertools.repeat(b" " * (1 << 16))


def _endless_chunks() -> Iterator[bytes]:
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    yield from itertools.repeat(b"10000\r\n" + b" " * 0x10000 + b"\r\n")


def _huge_length() -> Iterator[bytes]:
    yield HEAD + b"Content-Length: 99999999999999\r\n\r\n"
    yield from itertools.repeat(b" " * (1 << 16))


@pytest.mark.parametrize("pieces", [_endless_body, _endless_chunks, _huge_length])
def test_an_endless_body_is_cut_off(pieces: Callable[[], Iterator[bytes]]) -> None:
    with sending(pieces) as url, pytest.raises(NotComparable, match=f"an answer of more than {LONGEST_ANSWER:,} bytes"):
        ask(url)


def _slow(before: bytes) -> Iterator[bytes]:
    """Always a byte before any timeout of a single read is over."""
    pause = threading.Event()
    yield before
    while not pause.wait(0.05):
        yield b"a"


def _endless_headers() -> Iterator[bytes]:
    yield HEAD
    yield from itertools.repeat(b"X-Again: " + b"a" * 60_000 + b"\r\n")


@pytest.mark.parametrize("before", [HEAD, HEAD + b"X: ", HEAD + b"Content-Length: 1000000\r\n\r\n"])
def test_slow_bytes_are_waited_for_up_to_a_deadline(before: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.compare.node.SECONDS", 0.4)
    with sending(lambda: _slow(before)) as url, pytest.raises(NotComparable, match="gives no answer: timed out"):
        ask(url)


def test_endless_headers_are_refused() -> None:
    with sending(_endless_headers) as url, pytest.raises(NotComparable, match="gives no answer"):
        ask(url)


def test_a_node_that_is_always_slow_uses_up_the_time_of_a_comparison() -> None:
    with (
        listening(_answering(lambda *_: "1")) as url,
        ComparedNode(url, Pace(1e9), timeout=0.0) as node,
        pytest.raises(NotComparable, match="answers too slowly: 1 requests"),
    ):
        node.ask("database_api", "get_config", [])


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_is_not_followed(status: int) -> None:
    with (
        listening(lambda _request: (status, b'{"id":1,"result":{}}')) as url,
        pytest.raises(NotComparable, match=f"answers with HTTP status {status}"),
    ):
        ask(url)


@pytest.mark.parametrize("number", [0, 2, "1", None, [1]])
def test_the_answer_to_another_request_is_not_taken(number: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", "result": {}, "id": number}).encode()
    with (
        listening(lambda _request: (200, body)) as url,
        pytest.raises(NotComparable, match="with the answer to another request"),
    ):
        ask(url)


def test_an_error_shows_nothing_that_a_terminal_acts_on(capsys: pytest.CaptureFixture[str]) -> None:
    body = json.dumps({"id": 1, "error": {"message": "a\x1b[31m\udcff\r\nb"}}).encode()
    with listening(lambda _request: (200, body)) as url:
        assert main(["compare", url, url]) == NOT_COMPARED

    assert capsys.readouterr().out.splitlines()[-1].endswith(r"with an error: a\x1b[31m\udcff\r\nb")


def _answering(results: Callable[[str, list[Any]], str]) -> Callable[[bytes], tuple[int, bytes]]:
    """A reply with these texts as results."""

    def reply(body: bytes) -> tuple[int, bytes]:
        request = json.loads(body)
        _, method, arguments = request["params"]
        return 200, f'{{"id":{request["id"]},"result":{results(method, arguments)}}}'.encode()

    return reply


@contextmanager
def _forgiven(*reasons: str) -> Iterator[None]:
    """Whether an answer is too deep depends on how deep the call is."""
    try:
        yield
    except NotComparable as problem:
        if not any(each in str(problem) for each in reasons):
            raise


@pytest.mark.parametrize("depth", [400, 900, 100_000])
def test_deep_answers_end_the_comparison_or_are_compared(depth: int) -> None:
    text = "[" * depth + "]" * depth
    with (
        listening(_answering(lambda *_: text)) as url,
        node_at(url) as one,
        node_at(url) as other,
        _forgiven("nested too deeply", "not JSON"),
    ):
        assert Pair(one, other).compare(Read("database_api", "get_config", [])).found is None


def test_pages_of_accounts_that_go_back_are_not_followed_for_ever() -> None:
    names = json.dumps([f"a{number:04}" for number in range(1_000)])
    answers = {
        "get_config": '{"CHAIN_ID":"00","CHAIN_NAME":"X","CHAIN_VERSION":"1"}',
        "get_dynamic_global_properties": f'{{"head_block_number":0,"head_block_id":"{"0" * 40}",'
        '"last_irreversible_block_num":0}',
        "lookup_accounts": names,
    }
    with (
        listening(_answering(lambda method, _: answers.get(method, "null"))) as url,
        node_at(url) as one,
        node_at(url) as other,
    ):
        comparison = Comparison(Pair(one, other), (), Scope(7, 0), lambda _: None)
        with pytest.raises(NotComparable, match="the names of accounts after 'a0999' are not in order"):
            comparison.run()


CONTROL = "x\x1b[2J\u202e\nequal at block 9"
PLACES = {
    "get_dynamic_global_properties": f'{{"head_block_number":0,"head_block_id":"{"0" * 40}",'
    '"last_irreversible_block_num":0}',
    "lookup_accounts": "[]",
    "get_account_count": "0",
}


def _of_version(version: str, more: Mapping[str, object]) -> Callable[[bytes], tuple[int, bytes]]:
    """A node of a chain without blocks, whose chain properties have more fields."""
    config = {"CHAIN_ID": "00", "CHAIN_NAME": "X", "CHAIN_VERSION": version}
    answers = PLACES | {"get_config": json.dumps(config), "get_chain_properties": json.dumps(more)}
    return _answering(lambda method, _: answers.get(method, "null"))


@pytest.mark.parametrize("other_version", ["1", CONTROL])
def test_no_name_and_no_value_of_a_node_is_obeyed_by_the_terminal(
    other_version: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.compare.asking.PAUSE", 0.0)
    with (
        listening(_of_version("1", {CONTROL: 1, "a": {CONTROL: CONTROL}})) as one,
        listening(_of_version(other_version, {"a": {CONTROL: CONTROL}})) as other,
    ):
        main(["compare", one, other, "--reads", "0", "--seed", "1"])
    shown = capsys.readouterr().out
    assert "\\x1b[2J\\u202e\\nequal" in shown
    assert [each for each in shown if not (each.isprintable() or each == "\n")] == []
    assert not [line for line in shown.splitlines() if line.startswith("equal at block 9")]


def test_of_fields_that_one_node_alone_answers_so_many_are_told() -> None:
    fields = {f"{number}{'a' * 1_000}": 1 for number in range(2 * MOST_ONE_SIDED)}
    with (
        listening(_of_version("1", fields)) as first,
        listening(_of_version("2", {})) as second,
        node_at(first) as one,
        node_at(second) as other,
    ):
        pair = Pair(one, other)
        assert Comparison(pair, (), Scope(7, 0), lambda _: None).run() is None
    assert len(pair.one_sided) == MOST_ONE_SIDED
    assert max(map(len, pair.one_sided)) < 2 * SHOWN


def test_the_place_of_a_difference_has_a_bounded_length() -> None:
    one: Json = 1
    for _ in range(20):
        one = {"a" * 10_000: one, "b": 1}
    (found,) = differences(one, json.loads(json.dumps(one).replace(": 1}", ": 2}", 1)))
    assert len(found.place) <= LONGEST_PLACE


def test_of_what_nodes_have_shown_a_bounded_part_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.compare.reads.MOST_SEEN", 10)
    seen = SeenValues(0)
    for number in range(100):
        seen.add_account(
            {"name": f"a{number}", "memo_key": f"VIZ{number}", "active_authority": {"key_auths": [["k", 1]]}}
        )
        seen.add_transaction({"trx_id": f"{number:040x}"})
    seen.add_account({"name": "a" * (LONGEST_SEEN + 1)})
    seen.add_transaction({"trx_id": "a" * (LONGEST_SEEN + 1)})
    for values in (seen.names, seen.keys, seen.transactions):
        assert len(values) == 10
        assert max(map(len, values)) <= LONGEST_SEEN


def _names_without_end(method: str, arguments: list[Any]) -> str:
    """Always a page of names after the last one."""
    if method != "lookup_accounts":
        return PLACES.get(
            method, '{"CHAIN_ID":"00","CHAIN_NAME":"X","CHAIN_VERSION":"1"}' if "config" in method else "null"
        )
    first = int(arguments[0] or 0)
    return json.dumps([f"{number:09}" for number in range(first, first + 1_000)])


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        (_names_without_end, "name more than 5,000 accounts"),
        (
            lambda method, given: json.dumps(["a" * 65]) if "lookup" in method else _names_without_end(method, given),
            "no name",
        ),
    ],
)
def test_names_of_accounts_have_an_end(
    results: Callable[[str, list[Any]], str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.compare.comparison.MOST_ACCOUNTS", 5_000)
    with listening(_answering(results)) as url, node_at(url) as one, node_at(url) as other:
        comparison = Comparison(Pair(one, other), (), Scope(7, 0), lambda _: None)
        with pytest.raises(NotComparable, match=reason):
            comparison.run()


def test_a_port_where_nobody_listens_is_told_from_a_node_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.compare.node.SECONDS", 0.3)
    with node_at(f"http://127.0.0.1:{free_port()}") as gone:
        with pytest.raises(NobodyListens):
            gone.ask("database_api", "get_config", [])
        assert not gone.is_listening

    with sending(lambda: _slow(b"")) as url, node_at(url) as there:
        with pytest.raises(NotComparable) as problem:
            there.ask("database_api", "get_config", [])
        assert there.is_listening
    assert not isinstance(problem.value, NobodyListens)
