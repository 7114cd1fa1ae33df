"""Draws `docs/images/testnet.svg`: what `ledgerd testnet` prints, from a network that runs for it.

python -m scripts.draw_testnet
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from ledgerd.cli.main import parser
from ledgerd.cli.process.testnet import PROGRAM, greeting
from ledgerd.node.testnet.network import LocalNetwork, LocalNetworkSettings, prepare
from ledgerd.node.testnet.table import headline, table

IMAGE = Path(__file__).resolve().parents[1] / "docs" / "images" / "testnet.svg"
COMMAND = "ledgerd testnet --block-time 1 --base-port 20000"
BLOCKS = 60
"""Made while somebody watches, before the picture is taken."""
PATIENCE = 120.0
WIDTH = 92
FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def main() -> None:
    """Run the command's network, and record a terminal that shows it once all nodes have the same head."""
    chosen = parser().parse_args(COMMAND.split()[1:])
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        settings = LocalNetworkSettings(
            chosen.nodes, chosen.validators, chosen.block_time, chosen.base_port, chosen.hardfork_after
        )
        plan = prepare(Path(folder), settings)
        with LocalNetwork(plan, PROGRAM) as network:
            network.start()
            console.print(f"[bold green]$[/] {COMMAND}")
            # The rest of the greeting names a folder of this machine.
            console.print(greeting(plan, chosen).partition("  chain id")[0], markup=False)
            watch_until(network, BLOCKS)
            shown = table(network)
            shown.title = None  # it would be wrapped at the width of the table
            console.print(headline(network), markup=False)
            console.print(shown)
    IMAGE.parent.mkdir(exist_ok=True)
    # No font from the web: opening the picture makes no request.
    IMAGE.write_text(FONT.sub("", console.export_svg(title="ledgerd testnet", unique_id="testnet")), encoding="utf-8")
    sys.stdout.write(f"{IMAGE.name} shows block {network.watch.head}\n")


def watch_until(network: LocalNetwork, blocks: int) -> None:
    """Look until so many blocks have been made and all nodes agree on the head."""
    deadline, first = time.monotonic() + PATIENCE, 0
    while time.monotonic() < deadline:
        network.watch.inspect()
        first = first or network.watch.head
        if first and network.watch.head >= first + blocks and len(network.watch.heads) == 1:
            return
        time.sleep(0.2)
    raise SystemExit("the network did not come that far")


if __name__ == "__main__":
    main()
