"""What the nodes of a local network read: the chain file that they share, and a configuration file for each."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.node.testnet.plan import HOST, MAJORITY, ROUND, Member, Plan, Seeds, write_secret
from ledgerd.protocol.keys import PrivateKey, public_key_text
from ledgerd.protocol.parameters import TESTNET, NetworkClock

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
