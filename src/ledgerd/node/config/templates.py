"""Configuration files as text, every option explained: the default, and a template for each kind of node (spec 06,
section 16), which `share/ledgerd/config/` has written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from ledgerd.node.config.options.declaration import Option
from ledgerd.node.config.options.sections import SECTIONS
from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY
from ledgerd.protocol.types.endpoint import Endpoint

WIDTH = 100

DEFAULT_HEADING = (
    "The configuration of a ledgerd node, written because there was none, with the default of every option. A "
    "node of these defaults listens nowhere and knows no peers. Better beginnings: ledgerd --print-template "
    "config.ini, config_witness.ini or config_testnet.ini."
)

LOGGING = """\
[log.console_appender.stderr]
stream = std_error

[log.file_appender.p2p]
filename = logs/p2p/p2p.log

[logger.default]
level = info
appenders = stderr

[logger.p2p]
level = error
appenders = stderr
"""

LOGGING_EXPLAINED = (
    "An appender is a place for messages: log.console_appender (text), log.json_console_appender (a JSON object a "
    "line), both with stream = std_error or std_out, and log.file_appender, with a filename relative to this file: "
    "a new file every hour, kept for a day. A logger sends messages of its level or above (all, debug, info, warn, "
    "error, off) to its appenders. The node logs to the logger default; logger p2p stands here for the reference's "
    "sake, and receives nothing. From the first section on, no other option can follow."
)


def file_options() -> Iterator[Option]:
    for section in SECTIONS.values():
        yield from (option for option in section.with_meaning if not option.command_line_only)


def comment(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in wrap(text, WIDTH - 2, break_on_hyphens=False, break_long_words=False))


def _explanation(option: Option) -> str:
    parts = [option.help]
    if option.repeatable:
        parts.append("The line may be repeated.")
    if any(option.defaults):
        parts.append(f"Default: {', '.join(option.defaults)}.")
    return " ".join(parts)


def render(heading: str, settings: Mapping[str, Sequence[str]], notes: Mapping[str, str]) -> str:
    lines = [*comment(heading), ""]
    for section in SECTIONS.values():
        options = [option for option in section.with_meaning if not option.command_line_only]
        if not options:
            continue
        lines += ["#", *comment(f"{section.title}: {section.about}"), "#", ""]
        for option in options:
            lines += comment(_explanation(option))
            if option.name in notes:
                lines += comment(notes[option.name])
            lines += [*_written(option, settings.get(option.name)), ""]
    lines += ["#", *comment(f"logging: {LOGGING_EXPLAINED}"), "#", "", LOGGING]
    return "\n".join(lines)


def _written(option: Option, values: Iterable[str] | None) -> list[str]:
    if values is None:
        return [f"# {option.name} = {option.shown}"]
    return [f"{option.name} = {value}" for value in values]


def default_file() -> str:
    """The file that is written where there is none (spec 06, section 4.6)."""
    settings = {option.name: option.defaults for option in file_options() if any(option.defaults)}
    return render(DEFAULT_HEADING, settings, {})


PEER_PORT, SNAPSHOT_PORT = 2001, 8092


class PublicNode(NamedTuple):
    """A node that serves others, and in which way."""

    host: str
    is_seed: bool = True
    serves_snapshots: bool = True


PUBLIC_NODES = (
    PublicNode("seed3.viz.world"),
    PublicNode("seed1.viz.world"),
    PublicNode("seed2.viz.world", is_seed=False),
    PublicNode("rpc.viz.cx"),
)

SEEDS = tuple(Endpoint(node.host, PEER_PORT) for node in PUBLIC_NODES if node.is_seed)
SNAPSHOT_PEERS = tuple(Endpoint(node.host, SNAPSHOT_PORT) for node in PUBLIC_NODES if node.serves_snapshots)


DATA = "/var/lib/ledgerd"


class Template(NamedTuple):
    """One file: its heading, the options that it sets, and notes on some of them."""

    heading: str
    settings: Mapping[str, tuple[str, ...]]
    notes: Mapping[str, str]

    def text(self) -> str:
        return render(self.heading, self.settings, self.notes)


_SERVING: dict[str, tuple[str, ...]] = {
    "webserver-thread-pool-size": ("2",),
    "write-wait-micro": ("500000",),
    "max-write-wait-retries": ("3",),
    "shared-file-size": ("4G",),
    "min-free-shared-file-size": ("500M",),
    "inc-shared-file-size": ("2G",),
}
_APIS = (
    "network_broadcast_api database_api",
    "json_rpc webserver",
    "committee_api invite_api validator_api paid_subscription_api custom_protocol_api",
    "prediction_market_api",
    "account_by_key block_info raw_block",
    "operation_history account_history",
)
_MAINNET: dict[str, tuple[str, ...]] = {
    "chain": ("mainnet",),
    "p2p-endpoint": ("0.0.0.0:2001",),
    "p2p-seed-node": tuple(map(str, SEEDS)),
    "dlt-block-log-max-blocks": ("100000",),
    "snapshot-dir": (f"{DATA}/snapshots",),
    "snapshot-every-n-blocks": ("2400",),
    "snapshot-max-age-days": ("2",),
    "allow-snapshot-serving": ("true",),
    "allow-snapshot-serving-only-trusted": ("false",),
    "snapshot-serve-endpoint": ("0.0.0.0:8092",),
    "sync-snapshot-from-trusted-peer": ("true",),
    "trusted-snapshot-peer": tuple(map(str, SNAPSHOT_PEERS)),
}
_SIZE_NOTE = "Adjust it to the disk: the chain needs several gigabytes."
_FULL_APIS_NOTE = "What is listed here is every API that there is."

FULL = Template(
    "ledgerd: a full node of the VIZ Ledger. It follows the network, and answers JSON-RPC to everybody. Put this file "
    "into the data directory as config.ini.",
    {
        **_SERVING,
        **_MAINNET,
        "plugin": ("validator", "chain p2p", *_APIS, "snapshot"),
        "webserver-http-endpoint": ("0.0.0.0:8090",),
        "webserver-ws-endpoint": ("0.0.0.0:8091",),
        "history-count-blocks": ("57600",),
        "history-start-block": ("70000000",),
    },
    {
        "plugin": f"{_FULL_APIS_NOTE} validator makes blocks only for validators that are named below.",
        "shared-file-size": _SIZE_NOTE,
        "history-count-blocks": "57600 blocks are two days.",
        "webserver-http-endpoint": "0.0.0.0 is every address of this machine: everybody who reaches it can ask.",
    },
)

WITNESS = Template(
    "ledgerd: a validator of the VIZ Ledger. It makes blocks, and answers JSON-RPC on this machine alone. Put this "
    "file into the data directory as config.ini, readable by its owner alone, then name the validator and its key: "
    "look for `# validator` and `# private-key`.",
    {
        **_SERVING,
        **_MAINNET,
        "plugin": ("validator validator_guard", "chain p2p", *_APIS, "snapshot"),
        "webserver-http-endpoint": ("127.0.0.1:8090",),
        "webserver-ws-endpoint": ("127.0.0.1:8091",),
        "metrics-endpoint": ("127.0.0.1:9190",),
        "enable-stale-production": ("false",),
        "required-participation": ("3300",),
        "doppelganger-check": ("true",),
        "validator-guard-disable": ("5",),
    },
    {
        "plugin": _FULL_APIS_NOTE,
        "shared-file-size": _SIZE_NOTE,
        "p2p-endpoint": "Peers can be followed without it: leave it out, or open its port to nodes of your own alone.",
        "webserver-http-endpoint": "127.0.0.1 can be reached from this machine alone. Keep it so, and serve the public "
        "from another node.",
        "webserver-trusted-proxies": "Leave it out: a validator stands behind no proxy.",
        "p2p-exempt": "Write none where strangers reach this node from private addresses, as in some containers.",
        "webserver-allowed-origins": "Leave it out: no page of the web has business with a validator.",
        "snapshot-serve-endpoint": "Leave it out: a node of your own that makes no blocks can serve snapshots.",
        "validator": "Put the name of your validator here, and remove the `#` before it.",
        "private-key": "Put here the private key whose public key your validator has declared as its signing key. It "
        "is not the active key of the account. Whoever has it can sign blocks in your name.",
        "validator-signer": "It keeps the key off this machine: docs/signer.md tells how to set it up.",
        "validator-guard-validator": "The third key is the active key of the account: leave this out if that one "
        "should not be on this machine.",
        "required-participation": "It keeps you from making blocks alone, on a fork that nobody else follows.",
    },
)

TESTNET = Template(
    "ledgerd: a test network of one node, for development. It makes a block every three seconds by itself, with keys "
    "that everybody knows: never use them where anything has a value. Put this file into the data directory as "
    "config.ini.",
    {
        **_SERVING,
        "chain": ("testnet",),
        "plugin": ("validator", "chain p2p", *_APIS),
        "p2p-endpoint": ("0.0.0.0:2001",),
        "webserver-http-endpoint": ("0.0.0.0:8090",),
        "webserver-ws-endpoint": ("0.0.0.0:8091",),
        "skip-virtual-ops": ("false",),
        "enable-stale-production": ("true",),
        "required-participation": ("0",),
        "validator": ('"committee"',),
        "private-key": (PUBLISHED_COMMITTEE_KEY,),
    },
    {
        "plugin": _FULL_APIS_NOTE,
        "p2p-endpoint": "The reference's testnet template listens on port 4243.",
        "p2p-seed-node": "A network of one needs none. A second node names the first one here.",
        "enable-stale-production": "A network of one is always stale when it starts.",
        "validator": "committee makes the first blocks of every new network.",
        "private-key": "The published key of the committee of the test network.",
    },
)

TEMPLATES: dict[str, Template] = {
    "config.ini": FULL,
    "config_witness.ini": WITNESS,
    "config_testnet.ini": TESTNET,
}
