"""`ledgerd compare`: asks two nodes the same questions, and says whether they are equal."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from functools import partial

from ledgerd.cli.shared.terminal import report
from ledgerd.compare.asking import FoundDifference, Pair
from ledgerd.compare.comparison import Comparison, Scope
from ledgerd.compare.node import TIMEOUT, ComparedNode, NotComparable, Pace
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY

EQUAL = 0
DIFFERENT = 1
NOT_COMPARED = 3

HIGHEST_SEED = 1 << 32


def run(chosen: argparse.Namespace) -> int:
    if chosen.rate <= 0 or chosen.reads < 0:
        sys.stderr.write("ledgerd: --rate has to be above 0, --reads 0 or more\n")
        return NOT_COMPARED
    seed = secrets.randbelow(HIGHEST_SEED) if chosen.seed is None else chosen.seed
    write = partial(report, out=sys.stderr if chosen.json else sys.stdout)
    write(f"comparing {chosen.url} with {chosen.other}, seed {seed}")
    try:
        with (
            ComparedNode(chosen.url, Pace(chosen.rate), TIMEOUT) as first,
            ComparedNode(chosen.other, Pace(chosen.rate), TIMEOUT) as second,
        ):
            pair = Pair(first, second)
            scope = Scope(seed, chosen.reads, frozenset(chosen.skip))
            comparison = Comparison(pair, (*APIS, ACCOUNT_HISTORY, OPERATION_HISTORY), scope, write)
            found = comparison.run()
    except NotComparable as problem:
        if chosen.json:
            sys.stdout.write(json.dumps({"verdict": "not comparable", "seed": seed, "reason": str(problem)}) + "\n")
        else:
            write(f"not comparable: {problem}")
        return NOT_COMPARED
    text = _verdict(pair, comparison, found)
    for field, url in pair.one_sided.items():
        write(f"  {field} is answered by {url} alone")
    if chosen.json:
        verdict = "equal" if found is None else "different"
        sys.stdout.write(
            json.dumps({"verdict": verdict, "seed": seed, "block": comparison.irreversible, "words": text}) + "\n"
        )
    else:
        write(text)
    return EQUAL if found is None else DIFFERENT


def _verdict(pair: Pair, comparison: Comparison, found: FoundDifference | None) -> str:
    if found is None:
        requests = pair.first.requests + pair.second.requests
        return f"equal at block {comparison.irreversible} {comparison.id} ({requests:,} requests)"
    where = f"at block {found.head.number} {found.head.id}".rstrip()
    return f"different {where}: {found.question}: {found.difference.words(pair.first.url, pair.second.url)}"
