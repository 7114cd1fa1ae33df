"""The chain as a whole: production, waiting transactions, irreversibility, restarts, and what listeners are told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event, IrreversibleAdvanced
from ledgerd.chain.offline.invariants import check
from ledgerd.chain.pending.generation import GENERATION_SECONDS, PROPOSALS_SHARE
from ledgerd.chain.pending.pending import REAPPLICATION_SECONDS
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block, BlockHeader, sign_block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.transactions import KNOWN_TRANSACTIONS
from ledgerd.state.tables.records import Row
from tests.chain.networks import ALICE, GENESIS, SMALL, VIZ, VIZ_KEY, Network, start_seven
from tests.chain.observing import observe


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    network = Network(tmp_path / "one")
    network.start()
    yield network
    network.chain.close()


def balance(network: Network) -> int:
    return network.chain.parts.ledger.account(ALICE).balance


def pay(amount: int, memo: str = "") -> Transfer:
    return Transfer(VIZ, ALICE, tokens(amount), memo)


def test_a_testnet_of_one_validator_gets_past_all_hardforks(network: Network) -> None:
    assert network.chain.head_number == 14
    assert network.chain.hardfork(13)
    assert network.chain.scheduled == (VIZ,)
    network.produce(30)
    assert network.chain.irreversible >= 43
    assert check(network.chain) == []


def test_a_waiting_transaction_counts_at_once_and_is_in_the_next_block(network: Network) -> None:
    before = balance(network)
    sent = network.send(pay(5))
    assert balance(network) == before + 5
    (block,) = network.produce()
    assert [each.id for each in block.transactions] == [sent.id]
    assert balance(network) == before + 5
    assert network.chain.waiting == ()


class PendingRecorder(Observer):
    """How many objects each pending transaction changed; 0 where all of it was dropped."""

    wants_pending = True

    def __init__(self) -> None:
        self.counts: list[int] = []

    def pending_changed(self, rows: list[Row]) -> None:
        self.counts.append(len(rows))

    def pending_dropped(self) -> None:
        self.counts.append(0)


def test_observers_learn_of_pending_changes_and_of_their_undoing(network: Network) -> None:
    recorder = PendingRecorder()
    network.chain.observe(recorder)

    network.send(pay(5))
    with pytest.raises(RuleViolation):
        network.chain.push_transaction(network.signed(pay(10**15)))
    (first,) = recorder.counts
    assert first > 2  # both accounts, and the transaction itself

    later = network.signed(pay(6))
    block = network.make()
    network.chain.push_transaction(later)
    network.chain.push_block(block).or_raise()

    assert recorder.counts[1] == 0
    assert recorder.counts[-2] == 0
    assert recorder.counts[-1] > 2  # what is not in the block waits on


def test_a_block_of_waiting_transactions_is_taken_in_without_recovering_their_keys_again(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Network(tmp_path / "two")
    other.follow(block for number in range(1, 15) if (block := network.chain.block_at(number)) is not None)
    sent = network.send(pay(5))
    again = codec_of(Transaction).decode(sent.packed)
    other.chain.push_transaction(again)
    forged = replace(again, signatures=(Signature(again.signatures[0][:-1] + b"x"),))
    (block,) = network.produce()

    def recover(*_: object) -> None:
        raise AssertionError("recovered again")

    monkeypatch.setattr("ledgerd.protocol.blocks.transaction.recover", recover)
    other.chain.parts.pending.copy_signers([forged])
    assert forged.known_signers(other.chain.network.chain_id) is None
    assert other.chain.push_block(codec_of(Block).decode(block.packed)).has_moved
    other.chain.close()


def test_a_transaction_that_breaks_a_rule_changes_nothing(network: Network) -> None:
    before = balance(network)
    for bad, message in (
        (network.signed(pay(0)), "negative amount"),
        (network.signed(pay(10**15)), "sufficient funds"),
        (network.signed(pay(1), lifetime=4000), "CHAIN_MAX_TIME_UNTIL_EXPIRATION"),
        (network.signed(pay(1), lifetime=-200), "now < trx.expiration"),
        (network.signed(), "at least one operation"),
        (network.signed(pay(1, "x" * 70_000)), "Memo is too large"),
    ):
        with pytest.raises(RuleViolation, match=message):
            network.chain.push_transaction(bad)
    assert balance(network) == before
    assert network.make().transactions == ()


def test_a_transaction_is_taken_once(network: Network) -> None:
    sent = network.send(pay(5))
    with pytest.raises(RuleViolation, match="Duplicate transaction"):
        network.chain.push_transaction(sent)
    network.produce()
    with pytest.raises(RuleViolation, match="Duplicate transaction"):
        network.chain.push_transaction(sent)


def test_an_expired_transaction_behind_one_that_lives_longer_counts_as_forgotten(network: Network) -> None:
    lasting, brief = network.signed(pay(1), lifetime=3500), network.signed(pay(2), lifetime=9)
    for each in (lasting, brief):
        network.chain.push_transaction(each)
    network.produce(6)

    with pytest.raises(RuleViolation, match=r"now < trx\.expiration"):
        network.chain.push_transaction(brief)
    with pytest.raises(RuleViolation, match="Duplicate transaction"):
        network.chain.push_transaction(lasting)
    network.produce(1200)
    assert network.chain.parts.store.oldest(KNOWN_TRANSACTIONS) is None


def test_a_transaction_of_another_branch_is_refused(network: Network) -> None:
    elsewhere = replace(network.signed(pay(1)), ref_block_prefix=7, signatures=())
    with pytest.raises(RuleViolation, match="tapos_block_summary"):
        network.chain.push_transaction(elsewhere.signed(network.chain.network.chain_id, [VIZ_KEY]))


def test_transactions_beyond_the_time_limit_wait_unapplied(network: Network) -> None:
    sent = [network.send(pay(1)) for _ in range(3)]
    empty = sign_empty(network)
    set_clock(network, 0.0, REAPPLICATION_SECONDS / 2, 2 * REAPPLICATION_SECONDS)
    before = balance(network)
    network.chain.push_block(empty).or_raise()
    assert [each.id for each in network.chain.waiting] == [each.id for each in sent]
    assert balance(network) == before - 2


def test_what_waits_unapplied_is_not_accepted_a_second_time(network: Network) -> None:
    sent = [network.send(pay(1)) for _ in range(3)]
    empty = sign_empty(network)
    set_clock(network, 0.0, REAPPLICATION_SECONDS / 2, 2 * REAPPLICATION_SECONDS)
    network.chain.push_block(empty).or_raise()

    for each in sent:
        with pytest.raises(RuleViolation, match="Duplicate transaction check failed"):
            network.chain.push_transaction(each)

    assert [each.id for each in network.chain.waiting] == [each.id for each in sent]
    block = network.make()
    assert block.transactions == tuple(sent)
    network.chain.push_block(block).or_raise()
    assert network.chain.waiting == ()


def set_clock(network: Network, *ticks: float) -> None:
    """A clock that says these, and the last of them for ever."""
    said = chain(ticks, repeat(ticks[-1]))
    network.chain.parts.pending._clock = lambda: next(said)  # noqa: SLF001 - a clock that runs out


def test_what_is_in_a_block_or_has_expired_does_not_wait_though_time_is_too_short(network: Network) -> None:
    for _ in range(3):
        network.send(pay(1))
    block = network.make()
    expired = network.signed(pay(1), lifetime=-network.chain.head_time)
    waits = network.signed(pay(1))
    network.chain.parts.pending.transactions += [expired, waits]
    set_clock(network, 0.0, 1.0)

    network.chain.push_block(block).or_raise()

    assert len(block.transactions) == 3
    assert network.chain.waiting == (waits,)


def test_making_a_block_ends_in_time_and_the_rest_waits(network: Network) -> None:
    first, second, _ = (network.send(pay(1)) for _ in range(3))
    # Twice for each transaction: whether there is time for it, and until when it may take.
    set_clock(network, 0.0, 0.1, 0.1, GENERATION_SECONDS, GENERATION_SECONDS, GENERATION_SECONDS + 0.1)

    block = network.make()

    assert block.transactions == (first, second)
    assert len(network.chain.waiting) == 3


def test_proposals_take_a_part_of_a_block_and_more_where_nobody_else_waits(network: Network) -> None:
    def proposed(number: int, size: int) -> Transaction:
        inside = (OperationWrapper(pay(1, "x" * 2_000)),) * (size // 2_020)
        ends = network.chain.head_time + 60 + number
        return network.send(ProposalCreate(VIZ, f"title {number}", "", ends, inside, None, ()))

    limit = network.chain.parts.ledger.globals.maximum_block_size
    part = limit // 8
    proposals = [proposed(number, part) for number in range(8)]
    alone = network.make()
    others = [network.send(*[pay(1, "y" * 2_000)] * (part // 2_020)) for _ in range(8)]

    crowded = network.make()

    assert len(alone.transactions) > 6
    assert set(alone.transactions) <= set(proposals)
    taken = [each for each in crowded.transactions if each in proposals]
    assert 1 <= len(taken) <= 2
    assert sum(len(each.packed) for each in taken) <= limit // PROPOSALS_SHARE
    assert len([each for each in crowded.transactions if each in others]) >= 5


def sign_empty(network: Network) -> Block:
    """A block of the next slot that takes none of the waiting transactions."""
    made = network.make()
    header = BlockHeader(made.previous, made.timestamp, made.validator, bytes(20), made.extensions)  # type: ignore[arg-type]
    network.chain.commit()
    return sign_block(header, (), VIZ_KEY)


def test_a_block_leaves_out_what_breaks_a_rule_by_then_and_says_so(
    network: Network, caplog: pytest.LogCaptureFixture
) -> None:
    good = network.send(Transfer(VIZ, ALICE, tokens(1), ""))
    bad = network.signed(Transfer(ALICE, VIZ, tokens(1), ""))
    network.chain.parts.pending.transactions.append(bad)

    block = network.make()

    assert block.transactions == (good,)
    (line,) = (each.getMessage() for each in caplog.records if each.levelname == "WARNING")
    assert line == (
        f'left 1 waiting transactions out of a block, the first is {bad.id.hex()}: Missing Active Authority ["alice"]'
    )


def test_a_block_that_breaks_a_rule_leaves_all_as_it_was(network: Network) -> None:
    made = network.make()
    other_key = sign_block(
        BlockHeader(made.previous, made.timestamp, "committee", made.transaction_merkle_root, ()), (), VIZ_KEY
    )
    too_early = sign_block(
        BlockHeader(made.previous, made.timestamp - 3, "viz", made.transaction_merkle_root, ()), (), VIZ_KEY
    )
    bad_root = sign_block(BlockHeader(made.previous, made.timestamp, "viz", bytes([1] * 20), ()), (), VIZ_KEY)  # type: ignore[arg-type]
    head = network.chain.head_id
    for bad in (other_key, too_early, bad_root):
        with pytest.raises(RuleViolation):
            network.chain.push_block(bad).or_raise()
        assert network.chain.head_id == head
    assert network.chain.push_block(made).has_moved


def test_a_restart_loses_no_committed_block(network: Network) -> None:
    network.send(pay(7))
    network.produce(3)
    head, paid = network.chain.head_id, balance(network)
    network.reopen()
    assert (network.chain.head_id, balance(network)) == (head, paid)
    network.produce(3)
    assert check(network.chain) == []


def test_blocks_in_memory_are_not_there_after_a_crash(network: Network) -> None:
    head = network.chain.head_id
    network.chain.push_block(network.make(), commit=False).or_raise()
    network.reopen()
    assert network.chain.head_id == head
    network.produce()


def test_a_popped_block_gives_its_transactions_back(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    sent = network.send(pay(5))
    network.produce()
    head = network.chain.head_number
    network.chain.pop_block()
    assert network.chain.head_number == head - 1
    assert [each.id for each in network.chain.waiting] == [sent.id]
    (again,) = network.produce()
    assert [each.id for each in again.transactions] == [sent.id]
    network.chain.close()


def test_listeners_receive_every_committed_event_in_order(network: Network) -> None:
    told: list[Event] = []
    observe(network.chain, told.append)
    network.send(pay(5, "hello"))
    first, second = network.make(), None
    network.chain.push_block(first, commit=False).or_raise()
    assert told == []
    second = network.make()
    network.chain.push_block(second).or_raise()
    applied = [event for event in told if isinstance(event, BlockApplied)]
    assert [event.block.id for event in applied] == [first.id, second.id]
    (operation,) = [each for each in applied[0].operations if isinstance(each.operation, Transfer)]
    assert (operation.block, operation.transaction_in_block, operation.virtual_operation) == (first.number, 0, 0)
    assert operation.transaction_id == first.transactions[0].id
    assert any(isinstance(event, IrreversibleAdvanced) for event in told)
    assert not any(isinstance(event, BlocksUndone) for event in told)


def test_the_irreversible_blocks_are_in_the_log(network: Network) -> None:
    blocks = network.produce(5)
    log = network.chain.block_log
    assert log.head_number == network.chain.irreversible
    packed = log.read(blocks[0].number)
    assert packed == blocks[0].packed
    assert codec_of(Block).decode(packed).id == blocks[0].id


def test_a_checkpoint_refuses_another_block(network: Network, tmp_path: Path) -> None:
    blocks = [network.chain.block_at(number) for number in range(1, 5)]
    known = [block for block in blocks if block is not None]
    for checkpoints, refused in (({3: known[2].id}, False), ({3: known[1].id}, True)):
        chain = Chain.open(
            tmp_path / f"checked-{refused}",
            network.chain.network,
            clock=network.clock,
            genesis_time=GENESIS,
            checkpoints=checkpoints,
            space=SMALL,
        )
        with chain:
            chain.push_block(known[0]).or_raise()
            chain.push_block(known[1]).or_raise()
            if refused:
                with pytest.raises(RuleViolation, match="checkpoint 3"):
                    chain.push_block(known[2]).or_raise()
            else:
                assert chain.push_block(known[2]).has_moved


def test_a_state_of_another_chain_is_refused(network: Network) -> None:
    network.chain.close()
    with pytest.raises(OperatorError, match="belongs to the chain"):
        Chain.open(network.folder, MAINNET, clock=network.clock, space=SMALL)
    network.reopen()
