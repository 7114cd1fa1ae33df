"""The network under attack: two nodes as processes on loopback, the first with most validators and API workers."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ledgerd.node.dev.founding import PUBLISHED_ACCOUNTS_KEY, dev_accounts
from ledgerd.node.testnet.network import LocalNetwork, LocalNetworkSettings, prepare, write_configurations
from ledgerd.node.testnet.plan import Member, Plan, free_ports
from ledgerd.node.testnet.watch import NoAnswer, ask
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT, INITIATOR_ACCOUNT
from ledgerd.protocol.networks.chain_file import load_parameters
from ledgerd.protocol.types.time_text import parse_time_text
from tests.attack.aim import HOST, Aim, write_aim

PROGRAM = (sys.executable, "-m", "tests.attack.timed_node")
VALIDATORS, HONEST_VALIDATORS = 21, 3
START_SECONDS = 90.0
FOUNDING_BLOCKS = 18 * 21 + 1
FIRST_SNAPSHOT_BLOCKS = 1
"""Blocks after the founding to the snapshot that is served."""
HOLDERS = 20


class Chosen(msgspec.Struct, frozen=True):
    """How the node under attack is set up."""

    max_connections: int | None = 100
    workers: int = 2
    block_time: float = 3.0


class Ground:
    """The network, running."""

    def __init__(self, folder: Path, chosen: Chosen, plan: Plan, network: LocalNetwork, ports: list[int]) -> None:
        self.folder = folder
        self.chosen = chosen
        self.plan = plan
        self.network = network
        self.web: tuple[str, ...] = ()
        """The accounts that list each other, once they are founded."""
        self.snapshots, self.liar, *self.time_servers = ports

    @property
    def target(self) -> Member:
        """The node under attack."""
        return self.plan.members[0]

    @property
    def honest(self) -> Member:
        """The other node."""
        return self.plan.members[1]

    def head_time_at(self, member: Member) -> str:
        """The time of a node's head."""
        ((told,),) = (ask(member, [("database_api", "get_dynamic_global_properties", [])]),)
        return str(told["time"])

    def aim(self) -> Path:
        """What attackers are told, as of now."""
        ((told,),) = (ask(self.target, [("database_api", "get_dynamic_global_properties", [])]),)
        below = told["last_irreversible_block_num"]
        ((header,),) = (ask(self.target, [("database_api", "get_block_header", [below])]),)
        parameters = load_parameters(self.plan.chain_file)
        accounts = dev_accounts(parameters)
        holders = tuple(
            str(each.name)
            for each in accounts
            if each.key == PUBLISHED_ACCOUNTS_KEY and each.name not in (INITIATOR_ACCOUNT, COMMITTEE_ACCOUNT)
        )
        aim = Aim(
            p2p=self.target.p2p_port,
            http=self.target.http_port,
            websocket=self.target.websocket_port,
            snapshots=self.snapshots,
            time_server=self.liar,
            chain_id=parameters.chain_id.hex(),
            head_id=told["head_block_id"],
            head_time=parse_time_text(told["time"]),
            below_id=told["last_irreversible_block_id"],
            below_time=parse_time_text(header["timestamp"]),
            names=tuple(self.plan.keys.validators),
            key=PUBLISHED_ACCOUNTS_KEY,
            holders=holders[:HOLDERS],
            web=self.web,
        )
        path = self.folder / "aim.json"
        write_aim(path, aim)
        return path


@contextlib.contextmanager
def ground(folder: Path, chosen: Chosen) -> Iterator[Ground]:
    """Found the network, start it, wait until both nodes make blocks; stop it at the end."""
    plan = prepare(folder, LocalNetworkSettings(2, VALIDATORS, chosen.block_time))
    names = tuple(name for member in plan.members for name in member.validators)
    shares = (names[HONEST_VALIDATORS:], names[:HONEST_VALIDATORS])
    members = tuple(member._replace(validators=share) for member, share in zip(plan.members, shares, strict=True))
    plan = plan._replace(members=members)
    write_configurations(plan)
    if chosen.block_time == Chosen().block_time:
        _keep_time_of_world(plan)
    ports = free_ports(4, HOST)  # snapshots, then one of a lying time server and two of honest ones
    for member in members:
        is_target = member is members[0]
        extra = _target_options(chosen, member, ports) if is_target else ["ntp-server = 127.0.0.1:9"]
        _rewrite(member.config, extra, drops=_OWN if is_target else ())
    with LocalNetwork(plan, PROGRAM) as network:
        network.start()
        made = Ground(folder, chosen, plan, network, ports)
        _wait(made)
        yield made


_OWN = ("p2p-isolated-peers", "webserver-thread-pool-size", "plugin")


def _target_options(chosen: Chosen, member: Member, ports: list[int]) -> list[str]:
    snapshots, *time_servers = ports
    plugins = next(line for line in member.config.read_text().splitlines() if line.startswith("plugin"))
    options = [
        f"{plugins} snapshot",
        "p2p-exempt = none",
        "webserver-exempt = none",
        f"webserver-thread-pool-size = {chosen.workers}",
        "allow-snapshot-serving = true",
        f"snapshot-serve-endpoint = {HOST}:{snapshots}",
        f"snapshot-at-block = {FOUNDING_BLOCKS + FIRST_SNAPSHOT_BLOCKS}",
        "ntp-request-interval = 30",
        "ntp-retry-interval = 10",
        *(f"ntp-server = {HOST}:{port}" for port in time_servers),
    ]
    if chosen.max_connections is not None:
        options.append(f"p2p-max-connections = {chosen.max_connections}")
    return options


def _rewrite(path: Path, added: list[str], drops: tuple[str, ...]) -> None:
    """Put options before the first section, in place of those of the same names."""
    kept = [line for line in path.read_text().splitlines() if line.partition(" ")[0] not in drops]
    section = next(place for place, line in enumerate(kept) if line.startswith("["))
    path.write_text("\n".join([*kept[:section], *added, *kept[section:]]) + "\n")


def _keep_time_of_world(plan: Plan) -> None:
    """Without a clock of the network's own, its nodes ask time servers as those of the main network do."""
    text = plan.chain_file.read_text()
    plan.chain_file.write_text(text.partition("[clock]")[0])


def _wait(made: Ground) -> None:
    """Until both nodes answer, agree, and have made blocks, and the snapshot lies there."""
    deadline = time.monotonic() + START_SECONDS
    snapshots = made.target.folder / "snapshots"
    while time.monotonic() < deadline:
        statuses = made.network.watch.inspect()
        dead = [process for process in made.network.processes if process.has_died]
        if dead:
            raise RuntimeError(f"{dead[0].member.name} has ended:\n{dead[0].last_words()}")
        heads = [0 if each is None else each.head for each in statuses]
        if min(heads) >= FOUNDING_BLOCKS + FIRST_SNAPSHOT_BLOCKS and any(snapshots.glob("*")):
            return
        time.sleep(0.5)
    raise RuntimeError(f"the network does not come up:\n{made.network.processes[0].last_words()}")


def is_answered(member: Member) -> bool:
    """Whether a node answers a request."""
    try:
        ask(member, [("database_api", "get_dynamic_global_properties", [])])
    except NoAnswer:
        return False
    return True
