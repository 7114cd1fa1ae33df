"""A program that waits, as a type checker sees it: `mypy --strict` fails where a type is another one, or is `Any`."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

if TYPE_CHECKING:
    from ledgerd.sdk import BlockingClient
    from ledgerd.sdk.api.records.chain import GlobalProperties
    from ledgerd.sdk.blocking.types.streams.stream import BlockingChainStream
    from ledgerd.sdk.blocking.types.transactions.builder import BlockingTransactionBuilder
    from ledgerd.sdk.blocking.types.transactions.prepared import BlockingPreparedTransaction
    from ledgerd.sdk.blocking.types.transactions.sent import BlockingSentTransaction
    from ledgerd.sdk.streams.cursor import StreamCursor
    from ledgerd.sdk.streams.events import BlockEvent, OperationEvent, Undone
    from ledgerd.sdk.transactions.dry_run import DryRun

    with BlockingClient("http://a.example", timeout=5) as client:
        assert_type(client, BlockingClient)
        assert_type(client.chain_id(), str)
        assert_type(client.database.get_dynamic_global_properties(), GlobalProperties)

    with client.blocks(since=1, until=2) as blocks:
        assert_type(blocks, BlockingChainStream[BlockEvent])
        assert_type(blocks.cursor, StreamCursor | None)
        for block in blocks:
            assert_type(block, BlockEvent)
    for either in client.blocks(undone=True):
        assert_type(either, BlockEvent | Undone)
    for event in client.operations(kinds=["transfer"], account="alice"):
        assert_type(event, OperationEvent)
    assert_type(next(client.operations(undone=True)), OperationEvent | Undone)

    with client.transaction("a key in WIF") as t:
        assert_type(t.transfer("alice", "bob", "1.000 VIZ"), BlockingTransactionBuilder)
        assert_type(t.simulate(), DryRun)
        assert_type(t.prepare(), BlockingPreparedTransaction)
    assert_type(t.sent, BlockingSentTransaction)
    assert_type(t.sent.in_block(), int)
    assert_type(t.sent.irreversible(seconds=60), int)
    assert_type(t.prepare().send(), BlockingSentTransaction)
    assert_type(client.prepared("a text").send(), BlockingSentTransaction)

    client.database.get_accounts(1)  # type: ignore[arg-type]  # a check fails should any of these be allowed
    client.blocks(since=1.5)  # type: ignore[call-overload]
    t.transfer("alice")  # type: ignore[call-arg]
    client.no_such_api.of_any_kind()  # type: ignore[attr-defined]
