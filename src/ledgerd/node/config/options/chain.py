"""The options of the plugins chain and testnet_plugin (spec 06, section 5.2; spec 11, section 9.6)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection, SectionContext, our_option
from ledgerd.node.config.values.json_values import ASSUMED_BLOCK, CHECKPOINT, Checkpoint
from ledgerd.node.config.values.values import BOOL, HARDFORK, PATH, SIZE, UINT32, UINT64, uint32

MICROSECONDS = 1_000_000


class ChainOptions(msgspec.Struct, frozen=True):
    """Files and limits of the chain; the directory is absolute, sizes are bytes."""

    shared_file_dir: Path
    shared_file_size: int
    inc_shared_file_size: int
    min_free_shared_file_size: int
    checkpoints: tuple[Checkpoint, ...]
    assume_valid: Checkpoint | None
    write_wait_micro: int
    max_write_wait_retries: int
    skip_virtual_ops: bool
    dlt_block_log_max_blocks: int
    block_archive_dir: Path
    block_archive_range: int

    @property
    def write_wait(self) -> float:
        """The seconds after which a broadcast that waits for the chain is given up."""
        return self.write_wait_micro * (self.max_write_wait_retries + 1) / MICROSECONDS


def _complete(record: ChainOptions, context: SectionContext) -> ChainOptions:
    return msgspec.structs.replace(
        record,
        shared_file_dir=context.data_dir / record.shared_file_dir,
        block_archive_dir=context.data_dir / record.block_archive_dir,
    )


_NEVER_WAITS = "readers of the state never wait for its writer"

CHAIN = OptionSection(
    "chain",
    "The state, the file that holds it, and how blocks are applied.",
    ChainOptions,
    (
        Option(
            "shared-file-dir",
            PATH,
            "The directory of the state's file, relative to the data directory. Block logs stay in `state` there.",
            default="state",
        ),
        Option(
            "shared-file-size",
            SIZE,
            "The initial size of the state's file, which grows as needed; an existing file may be larger.",
            default="2G",
        ),
        Option("inc-shared-file-size", SIZE, "The bytes by which the state's file grows at a time.", default="2G"),
        Option(
            "min-free-shared-file-size",
            SIZE,
            "The state's file grows when less than this is free in it.",
            default="500M",
        ),
        Option(
            "checkpoint",
            CHECKPOINT,
            "A block that the chain must have: its number and its id. Blocks up to the highest checkpoint are applied "
            "with fewer checks.",
            repeatable=True,
            field="checkpoints",
        ),
        our_option(
            "assume-valid",
            ASSUMED_BLOCK,
            "A block that you know to be valid with all below it: up to there the signatures of transactions are not "
            "checked, which makes a sync faster; those of validators are. Until the chain has that block the state is "
            "provisional: `/ready` is 503, no blocks and snapshots are made, no blocks are served. A valid block in "
            "its place takes the node back to the state that it had before.",
        ),
        Option(
            "write-wait-micro",
            UINT64,
            "Microseconds that a broadcast waits for the chain in one attempt.",
            default="500000",
        ),
        Option(
            "max-write-wait-retries",
            UINT32,
            "Attempts after the first, before the broadcast is answered with `Unable to acquire WRITE lock`.",
            default="3",
        ),
        Option("skip-virtual-ops", BOOL, "Do not record virtual operations in the histories.", default="false"),
        Option(
            "dlt-block-log-max-blocks",
            UINT32,
            "Blocks in the rolling log of a node that began with a snapshot. It is cut to this number when it has "
            "twice as many; 0 for none.",
            default="100000",
        ),
        Option(
            "block-archive-dir",
            PATH,
            "The directory of the archive of irreversible blocks, relative to the data directory. They are served to "
            "peers and clients; the plugin `block_archive` writes them.",
            default="block-archive",
        ),
        Option(
            "block-archive-range",
            uint32(least=100),
            "Blocks in each file of the archive.",
            default="10000",
        ),
    ),
    without_meaning=(
        Option(
            "block-num-check-free-size",
            UINT32,
            "Blocks between two looks at the free space of shared memory.",
            default="1000",
            without_meaning="the free space of the state's file is checked in every commit",
        ),
        Option(
            "flush-state-interval",
            UINT32,
            "Blocks between two flushes of shared memory to the disk; 0 for none.",
            default="10000",
            without_meaning="a commit of the state is durable by itself",
        ),
        Option(
            "single-write-thread",
            BOOL,
            "Apply what RPC submits on the main thread.",
            default="false",
            without_meaning="only one thread writes the state",
        ),
        Option(
            "read-wait-micro",
            UINT64,
            "Microseconds of one attempt of a request to read the state.",
            default="500000",
            without_meaning=_NEVER_WAITS,
        ),
        Option(
            "max-read-wait-retries",
            UINT32,
            "Attempts after the first, before the request is refused.",
            default="3",
            without_meaning=_NEVER_WAITS,
        ),
        Option(
            "clear-votes-before-block",
            UINT32,
            "Without effect in the reference too.",
            default="0",
            without_meaning="the reference never reads it",
        ),
        Option(
            "enable-plugins-on-push-transaction",
            BOOL,
            "Tell plugins of transactions that are in no block yet.",
            default="false",
            without_meaning="the histories record operations of blocks only",
        ),
    ),
    complete=_complete,
)


class TestnetOptions(msgspec.Struct, frozen=True):
    """The hardfork that a network for tests applies without votes."""

    __test__ = False

    hardfork: int
    """The number of the last hardfork that is applied at the start; 0 for none."""
    is_on: bool = False

    @property
    def forced_hardfork(self) -> int:
        return self.hardfork if self.is_on else 0


TESTNET_PLUGIN = OptionSection(
    "testnet_plugin",
    "For networks of tests: what happens there without votes.",
    TestnetOptions,
    (
        Option(
            "testnet-hardfork",
            HARDFORK,
            "Apply every hardfork up to this one at the start, without votes, where the plugin testnet_plugin runs. "
            "All nodes of the network must do so at the same head block. Refused on the main network.",
            default="",
        ),
    ),
    prefixes=("testnet-",),
)
