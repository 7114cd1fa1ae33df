"""A local network: founded or reopened, started, watched, stopped; for `ledgerd testnet` and for tests."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.node.testnet.founding import SMALL, copy_chain, found
from ledgerd.node.testnet.plan import (
    HOST,
    MAJORITY,
    ROUND,
    Member,
    Plan,
    Seeds,
    new_keys,
    plan_of,
    read_keys,
    write_keys,
    write_secret,
)
from ledgerd.node.testnet.processes import MemberProcess
from ledgerd.node.testnet.watch import NetworkMonitor
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.chain_file import load_parameters
from ledgerd.protocol.networks.parameters import TESTNET, ChainParameters, NetworkClock
from ledgerd.state.files.lock import lock_writer

BASE = "testnet"
NAME = "VIZLOCAL"

PLUGINS = (
    "chain p2p webserver json_rpc database_api network_broadcast_api validator validator_guard validator_api "
    "committee_api invite_api paid_subscription_api custom_protocol_api account_by_key raw_block operation_history "
    "account_history prediction_market_api"
)


def chain_text(plan: Plan, founded: int, clock: NetworkClock) -> str:
    """`founded` is when the last hardfork's wait began, in the network's time."""
    keys = plan.keys
    places = keys.places
    lines = [
        "# Written by `ledgerd testnet`; all its nodes read it.",
        f'base = "{BASE}"',
        f'name = "{NAME}"',
        f"max_top_validators = {places - places // 2}",
        f"max_support_validators = {places // 2}",
        f"hardfork_required_validators = {-(-places * MAJORITY // ROUND)}",
        f'committee_key = "{_public(keys.committee)}"',
        f'emergency_key = "{_public(keys.emergency)}"',
        "default_distribution_epoch_length = 100",
    ]
    if keys.hardfork_after:
        last = TESTNET.last_hardfork.number
        lines += ["", "[hardfork_times]", f"{last} = {founded + keys.hardfork_after}"]
    lines += ["", "[clock]", f"began = {clock.began}", f"showed = {clock.showed}", f"rate = {clock.rate}"]
    return "\n".join(lines) + "\n"


def _public(wif: str) -> str:
    return public_key_text(PrivateKey.from_wif(wif).public)


def write_configurations(plan: Plan, seeds: Seeds | None = None, *, metrics: bool = False) -> None:
    for member in plan.members:
        member.folder.mkdir(parents=True, exist_ok=True)
        write_secret(member.config, config_text(plan, member, seeds or {}, metrics=metrics))


def config_text(plan: Plan, member: Member, seeds: Seeds, *, metrics: bool = False) -> str:
    others = [each for each in plan.members if each is not member]
    lines = [
        f"# {member.name} of a local network. Written again by each start of `ledgerd testnet`.",
        f"chain = {plan.chain_file}",
        f"plugin = {PLUGINS}",
        f"p2p-endpoint = {HOST}:{member.p2p_port}",
        *(f"p2p-seed-node = {HOST}:{seeds.get((member.number, each.number), each.p2p_port)}" for each in others),
        "p2p-isolated-peers = true",
        f"webserver-http-endpoint = {HOST}:{member.http_port}",
        f"webserver-ws-endpoint = {HOST}:{member.websocket_port}",
        *([f"metrics-endpoint = {HOST}:{member.metrics_port}"] if metrics else []),
        "webserver-thread-pool-size = 1",
        "shared-file-size = 128M",
        "inc-shared-file-size = 128M",
        "min-free-shared-file-size = 32M",
        *(f'validator = "{name}"' for name in member.validators),
        *(f"private-key = {plan.keys.validators[name]}" for name in member.validators),
        *_guarded(plan, member),
    ]
    if member.number == 1:
        lines.append(f"emergency-private-key = {plan.keys.emergency}")
    lines += ["", "[log.console_appender.stderr]", "stream = std_error", ""]
    lines += ["[logger.default]", "level = info", "appenders = stderr"]
    return "\n".join(lines) + "\n"


def _guarded(plan: Plan, member: Member) -> Iterator[str]:
    """Options that let validators return by themselves after an emergency, which removes all signing keys."""
    for name in member.validators:
        key = plan.keys.validators[name]
        yield f'validator-guard-validator = ["{name}","{key}","{key}"]'
    yield "validator-guard-disable = 0"
    yield "validator-guard-disable-on-shutdown = false"


class LocalNetworkSettings(msgspec.Struct, frozen=True):
    """The settings of a local network. Nodes and validators are fixed when it is founded."""

    nodes: int = 5
    validators: int = 21
    block_time: float = float(BLOCK_INTERVAL)
    """Real seconds between two blocks; in the network's time it is always three."""
    base_port: int | None = None
    hardfork_after: int = 0
    """Seconds of the network's time until the last hardfork; 0 applies it during the founding."""
    metrics: bool = False


