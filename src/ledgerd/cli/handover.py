"""`ledgerd adopt --validator NAME`: walks through the hand-over of a validator, and checks each step."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from ledgerd.basics.printable import printable
from ledgerd.cli.data_directory import configuration_of
from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.adopt.handover import HandoverPlan
    from ledgerd.adopt.handover_walk import HandoverWalk

HANDED_OVER = 0
NOT_YET = 3
INTERRUPTED = 130

WAIT = 3_600.0
APART = 30.0
REQUESTS_A_SECOND = 200.0


def add_options(arguments: argparse.ArgumentParser) -> None:
    group = arguments.add_argument_group(
        "the hand-over of a validator",
        "With --validator nothing is adopted: the command walks through the hand-over, says a step when the one before "
        "is done, and writes nothing but last_signed_block of --data-dir, while our node is stopped. It uses no "
        "private key. Exit code: 0 handed over, 3 not yet (the same command goes on), 1 wrong arguments.",
    )
    group.add_argument("--validator", metavar="NAME", help="the validator")
    group.add_argument("--back", action="store_true", help="from our node back to the vizd")
    group.add_argument("--key", metavar="PUBLIC_KEY", help="the other key that the side that takes over signs with")
    group.add_argument("--vizd", metavar="URL", help="the vizd's JSON-RPC, to see whether it runs and is in step")
    group.add_argument("--node", metavar="URL", help="our node's JSON-RPC (default: as its configuration says)")
    group.add_argument(
        "--wait", type=float, default=WAIT, metavar="SECONDS", help=f"stop after so long (default: {WAIT:.0f})"
    )
    group.add_argument(
        "--clock-difference",
        type=float,
        default=APART,
        metavar="SECONDS",
        help=f"how old a head block may be by this machine's clock (default: {APART:.0f})",
    )


def run(chosen: argparse.Namespace) -> int:
    walk, plan = _walk(chosen)
    from ledgerd.adopt.handover import words_of  # noqa: PLC0415 - none is loaded for `--help`

    for line in words_of(plan):
        _say(line)
    try:
        is_done = walk.run(chosen.wait)
    except KeyboardInterrupt:
        _say("stopped here; the same command goes on")
        return INTERRUPTED
    if not is_done:
        _say(f"not done after {chosen.wait:.0f} s; the same command goes on")
    return HANDED_OVER if is_done else NOT_YET


def _walk(chosen: argparse.Namespace) -> tuple[HandoverWalk, HandoverPlan]:
    from ledgerd.adopt.handover import Handover, HandoverPlan  # noqa: PLC0415 - none is loaded for `--help`
    from ledgerd.adopt.handover_facts import OtherNode, OurNode  # noqa: PLC0415
    from ledgerd.adopt.handover_walk import HandoverWalk  # noqa: PLC0415
    from ledgerd.compare.node import ComparedNode  # noqa: PLC0415
    from ledgerd.compare.pace import Pace  # noqa: PLC0415
    from ledgerd.node.config.network import network_of  # noqa: PLC0415

    for folder in (chosen.data_dir, chosen.directory):
        if folder is not None and not folder.is_dir():
            raise OperatorError(f"{folder} is no directory")
    chosen.config_file = None
    configuration = configuration_of(chosen)
    if configuration.validator.is_signed_elsewhere:
        raise OperatorError("the keys of this node are in a signer: move them as docs/signer.md says")
    endpoint = configuration.webserver.http_endpoint
    if chosen.node is None and endpoint is None:
        raise OperatorError(
            "our node has no webserver-http-endpoint: name the address of one that follows it with --node"
        )
    url = chosen.node or f"http://{endpoint}".replace("//0.0.0.0:", "//127.0.0.1:")
    ours = OurNode(
        chosen.data_dir,
        network_of(configuration).chain_id,
        ComparedNode(url, Pace(REQUESTS_A_SECOND)),
        lambda: configuration_of(chosen).validator,
        time.time,
    )
    theirs = ComparedNode(chosen.vizd, Pace(REQUESTS_A_SECOND)) if chosen.vizd else None
    plan = HandoverPlan(
        chosen.validator,
        chosen.data_dir,
        _checked_key(chosen.key),
        chosen.back,
        chosen.vizd or "the vizd",
        chosen.clock_difference,
    )
    return HandoverWalk(Handover(plan), ours, OtherNode(theirs, chosen.directory), _say), plan


def _checked_key(text: str | None) -> str:
    from ledgerd.protocol.errors import RuleViolation  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.protocol.keys import public_key_from_text, public_key_text  # noqa: PLC0415

    if text is None:
        return ""
    try:
        return public_key_text(public_key_from_text(text))
    except RuleViolation:
        raise OperatorError("--key takes a public key: `ledgerd key FILE` prints that of a file") from None


def _say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {printable(text)}\n")
    sys.stdout.flush()
