"""How many subscriptions there may be: of an address, and of all clients, of whom those with most give way."""

from __future__ import annotations

from websockets.frames import Close, CloseCode, Frame, Opcode

from ledgerd.rpc.call.limits import Limits
from tests.rpc.http.streams.test_websocket import follow, masked, raw
from tests.rpc.loopback import Client, Server, play, serving, until
from tests.rpc.sample_api import Main, service

NOBODY_EXEMPT = ("none",)
FIRST, SECOND = "127.0.0.2", "127.0.0.3"


async def ask(client: Client, count: int) -> None:
    for number in range(count):
        await client.say(masked(Frame(Opcode.TEXT, follow(number).encode())))


async def subscriber(server: Server, source: str, count: int) -> Client:
    client = await raw(server, source)
    await ask(client, count)
    return client


async def refusal(client: Client) -> bytes:
    """What is said to a client that asks for one subscription more."""
    await ask(client, 1)
    return await client.reader.read(4096)


def test_those_of_all_connections_of_an_address_are_bounded() -> None:
    async def scene() -> None:
        main = Main()
        limits = Limits(late_answers=3, address_late_answers=4, exempt=NOBODY_EXEMPT)
        async with serving(service(main, limits)) as server:
            await subscriber(server, FIRST, 3)
            other = await subscriber(server, FIRST, 1)
            await until(lambda: len(main.listeners) == 4)
            assert b"(webserver-max-subscriptions-per-address)" in await refusal(other)
            await subscriber(server, SECOND, 3)
            await until(lambda: len(main.listeners) == 7)
            other.writer.close()
            await until(lambda: len(main.listeners) == 6)
            await subscriber(server, FIRST, 1)
            await until(lambda: len(main.listeners) == 7)

    play(scene)


def test_each_connection_of_a_shared_address_counts_for_itself() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main, Limits(address_late_answers=2, exempt=(FIRST,)))) as server:
            clients = [await subscriber(server, FIRST, 2) for _ in range(3)]
            await until(lambda: len(main.listeners) == 6)
            assert b"(webserver-max-subscriptions-per-address)" in await refusal(clients[0])

    play(scene)


def test_where_there_are_too_many_the_largest_connection_of_whoever_has_most_gives_way() -> None:
    async def scene() -> None:
        main = Main()
        serves = service(main, Limits(all_late_answers=10, exempt=NOBODY_EXEMPT))
        async with serving(serves) as server:
            await subscriber(server, FIRST, 3)
            many = await subscriber(server, FIRST, 4)
            few = await subscriber(server, SECOND, 3)
            await until(lambda: len(main.listeners) == 10)
            assert b"(webserver-max-subscriptions-per-process)" in await refusal(many)
            await ask(few, 1)
            await until(lambda: len(main.listeners) == 7)
            assert Close(CloseCode.TRY_AGAIN_LATER, "").serialize() in await many.reader.read(4096)
            assert serves.late_answers.total == 7
            few.writer.close()
            await until(lambda: serves.late_answers.total == 3)

    play(scene)


def test_clients_with_equally_many_do_not_end_those_of_each_other() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main, Limits(all_late_answers=4, exempt=NOBODY_EXEMPT))) as server:
            clients = [await subscriber(server, source, 2) for source in (FIRST, SECOND)]
            await until(lambda: len(main.listeners) == 4)
            for client in clients:
                assert b"(webserver-max-subscriptions-per-process)" in await refusal(client)
            assert len(main.listeners) == 4

    play(scene)
