"""`ledgerd compare`: asks two nodes the same questions, and says whether they are equal."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ledgerd.compare.asking import FoundDifference, Pair
    from ledgerd.compare.comparison import Comparison

EQUAL = 0
DIFFERENT = 1
NOT_COMPARED = 3

OURS = "http://127.0.0.1:8090"
RATE = 100.0
READS = 1_000
HIGHEST_SEED = 1 << 32


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "compare",
        help="ask two nodes the same questions, and say whether they are equal",
        description="Compares what two nodes say over JSON-RPC: the ids of the last thousand irreversible blocks, "
        "supply, schedule, every account, and random reads of every API that both have. Exit code: 0 equal, "
        "1 a difference, 3 not comparable.",
    )
    arguments.add_argument("url", metavar="URL", help="a node, ours or a vizd: http://HOST:PORT or https://HOST:PORT")
    arguments.add_argument("other", metavar="URL", nargs="?", default=OURS, help=f"the other node (default: {OURS})")
    arguments.add_argument("--seed", type=int, metavar="N", help="repeat the random reads of an earlier run")
    arguments.add_argument(
        "--reads", type=int, default=READS, metavar="N", help=f"random reads of each API (default: {READS})"
    )
    arguments.add_argument(
        "--rate", type=float, default=RATE, metavar="N", help=f"requests a second to each node (default: {RATE:.0f})"
    )
    arguments.add_argument(
        "--skip", action="append", default=[], metavar="API", help="leave an API out; may be given again"
    )
    arguments.add_argument("--json", action="store_true", help="print one JSON object at the end")
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.basics.printable import printable  # noqa: PLC0415
    from ledgerd.compare.asking import Pair  # noqa: PLC0415 - none is loaded for `--help`
    from ledgerd.compare.comparison import Comparison, Scope  # noqa: PLC0415
    from ledgerd.compare.errors import NotComparable  # noqa: PLC0415
    from ledgerd.compare.node import PATIENCE, ComparedNode  # noqa: PLC0415
    from ledgerd.compare.pace import Pace  # noqa: PLC0415
    from ledgerd.rpc.api import APIS  # noqa: PLC0415
    from ledgerd.rpc.api.account_history import ACCOUNT_HISTORY  # noqa: PLC0415
    from ledgerd.rpc.api.operation_history import OPERATION_HISTORY  # noqa: PLC0415

    if chosen.rate <= 0 or chosen.reads < 0:
        sys.stderr.write("ledgerd: --rate has to be above 0, --reads 0 or more\n")
        return NOT_COMPARED
    seed = secrets.randbelow(HIGHEST_SEED) if chosen.seed is None else chosen.seed
    out = sys.stderr if chosen.json else sys.stdout

    def say(text: str) -> None:
        out.write(f"{printable(text)}\n")  # fields, versions and values are the nodes' own
        out.flush()

    say(f"comparing {chosen.url} with {chosen.other}, seed {seed}")
    try:
        with (
            ComparedNode(chosen.url, Pace(chosen.rate), PATIENCE) as first,
            ComparedNode(chosen.other, Pace(chosen.rate), PATIENCE) as second,
        ):
            pair = Pair(first, second)
            scope = Scope(seed, chosen.reads, frozenset(chosen.skip))
            comparison = Comparison(pair, (*APIS, ACCOUNT_HISTORY, OPERATION_HISTORY), scope, say)
            found = comparison.run()
    except NotComparable as problem:
        if chosen.json:
            sys.stdout.write(json.dumps({"verdict": "not comparable", "seed": seed, "reason": str(problem)}) + "\n")
        else:
            say(f"not comparable: {problem}")
        return NOT_COMPARED
    text = _verdict(pair, comparison, found)
    for field, url in pair.one_sided.items():
        say(f"  {field} is answered by {url} alone")
    if chosen.json:
        verdict = "equal" if found is None else "different"
        sys.stdout.write(
            json.dumps({"verdict": verdict, "seed": seed, "block": comparison.irreversible, "words": text}) + "\n"
        )
    else:
        say(text)
    return EQUAL if found is None else DIFFERENT


def _verdict(pair: Pair, comparison: Comparison, found: FoundDifference | None) -> str:
    if found is None:
        requests = pair.first.requests + pair.second.requests
        return f"equal at block {comparison.irreversible} {comparison.id} ({requests:,} requests)"
    where = f"at block {found.head.number} {found.head.id}".rstrip()
    return f"different {where}: {found.question}: {found.difference.words(pair.first.url, pair.second.url)}"
