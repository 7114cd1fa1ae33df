"""Prepared faults: the doctor names each of them, and nothing else; on a sound node it is silent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest

from ledgerd.basics.durations import DAY
from ledgerd.doctor.disk import GROWTH_FILE, LEAST, LITTLE, PROBE, Growth
from ledgerd.doctor.examined_node import ExaminedPlugin
from ledgerd.doctor.ports import INBOUND_FILE
from ledgerd.producer.signing.double_sign import FILE
from ledgerd.producer.signing.signing_frames import SignerStatus
from ledgerd.producer.time.ntp import MICRO
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_text
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.versions import version_number
from ledgerd.state.objects.validators import VALIDATOR_BY_NAME
from tests.chain.networks import BOB, SEVEN, key_of
from tests.doctor.broken_node import KEY, NAME, UNIT, BrokenNode
from tests.doctor.doubles import closed_port
from tests.house.source_tree import ROOT
from tests.upgrades.newer import make_store_newer

Prepare = TypeVar("Prepare", bound=Callable[[BrokenNode], None])
FAULTS: dict[str, tuple[str, Callable[[BrokenNode], None]]] = {}
"""By what was prepared: the name that the doctor gives it, and how to prepare it."""


def fault(name: str) -> Callable[[Prepare], Prepare]:
    def note(prepare: Prepare) -> Prepare:
        FAULTS[prepare.__name__] = (name, prepare)
        return prepare

    return note


# -- the signer


@fault("signer-away")
def a_signer_that_is_not_there(broken: BrokenNode) -> None:
    broken.use_signer(None)


@fault("signer-not-told")
def a_signer_that_signs_for_others(broken: BrokenNode) -> None:
    broken.use_signer(SignerStatus(("mallory",), (public_key_text(KEY.public),), 0, ""))


@fault("signer-waits")
def a_signer_that_waits(broken: BrokenNode) -> None:
    broken.use_signer(SignerStatus((NAME,), (public_key_text(KEY.public),), 0, "it waits"))


@fault("signing-key-not-ours")
def a_signer_with_another_key(broken: BrokenNode) -> None:
    broken.use_signer(SignerStatus((NAME,), (public_key_text(key_of(BOB).public),), 0, ""))


# -- plugins of others


@fault("plugin-refused")
def an_enabled_plugin_that_does_not_load(broken: BrokenNode) -> None:
    unused = ExaminedPlugin("spare", "viz-spare", "1.0", is_enabled=False, fault="it cannot be imported")
    broken.change(plugins=(ExaminedPlugin("rates", "viz-rates", "1.0", True, fault="it is made for 2.0"), unused))


@fault("plugin-name-taken")
def a_plugin_with_a_name_of_the_node_s_own(broken: BrokenNode) -> None:
    broken.change(plugins=(ExaminedPlugin("database_api", "viz-rates", "1.0", is_enabled=False, is_shadowed=True),))


# -- the running node


@fault("no-answer")
def a_running_node_whose_http_is_silent(broken: BrokenNode) -> None:
    broken.run()
    broken.change(http_endpoint=broken.around.seeds[1].endpoint)


@fault("head-old")
def a_running_node_with_an_old_head(broken: BrokenNode) -> None:
    broken.run()
    broken.around.ready.answer = {"ready": False, "reason": "the head block is 301 seconds old"}


@fault("part-down")
def a_running_node_with_a_part_that_is_down(broken: BrokenNode) -> None:
    broken.run()
    broken.around.ready.answer = {"ready": False, "reason": "webserver is down: API worker 1: exit code -9"}


@fault("node-starting")
def a_node_that_replays(broken: BrokenNode) -> None:
    broken.run()
    broken.around.ready.answer = {"ready": False, "reason": "the node starts: its state is being opened"}


@fault("node-warns")
def a_running_node_that_warns(broken: BrokenNode) -> None:
    broken.run()
    broken.around.ready.answer = {"ready": True, "warning": "doppelganger-check: no block is signed before 21 slots"}


# -- state, log, chain


@fault("data-dir-missing")
def a_data_directory_that_is_not_there(broken: BrokenNode) -> None:
    shutil.rmtree(broken.data_dir)


@fault("data-dir-pipe")
def a_pipe_in_the_place_of_the_state(broken: BrokenNode) -> None:
    (broken.data_dir / "state/data.mdb").unlink()
    os.mkfifo(broken.data_dir / "state/data.mdb")


@fault("data-dir-pipe")
def a_device_in_the_place_of_the_checksums(broken: BrokenNode) -> None:
    (broken.data_dir / "state/block_log.sums").unlink(missing_ok=True)
    (broken.data_dir / "state/block_log.sums").symlink_to("/dev/zero")


@fault("state-missing")
def a_directory_without_a_state(broken: BrokenNode) -> None:
    (broken.data_dir / "state/data.mdb").unlink()


@fault("state-damaged")
def a_state_that_was_overwritten(broken: BrokenNode) -> None:
    (broken.data_dir / "state/data.mdb").write_bytes(b"x" * 100_000)


@fault("state-newer")
def a_state_of_a_later_version(broken: BrokenNode) -> None:
    make_store_newer(broken.data_dir / "state", "ledgerd state")


@fault("state-of-another-chain")
def a_state_of_another_network(broken: BrokenNode) -> None:
    broken.change(network=MAINNET)


@fault("block-log-unfit")
def a_block_log_that_is_gone(broken: BrokenNode) -> None:
    for file in (broken.data_dir / "state").glob("block_log*"):
        file.unlink()


@fault("hardfork-unknown")
def validators_that_vote_for_an_unknown_hardfork(broken: BrokenNode) -> None:
    change_validator(broken, hardfork_version_vote=version_number(9, 1), hardfork_time_vote=broken.around.now + 3 * DAY)


@fault("validator-switched-off")
def a_validator_without_a_key_on_the_chain(broken: BrokenNode) -> None:
    change_validator(broken, signing_key=NULL_KEY)


@fault("signing-key-not-ours")
def a_validator_with_another_key_on_the_chain(broken: BrokenNode) -> None:
    change_validator(broken, signing_key=key_of(BOB).public)


@fault("validator-unknown")
def a_validator_that_nobody_has_declared(broken: BrokenNode) -> None:
    broken.change(validators=(AccountName("nobody"),))


# -- keys


@fault("key-readable")
def a_key_file_that_everybody_may_read(broken: BrokenNode) -> None:
    broken.key_file.chmod(0o644)


@fault("key-readable")
def a_configuration_with_a_key_that_the_group_may_read(broken: BrokenNode) -> None:
    broken.node.configuration_file.write_text(f"private-key = {KEY.wif}\n")
    broken.node.configuration_file.chmod(0o640)


@fault("last-signed-unreadable")
def a_record_of_the_last_signed_block_that_is_damaged(broken: BrokenNode) -> None:
    (broken.data_dir / FILE).write_text("{")


# -- ports


@fault("port-taken")
def a_port_that_another_program_has(broken: BrokenNode) -> None:
    broken.change(p2p_endpoint=broken.around.seeds[0].endpoint)


@fault("address-not-ours")
def an_address_of_another_machine(broken: BrokenNode) -> None:
    broken.change(http_endpoint=Endpoint("192.0.2.7", 8090))


@fault("port-closed")
def a_running_node_whose_port_is_closed(broken: BrokenNode) -> None:
    broken.run()
    broken.change(p2p_endpoint=closed_port())


@fault("not-shown-reachable")
def no_inbound_peer_in_the_last_hour(broken: BrokenNode) -> None:
    (broken.data_dir / INBOUND_FILE).write_text(f"{broken.around.now - 3_700}\n")


@fault("not-shown-reachable")
def no_inbound_peer_ever(broken: BrokenNode) -> None:
    (broken.data_dir / INBOUND_FILE).unlink()


# -- clock


@fault("clock-wrong")
def a_clock_that_is_four_seconds_behind(broken: BrokenNode) -> None:
    for server in broken.around.time_servers:
        server.ahead = 4 * MICRO


@fault("clock-unknown")
def no_time_server_that_answers(broken: BrokenNode) -> None:
    broken.change(time_servers=(closed_port(),))


@fault("clock-sources-disagree")
def a_time_server_that_is_wrong(broken: BrokenNode) -> None:
    broken.around.time_servers[1].ahead = -3 * MICRO


# -- disk


@fault("disk-nearly-full")
def a_disk_with_little_room(broken: BrokenNode) -> None:
    broken.set_free(LITTLE - 1)


@fault("disk-full-soon")
def a_disk_that_fills(broken: BrokenNode) -> None:
    free = 10 * LITTLE
    broken.set_free(free)
    samples = [(broken.around.now - DAY, 1), (broken.around.now, free // 5)]
    (broken.data_dir / GROWTH_FILE).write_bytes(msgspec.json.encode(Growth(samples)))


@fault("disk-slow")
def a_disk_that_takes_long(broken: BrokenNode) -> None:
    broken.monkeypatch.setattr("ledgerd.doctor.disk.time_of_write", lambda _: 0.4)


@fault("disk-not-writable")
def a_disk_that_takes_no_write(broken: BrokenNode) -> None:
    broken.monkeypatch.undo()
    broken.set_free(100 * LITTLE)
    (broken.data_dir / PROBE).mkdir()


# -- the machine


@fault("memory-low")
def a_machine_without_memory(broken: BrokenNode) -> None:
    broken.set_memory(100_000)


@fault("memory-low")
def a_container_at_its_limit(broken: BrokenNode) -> None:
    group = broken.root / "sys/fs/cgroup"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("1000000000\n")
    (group / "memory.current").write_text("990000000\n")


@fault("descriptors-few")
def a_running_node_that_may_open_few_files(broken: BrokenNode) -> None:
    broken.run()
    broken.change(max_connections=70_000)
    broken.unit.write_text(UNIT.replace("LimitNOFILE=65536\n", ""))


@fault("descriptors-few")
def a_unit_that_allows_few_files(broken: BrokenNode) -> None:
    broken.unit.write_text(UNIT.replace("65536", "256"))


@fault("stop-timeout-short")
def a_unit_that_kills_soon(broken: BrokenNode) -> None:
    broken.unit.write_text(UNIT.replace("TimeoutStopSec=40", "TimeoutStopSec=10s"))


@fault("service-not-restarted")
def a_unit_that_restarts_nothing(broken: BrokenNode) -> None:
    broken.unit.write_text(UNIT.replace("Restart=on-failure\n", ""))


@fault("service-restarted-in-vain")
def a_unit_that_restarts_a_wrong_configuration(broken: BrokenNode) -> None:
    broken.unit.write_text(UNIT.replace("RestartPreventExitStatus=2\n", ""))


# -- others


@fault("seeds-silent")
def a_seed_that_is_gone(broken: BrokenNode) -> None:
    broken.change(seeds=(*broken.node.seeds, closed_port()))


@fault("snapshot-peers-silent")
def a_snapshot_peer_that_is_gone(broken: BrokenNode) -> None:
    broken.change(snapshot_peers=(closed_port(),))


def change_validator(broken: BrokenNode, **values: object) -> None:
    with broken.chain() as chain:
        ledger = chain.parts.ledger
        validator = chain.parts.store.at(VALIDATOR_BY_NAME, NAME)
        with ledger.editing(validator):
            for field, value in values.items():
                setattr(validator, field, value)
        chain.parts.store.commit()


@pytest.mark.parametrize("prepared", FAULTS)
def test_a_prepared_fault_is_named_and_nothing_else(broken: BrokenNode, prepared: str) -> None:
    name, prepare = FAULTS[prepared]
    prepare(broken)

    findings = broken.findings()

    assert [each.name for each in findings] == [name], findings
    (finding,) = findings
    assert finding.page == f"docs/doctor.md#{name}"
    assert finding.what
    assert finding.why
    assert finding.do
    assert KEY.wif not in str(finding)


def test_twenty_faults_are_prepared() -> None:
    assert len({name for name, _ in FAULTS.values()}) >= 20


@pytest.mark.parametrize("is_running", [False, True])
def test_on_a_sound_node_the_doctor_is_silent(broken: BrokenNode, *, is_running: bool) -> None:
    if is_running:
        broken.run()

    assert broken.findings() == []


def test_a_node_with_a_sound_signer_is_sound(broken: BrokenNode) -> None:
    broken.use_signer(SignerStatus((NAME,), (public_key_text(KEY.public),), 0, ""))
    assert broken.findings() == []


def test_all_seeds_gone_is_an_error_and_one_of_them_a_warning(broken: BrokenNode) -> None:
    a_seed_that_is_gone(broken)
    assert [each.severity.value for each in broken.findings()] == ["warning"]

    broken.change(seeds=(closed_port(), closed_port()))
    assert [each.severity.value for each in broken.findings()] == ["error"]


def test_the_days_that_are_left_until_a_hardfork_are_told(broken: BrokenNode) -> None:
    validators_that_vote_for_an_unknown_hardfork(broken)

    assert broken.findings()[0].what.startswith(
        "3.0 days are left until hardfork 9.1.0, which this program does not know"
    )


def test_several_faults_are_all_named(broken: BrokenNode) -> None:
    a_clock_that_is_four_seconds_behind(broken)
    a_machine_without_memory(broken)
    broken.set_free(LEAST - 1)

    assert broken.names() == ["clock-wrong", "disk-nearly-full", "memory-low"]


def test_the_services_beside_a_node_are_not_held_to_what_a_node_needs(broken: BrokenNode) -> None:
    services = ROOT / "share" / "ledgerd" / "systemd"
    for name in ("ledgerd-signer", "ledgerd-explorer", "ledgerd-api"):
        shutil.copy(services / f"{name}.service", broken.unit.parent)

    assert broken.findings() == []


def test_drop_in_files_of_the_unit_count(broken: BrokenNode) -> None:
    drop_in = broken.unit.with_name("ledgerd.service.d") / "override.conf"
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nLimitNOFILE=100\nTimeoutStopSec=5\n")
    assert broken.names() == ["descriptors-few", "stop-timeout-short"]

    drop_in.write_text("[Service]\nLimitNOFILE=100000\nRestartPreventExitStatus=\n")
    assert broken.names() == ["service-restarted-in-vain"]


@pytest.mark.parametrize("field", ["metrics_endpoint", "explorer_endpoint"])
def test_the_ports_of_metrics_and_explorer_are_looked_at_too(broken: BrokenNode, field: str) -> None:
    broken.change(**{field: broken.around.seeds[0].endpoint})
    assert broken.names() == ["port-taken"]

    broken.run()
    broken.change(**{field: closed_port()})
    assert broken.names() == ["port-closed"]


def test_the_chain_of_a_foreign_state_is_named_and_not_taken_for_a_key(broken: BrokenNode) -> None:
    """Whole, it looks like a private key in hex, which no line shows."""
    a_state_of_another_network(broken)

    assert f"is of the chain {SEVEN.chain_id.hex()[:16]}..., not of VIZ" in str(broken.findings()[0])