class LocalNetwork:
    """The node processes of a local network."""

    def __init__(self, plan: Plan, program: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self.plan = plan
        self.processes = tuple(MemberProcess(member, program, clock) for member in plan.members)
        self.watch = NetworkMonitor(plan.members)
        self._lock = lock_writer(plan.folder)

    def start(self) -> None:
        for process in self.processes:
            process.start()

    def restart_dead(self) -> list[MemberProcess]:
        for process, status in zip(self.processes, self.watch.statuses, strict=True):
            if process.is_running and status is not None:
                process.works()
        return [process for process in self.processes if process.restart()]

    def stop(self) -> None:
        for process in self.processes:
            process.ask_to_stop()
        for process in self.processes:
            process.wait()
        self.watch.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def prepare(folder: Path, settings: LocalNetworkSettings, dialling: Callable[[Plan], Seeds] | None = None) -> Plan:
    folder.mkdir(parents=True, exist_ok=True)
    with lock_writer(folder):
        return _prepare(folder, settings, dialling or (lambda _: {}))


def _prepare(folder: Path, settings: LocalNetworkSettings, dialling: Callable[[Plan], Seeds]) -> Plan:
    known = read_keys(folder)
    keys = known or new_keys(settings.nodes, settings.validators, settings.hardfork_after)
    plan = plan_of(folder, keys, settings.base_port)
    write_configurations(plan, dialling(plan), metrics=settings.metrics)
    if known is None:
        plan.chain_file.unlink(missing_ok=True)
    _set_clock(plan, settings)
    if known is None:
        _found(plan, load_parameters(plan.chain_file))
        write_keys(folder, keys)  # last, so that an interrupted founding is done again
    return plan


def _found(plan: Plan, network: ChainParameters) -> None:
    first = plan.members[0]
    for member in plan.members:
        for folder in (STATE_FOLDER, HISTORY_FOLDER):
            shutil.rmtree(member.folder / folder, ignore_errors=True)
    found(first.folder, network, plan.keys, network.clock.showed // BLOCK_INTERVAL * BLOCK_INTERVAL)
    for member in plan.members[1:]:
        copy_chain(first.folder, member.folder)


def _set_clock(plan: Plan, settings: LocalNetworkSettings) -> None:
    """A network that was stopped goes on where it was: so it misses no slots, and no emergency begins."""
    now, rate = int(time.time()), BLOCK_INTERVAL / settings.block_time
    founded = showed = now
    if plan.chain_file.exists():
        network = load_parameters(plan.chain_file)
        showed = _latest(plan, network)
        founded = network.last_hardfork.time - plan.keys.hardfork_after
    plan.chain_file.write_text(chain_text(plan, founded, NetworkClock(now, showed, rate)), encoding="utf-8")


def _latest(plan: Plan, network: ChainParameters) -> int:
    times = []
    for member in plan.members:
        if (member.folder / STATE_FOLDER).is_dir():
            with Chain.open(member.folder, network, clock=lambda: 0.0, space=SMALL) as chain:
                times.append(chain.head_time)
    if not times:
        raise OperatorError(f"{plan.folder} holds a network without a chain: begin a new one with --fresh")
    return max(times)
