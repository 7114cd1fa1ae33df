"""What is shown of a local network: a table that changes in place on a terminal, a line for each block elsewhere."""

from __future__ import annotations

from rich.table import Table

from ledgerd.node.testnet.network import LocalNetwork

COLUMNS = ("node", "state", "head", "final", "mode", "peers", "validators", "missed", "restarts", "HTTP")
"""Short enough for a terminal of 80 columns; final is what is irreversible, HTTP the port."""
WORDS = {"node", "state", "mode"}


def rows(network: LocalNetwork) -> list[tuple[str, ...]]:
    watch = network.watch
    shown = []
    for number, (process, status) in enumerate(zip(network.processes, watch.statuses, strict=True)):
        member = process.member
        if process.has_died:
            state = f"died ({process.exit_code})"
        elif not process.is_running:
            state = "stopped"
        else:
            state = "starting" if status is None else "runs"
        numbers = (
            ("", "", "", "")
            if status is None
            else tuple(map(str, (status.head, status.irreversible, status.mode, status.peers)))
        )
        about = (str(len(member.validators)), str(watch.missed(number)), str(process.restarts))
        shown.append((member.name, state, *numbers, *about, str(member.http_port)))
    return shown


def headline(network: LocalNetwork) -> str:
    watch = network.watch
    best = max((each for each in watch.statuses if each is not None), key=lambda each: each.head, default=None)
    if best is None:
        return "no node answers yet"
    heads = len(watch.heads)
    agreement = "all on one head" if heads == 1 else f"{heads} different heads"
    return (
        f"block {best.head} by {best.producer}, irreversible {best.irreversible}, hardfork {best.hardfork}, {agreement}"
        + (f"; FAULT: {watch.faults[0]}" if watch.faults else "")
    )


def table(network: LocalNetwork) -> Table:
    grid = Table(title=headline(network), title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in COLUMNS:
        grid.add_column(name, justify="left" if name in WORDS else "right")
    for row in rows(network):
        grid.add_row(*row, style="red" if row[1].startswith("died") else None)
    return grid


def line(network: LocalNetwork) -> str:
    nodes = ", ".join(
        f"{row[0]} {row[2] or row[1]}" + (f" ({row[1]})" if row[1].startswith("died") else "") for row in rows(network)
    )
    return f"{headline(network)}; {nodes}"
