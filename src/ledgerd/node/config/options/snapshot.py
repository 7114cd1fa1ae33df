"""The options of the plugin snapshot: writing, serving and fetching snapshots, and stalls (spec 06, section 5.7)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection, Surroundings
from ledgerd.node.config.values.endpoints import ADDRESS, LISTENING, PEER
from ledgerd.node.config.values.kind import OptionKind
from ledgerd.node.config.values.values import BOOL, INT64, PATH, UINT32
from ledgerd.snapshot.settings import SnapshotSettings

IN_THE_DATA_DIRECTORY = Path("DATA-DIR", "snapshots")
"""What an empty directory stands for, until it is known where the data directory is."""

DIRECTORY = OptionKind(
    PATH.word, f"{PATH.takes}, or nothing", PATH.example, lambda text: Path(text) if text else IN_THE_DATA_DIRECTORY
)


def _complete(record: SnapshotSettings, surroundings: Surroundings) -> SnapshotSettings:
    """An empty directory is that of the data directory; any other one is relative to the current directory."""
    if record.directory == IN_THE_DATA_DIRECTORY:
        directory = surroundings.data_dir / IN_THE_DATA_DIRECTORY.name
    else:
        directory = surroundings.current_dir / record.directory
    if record.sync_from_trusted_peer and not record.trusted_peers:
        surroundings.remark("sync-snapshot-from-trusted-peer has no effect without a trusted-snapshot-peer")
    return msgspec.structs.replace(record, directory=directory)


SNAPSHOT = OptionSection(
    "snapshot",
    "Writing snapshots of the state, serving them to others, and fetching them.",
    SnapshotSettings,
    (
        Option("snapshot-at-block", UINT32, "Write a snapshot after this block; 0 for none.", default="0"),
        Option("snapshot-every-n-blocks", UINT32, "Write a snapshot every so many blocks; 0 for none.", default="0"),
        Option(
            "snapshot-dir",
            DIRECTORY,
            "The directory of the snapshots, relative to the current directory. Empty: `snapshots` in the data "
            "directory.",
            default="",
            example="/var/lib/ledgerd/snapshots",
            field="directory",
        ),
        Option(
            "snapshot-max-age-days",
            UINT32,
            "Days after which a snapshot is deleted, when another one has been written; 0 for never.",
            default="90",
        ),
        Option(
            "allow-snapshot-serving", BOOL, "Serve snapshots to other nodes.", default="false", field="allow_serving"
        ),
        Option(
            "allow-snapshot-serving-only-trusted",
            BOOL,
            "Serve them to the addresses of snapshot-serve-allow-ip alone.",
            default="false",
            field="only_trusted",
        ),
        Option(
            "snapshot-serve-allow-ip",
            ADDRESS,
            "An address that snapshots are served to.",
            repeatable=True,
            field="served_addresses",
        ),
        Option(
            "disable-snapshot-anti-spam",
            BOOL,
            "Serve without limits on connections, on sessions and on how often somebody comes.",
            default="false",
            field="disable_anti_spam",
        ),
        Option(
            "snapshot-serve-endpoint",
            LISTENING,
            "The address and port to serve snapshots on.",
            default="0.0.0.0:8092",
            field="endpoint",
        ),
        Option(
            "trusted-snapshot-peer",
            PEER,
            "A node to fetch snapshots from. Who it is decides what state this node begins with.",
            repeatable=True,
            example="seed.example.org:8092",
            field="trusted_peers",
        ),
        Option(
            "sync-snapshot-from-trusted-peer",
            BOOL,
            "Begin with a snapshot of a trusted peer, where there is no state yet.",
            default="false",
            field="sync_from_trusted_peer",
        ),
        Option(
            "enable-stalled-sync-detection",
            BOOL,
            "Fetch a newer snapshot when no block has come for a while.",
            default="false",
        ),
        Option(
            "stalled-sync-timeout-minutes",
            UINT32,
            "Minutes without a block that count as a while, and between two attempts to fetch a first snapshot.",
            default="5",
        ),
        Option("test-trusted-seeds", BOOL, "Try every trusted peer, print how they did, and stop.", default="false"),
        Option(
            "snapshot-pm-legacy-residual",
            INT64,
            "By how many thousandths of a VIZ the tokens in a snapshot must exceed its supply to be imported; 0 where "
            "they add up.",
            default="0",
        ),
    ),
    complete=_complete,
    prefixes=("snapshot-",),
)
