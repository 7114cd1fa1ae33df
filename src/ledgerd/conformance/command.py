"""The command `ledgerd-conformance`: asks a node, or writes questions for a library and compares its answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ledgerd.codec.json.text import Json
from ledgerd.conformance.comparing import state_differences
from ledgerd.conformance.library import check_answers
from ledgerd.conformance.node import run_against_node
from ledgerd.conformance.questions import questions, write_log
from ledgerd.conformance.report import CONFORMS, NOTHING_COMPARED, ConformanceReport
from ledgerd.conformance.vectors import RecordedChain, Vectors, own_vectors, read_state_file
from ledgerd.protocol.errors import OperatorError

STANDARD_INPUT = "-"


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="ledgerd-conformance",
        description="Compares a node or a library of the VIZ Ledger with what was recorded of reference nodes. "
        "Exit code: 0 all that is offered is equal, 1 a difference, 3 nothing could be compared.",
    )
    arguments.add_argument("--vectors", type=Path, metavar="FOLDER", help="recorded facts of another folder")
    commands = arguments.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    node = commands.add_parser("node", help="ask a node what was recorded of the chain that it has")
    node.add_argument("url", metavar="URL", help="http://HOST:PORT or https://HOST:PORT")
    asked = commands.add_parser("questions", help="write the questions to a library, a line of JSON each")
    library = commands.add_parser("library", help="compare the answers of a library's adapter")
    library.add_argument("answers", metavar="FILE", help=f"a line of JSON each; {STANDARD_INPUT}: standard input")
    for each in (asked, library):
        each.add_argument("--work", type=Path, metavar="FOLDER", help="ask for states too; logs of blocks go there")
    state = commands.add_parser("state", help="compare a state in a file with the recorded one after the same block")
    state.add_argument("file", type=Path, metavar="FILE", help="a snapshot as nodes write it (.vizjson), or its text")
    blocks = commands.add_parser("blocks", help="write the blocks of a chain as the files of a node's data directory")
    blocks.add_argument("name", metavar="CHAIN")
    blocks.add_argument("folder", type=Path, metavar="FOLDER", help="where block_log and block_log.index are put")
    commands.add_parser("chains", help="list the recorded chains")
    for each in (node, asked, library):
        each.add_argument("--chain", action="append", default=[], metavar="NAME", help="only this one; may be repeated")
    for each in (node, library, state):
        each.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    chosen = parser().parse_args(words)
    try:
        return _run(chosen, Vectors(chosen.vectors or own_vectors()))
    except BrokenPipeError:
        sys.stdout = None
        return NOTHING_COMPARED
    except (OperatorError, OSError) as problem:
        sys.stderr.write(f"ledgerd-conformance: {problem}\n")
        return NOTHING_COMPARED


def _run(chosen: argparse.Namespace, vectors: Vectors) -> int:
    match chosen.command:
        case "node":
            return _shown(run_against_node(chosen.url, vectors.chains(chosen.chain), _say), chosen)
        case "questions":
            for each in questions(vectors, vectors.chains(chosen.chain), chosen.work):
                sys.stdout.write(f"{each.line}\n")
        case "library":
            return _shown(_library(chosen, vectors), chosen)
        case "state":
            return _shown(_state(chosen.file, vectors), chosen)
        case "blocks":
            (chain,) = vectors.chains([chosen.name])
            sys.stdout.write(f"{write_log(chain, chosen.folder)}: {_about(chain)}\n")
        case _:
            for chain in vectors.chains([]):
                sys.stdout.write(f"{_about(chain)}\n")
    return CONFORMS


def _library(chosen: argparse.Namespace, vectors: Vectors) -> ConformanceReport:
    chains = vectors.chains(chosen.chain)
    asked = questions(vectors, chains, chosen.work)
    if chosen.answers == STANDARD_INPUT:
        return check_answers("a library", asked, sys.stdin.buffer, chains)
    with Path(chosen.answers).open("rb") as file:
        return check_answers(chosen.answers, asked, file, chains)


def _state(file: Path, vectors: Vectors) -> ConformanceReport:
    """Compare with the recorded state of the same block, whichever chain it is of."""
    report, here = ConformanceReport(str(file)), read_state_file(file)
    number, name = _block_of(here)
    for chain in vectors.chains([]):
        for height in chain.heights("state"):
            if height == number and _block_of(chain.state(height)) == (number, name):
                for section, difference in state_differences(chain, height, here):
                    check = report.check(f"{chain.name} at {height}", section)
                    if difference:
                        check.failed(difference)
                    else:
                        check.passed()
    return report


def _block_of(state: Mapping[str, Json]) -> tuple[Json, Json]:
    """The number and the id of the head block of a state."""
    header = state["header"]
    fields = header if isinstance(header, dict) else {}
    return fields.get("snapshot_block_num"), fields.get("snapshot_block_id")


def _about(chain: RecordedChain) -> str:
    heights = ", ".join(map(str, chain.heights("state")))
    return (
        f"{chain.name}: {len(chain.packed_blocks):,} blocks on {chain.network}, recorded of version {chain.version}; "
        f"states at {heights}"
    )


def _shown(report: ConformanceReport, chosen: argparse.Namespace) -> int:
    sys.stdout.write(f"{report.as_json() if chosen.json else report.as_text()}\n")
    return report.exit_code


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
