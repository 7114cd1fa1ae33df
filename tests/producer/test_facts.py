"""What a producer reads from a chain."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.producer.facts import Facts, quiet_slots, read_facts
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from tests.chain.networks import ALICE, BOB, SMALL, VIZ, VIZ_KEY, Network


def test_the_facts_are_those_of_the_chain(tmp_path: Path) -> None:
    network = Network(tmp_path)
    network.start()
    network.produce(5)

    facts = read_facts(network.chain, (VIZ,))

    assert (facts.head_number, facts.head_id) == (network.chain.head_number, network.chain.head_id)
    assert facts.keys == {VIZ: VIZ_KEY.public}
    assert facts.slot_time(1) == facts.head_time + 3
    assert facts.is_network_of_one
    assert not facts.is_rolling
    network.chain.close()


def test_a_chain_that_began_with_a_snapshot_is_rolling(tmp_path: Path) -> None:
    network = Network(tmp_path / "source")
    network.start()
    file = BytesIO()
    export(network.chain.parts.store, file, Occasion(network.chain.network.chain_id, 0))
    folder = tmp_path / "rolling"
    with Store.open(folder / STATE_FOLDER, STORED_TABLES, space=SMALL) as store:
        load(store, Snapshot.from_bytes(file.getvalue()), network.chain.network)
        store.commit()
    network.chain.close()

    with Chain.open(folder, network.chain.network, clock=network.clock, space=SMALL) as chain:
        assert read_facts(chain, (VIZ,)).is_rolling


def test_quiet_slots_are_those_of_others_up_to_the_end_of_the_round() -> None:
    """What comes after that is not known: the next round has an order of its own."""

    def quiet(head: int, aslot: int) -> int:
        scheduled = (BOB, BOB, ALICE, BOB, BOB)
        facts = Facts(head, NO_BLOCK, 0, 3, aslot, scheduled, {ALICE: VIZ_KEY.public}, True, False, 10_000, 5, ())
        return quiet_slots(facts)

    assert [quiet(number, number) for number in range(100, 105)] == [1, 0, 3, 2, 1]
    assert quiet(head=101, aslot=104) == 2  # slots were missed: the place in the order and the round differ
