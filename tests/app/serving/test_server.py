"""What an application answers: its methods, its state, and errors that say what is wrong with a call."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta
from sqlalchemy import Column, Connection, Integer, select, text

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.steps import ChainStep
from ledgerd.app.errors import WrongDeclaration
from ledgerd.app.feeding.settings import FeedSettings
from ledgerd.app.process import ApplicationPart, ServedEndpoint
from ledgerd.app.serving.calling import MethodCaller
from ledgerd.app.serving.turns import AT_ONCE_OF_ONE
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.supervision.part import Supervisor
from tests.app.forking_nodes import ForkingNode
from tests.patience import PATIENCE
from tests.rpc.loopback import Client, http_request, play
from tests.sdk.recorded_nodes import serving_nodes

LAST = 40
KEY = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"
STOPS = threading.Event()
ENDLESS = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT max(a) FROM n"


def counting() -> Application:
    application = Application("counting")
    blocks = application.table("blocks", Column("number", Integer, primary_key=True, autoincrement=False))

    @application.on_block
    def count(step: ChainStep) -> None:
        step.execute(step.insert(blocks).values(number=step.number))

    @application.method
    def newest(tables: Connection, count: int = 3, *, above: int = 0) -> list[dict[str, int]]:
        """The newest blocks."""
        wanted = select(blocks).where(blocks.c.number > above).order_by(blocks.c.number.desc()).limit(count)
        return [dict(row) for row in tables.execute(wanted).mappings()]

    @application.method
    def rows(tables: Connection) -> Any:
        return tables.execute(select(blocks).limit(1)).all()

    @application.method
    def write(tables: Connection) -> None:
        tables.execute(text("DELETE FROM blocks"))

    @application.method
    def few(tables: Connection, count: Annotated[int, Meta(ge=1, le=5)]) -> list[int]:
        return list(tables.scalars(select(blocks.c.number).limit(count)))

    @application.method
    def leave(_tables: Connection) -> None:
        raise SystemExit(f"with {KEY}")

    @application.method
    def large(_tables: Connection) -> str:
        return "x" * (3 << 20)

    @application.method
    def wait(_tables: Connection) -> bool:
        return STOPS.wait(PATIENCE)

    @application.method
    def endless(tables: Connection) -> Any:
        return tables.scalar(text(ENDLESS))

    return application


class Asked:
    """A running application, and a client of it."""

    def __init__(self, part: ApplicationPart, client: Client) -> None:
        self.part, self.client = part, client

    async def call(self, request: Any) -> Any:
        return json.loads(await self.client.ask(json.dumps(request).encode()))

    async def result(self, method: str, params: Any = ()) -> Any:
        answer = await self.call({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return answer.get("result", answer.get("error"))

    async def page(self, path: str) -> tuple[str, bytes]:
        await self.client.say(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, _, body = await self.client.answer()
        return status, body


@asynccontextmanager
async def asking(tmp_path: Path) -> AsyncIterator[Asked]:
    node = ForkingNode("open-2", LAST, ())
    async with serving_nodes([node]) as urls:
        settings = FeedSettings(nodes=tuple(urls), database=str(tmp_path / "a.sqlite"), poll_seconds=0.01)
        part, supervisor = (
            ApplicationPart(counting(), settings, ServedEndpoint(Endpoint("127.0.0.1", 0), ("http://mine",))),
            Supervisor(),
        )
        supervisor.add(part)
        await part.start()
        while part.progress.number < LAST:
            await part.progress.moved()
        client = Client(*await asyncio.open_connection(*part.address))
        yield Asked(part, client)
        client.writer.close()
        await part.stop()
        assert supervisor.failure is None


def test_methods_take_parameters_by_place_and_by_name_and_give_json(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            assert await asked.result("newest") == [{"number": 40}, {"number": 39}, {"number": 38}]
            assert await asked.result("newest", [1]) == [{"number": 40}]
            assert await asked.result("newest", {"count": 5, "above": 38}) == [{"number": 40}, {"number": 39}]
            assert await asked.result("rows") == [{"number": 1}]
            batch = [{"id": name, "method": "newest", "params": [1]} for name in ("a", "b")]
            assert [each["id"] for each in await asked.call(batch)] == ["a", "b"]

    play(scene)


def test_calls_that_are_wrong_are_told_so_and_fill_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ledgerd.app.serving.calling.READ_SECONDS", 0.2)

    async def scene() -> None:
        async with asking(tmp_path) as asked:
            expected = {
                ("nothing", ()): (-32601, "there is no such method: /openrpc.json has all"),
                ("newest", ("x",)): (-32602, "count: Expected `int`, got `str`"),
                ("newest", (1, 2, 3)): (-32602, "newest takes 2 parameters at most"),
                ("newest", "x"): (-32602, "params are a list, or an object by names"),
                ("few", (6,)): (-32602, "count: Expected `int` <= 5"),
                ("leave", ()): (-32000, "leave: SystemExit: with (a private key)"),
                ("write", ()): (-32000, "write: attempt to write a readonly database"),
                ("endless", ()): (-32000, "endless: interrupted"),
            }
            for (method, params), (code, words) in expected.items():
                assert await asked.result(method, params) == {"code": code, "message": words}
            wrong = await asked.result("newest", {"counts": 1})
            assert wrong == {"code": -32602, "message": "newest has no parameter counts"}
            for unreadable in (b"{", b'"\xff"', b'{"id":1,"method":"\xc0\x80"}', b"[" * 5000):
                assert json.loads(await asked.client.ask(unreadable))["error"]["code"] == -32700
            assert (await asked.call([]))["error"]["code"] == -32600
            assert (await asked.call([1]))[0]["error"]["code"] == -32600
            for wrong in (True, [], {}):
                assert (await asked.call({"id": wrong, "method": "newest"}))["error"]["code"] == -32600

    play(scene)
    assert [each for each in caplog.records if each.levelname in {"WARNING", "ERROR"}] == []


def test_numbers_and_texts_are_ids_and_no_params_may_be_null(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            for identity in (7, -1.5, "a", None):
                answer = await asked.call({"id": identity, "method": "rows", "params": None})
                assert (answer["result"], answer["id"]) == ([{"number": 1}], identity)

    play(scene)


def test_a_notification_is_made_and_not_answered(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            for silent in ({"method": "rows"}, {"method": "nothing"}, [{"method": "rows"}, {"method": "rows"}]):
                await asked.client.say(http_request(json.dumps(silent).encode()))
                status, headers = await asked.client.head()
                assert status == "HTTP/1.1 204 No Content"
                assert "Content-Length" not in headers, "a client would wait for a body"
            assert b'ledgerd_app_calls_total{application="counting"} 4' in (await asked.page("/metrics"))[1]

            mixed = await asked.call([{"method": "rows"}, {"id": 7, "method": "rows"}])
            assert [each["id"] for each in mixed] == [7]
            nameless = await asked.call({"params": []})
            assert (nameless["error"]["code"], nameless["id"]) == (-32601, None), "this is no notification"

    play(scene)


def test_a_batch_has_no_larger_answer_than_a_call(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            calls = [{"id": number, "method": "large"} for number in range(3)] + [{"id": 3, "method": "rows"}]
            first, *others, last = await asked.call(calls)
            assert len(first["result"]) == 3 << 20
            words = "the answers of a batch have 4194304 bytes at most, less while many wait: ask for less"
            assert [each["error"]["message"] for each in others] == [words] * 2
            assert last["result"] == [{"number": 1}]

    play(scene)


def test_methods_that_never_return_leave_no_client_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ledgerd.app.serving.turns.CALL_SECONDS", 0.2)
    STOPS.clear()

    async def scene() -> None:
        async with asking(tmp_path) as asked:
            for _ in range(AT_ONCE_OF_ONE):
                assert await asked.result("wait") == {"code": -32000, "message": "wait takes more than 0.2 s"}
            words = "every thread is taken by calls that take long: ask again later"
            assert await asked.result("rows") == {"code": -32000, "message": words}
            monkeypatch.setattr("ledgerd.app.serving.turns.CALL_SECONDS", PATIENCE)
            STOPS.set()
            while isinstance(found := await asked.result("rows"), dict):
                assert found["message"] == words
            assert found == [{"number": 1}]

    play(scene)
    assert "the method wait has run for 0.2 s, line " in caplog.text


def test_types_that_are_known_to_type_checkers_alone_are_refused_at_the_start(tmp_path: Path) -> None:
    application = Application("typed")

    @application.method
    def typed(tables: Connection, count: Elsewhere) -> None:  # type: ignore[name-defined]  # noqa: F821 - as tried
        pass

    with pytest.raises(WrongDeclaration, match=r"method typed are not known .*'Elsewhere' is not defined"):
        MethodCaller(application, str(tmp_path / "a.sqlite"))


def test_pages_say_how_it_is(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            assert await asked.page("/health") == ("HTTP/1.1 200 OK", b'{"healthy":true}')
            status, body = await asked.page("/ready")
            assert (status, json.loads(body)) == ("HTTP/1.1 200 OK", {"ready": True, "block": 40, "head": 40})
            asked.part.progress.set_failing("a handler fails")
            status, body = await asked.page("/ready")
            assert (status.partition(" ")[2], json.loads(body)["reason"]) == (
                "503 Service Unavailable",
                "a handler fails",
            )
            _, metrics = await asked.page("/metrics")
            assert b'ledgerd_app_block_number{application="counting"} 40\n' in metrics
            _, described = await asked.page("/openrpc.json")
            methods = {each["name"]: each for each in json.loads(described)["methods"]}
            assert methods["newest"]["summary"] == "The newest blocks."
            assert [each["name"] for each in methods["newest"]["params"]] == ["count", "above"]
            assert (await asked.page("/nothing"))[0] == "HTTP/1.1 404 Not Found"

    play(scene)


def test_web_pages_of_other_origins_are_refused_on_this_machine(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            for headers, status in (
                ("Origin: http://mine\r\n", "200 OK"),
                ("", "200 OK"),
                ("Origin: http://other.example\r\n", "403 Forbidden"),
                ("Host: other.example\r\n", "403 Forbidden"),
            ):
                client = Client(*await asyncio.open_connection(*asked.part.address))
                host = "" if "Host" in headers else "Host: localhost\r\n"
                await client.say(f"GET /ready HTTP/1.1\r\n{host}{headers}\r\n".encode())
                assert (await client.answer())[0] == f"HTTP/1.1 {status}"
                client.writer.close()

    play(scene)
