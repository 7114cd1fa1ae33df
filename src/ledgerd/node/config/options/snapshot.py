"""The options of the plugin snapshot: writing, serving and fetching snapshots, and stalls (spec 06, section 5.7)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection, SectionContext
from ledgerd.node.config.values.endpoints import ADDRESS, LISTENING, PEER
from ledgerd.node.config.values.kind import OptionKind
from ledgerd.node.config.values.values import BOOL, INT64, PATH, UINT32
from ledgerd.snapshot.settings import SnapshotSettings

IN_THE_DATA_DIRECTORY = Path("DATA-DIR", "snapshots")
"""A placeholder for an empty option, until the data directory is known."""

DIRECTORY = OptionKind(
    PATH.word, f"{PATH.takes}, or nothing", PATH.example, lambda text: Path(text) if text else IN_THE_DATA_DIRECTORY
)


def _complete(record: SnapshotSettings, context: SectionContext) -> SnapshotSettings:
    """An empty directory is that of the data directory; any other one is relative to the current directory."""
    if record.directory == IN_THE_DATA_DIRECTORY:
        directory = context.data_dir / IN_THE_DATA_DIRECTORY.name
    else:
        directory = context.current_dir / record.directory
    if record.sync_from_trusted_peer and not record.trusted_peers:
        context.remark("sync-snapshot-from-trusted-peer has no effect without a trusted-snapshot-peer")
    return msgspec.structs.replace(record, directory=directory)


SNAPSHOT = OptionSection(
    "snapshot",
    "Snapshots of the state: writing, serving and downloading.",
    SnapshotSettings,
    (
        Option("snapshot-at-block", UINT32, "Write a snapshot after this block; 0 for none.", default="0"),
        Option("snapshot-every-n-blocks", UINT32, "Write a snapshot every this many blocks; 0 for none.", default="0"),
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
            "Days after which a snapshot is deleted, once another one was written; 0 for never.",
            default="90",
        ),
        Option(
            "allow-snapshot-serving", BOOL, "Serve snapshots to other nodes.", default="false", field="allow_serving"
        ),
        Option(
            "allow-snapshot-serving-only-trusted",
            BOOL,
            "Serve them only to the addresses of snapshot-serve-allow-ip.",
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
            "Serve without limits on connections, sessions and their rate.",
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
            "A node to download snapshots from. Its state is not verified, so name only nodes that you trust.",
            repeatable=True,
            example="seed.example.org:8092",
            field="trusted_peers",
        ),
        Option(
            "sync-snapshot-from-trusted-peer",
            BOOL,
            "Begin with a snapshot of a trusted peer, if there is no state yet.",
            default="false",
            field="sync_from_trusted_peer",
        ),
        Option(
            "enable-stalled-sync-detection",
            BOOL,
            "Download a newer snapshot when no block was applied for stalled-sync-timeout-minutes.",
            default="false",
        ),
        Option(
            "stalled-sync-timeout-minutes",
            UINT32,
            "Minutes without a block after which the chain counts as stalled; also between two attempts to download a"
            " first snapshot.",
            default="5",
        ),
        Option("test-trusted-seeds", BOOL, "Test every trusted peer, print the results, and stop.", default="false"),
        Option(
            "snapshot-pm-legacy-residual",
            INT64,
            "Thousandths of a VIZ by which the tokens in an imported snapshot exceed its supply, exactly; 0 if they "
            "are equal.",
            default="0",
        ),
        Option(
            "snapshot-include-pm-meta",
            BOOL,
            "Write the metadata of markets (titles, categories, tags) into snapshots; needs the plugin "
            "prediction_market_api.",
            default="true",
        ),
    ),
    complete=_complete,
    prefixes=("snapshot-",),
)
