"""An export in a process that is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.history.parquet.exporting import export_of


def main(data_dir: Path, to: Path) -> None:
    with export_of(data_dir, to, 50) as export:
        blocks = export.blocks(None, None)
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        export.run(blocks, lambda _: None)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
