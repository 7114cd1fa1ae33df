"""docs/network.md: its commands do what it says, and its figures are those of the code."""

from __future__ import annotations

from pathlib import Path

from ledgerd.p2p import driver, network_state
from ledgerd.p2p.shared import allowances, bans
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.sync import admission, gap_fill, range_sync, serving
from ledgerd.p2p.talk import peer_exchange
from ledgerd.p2p.wire import frames
from ledgerd.p2p.wire.messages import MESSAGES
from ledgerd.protocol.networks.chain_file import load_parameters
from tests.docs.guides import DOCUMENTS, Reader, steps_of

DOCUMENT = (DOCUMENTS / "network.md").read_text(encoding="utf-8")
MEBIBYTE = 1 << 20


def test_its_commands_can_be_run(tmp_path: Path) -> None:
    testnet, village, check = steps_of("network.md", {"--block-time 1": "--block-time 0.5"})
    (tmp_path / village.kind.split()[1]).write_text(village.text)
    with Reader(tmp_path) as reader:
        assert "village.toml" in reader.take(check)
        assert "all on one head" in reader.take(testnet)

    network = load_parameters(tmp_path / "village.toml")
    assert (network.name, network.max_validators, network.clock.rate) == ("VILLAGE", 5, 2.0)


def test_its_figures_are_those_of_the_code() -> None:
    settings = Settings()
    for words in (
        f"`p2p-max-connections` ({settings.max_connections}), of which at least {settings.reserved_outbound} places",
        f"| {settings.max_per_address}, and {settings.max_per_subnet};",
        f"| {network_state.CONNECTING_SECONDS} s, {network_state.HANDSHAKING_SECONDS} s,",
        f" {network_state.FRAME_SECONDS} s |",
        f"from {driver.SPARED_BYTES // MEBIBYTE} MiB on, statuses and transactions are left out",
        f"from {driver.UNREAD_BYTES // MEBIBYTE} MiB on, its socket is not read",
        f"beyond {driver.QUEUED_BYTES // MEBIBYTE} MiB it is disconnected",
        f"{serving.MOST_IN_RANGE:,} look-ups a request",
        f"{admission.MOST_EARLY_OF_ADDRESS} an address, {admission.MOST_EARLY} in all",
        f"| {network_state.IDLE_SECONDS} s without a message",
        f"| {allowances.SIGNATURES_A_SECOND}/s in the long run, {allowances.SIGNATURES:,} at once",
        f"| {allowances.UNPROVEN_BLOCKS} an address,",
        f"{allowances.PUSHED_BYTES // MEBIBYTE} MiB at once, then {allowances.PUSHED_BYTES_A_SECOND >> 10} KiB/s",
        f"`dlt-mempool-max-tx` ({settings.mempool_max_tx:,})",
        f"({settings.mempool_max_bytes // MEBIBYTE} MiB)",
        f"{range_sync.RANGES_AHEAD} ranges, {range_sync.BYTES_AHEAD // MEBIBYTE} MiB",
        f"{range_sync.RANGE_BLOCKS} blocks each",
        f"up to {gap_fill.MOST_BLOCKS} blocks by number",
        f"{peer_exchange.MOST_TAKEN} of an answer",
    ):
        assert words in DOCUMENT
    assert frames.MAX_PAYLOAD == 2 * MEBIBYTE
    assert (bans.ADDRESS_LIMIT, bans.FADE_SECONDS, bans.BAN_SECONDS) == (30.0, 60.0, 3600)


def test_it_names_every_message() -> None:
    assert [number for number in MESSAGES if str(number) not in DOCUMENT] == []
