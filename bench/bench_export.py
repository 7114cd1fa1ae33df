"""The history as Parquet files: how fast a made-up chain is written, how large the files are, and the memory it takes.

The chain has `OPERATIONS` transfers (by default 300,000) in blocks of ten. Time is that of one process, from the first
block read to the last file on the disk.
"""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from bench.bench_history import fill
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.parquet.export import ParquetExport
from ledgerd.history.parquet.folder import ExportFolder
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.networks.parameters import TESTNET

OPERATIONS = int(os.environ.get("OPERATIONS", "300000"))
A_BLOCK = 10


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        data_dir, to = Path(name) / "node", Path(name) / "files"
        data_dir.mkdir()
        fill(data_dir, OPERATIONS, A_BLOCK)
        source = HistorySource(data_dir, HistorySettings())
        export = ParquetExport(source, HistorySettings(), TESTNET.chain_id, ExportFolder(to), None)
        began, used = perf_counter(), process_time()
        result = export.run(export.blocks(None, None), lambda _: None)
        seconds, processor = perf_counter() - began, process_time() - used
        source.close()
        size = sum(each.stat().st_size for each in to.rglob("*.parquet"))
        rate, most = result.operations / seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  {result.operations:,} operations of {result.added:,} blocks in {seconds:.1f} s")
        each = size / result.operations
        print(f"  ({processor:.1f} s of the processor): {rate:,.0f} operations/s, {each:.0f} bytes each")
        print(f"  at most {most:,.0f} MB, the making of the chain included")


if __name__ == "__main__":
    main()
