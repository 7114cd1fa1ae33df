"""The options of the command line only: paths, and actions of this start (spec 06, section 3.2)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection, SectionContext, WrongTogether, our_option
from ledgerd.node.config.values.values import BOOL, PATH, SWITCH, TEXT, choice_of

CONFIG_FILE = "config.ini"
TEMPLATES = ("config.ini", "config_witness.ini", "config_testnet.ini")

LOGGING_KEYS = (
    "log.console_appender.stderr.stream",
    "log.file_appender.p2p.filename",
    "logger.default.level",
    "logger.default.appenders",
    "logger.p2p.level",
    "logger.p2p.appenders",
)
"""The logging keys that the reference knows by name: it takes them on the command line, where it ignores them."""


class Invocation(msgspec.Struct, frozen=True):
    """The paths and actions of this start."""

    data_dir: Path
    config: Path
    config_file: Path | None
    check_config: bool
    print_template: str | None
    environment: bool
    check_health: bool
    stop_with_stdin: bool
    replay_blockchain: bool
    force_replay_blockchain: bool
    replay_if_corrupted: bool
    resync_blockchain: bool
    replay_from_snapshot: bool
    auto_recover_from_snapshot: bool
    snapshot: Path | None
    snapshot_auto_latest: bool
    create_snapshot: Path | None


def _complete(record: Invocation, context: SectionContext) -> Invocation:
    """Make every path absolute: `config` lies under the data directory, all others under the current one."""
    if record.replay_from_snapshot and record.snapshot is None and not record.snapshot_auto_latest:
        raise WrongTogether("replay-from-snapshot", "needs --snapshot PATH or --snapshot-auto-latest")
    if record.resync_blockchain and record.replay_blockchain:
        raise WrongTogether("replay-blockchain", "cannot stand beside --resync-blockchain, which deletes the block log")
    here = context.current_dir
    data_dir = here / record.data_dir
    return msgspec.structs.replace(
        record,
        data_dir=data_dir,
        config=data_dir / record.config,
        config_file=record.config_file and here / record.config_file,
        snapshot=record.snapshot and here / record.snapshot,
        create_snapshot=record.create_snapshot and here / record.create_snapshot,
    )


def _switch(name: str, explanation: str, *, ours: bool = False, without_meaning: str = "") -> Option:
    return Option(
        name,
        SWITCH,
        explanation,
        default="false",
        command_line_only=True,
        ours=ours,
        without_meaning=without_meaning,
    )


INVOCATION = OptionSection(
    "invocation",
    "Paths, and actions of this start. These options are accepted on the command line only.",
    Invocation,
    (
        Option(
            "data-dir",
            PATH,
            "The data directory, created when it is missing; relative to the current directory.",
            default="node_data_dir",
            short="d",
            command_line_only=True,
        ),
        Option(
            "config",
            PATH,
            "The configuration file, relative to the data directory. A file with every default is written when it is "
            "missing.",
            default=CONFIG_FILE,
            short="c",
            command_line_only=True,
        ),
        our_option(
            "config-file",
            PATH,
            "The configuration file, relative to the current directory; it must exist. Wins over --config.",
            command_line_only=True,
            example="/etc/ledgerd/config.ini",
        ),
        _switch(
            "check-config",
            "Read the configuration, print its values and stop: with code 0, or with 2 and the faults.",
            ours=True,
        ),
        our_option(
            "print-template",
            choice_of(*TEMPLATES),
            "Print a template of the configuration file, which explains every option, and stop.",
            command_line_only=True,
        ),
        _switch(
            "environment",
            "Take NODE_SEED_NODES, NODE_WITNESS and NODE_PRIVATE_KEY from the environment, as the container does.",
            ours=True,
        ),
        _switch(
            "check-health",
            "Check whether the node that runs with this configuration answers, and stop: with code 0, or 1 and the "
            "reason.",
            ours=True,
        ),
        _switch(
            "stop-with-stdin",
            "Stop when standard input is closed, so that no node is left running when the program that started it is "
            "killed.",
            ours=True,
        ),
        _switch("replay-blockchain", "Rebuild the state from the block log."),
        _switch(
            "force-replay-blockchain",
            "If blocks are replayed, begin with the first one. By itself this causes no replay.",
        ),
        Option(
            "replay-if-corrupted",
            BOOL,
            "Replay the block log when the state cannot be opened.",
            default="true",
            command_line_only=True,
        ),
        _switch("resync-blockchain", "Delete the state and both block logs, and sync from peers."),
        _switch(
            "replay-from-snapshot",
            "Delete the state, import the snapshot of --snapshot or --snapshot-auto-latest, then replay the rolling "
            "block log.",
        ),
        Option(
            "auto-recover-from-snapshot",
            BOOL,
            "Rebuild a damaged state from the newest snapshot in snapshot-dir.",
            default="true",
            command_line_only=True,
        ),
        Option(
            "snapshot",
            PATH,
            "Import this snapshot if there is no state yet.",
            command_line_only=True,
            example="snapshot-block-1000.vizjson",
        ),
        _switch("snapshot-auto-latest", "Use the newest snapshot of snapshot-dir as --snapshot."),
        Option(
            "create-snapshot",
            PATH,
            "Open the state, write a snapshot of it to this file and stop. Needs the plugin snapshot.",
            command_line_only=True,
            example="snapshot.vizjson",
        ),
    ),
    without_meaning=(
        _switch(
            "check-locks",
            "Further checks of the locks of shared memory.",
            without_meaning="the state has one writer and no locks",
        ),
        _switch(
            "validate-database-invariants",
            "Checks of the state; without effect in the reference too.",
            without_meaning="`ledgerd check` does it",
        ),
        *(
            Option(
                name,
                TEXT,
                "A key of a logging section.",
                command_line_only=True,
                without_meaning="logging is set up by the configuration file alone, as in the reference",
            )
            for name in LOGGING_KEYS
        ),
    ),
    complete=_complete,
)
